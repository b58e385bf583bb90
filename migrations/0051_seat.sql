-- The operator's seat: what operators do is an event too, and pages ask by these.
ALTER TABLE events DROP CONSTRAINT events_kind_check;
ALTER TABLE events ADD CONSTRAINT events_kind_check CHECK (kind IN ('hunt_created', 'hunt_extended', 'hunt_paused',
    'hunt_resumed', 'hunt_done', 'hunt_cancelled', 'hunt_priority', 'job_expired', 'job_failed', 'job_parked',
    'job_requeued', 'worker_joined', 'worker_left', 'worker_struck', 'worker_quarantined', 'worker_trusted',
    'worker_directed', 'record_found', 'boards_beyond', 'boards_imported'));

CREATE INDEX events_by_worker ON events (worker_id, id) WHERE worker_id IS NOT NULL;
CREATE INDEX events_by_kind ON events (kind, id);
CREATE INDEX job_attempts_by_worker ON job_attempts (worker_id, started_at);
CREATE INDEX job_attempts_ended ON job_attempts (ended_at, outcome) WHERE ended_at IS NOT NULL;
CREATE INDEX batches_by_worker ON batches (worker_id, id) WHERE worker_id IS NOT NULL;
CREATE INDEX jobs_parked ON jobs (hunt_id, id) WHERE state = 'parked';
CREATE INDEX workers_by_name ON workers (name, id);
