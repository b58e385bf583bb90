-- Progress, fairness, and word of new work from one coordinator to another.
ALTER TABLE jobs ADD COLUMN flat_beats integer NOT NULL DEFAULT 0 CHECK (flat_beats >= 0);
ALTER TABLE jobs ADD COLUMN checkpoint_by text;
COMMENT ON COLUMN jobs.flat_beats IS 'Beats in a row that told of no work since the one before; too many, and the lease is taken away.';
COMMENT ON COLUMN jobs.checkpoint IS 'Where an attempt left off, in its worker''s form; handed to that worker alone, since nobody can prove it. '
    'NULL: from the start.';
COMMENT ON COLUMN jobs.checkpoint_by IS 'Who left off there (workers.identity). NULL: nobody.';

ALTER TABLE hunts ADD COLUMN weight smallint NOT NULL DEFAULT 1 CHECK (weight BETWEEN 1 AND 1000);
COMMENT ON COLUMN hunts.weight IS 'Its share of the cores, against the other hunts of its priority.';
COMMENT ON COLUMN hunts.priority IS 'Class: the higher one is served first, but for one slot a hunt in a farm that is large enough; 0 is usual.';

-- What each running hunt has of the farm, and what it is owed: what the next job is planned for, and granted from.
CREATE VIEW hunt_shares AS
SELECT h.id AS hunt_id, h.priority, h.weight, coalesce(l.n_leased, 0) AS n_leased, coalesce(l.n_cores, 0) AS n_cores,
    coalesce(l.n_cores, 0) / h.weight AS cores_per_weight,
    sum(coalesce(l.n_cores, 0)) OVER same_class * h.weight / sum(h.weight) OVER same_class AS cores_owed,
    -- Steps of a quarter: hunts on one step are level, and the older one goes first, so that a core more or less does not
    -- move workers to and fro.
    CASE WHEN l.n_cores > 0 THEN greatest(floor(ln(l.n_cores / h.weight) / ln(1.25)), -1000)::integer ELSE -1000 END AS step,
    -- In a farm of four slots a hunt or more, each hunt has one before any has a second.
    coalesce(l.n_leased, 0) = 0 AND f.n_slots >= 4 * count(*) OVER () AS is_owed_its_first
FROM hunts h
LEFT JOIN (
    SELECT j.hunt_id, count(*) AS n_leased, sum(w.n_threads::double precision / w.n_slots) AS n_cores
    FROM jobs j
    JOIN workers w ON w.id = j.worker_id
    WHERE j.state = 'leased'
    GROUP BY j.hunt_id
) l ON l.hunt_id = h.id
CROSS JOIN (
    SELECT coalesce(sum(n_slots), 0) AS n_slots FROM workers
    WHERE gone_at IS NULL AND quarantined_at IS NULL AND directive = 'run'
) f
WHERE h.state = 'running'
WINDOW same_class AS (PARTITION BY h.priority);

COMMENT ON VIEW hunt_shares IS 'What each running hunt has of the farm''s cores, and what it is owed by its weight.';
COMMENT ON COLUMN hunt_shares.hunt_id IS 'The hunt.';
COMMENT ON COLUMN hunt_shares.priority IS 'Its class: the higher one is served first.';
COMMENT ON COLUMN hunt_shares.weight IS 'Its share, against the other hunts of its class.';
COMMENT ON COLUMN hunt_shares.n_leased IS 'Leases of its jobs, audits of them included.';
COMMENT ON COLUMN hunt_shares.n_cores IS 'Threads that work on them (threads of a worker over its slots).';
COMMENT ON COLUMN hunt_shares.cores_per_weight IS 'The hunt of its class for which this is least comes next.';
COMMENT ON COLUMN hunt_shares.cores_owed IS 'Of the cores that its class has, its share by weight.';
COMMENT ON COLUMN hunt_shares.step IS 'The logarithm of cores_per_weight to the base 1.25, rounded down; -1000: it has nothing.';
COMMENT ON COLUMN hunt_shares.is_owed_its_first IS 'It has nothing, and the farm is large enough that everybody has something.';

-- Calls that wait for work at any coordinator hear of it at once, whoever made it: a coordinator, or a command on the
-- database. The payload is always the same, so that a transaction tells of it once.
CREATE FUNCTION tell_of_work() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('parforce_work', '');
    RETURN NULL;
END
$$;

CREATE TRIGGER jobs_waiting AFTER INSERT ON jobs FOR EACH STATEMENT EXECUTE FUNCTION tell_of_work();
CREATE TRIGGER jobs_waiting_again AFTER UPDATE OF state ON jobs FOR EACH ROW
    WHEN (NEW.state = 'queued' AND OLD.state <> 'queued') EXECUTE FUNCTION tell_of_work();
CREATE TRIGGER hunts_asked_for AFTER INSERT ON hunts FOR EACH STATEMENT EXECUTE FUNCTION tell_of_work();
CREATE TRIGGER hunts_going_on AFTER UPDATE OF state ON hunts FOR EACH ROW
    WHEN (NEW.state = 'running' AND OLD.state <> 'running') EXECUTE FUNCTION tell_of_work();
