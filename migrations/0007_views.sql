-- Views for analysts.
CREATE VIEW par_distribution AS
SELECT lot_width || 'x' || lot_height AS lot, par, sum(n_boards)::bigint AS n_boards
FROM board_counts
GROUP BY lot_width, lot_height, par
ORDER BY lot_width, lot_height, par;

COMMENT ON VIEW par_distribution IS 'How many boards of each par there are, by lot. From kept counts: instant at any size.';
COMMENT ON COLUMN par_distribution.lot IS 'Width and height in squares, e.g. 6x6.';
COMMENT ON COLUMN par_distribution.par IS 'Slides.';
COMMENT ON COLUMN par_distribution.n_boards IS 'Boards.';

CREATE VIEW discoveries AS
SELECT b.par, b.canonical, t.stored_at AS found_at, j.hunt_id, t.job_id, t.token, w.name AS worker, t.source
FROM boards b
LEFT JOIN batches t ON t.id = b.batch_id
LEFT JOIN jobs j ON j.id = t.job_id
LEFT JOIN workers w ON w.id = t.worker_id;

COMMENT ON VIEW discoveries IS 'Which job found which board first, and when. Filter by par: each par is a partition.';
COMMENT ON COLUMN discoveries.par IS 'Slides.';
COMMENT ON COLUMN discoveries.canonical IS 'Canonical spelling.';
COMMENT ON COLUMN discoveries.found_at IS 'When it was stored first.';
COMMENT ON COLUMN discoveries.hunt_id IS 'The hunt. NULL: imported.';
COMMENT ON COLUMN discoveries.job_id IS 'The job; replay it to find the board again. NULL: imported.';
COMMENT ON COLUMN discoveries.token IS 'Which attempt at the job. NULL: imported.';
COMMENT ON COLUMN discoveries.worker IS 'The worker''s label. NULL: imported.';
COMMENT ON COLUMN discoveries.source IS 'What it was imported from. NULL: found by a job.';

CREATE VIEW hardest_boards AS
SELECT b.par, b.canonical, b.lot_width || 'x' || b.lot_height AS lot, b.n_vehicles, b.n_walls, b.n_states, b.minimal,
    t.stored_at AS found_at, t.job_id
FROM boards b
LEFT JOIN batches t ON t.id = b.batch_id
ORDER BY b.par DESC, b.canonical DESC;

COMMENT ON VIEW hardest_boards IS 'Boards, hardest first. Ask with LIMIT.';
COMMENT ON COLUMN hardest_boards.par IS 'Slides.';
COMMENT ON COLUMN hardest_boards.canonical IS 'Canonical spelling.';
COMMENT ON COLUMN hardest_boards.lot IS 'Width and height in squares, e.g. 6x6.';
COMMENT ON COLUMN hardest_boards.n_vehicles IS 'Vehicles, hero included.';
COMMENT ON COLUMN hardest_boards.n_walls IS 'Walls.';
COMMENT ON COLUMN hardest_boards.n_states IS 'Positions in the cluster.';
COMMENT ON COLUMN hardest_boards.minimal IS 'No vehicle or wall is superfluous. NULL: not examined.';
COMMENT ON COLUMN hardest_boards.found_at IS 'When it was stored first.';
COMMENT ON COLUMN hardest_boards.job_id IS 'The job that found it first. NULL: imported.';

CREATE VIEW hunt_progress AS
SELECT h.id AS hunt_id, h.name, h.state,
    count(j.id) FILTER (WHERE j.state = 'done') AS jobs_done,
    count(j.id) FILTER (WHERE j.state = 'leased') AS jobs_leased,
    count(j.id) FILTER (WHERE j.state = 'queued') AS jobs_queued,
    count(j.id) FILTER (WHERE j.state = 'parked') AS jobs_parked,
    coalesce(sum(j.n_new), 0)::bigint AS boards_new,
    coalesce(sum(j.n_known), 0)::bigint AS boards_known,
    coalesce(sum(j.n_clusters), 0)::bigint AS clusters,
    coalesce(sum(j.n_positions), 0)::bigint AS positions,
    coalesce(sum(j.rate) FILTER (WHERE j.state = 'leased'), 0) AS positions_per_s,
    max(j.best_par) AS best_par
FROM hunts h
LEFT JOIN jobs j ON j.hunt_id = h.id
GROUP BY h.id;

COMMENT ON VIEW hunt_progress IS 'How far each hunt is.';
COMMENT ON COLUMN hunt_progress.hunt_id IS 'The hunt.';
COMMENT ON COLUMN hunt_progress.name IS 'Its label.';
COMMENT ON COLUMN hunt_progress.state IS 'running, paused, done, cancelled.';
COMMENT ON COLUMN hunt_progress.jobs_done IS 'Jobs carried out.';
COMMENT ON COLUMN hunt_progress.jobs_leased IS 'Jobs that a worker holds.';
COMMENT ON COLUMN hunt_progress.jobs_queued IS 'Jobs waiting.';
COMMENT ON COLUMN hunt_progress.jobs_parked IS 'Jobs that failed too often.';
COMMENT ON COLUMN hunt_progress.boards_new IS 'Boards it found first.';
COMMENT ON COLUMN hunt_progress.boards_known IS 'Boards it found that were known.';
COMMENT ON COLUMN hunt_progress.clusters IS 'Clusters explored by its jobs, once they have reported.';
COMMENT ON COLUMN hunt_progress.positions IS 'Positions explored by its jobs, once they have reported.';
COMMENT ON COLUMN hunt_progress.positions_per_s IS 'Positions explored a second, by the last beats of the running jobs.';
COMMENT ON COLUMN hunt_progress.best_par IS 'Largest par it handed in, in slides. NULL: none yet.';
