-- A lease that ran out while no coordinator could hear beats says nothing of its job: it is taken back, and is no failure.
CREATE TABLE farm_watch (
    is_only    boolean     PRIMARY KEY DEFAULT true CHECK (is_only),
    since      timestamptz NOT NULL DEFAULT now(),
    last_round timestamptz NOT NULL DEFAULT now()
);
INSERT INTO farm_watch DEFAULT VALUES;

COMMENT ON TABLE farm_watch IS 'Since when coordinators have looked for lost leases without a gap: then one at least was up, and the database too. One row.';
COMMENT ON COLUMN farm_watch.is_only IS 'True: there is one row.';
COMMENT ON COLUMN farm_watch.since IS 'The first look after the last gap.';
COMMENT ON COLUMN farm_watch.last_round IS 'The last look.';

ALTER TABLE jobs ADD COLUMN n_outages integer NOT NULL DEFAULT 0 CHECK (n_outages >= 0);
COMMENT ON COLUMN jobs.n_outages IS 'Leases that ran out during outages of the farm. They are no failures, but a job that takes a coordinator down with it shows '
    'so: at four times the limit of failures it is parked.';

ALTER TABLE job_attempts DROP CONSTRAINT job_attempts_outcome_check;
ALTER TABLE job_attempts ADD CONSTRAINT job_attempts_outcome_check CHECK (outcome IN
    ('running', 'done', 'drained', 'paused', 'cancelled', 'failed', 'unsupported', 'expired', 'stalled', 'disproved', 'outage'));
COMMENT ON COLUMN job_attempts.outcome IS 'failed, unsupported, expired and stalled count against the job; done ends it; disproved: it was done, and '
    'others found another result; outage: it ran out while no coordinator could hear its beats; the rest put it back, cancelled for good.';
