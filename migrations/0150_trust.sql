-- Trust: who a worker is beyond one start of its process, claims that are run again by others, and what was believed
-- without proof.
ALTER TABLE workers ADD COLUMN credential text CHECK (char_length(credential) BETWEEN 1 AND 60);
ALTER TABLE workers ADD COLUMN self_test bytea CHECK (octet_length(self_test) <= 64);
ALTER TABLE workers ADD COLUMN n_stalls integer NOT NULL DEFAULT 0 CHECK (n_stalls >= 0);
ALTER TABLE workers ADD COLUMN identity text NOT NULL
    GENERATED ALWAYS AS (name || coalesce('@' || credential, '')) STORED;
COMMENT ON COLUMN workers.credential IS 'Name of the token that it showed. NULL: the door asked for none.';
COMMENT ON COLUMN workers.self_test IS 'What its self-test came to. NULL: it joined before this was asked.';
COMMENT ON COLUMN workers.n_stalls IS 'Leases taken from it because their work stood still.';
COMMENT ON COLUMN workers.identity IS 'Who it is over all its starts: label and token. Strikes and quarantine follow it, and no audit goes to whom it checks.';
COMMENT ON COLUMN workers.strikes IS 'What is held against it: batches with a wrong board, leases of others that it named, broken messages, claims found '
    'wrong. The next start of the same worker begins with as many.';

CREATE INDEX workers_by_identity ON workers (identity, id);

-- An audit is a job like any other, for the same specification, done by somebody else. It shares the number of the job that
-- it runs again, and is none of its hunt's jobs otherwise.
ALTER TABLE jobs ADD COLUMN audit_of bigint REFERENCES jobs;
COMMENT ON COLUMN jobs.audit_of IS 'The job that this runs again, to compare; it counts for nothing else. NULL: it is no audit.';
ALTER TABLE jobs DROP CONSTRAINT jobs_hunt_id_number_key;
CREATE UNIQUE INDEX jobs_by_number ON jobs (hunt_id, number) WHERE audit_of IS NULL;
CREATE INDEX jobs_audits ON jobs (audit_of) WHERE audit_of IS NOT NULL;

CREATE TABLE audits (
    job_id    bigint      PRIMARY KEY REFERENCES jobs,
    reason    text        NOT NULL CHECK (reason IN ('sample', 'new_worker', 'suspect', 'quarantine', 'dispute', 'operator')),
    asked_at  timestamptz NOT NULL DEFAULT now(),
    verdict   text        CHECK (verdict IN ('agrees', 'disputed', 'differs')),
    judged_at timestamptz,
    CONSTRAINT audits_judged_at_a_time CHECK ((verdict IS NULL) = (judged_at IS NULL))
);

COMMENT ON TABLE audits IS 'Why jobs were run again by another worker, and what came of it.';
COMMENT ON COLUMN audits.job_id IS 'The audit; jobs.audit_of says of which job.';
COMMENT ON COLUMN audits.reason IS 'sample: by lot; new_worker, suspect: by lot, more often; quarantine: of a worker that was put there; dispute: two runs '
    'differ; operator: asked for.';
COMMENT ON COLUMN audits.asked_at IS 'When it was put on the queue.';
COMMENT ON COLUMN audits.verdict IS 'agrees: bit for bit; disputed: it differs and nobody knows who is right; differs: it is the audit that is wrong. '
    'NULL: not done. An audit that proves its job wrong agrees with the others that do.';
COMMENT ON COLUMN audits.judged_at IS 'When. NULL: not done.';

ALTER TABLE job_attempts DROP CONSTRAINT job_attempts_outcome_check;
ALTER TABLE job_attempts ADD CONSTRAINT job_attempts_outcome_check CHECK (outcome IN
    ('running', 'done', 'drained', 'paused', 'cancelled', 'failed', 'unsupported', 'expired', 'stalled', 'disproved'));
COMMENT ON COLUMN job_attempts.outcome IS 'failed, unsupported, expired and stalled count against the job; done ends it; disproved: it was done, and '
    'others found another result; the rest put it back, cancelled for good.';

ALTER TABLE batches ADD COLUMN n_believed integer NOT NULL DEFAULT 0 CHECK (n_believed >= 0);
COMMENT ON COLUMN batches.n_believed IS 'Of the new boards, how many were believed without proof (where not all are proved); 0 again when they were proved '
    'after all.';
ALTER TABLE batches ADD COLUMN board_sum numeric(39, 0);
COMMENT ON COLUMN batches.board_sum IS 'Sum of the hashes of its boards as they were sent, modulo 2^128: what the digest of a claim has to fit. NULL: an import, or '
    'stored by a former version.';
CREATE INDEX batches_believed ON batches (worker_id) WHERE n_believed > 0;

ALTER TABLE events DROP CONSTRAINT events_kind_check;
ALTER TABLE events ADD CONSTRAINT events_kind_check CHECK (kind IN ('hunt_created', 'hunt_extended', 'hunt_paused',
    'hunt_resumed', 'hunt_done', 'hunt_cancelled', 'hunt_priority', 'job_expired', 'job_failed', 'job_parked',
    'job_requeued', 'worker_joined', 'worker_left', 'worker_struck', 'worker_quarantined', 'worker_trusted',
    'worker_directed', 'record_found', 'boards_beyond', 'boards_imported', 'job_stalled', 'claim_disputed',
    'claim_disproved', 'boards_retracted', 'token_created', 'token_revoked'));

-- Audits count for nothing in a hunt, but that the boards they bring are boards.
CREATE OR REPLACE VIEW hunt_progress AS
SELECT h.id AS hunt_id, h.name, h.state,
    count(j.id) FILTER (WHERE j.state = 'done' AND j.audit_of IS NULL) AS jobs_done,
    count(j.id) FILTER (WHERE j.state = 'leased' AND j.audit_of IS NULL) AS jobs_leased,
    count(j.id) FILTER (WHERE j.state = 'queued' AND j.audit_of IS NULL) AS jobs_queued,
    count(j.id) FILTER (WHERE j.state = 'parked' AND j.audit_of IS NULL) AS jobs_parked,
    coalesce(sum(j.n_new), 0)::bigint AS boards_new,
    coalesce(sum(j.n_known) FILTER (WHERE j.audit_of IS NULL), 0)::bigint AS boards_known,
    coalesce(sum(j.n_clusters) FILTER (WHERE j.audit_of IS NULL), 0)::bigint AS clusters,
    coalesce(sum(j.n_positions) FILTER (WHERE j.audit_of IS NULL), 0)::bigint AS positions,
    coalesce(sum(j.rate) FILTER (WHERE j.state = 'leased'), 0) AS positions_per_s,
    max(j.best_par) AS best_par
FROM hunts h
LEFT JOIN jobs j ON j.hunt_id = h.id
GROUP BY h.id;
