-- Events: who did what and when, for people.
CREATE TABLE events (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at        timestamptz NOT NULL DEFAULT now(),
    actor     text        NOT NULL CHECK (char_length(actor) BETWEEN 1 AND 120),
    kind      text        NOT NULL CHECK (kind IN ('hunt_created', 'hunt_extended', 'hunt_paused', 'hunt_resumed',
        'hunt_done', 'hunt_cancelled', 'job_expired', 'job_failed', 'job_parked', 'worker_joined', 'worker_left',
        'worker_struck', 'worker_quarantined', 'record_found', 'boards_beyond', 'boards_imported')),
    hunt_id   bigint      REFERENCES hunts,
    job_id    bigint      REFERENCES jobs,
    worker_id bigint      REFERENCES workers,
    detail    text        NOT NULL CHECK (char_length(detail) <= 1000)
);

COMMENT ON TABLE events IS 'Who did what and when, for people.';
COMMENT ON COLUMN events.id IS 'Number, by order of writing.';
COMMENT ON COLUMN events.at IS 'When.';
COMMENT ON COLUMN events.actor IS 'Who: coordinator, operator, or worker and its name.';
COMMENT ON COLUMN events.kind IS 'What.';
COMMENT ON COLUMN events.hunt_id IS 'Which hunt. NULL: none is concerned.';
COMMENT ON COLUMN events.job_id IS 'Which job. NULL: none is concerned.';
COMMENT ON COLUMN events.worker_id IS 'Which worker. NULL: none is concerned.';
COMMENT ON COLUMN events.detail IS 'In a sentence.';

CREATE INDEX events_by_hunt ON events (hunt_id, id) WHERE hunt_id IS NOT NULL;
