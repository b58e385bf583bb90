-- Samples: what the charts are drawn from. Written by the coordinator that holds the keeper's lock, kept at two
-- grains: fine ones for a day, coarse ones for a year; a restart of anything loses no history.
CREATE TABLE farm_samples (
    grain_s         integer     NOT NULL CHECK (grain_s IN (10, 600)),
    at              timestamptz NOT NULL,
    n_live          integer     NOT NULL CHECK (n_live >= 0),
    n_stalled       integer     NOT NULL CHECK (n_stalled >= 0),
    n_draining      integer     NOT NULL CHECK (n_draining >= 0),
    n_quarantined   integer     NOT NULL CHECK (n_quarantined >= 0),
    n_cores         integer     NOT NULL CHECK (n_cores >= 0),
    n_busy_cores    double precision NOT NULL,
    n_queued        bigint      NOT NULL CHECK (n_queued >= 0),
    n_parked        bigint      NOT NULL CHECK (n_parked >= 0),
    n_boards        bigint      NOT NULL CHECK (n_boards >= 0),
    n_failures      bigint      NOT NULL CHECK (n_failures >= 0),
    positions_per_s double precision NOT NULL,
    PRIMARY KEY (grain_s, at)
);

COMMENT ON TABLE farm_samples IS 'How the farm was, at points in time.';
COMMENT ON COLUMN farm_samples.grain_s IS 'Seconds between samples of this grain: 10 (kept for a day) or 600 (kept for a year).';
COMMENT ON COLUMN farm_samples.at IS 'When it was taken, on the database''s clock.';
COMMENT ON COLUMN farm_samples.n_live IS 'Workers that are there, heard of and trusted.';
COMMENT ON COLUMN farm_samples.n_stalled IS 'Workers that are there but have not been heard of for a minute.';
COMMENT ON COLUMN farm_samples.n_draining IS 'Workers that were told to finish or to stop.';
COMMENT ON COLUMN farm_samples.n_quarantined IS 'Workers that are there and get nothing for having sent wrong results.';
COMMENT ON COLUMN farm_samples.n_cores IS 'Threads of all workers that are there.';
COMMENT ON COLUMN farm_samples.n_busy_cores IS 'Threads that work on a lease (threads of a worker times its leases over its slots).';
COMMENT ON COLUMN farm_samples.n_queued IS 'Jobs waiting.';
COMMENT ON COLUMN farm_samples.n_parked IS 'Jobs that failed too often.';
COMMENT ON COLUMN farm_samples.n_boards IS 'Boards in the database.';
COMMENT ON COLUMN farm_samples.n_failures IS 'Attempts that failed or expired since the sample before of this grain.';
COMMENT ON COLUMN farm_samples.positions_per_s IS 'Positions explored a second, by the last beats.';

CREATE TABLE hunt_samples (
    hunt_id         bigint      NOT NULL REFERENCES hunts,
    grain_s         integer     NOT NULL CHECK (grain_s IN (10, 600)),
    at              timestamptz NOT NULL,
    n_done          bigint      NOT NULL CHECK (n_done >= 0),
    n_leased        bigint      NOT NULL CHECK (n_leased >= 0),
    n_queued        bigint      NOT NULL CHECK (n_queued >= 0),
    n_parked        bigint      NOT NULL CHECK (n_parked >= 0),
    n_new           bigint      NOT NULL CHECK (n_new >= 0),
    n_known         bigint      NOT NULL CHECK (n_known >= 0),
    n_iterations    bigint      NOT NULL CHECK (n_iterations >= 0),
    n_changes       bigint      NOT NULL CHECK (n_changes >= 0),
    n_accepted      bigint      NOT NULL CHECK (n_accepted >= 0),
    n_clusters      bigint      NOT NULL CHECK (n_clusters >= 0),
    n_positions     numeric     NOT NULL CHECK (n_positions >= 0),
    n_cores         double precision NOT NULL,
    positions_per_s double precision NOT NULL,
    best_par        smallint,
    PRIMARY KEY (hunt_id, grain_s, at)
);

COMMENT ON TABLE hunt_samples IS 'How far each hunt was, at points in time: totals since it began, so that a missing sample loses nothing.';
COMMENT ON COLUMN hunt_samples.hunt_id IS 'The hunt.';
COMMENT ON COLUMN hunt_samples.grain_s IS 'Seconds between samples of this grain: 10 (kept for a day) or 600 (kept for a year).';
COMMENT ON COLUMN hunt_samples.at IS 'When it was taken, on the database''s clock.';
COMMENT ON COLUMN hunt_samples.n_done IS 'Jobs carried out.';
COMMENT ON COLUMN hunt_samples.n_leased IS 'Jobs that a worker held.';
COMMENT ON COLUMN hunt_samples.n_queued IS 'Jobs waiting.';
COMMENT ON COLUMN hunt_samples.n_parked IS 'Jobs that failed too often.';
COMMENT ON COLUMN hunt_samples.n_new IS 'Boards it found first.';
COMMENT ON COLUMN hunt_samples.n_known IS 'Boards it found that were known.';
COMMENT ON COLUMN hunt_samples.n_iterations IS 'Boards drawn and changes tried, by reported jobs.';
COMMENT ON COLUMN hunt_samples.n_changes IS 'Of these, changes tried (annealing).';
COMMENT ON COLUMN hunt_samples.n_accepted IS 'Changes taken (annealing).';
COMMENT ON COLUMN hunt_samples.n_clusters IS 'Clusters explored, by reported jobs.';
COMMENT ON COLUMN hunt_samples.n_positions IS 'Positions explored, by reported jobs.';
COMMENT ON COLUMN hunt_samples.n_cores IS 'Threads that work for it (threads of a worker times its leases of this hunt over its slots).';
COMMENT ON COLUMN hunt_samples.positions_per_s IS 'Positions explored a second, by the last beats.';
COMMENT ON COLUMN hunt_samples.best_par IS 'Largest par it handed in, in slides. NULL: none yet.';

CREATE TABLE worker_samples (
    worker_id       bigint      NOT NULL REFERENCES workers,
    at              timestamptz NOT NULL,
    positions_per_s double precision NOT NULL,
    n_leases        integer     NOT NULL CHECK (n_leases >= 0),
    PRIMARY KEY (worker_id, at)
);

COMMENT ON TABLE worker_samples IS 'How fast each worker was, every five minutes, kept for a week.';
COMMENT ON COLUMN worker_samples.worker_id IS 'The worker.';
COMMENT ON COLUMN worker_samples.at IS 'When it was taken, on the database''s clock.';
COMMENT ON COLUMN worker_samples.positions_per_s IS 'Positions explored a second over all its leases, by its last beats.';
COMMENT ON COLUMN worker_samples.n_leases IS 'Leases it held.';
