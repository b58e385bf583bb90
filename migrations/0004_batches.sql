-- Batches: what was handed in together, and the answer, kept so that a repeated batch gets it again.
CREATE TABLE batches (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    batch       uuid        NOT NULL UNIQUE,
    worker_id   bigint      REFERENCES workers,
    job_id      bigint      REFERENCES jobs,
    token       bigint,
    source      text        CHECK (char_length(source) <= 1000),
    stored_at   timestamptz NOT NULL DEFAULT now(),
    n_inserted  integer     NOT NULL DEFAULT 0 CHECK (n_inserted >= 0),
    n_duplicate integer     NOT NULL DEFAULT 0 CHECK (n_duplicate >= 0),
    CONSTRAINT batches_come_from_a_lease_or_an_import CHECK (
        (worker_id IS NULL) = (job_id IS NULL) AND (job_id IS NULL) = (token IS NULL) AND (source IS NULL) = (job_id IS NOT NULL))
);

COMMENT ON TABLE batches IS 'Boards handed in together by a worker or an import, with the answer given.';
COMMENT ON COLUMN batches.id IS 'Number; what boards.batch_id names.';
COMMENT ON COLUMN batches.batch IS 'Made by the sender; a repeated batch is known by it.';
COMMENT ON COLUMN batches.worker_id IS 'Who handed it in. NULL: an import.';
COMMENT ON COLUMN batches.job_id IS 'The job it was found by. NULL: an import.';
COMMENT ON COLUMN batches.token IS 'Token of the lease it was found under, which may have been lost: boards are facts. NULL: an import.';
COMMENT ON COLUMN batches.source IS 'What was imported. NULL: not an import.';
COMMENT ON COLUMN batches.stored_at IS 'When it was stored: the time of discovery of its new boards.';
COMMENT ON COLUMN batches.n_inserted IS 'Boards that nobody had found before.';
COMMENT ON COLUMN batches.n_duplicate IS 'Boards that were known, or stood in the batch twice.';

CREATE INDEX batches_by_job ON batches (job_id, id) WHERE job_id IS NOT NULL;
CREATE INDEX batches_by_time ON batches (stored_at);

CREATE TABLE rejections (
    batch_id   bigint   NOT NULL REFERENCES batches,
    board_idx  integer  NOT NULL CHECK (board_idx >= 0),
    code       text     NOT NULL CHECK (code IN ('not_a_board', 'not_canonical', 'not_representative', 'wrong_par',
        'unsolvable', 'too_large', 'wrong_cluster', 'outside_job')),
    canonical  text     NOT NULL CHECK (char_length(canonical) <= 300),
    stated_par integer  NOT NULL,
    detail     text     NOT NULL CHECK (char_length(detail) <= 1000),
    PRIMARY KEY (batch_id, board_idx)
);

COMMENT ON TABLE rejections IS 'Boards that were refused: samples to judge a worker by, and a part of the batch''s answer.';
COMMENT ON COLUMN rejections.batch_id IS 'The batch it stood in.';
COMMENT ON COLUMN rejections.board_idx IS 'Its place in the batch, from 0.';
COMMENT ON COLUMN rejections.code IS 'Why it was refused.';
COMMENT ON COLUMN rejections.canonical IS 'The spelling as it was sent, cut off at 300 characters.';
COMMENT ON COLUMN rejections.stated_par IS 'The par as it was sent, in slides.';
COMMENT ON COLUMN rejections.detail IS 'What was found instead, for people.';
