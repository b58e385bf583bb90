-- The hardest boards, fast at any size: a statement over all partitions has each of them planned before the first row
-- comes, some milliseconds each; a function that names the par has one.
CREATE FUNCTION analysis.boards_of_par(of_par integer, n_skipped integer, n_most integer)
RETURNS TABLE (par smallint, canonical text, lot_width smallint, lot_height smallint, exit_row smallint,
    n_vehicles smallint, n_walls smallint, n_states bigint, minimal boolean, batch_id bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT b.par, b.canonical, b.lot_width, b.lot_height, b.exit_row, b.n_vehicles, b.n_walls, b.n_states, b.minimal, '
        'b.batch_id FROM boards b WHERE b.par = %s AND NOT EXISTS (SELECT FROM secret_boards s '
        'WHERE s.par = b.par AND s.canonical = b.canonical) ORDER BY b.canonical OFFSET %s LIMIT %s',
        of_par, n_skipped, coalesce(n_most::text, 'ALL'));
END
$$;
COMMENT ON FUNCTION analysis.boards_of_par IS 'Boards of one par by spelling, but for those that are secret today: past the '
    'first n_skipped, n_most of them; NULL: all.';

CREATE OR REPLACE VIEW analysis.hardest_boards WITH (security_barrier) AS
SELECT p.par, b.canonical COLLATE "C" AS canonical, b.lot_width || 'x' || b.lot_height AS lot, b.n_vehicles, b.n_walls,
    b.n_states, b.minimal, t.stored_at AS found_at, j.hunt_id, t.job_id, t.source
FROM (SELECT par, sum(n_boards) AS n_boards FROM board_tallies GROUP BY par ORDER BY par DESC) p
-- A function's rows are gathered before the first is handed on, so they are asked for in parts: who wants ten boards of a
-- par has a thousand read, not millions.
JOIN (VALUES (0, 1000), (1000, 30000), (31000, NULL)) part (n_skipped, n_most) ON part.n_skipped < p.n_boards
CROSS JOIN LATERAL analysis.boards_of_par(p.par, part.n_skipped, part.n_most) b
LEFT JOIN LATERAL (SELECT * FROM batches t WHERE t.id = b.batch_id LIMIT 1) t ON true
LEFT JOIN LATERAL (SELECT * FROM jobs j WHERE j.id = t.job_id LIMIT 1) j ON true
ORDER BY p.par DESC;

-- The same for whoever reads the tables: it sorted every board there is, and showed secret ones.
CREATE OR REPLACE VIEW hardest_boards AS
SELECT par, canonical, lot, n_vehicles, n_walls, n_states, minimal, found_at, job_id
FROM analysis.hardest_boards;

CREATE OR REPLACE VIEW discoveries AS
SELECT b.par, b.canonical, t.stored_at AS found_at, j.hunt_id, t.job_id, t.token, w.name AS worker, t.source
FROM boards b
LEFT JOIN batches t ON t.id = b.batch_id
LEFT JOIN jobs j ON j.id = t.job_id
LEFT JOIN workers w ON w.id = t.worker_id
WHERE NOT EXISTS (SELECT FROM secret_boards s WHERE s.par = b.par AND s.canonical = b.canonical);
