-- Jobs, and what became of each attempt at one. A lease is a jobs row in state leased: worker, token, expiry.
CREATE TABLE jobs (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hunt_id      bigint      NOT NULL REFERENCES hunts,
    number       bigint      NOT NULL CHECK (number >= 0),
    kind         text        NOT NULL CHECK (kind IN ('scatter', 'anneal', 'census', 'audit', 'siren')),
    seed         bigint      NOT NULL,
    spec         bytea       NOT NULL,
    n_work       bigint      NOT NULL CHECK (n_work >= 1),
    state        text        NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'leased', 'done', 'parked', 'cancelled')),
    token        bigint      NOT NULL DEFAULT 0 CHECK (token >= 0),
    worker_id    bigint      REFERENCES workers,
    expires_at   timestamptz,
    n_failures   integer     NOT NULL DEFAULT 0 CHECK (n_failures >= 0),
    work_done    bigint      NOT NULL DEFAULT 0 CHECK (work_done >= 0),
    rate         double precision NOT NULL DEFAULT 0,
    checkpoint   bytea,
    created_at   timestamptz NOT NULL DEFAULT now(),
    ended_at     timestamptz,
    engine       text,
    digest       bytea       CHECK (octet_length(digest) = 16),
    n_iterations bigint      NOT NULL DEFAULT 0,
    n_legal      bigint      NOT NULL DEFAULT 0,
    n_clusters   bigint      NOT NULL DEFAULT 0,
    n_solvable   bigint      NOT NULL DEFAULT 0,
    n_too_large  bigint      NOT NULL DEFAULT 0,
    n_positions  bigint      NOT NULL DEFAULT 0,
    n_accepted   bigint      NOT NULL DEFAULT 0,
    n_duplicates bigint      NOT NULL DEFAULT 0,
    n_found      bigint      NOT NULL DEFAULT 0,
    n_new        bigint      NOT NULL DEFAULT 0 CHECK (n_new >= 0),
    n_known      bigint      NOT NULL DEFAULT 0 CHECK (n_known >= 0),
    best_par     smallint,
    UNIQUE (hunt_id, number),
    CONSTRAINT jobs_leased_have_a_holder CHECK ((state = 'leased') = (worker_id IS NOT NULL)),
    CONSTRAINT jobs_leased_expire CHECK ((state = 'leased') = (expires_at IS NOT NULL)),
    CONSTRAINT jobs_done_have_a_digest CHECK ((state = 'done') = (digest IS NOT NULL)),
    CONSTRAINT jobs_done_have_an_engine CHECK ((state = 'done') = (engine IS NOT NULL)),
    CONSTRAINT jobs_over_have_an_end CHECK ((state IN ('done', 'parked', 'cancelled')) = (ended_at IS NOT NULL))
);

COMMENT ON TABLE jobs IS 'Pieces of hunts: what a worker runs in minutes. The result is a function of spec and engine.';
COMMENT ON COLUMN jobs.id IS 'Number, by order of planning.';
COMMENT ON COLUMN jobs.hunt_id IS 'The hunt it is a piece of.';
COMMENT ON COLUMN jobs.number IS 'Place in the hunt, from 0.';
COMMENT ON COLUMN jobs.kind IS 'What its specification asks for.';
COMMENT ON COLUMN jobs.seed IS 'The specification''s seed: 64 bits without sign, kept as the signed number of the same bits.';
COMMENT ON COLUMN jobs.spec IS 'The specification, as a parforce.v1.JobSpec message.';
COMMENT ON COLUMN jobs.n_work IS 'Iterations that the specification asks for: what work_done counts up to.';
COMMENT ON COLUMN jobs.state IS 'queued: to be leased; leased: a worker holds it; done: carried out; parked: failed too often; cancelled: its hunt is over.';
COMMENT ON COLUMN jobs.token IS 'Fencing token of the latest lease; grows with each grant; 0: never leased.';
COMMENT ON COLUMN jobs.worker_id IS 'Holder of the lease. NULL: not leased.';
COMMENT ON COLUMN jobs.expires_at IS 'When the lease ends, on the database''s clock. NULL: not leased.';
COMMENT ON COLUMN jobs.n_failures IS 'Attempts that failed or expired; a drain is none.';
COMMENT ON COLUMN jobs.work_done IS 'Iterations of the running or last attempt, by its last report.';
COMMENT ON COLUMN jobs.rate IS 'Positions explored a second, by the last beat; 0: not leased, or no beat yet.';
COMMENT ON COLUMN jobs.checkpoint IS 'Where an attempt left off, in its worker''s form. NULL: from the start.';
COMMENT ON COLUMN jobs.created_at IS 'When it was planned.';
COMMENT ON COLUMN jobs.ended_at IS 'When it was done, parked or cancelled. NULL: it is not over.';
COMMENT ON COLUMN jobs.engine IS 'Engine version that carried it out. NULL: not done.';
COMMENT ON COLUMN jobs.digest IS 'What a replay must match, 16 bytes. NULL: not done.';
COMMENT ON COLUMN jobs.n_iterations IS 'Boards drawn or changes tried, as claimed at the end of the last attempt.';
COMMENT ON COLUMN jobs.n_legal IS 'Of these, legal boards (claimed).';
COMMENT ON COLUMN jobs.n_clusters IS 'Clusters explored to their end (claimed).';
COMMENT ON COLUMN jobs.n_solvable IS 'Of these, solvable ones (claimed).';
COMMENT ON COLUMN jobs.n_too_large IS 'Clusters given up as too large (claimed).';
COMMENT ON COLUMN jobs.n_positions IS 'Positions of all clusters explored to their end (claimed).';
COMMENT ON COLUMN jobs.n_accepted IS 'Changes taken, annealing only (claimed).';
COMMENT ON COLUMN jobs.n_duplicates IS 'Solvable clusters that the job had found already (claimed).';
COMMENT ON COLUMN jobs.n_found IS 'Distinct boards found (claimed).';
COMMENT ON COLUMN jobs.n_new IS 'Boards stored that nobody had found before, counted by the coordinator.';
COMMENT ON COLUMN jobs.n_known IS 'Boards handed in that were known, counted by the coordinator.';
COMMENT ON COLUMN jobs.best_par IS 'Largest par of the boards it handed in, proved, in slides. NULL: none.';

CREATE INDEX jobs_queued ON jobs (hunt_id, id) WHERE state = 'queued';
CREATE INDEX jobs_leased ON jobs (expires_at) WHERE state = 'leased';
CREATE INDEX jobs_held ON jobs (worker_id) WHERE state = 'leased';
CREATE INDEX jobs_by_hunt ON jobs (hunt_id, state, id);

CREATE TABLE job_attempts (
    job_id     bigint      NOT NULL REFERENCES jobs,
    token      bigint      NOT NULL CHECK (token >= 1),
    worker_id  bigint      NOT NULL REFERENCES workers,
    request_id uuid        NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now(),
    ended_at   timestamptz,
    outcome    text        NOT NULL DEFAULT 'running' CHECK (outcome IN
        ('running', 'done', 'drained', 'paused', 'cancelled', 'failed', 'unsupported', 'expired')),
    detail     text        CHECK (char_length(detail) <= 1000),
    PRIMARY KEY (job_id, token),
    CONSTRAINT job_attempts_over_have_an_end CHECK ((outcome = 'running') = (ended_at IS NULL))
);

COMMENT ON TABLE job_attempts IS 'Leases that were granted, and how each ended.';
COMMENT ON COLUMN job_attempts.job_id IS 'The job.';
COMMENT ON COLUMN job_attempts.token IS 'Fencing token of the lease.';
COMMENT ON COLUMN job_attempts.worker_id IS 'Who held it.';
COMMENT ON COLUMN job_attempts.request_id IS 'The acquire call that was answered with it; repeated, it gets the same answer.';
COMMENT ON COLUMN job_attempts.started_at IS 'When it was granted.';
COMMENT ON COLUMN job_attempts.ended_at IS 'When it ended. NULL: it is running.';
COMMENT ON COLUMN job_attempts.outcome IS 'failed and expired count against the job; done ends it; the others put it back, cancelled for good.';
COMMENT ON COLUMN job_attempts.detail IS 'What the worker said. NULL: nothing.';

CREATE INDEX job_attempts_by_request ON job_attempts (request_id);
