-- The view says its order itself: the planner then sees that a query's ORDER BY par DESC is met by reading par after par,
-- and stops at its LIMIT. (Without it, it sorted every board there is.)
CREATE OR REPLACE VIEW analysis.hardest_boards WITH (security_barrier) AS
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
LEFT JOIN LATERAL (SELECT * FROM jobs j WHERE j.id = t.job_id LIMIT 1) j ON true
ORDER BY p.par DESC;
