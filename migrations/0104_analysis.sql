-- What analysts see: the schema analysis, and a role that sees nothing else.
--
-- Boards that are secret today (reserved for a challenge to come) are in none of these views; counts include them, for a
-- count tells nothing. The views run with their owner's rights and those over boards are security barriers: no condition
-- of a query is tried on a secret board.
CREATE SCHEMA analysis;
COMMENT ON SCHEMA analysis IS 'Views for analysts, documented in docs/analysts.md. Stable: columns are added, not changed.';

CREATE VIEW analysis.boards WITH (security_barrier) AS
SELECT b.par, b.canonical, b.lot_width, b.lot_height, b.exit_row, b.n_vehicles, b.n_walls, b.n_states, b.minimal, b.batch_id
FROM boards b
WHERE NOT EXISTS (SELECT FROM secret_boards s WHERE s.par = b.par AND s.canonical = b.canonical);

COMMENT ON VIEW analysis.boards IS 'Boards. Name the par in WHERE: each par is a partition, and the others are then not read.';
COMMENT ON COLUMN analysis.boards.par IS 'Slides.';
COMMENT ON COLUMN analysis.boards.canonical IS 'Canonical spelling.';
COMMENT ON COLUMN analysis.boards.lot_width IS 'Squares.';
COMMENT ON COLUMN analysis.boards.lot_height IS 'Squares.';
COMMENT ON COLUMN analysis.boards.exit_row IS 'The hero''s row, counted from 0 at the top.';
COMMENT ON COLUMN analysis.boards.n_vehicles IS 'Vehicles, hero included.';
COMMENT ON COLUMN analysis.boards.n_walls IS 'Walls.';
COMMENT ON COLUMN analysis.boards.n_states IS 'Positions in the cluster.';
COMMENT ON COLUMN analysis.boards.minimal IS 'No vehicle or wall is superfluous. NULL: not examined.';
COMMENT ON COLUMN analysis.boards.batch_id IS 'The batch that brought it first; see analysis.batches.';

CREATE VIEW analysis.tallies AS
SELECT lot_width || 'x' || lot_height AS lot, exit_row, n_walls, n_vehicles, par, n_boards, n_minimal, n_states
FROM board_tallies;

COMMENT ON VIEW analysis.tallies IS 'How many boards there are of each kind. Kept with every insert: exact, instant at any size.';
COMMENT ON COLUMN analysis.tallies.lot IS 'Width and height in squares, e.g. 6x6.';
COMMENT ON COLUMN analysis.tallies.exit_row IS 'The hero''s row, counted from 0 at the top.';
COMMENT ON COLUMN analysis.tallies.n_walls IS 'Walls.';
COMMENT ON COLUMN analysis.tallies.n_vehicles IS 'Vehicles, hero included.';
COMMENT ON COLUMN analysis.tallies.par IS 'Slides.';
COMMENT ON COLUMN analysis.tallies.n_boards IS 'Boards.';
COMMENT ON COLUMN analysis.tallies.n_minimal IS 'Of these, boards known to be minimal.';
COMMENT ON COLUMN analysis.tallies.n_states IS 'Positions in their clusters, summed.';

CREATE VIEW analysis.par_distribution AS
SELECT lot, par, sum(n_boards)::bigint AS n_boards, sum(n_minimal)::bigint AS n_minimal
FROM analysis.tallies
GROUP BY lot, par;

COMMENT ON VIEW analysis.par_distribution IS 'How many boards of each par there are, by lot.';
COMMENT ON COLUMN analysis.par_distribution.lot IS 'Width and height in squares, e.g. 6x6.';
COMMENT ON COLUMN analysis.par_distribution.par IS 'Slides.';
COMMENT ON COLUMN analysis.par_distribution.n_boards IS 'Boards.';
COMMENT ON COLUMN analysis.par_distribution.n_minimal IS 'Of these, boards known to be minimal.';

CREATE VIEW analysis.par_by_hunt AS
SELECT t.hunt_id, coalesce(h.name, 'imported') AS hunt, h.strategy, t.par, t.n_boards
FROM hunt_tallies t
LEFT JOIN hunts h ON h.id = t.hunt_id;

COMMENT ON VIEW analysis.par_by_hunt IS 'How many boards each hunt found first, by par.';
COMMENT ON COLUMN analysis.par_by_hunt.hunt_id IS 'The hunt; 0: imported.';
COMMENT ON COLUMN analysis.par_by_hunt.hunt IS 'Its name.';
COMMENT ON COLUMN analysis.par_by_hunt.strategy IS 'Kinds of job it is cut into. NULL: imported.';
COMMENT ON COLUMN analysis.par_by_hunt.par IS 'Slides.';
COMMENT ON COLUMN analysis.par_by_hunt.n_boards IS 'Boards that it found first.';

-- Par by par from the top, so that LIMIT stops early: one order over all partitions would sort every board there is.
CREATE VIEW analysis.hardest_boards WITH (security_barrier) AS
SELECT p.par, b.canonical, b.lot_width || 'x' || b.lot_height AS lot, b.n_vehicles, b.n_walls, b.n_states, b.minimal,
    t.stored_at AS found_at, j.hunt_id, t.job_id, t.source
FROM (SELECT DISTINCT par FROM board_tallies ORDER BY par DESC) p
CROSS JOIN LATERAL (
    SELECT *
    FROM boards b
    WHERE b.par = p.par
        AND NOT EXISTS (SELECT FROM secret_boards s WHERE s.par = b.par AND s.canonical = b.canonical)
    ORDER BY b.canonical
) b
LEFT JOIN LATERAL (SELECT * FROM batches t WHERE t.id = b.batch_id LIMIT 1) t ON true
LEFT JOIN LATERAL (SELECT * FROM jobs j WHERE j.id = t.job_id LIMIT 1) j ON true;

COMMENT ON VIEW analysis.hardest_boards IS 'Boards, hardest first. Ask with LIMIT; with ORDER BY par DESC it stays fast.';
COMMENT ON COLUMN analysis.hardest_boards.par IS 'Slides.';
COMMENT ON COLUMN analysis.hardest_boards.canonical IS 'Canonical spelling.';
COMMENT ON COLUMN analysis.hardest_boards.lot IS 'Width and height in squares, e.g. 6x6.';
COMMENT ON COLUMN analysis.hardest_boards.n_vehicles IS 'Vehicles, hero included.';
COMMENT ON COLUMN analysis.hardest_boards.n_walls IS 'Walls.';
COMMENT ON COLUMN analysis.hardest_boards.n_states IS 'Positions in the cluster.';
COMMENT ON COLUMN analysis.hardest_boards.minimal IS 'No vehicle or wall is superfluous. NULL: not examined.';
COMMENT ON COLUMN analysis.hardest_boards.found_at IS 'When it was stored first.';
COMMENT ON COLUMN analysis.hardest_boards.hunt_id IS 'The hunt that found it first. NULL: imported.';
COMMENT ON COLUMN analysis.hardest_boards.job_id IS 'The job that found it first. NULL: imported.';
COMMENT ON COLUMN analysis.hardest_boards.source IS 'What it was imported from. NULL: found by a job.';

CREATE VIEW analysis.hunts AS
SELECT h.id AS hunt_id, h.name, h.lot_width || 'x' || h.lot_height AS lot, h.strategy, h.state, h.created_at, h.ended_at
FROM hunts h;

COMMENT ON VIEW analysis.hunts IS 'Hunts.';
COMMENT ON COLUMN analysis.hunts.hunt_id IS 'Number.';
COMMENT ON COLUMN analysis.hunts.name IS 'Label.';
COMMENT ON COLUMN analysis.hunts.lot IS 'Width and height in squares, e.g. 6x6.';
COMMENT ON COLUMN analysis.hunts.strategy IS 'Kinds of job it is cut into; mixed: scatter and anneal.';
COMMENT ON COLUMN analysis.hunts.state IS 'running, paused, done, cancelled.';
COMMENT ON COLUMN analysis.hunts.created_at IS 'When it was first asked for.';
COMMENT ON COLUMN analysis.hunts.ended_at IS 'When it was over. NULL: it is not.';

CREATE VIEW analysis.batches AS
SELECT t.id AS batch_id, t.stored_at, j.hunt_id, j.kind, t.job_id, t.source, t.n_inserted, t.n_duplicate
FROM batches t
LEFT JOIN jobs j ON j.id = t.job_id;

COMMENT ON VIEW analysis.batches IS 'Boards handed in together: by whom, when, how many were new.';
COMMENT ON COLUMN analysis.batches.batch_id IS 'Number.';
COMMENT ON COLUMN analysis.batches.stored_at IS 'When: the time of discovery of its new boards.';
COMMENT ON COLUMN analysis.batches.hunt_id IS 'The hunt. NULL: an import.';
COMMENT ON COLUMN analysis.batches.kind IS 'Kind of the job. NULL: an import.';
COMMENT ON COLUMN analysis.batches.job_id IS 'The job. NULL: an import.';
COMMENT ON COLUMN analysis.batches.source IS 'What was imported. NULL: not an import.';
COMMENT ON COLUMN analysis.batches.n_inserted IS 'Boards that nobody had found before.';
COMMENT ON COLUMN analysis.batches.n_duplicate IS 'Boards that were known, or stood in the batch twice.';

CREATE VIEW analysis.discovery_curve AS
SELECT date_trunc('minute', stored_at) AS minute, sum(n_inserted)::bigint AS n_new, sum(n_duplicate)::bigint AS n_known,
    sum(sum(n_inserted)) OVER (ORDER BY date_trunc('minute', stored_at))::bigint AS n_boards
FROM batches
GROUP BY date_trunc('minute', stored_at);

COMMENT ON VIEW analysis.discovery_curve IS 'New and known boards handed in, by the minute; minutes without any are left out.';
COMMENT ON COLUMN analysis.discovery_curve.minute IS 'When, cut to the minute.';
COMMENT ON COLUMN analysis.discovery_curve.n_new IS 'Boards that nobody had found before.';
COMMENT ON COLUMN analysis.discovery_curve.n_known IS 'Boards that were known.';
COMMENT ON COLUMN analysis.discovery_curve.n_boards IS 'Boards known by then.';

CREATE VIEW analysis.yield_by_strategy AS
SELECT kind, count(*) FILTER (WHERE state = 'done') AS n_jobs, sum(n_new)::bigint AS n_new, sum(n_known)::bigint AS n_known,
    sum(n_clusters)::bigint AS n_clusters, sum(n_positions)::bigint AS n_positions, max(best_par) AS best_par,
    round(sum(n_new)::numeric * 1000000 / nullif(sum(n_positions), 0), 1) AS new_per_million_positions
FROM jobs
GROUP BY kind;

COMMENT ON VIEW analysis.yield_by_strategy IS 'What each kind of job brought for what it explored, by reported jobs.';
COMMENT ON COLUMN analysis.yield_by_strategy.kind IS 'scatter, anneal, census, audit, siren.';
COMMENT ON COLUMN analysis.yield_by_strategy.n_jobs IS 'Jobs carried out.';
COMMENT ON COLUMN analysis.yield_by_strategy.n_new IS 'Boards that nobody had found before.';
COMMENT ON COLUMN analysis.yield_by_strategy.n_known IS 'Boards handed in that were known.';
COMMENT ON COLUMN analysis.yield_by_strategy.n_clusters IS 'Clusters explored.';
COMMENT ON COLUMN analysis.yield_by_strategy.n_positions IS 'Positions explored.';
COMMENT ON COLUMN analysis.yield_by_strategy.best_par IS 'Largest par handed in, in slides. NULL: none.';
COMMENT ON COLUMN analysis.yield_by_strategy.new_per_million_positions IS 'New boards for a million positions explored. NULL: none explored.';

CREATE VIEW analysis.duplicates AS
SELECT coalesce(h.name, 'imported') AS hunt, j.kind, sum(t.n_inserted)::bigint AS n_new, sum(t.n_duplicate)::bigint AS n_known,
    round(100.0 * sum(t.n_duplicate) / nullif(sum(t.n_inserted + t.n_duplicate), 0), 1) AS known_percent
FROM batches t
LEFT JOIN jobs j ON j.id = t.job_id
LEFT JOIN hunts h ON h.id = j.hunt_id
GROUP BY coalesce(h.name, 'imported'), j.kind;

COMMENT ON VIEW analysis.duplicates IS 'How much of what was handed in was known, by hunt and kind of job.';
COMMENT ON COLUMN analysis.duplicates.hunt IS 'The hunt''s name.';
COMMENT ON COLUMN analysis.duplicates.kind IS 'Kind of job. NULL: imports.';
COMMENT ON COLUMN analysis.duplicates.n_new IS 'Boards that nobody had found before.';
COMMENT ON COLUMN analysis.duplicates.n_known IS 'Boards that were known, or stood in a batch twice.';
COMMENT ON COLUMN analysis.duplicates.known_percent IS 'Share of the known ones, percent. NULL: nothing was handed in.';

CREATE VIEW analysis.recall AS
SELECT r.lot_width || 'x' || r.lot_height AS lot, r.n_walls, r.par, r.n_minimal AS n_there_are,
    coalesce(t.n_minimal, 0) AS n_found, round(100.0 * coalesce(t.n_minimal, 0) / r.n_minimal, 1) AS found_percent
FROM reference_counts r
LEFT JOIN (
    SELECT lot_width, lot_height, exit_row, n_walls, par, sum(n_minimal)::bigint AS n_minimal
    FROM board_tallies
    GROUP BY lot_width, lot_height, exit_row, n_walls, par
) t USING (lot_width, lot_height, exit_row, n_walls, par);

COMMENT ON VIEW analysis.recall IS 'Minimal boards known against all there are, where a complete enumeration is published. It counts boards with '
    'the hero alone in its row and no full lane; a hunt without these limits can have more.';
COMMENT ON COLUMN analysis.recall.lot IS 'Width and height in squares, e.g. 6x6.';
COMMENT ON COLUMN analysis.recall.n_walls IS 'Walls.';
COMMENT ON COLUMN analysis.recall.par IS 'Slides.';
COMMENT ON COLUMN analysis.recall.n_there_are IS 'Minimal boards by the enumeration.';
COMMENT ON COLUMN analysis.recall.n_found IS 'Minimal boards in the database.';
COMMENT ON COLUMN analysis.recall.found_percent IS 'n_found as a share of n_there_are, percent.';

CREATE VIEW analysis.difficulty WITH (security_barrier) AS
SELECT d.par, d.canonical, d.n_solutions, round(d.n_way_slides::numeric / nullif(d.n_way_positions, 0), 2) AS branching,
    round(d.n_right_slides::numeric / nullif(d.n_way_slides, 0), 3) AS right_share, d.n_against, d.n_movers, d.n_repeat_movers,
    round(d.n_dead_ends::numeric / nullif(d.n_unsolved, 0), 3) AS dead_end_share, round(d.luck_tenths / 10.0, 1) AS luck_bits
FROM board_difficulty d
WHERE NOT EXISTS (SELECT FROM secret_boards s WHERE s.par = d.par AND s.canonical = d.canonical);

COMMENT ON VIEW analysis.difficulty IS 'What makes a board hard for people, for the boards that were measured.';
COMMENT ON COLUMN analysis.difficulty.par IS 'Slides.';
COMMENT ON COLUMN analysis.difficulty.canonical IS 'Canonical spelling.';
COMMENT ON COLUMN analysis.difficulty.n_solutions IS 'Shortest solutions; 2^63 - 1: as many or more.';
COMMENT ON COLUMN analysis.difficulty.branching IS 'Slides possible at a position on a shortest solution, on average.';
COMMENT ON COLUMN analysis.difficulty.right_share IS 'Share of these that stay on a shortest solution.';
COMMENT ON COLUMN analysis.difficulty.n_against IS 'Fewest slides against intuition.';
COMMENT ON COLUMN analysis.difficulty.n_movers IS 'Vehicles that have to slide.';
COMMENT ON COLUMN analysis.difficulty.n_repeat_movers IS 'Vehicles that have to slide twice or more.';
COMMENT ON COLUMN analysis.difficulty.dead_end_share IS 'Share of the unsolved positions from which no slide leads farther away.';
COMMENT ON COLUMN analysis.difficulty.luck_bits IS 'How unlikely random slides are to solve the board in par, in bits (coin tosses).';

CREATE VIEW analysis.challenges AS
SELECT day, par, canonical, reserved_at, revealed_at
FROM challenges
WHERE day <= (now() AT TIME ZONE 'UTC')::date OR revealed_at IS NOT NULL;

COMMENT ON VIEW analysis.challenges IS 'Challenges of today and of days past, and those revealed before their day.';
COMMENT ON COLUMN analysis.challenges.day IS 'The day, in UTC.';
COMMENT ON COLUMN analysis.challenges.par IS 'Slides.';
COMMENT ON COLUMN analysis.challenges.canonical IS 'Canonical spelling.';
COMMENT ON COLUMN analysis.challenges.reserved_at IS 'When it was set aside.';
COMMENT ON COLUMN analysis.challenges.revealed_at IS 'When it was made known before its day. NULL: it was not.';

CREATE VIEW analysis.storage AS
SELECT sum(t.n_boards)::bigint AS n_boards, sum(pg_relation_size(c.oid))::bigint AS heap_bytes,
    sum(pg_indexes_size(c.oid))::bigint AS index_bytes,
    round(sum(pg_relation_size(c.oid) + pg_indexes_size(c.oid)) / nullif(sum(t.n_boards), 0), 1) AS bytes_per_board
FROM pg_inherits i
JOIN pg_class c ON c.oid = i.inhrelid
LEFT JOIN (SELECT par, sum(n_boards) AS n_boards FROM board_tallies GROUP BY par) t
    ON c.relname = 'boards_par_' || lpad(t.par::text, 2, '0')
WHERE i.inhparent = 'boards'::regclass;

COMMENT ON VIEW analysis.storage IS 'Bytes on disk of the boards and their indexes.';
COMMENT ON COLUMN analysis.storage.n_boards IS 'Boards.';
COMMENT ON COLUMN analysis.storage.heap_bytes IS 'Bytes of the rows.';
COMMENT ON COLUMN analysis.storage.index_bytes IS 'Bytes of the indexes.';
COMMENT ON COLUMN analysis.storage.bytes_per_board IS 'Both, by board. NULL: there are none.';

-- A uniform sample without reading the partition: places (page, line) are drawn at random, and those that hold no row
-- are drawn again. Small partitions are read whole.
CREATE FUNCTION analysis.random_boards(of_par integer, n integer) RETURNS TABLE (par smallint, canonical text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    -- The shortest row with its line pointer: a page of 8 KiB has at most this many lines.
    lines_a_page CONSTANT integer := 100;
    part CONSTANT text := 'boards_par_' || lpad(of_par::text, 2, '0');
    n_boards bigint;
    n_pages bigint;
BEGIN
    IF n NOT BETWEEN 1 AND 10000 THEN
        RAISE 'a sample of % boards, expected 1 to 10000', n;
    END IF;
    SELECT coalesce(sum(t.n_boards), 0) INTO n_boards FROM board_tallies t WHERE t.par = of_par;
    IF n_boards = 0 OR of_par NOT BETWEEN 0 AND 99 THEN
        RETURN;
    END IF;
    IF n_boards < 20000 OR n * 10 > n_boards THEN
        RETURN QUERY EXECUTE format(
            'SELECT b.par, b.canonical FROM %I b WHERE NOT EXISTS (SELECT FROM secret_boards s '
            'WHERE s.par = b.par AND s.canonical = b.canonical) ORDER BY random() LIMIT $1', part) USING n;
        RETURN;
    END IF;
    n_pages := pg_relation_size(part::regclass) / 8192;
    RETURN QUERY EXECUTE format(
        'WITH places AS MATERIALIZED (SELECT DISTINCT (format(''(%%s,%%s)'', floor(random() * $2)::bigint, '
        '1 + floor(random() * $3)::integer))::tid AS place FROM generate_series(1, $1 * 4 + 200)) '
        'SELECT b.par, b.canonical FROM %I b WHERE b.ctid = ANY (ARRAY(SELECT place FROM places)) '
        'AND NOT EXISTS (SELECT FROM secret_boards s WHERE s.par = b.par AND s.canonical = b.canonical) '
        'ORDER BY random() LIMIT $1', part) USING n, n_pages, lines_a_page;
END
$$;
COMMENT ON FUNCTION analysis.random_boards IS 'A uniform random sample of boards of one par, without reading all of them; at most n, 10,000 in one call.';

-- The role. Roles belong to the whole server, so it may be there already, or somebody may be making it at this moment;
-- where roles may not be made, analysts are given the schema by hand (docs/analysts.md).
DO $$
BEGIN
    BEGIN
        CREATE ROLE analyst LOGIN CONNECTION LIMIT 20;
        ALTER ROLE analyst SET default_transaction_read_only = on;
        ALTER ROLE analyst SET statement_timeout = '60s';
        ALTER ROLE analyst SET idle_in_transaction_session_timeout = '10min';
        ALTER ROLE analyst SET search_path = analysis;
    EXCEPTION
        WHEN duplicate_object OR unique_violation THEN NULL;
        WHEN insufficient_privilege THEN RAISE NOTICE 'no right to create the role analyst: see docs/analysts.md';
    END;
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'analyst') THEN
        GRANT USAGE ON SCHEMA analysis TO analyst;
        GRANT SELECT ON ALL TABLES IN SCHEMA analysis TO analyst;
        REVOKE EXECUTE ON FUNCTION analysis.random_boards FROM PUBLIC;
        GRANT EXECUTE ON FUNCTION analysis.random_boards TO analyst;
        ALTER DEFAULT PRIVILEGES IN SCHEMA analysis GRANT SELECT ON TABLES TO analyst;
    END IF;
END
$$;
