-- Jams for analysts.
CREATE VIEW analysis.campaigns AS
SELECT c.hunt_id, h.name AS campaign, h.state, c.n_levels,
    (SELECT count(*) FROM jobs j WHERE j.hunt_id = c.hunt_id AND j.state = 'done') AS n_done,
    (SELECT count(*) FROM campaign_levels l WHERE l.hunt_id = c.hunt_id AND l.chosen_seed IS NOT NULL) AS n_chosen,
    (SELECT count(*) FROM jam_finds f WHERE f.hunt_id = c.hunt_id) AS n_finds,
    h.created_at, h.ended_at
FROM campaigns c
JOIN hunts h ON h.id = c.hunt_id;

COMMENT ON VIEW analysis.campaigns IS 'Campaigns of Siren Jam.';
COMMENT ON COLUMN analysis.campaigns.hunt_id IS 'The campaign, a hunt.';
COMMENT ON COLUMN analysis.campaigns.campaign IS 'Its name.';
COMMENT ON COLUMN analysis.campaigns.state IS 'running, paused, done, cancelled.';
COMMENT ON COLUMN analysis.campaigns.n_levels IS 'Levels of its plan.';
COMMENT ON COLUMN analysis.campaigns.n_done IS 'Levels all of whose seeds were tried.';
COMMENT ON COLUMN analysis.campaigns.n_chosen IS 'Levels that were chosen.';
COMMENT ON COLUMN analysis.campaigns.n_finds IS 'Seeds that gave a level.';
COMMENT ON COLUMN analysis.campaigns.created_at IS 'When it was first asked for.';
COMMENT ON COLUMN analysis.campaigns.ended_at IS 'When it was over. NULL: it is not.';

CREATE VIEW analysis.jams AS
SELECT f.par, f.canonical, j.lot_width || 'x' || j.lot_height AS lot, j.n_vehicles, j.chain_depth, j.n_locked,
    j.fullness_percent, j.forward_cost, j.reverse_cost, abs(j.forward_cost - j.reverse_cost) AS gap, j.n_swaps, j.lowers_bridge,
    j.n_lights, j.n_wrecks, j.n_barricades, j.n_planters,
    f.hunt_id, h.name AS campaign, l.world_number, l.world, l.level,
    CASE WHEN f.seed < 0 THEN f.seed + 18446744073709551616::numeric ELSE f.seed END AS seed,
    f.score_misses, f.score_merit, coalesce(l.chosen_seed = f.seed, false) AS is_chosen,
    round(f.difficulty_hundredths / 100.0, 2) AS difficulty, round(f.time_tenths / 10.0, 1) AS time_s,
    f.three_stars_s, f.two_stars_s, f.level AS level_file, t.job_id, t.stored_at AS found_at, w.name AS worker
FROM jam_finds f
JOIN jams j ON j.par = f.par AND j.canonical = f.canonical
JOIN campaign_levels l ON l.hunt_id = f.hunt_id AND l.number = f.number
JOIN hunts h ON h.id = f.hunt_id
JOIN batches t ON t.id = f.batch_id
LEFT JOIN workers w ON w.id = t.worker_id;

COMMENT ON VIEW analysis.jams IS 'Jams: a row for each seed of a campaign''s level that gave one. A jam that several seeds gave has one canonical '
    'spelling. Name the par in WHERE where you can: each par is a partition.';
COMMENT ON COLUMN analysis.jams.par IS 'Fewest moves until one of the two lanes is clear.';
COMMENT ON COLUMN analysis.jams.canonical IS 'Canonical spelling: the same for all that are the same up to turning and mirroring.';
COMMENT ON COLUMN analysis.jams.lot IS 'Width and height in squares as the canonical spelling lies, e.g. 9x12.';
COMMENT ON COLUMN analysis.jams.n_vehicles IS 'Vehicles that can drive, the unit not counted.';
COMMENT ON COLUMN analysis.jams.chain_depth IS 'Layers of blockers in the optimum''s closure.';
COMMENT ON COLUMN analysis.jams.n_locked IS 'Pieces of that closure that others lock in at the start.';
COMMENT ON COLUMN analysis.jams.fullness_percent IS 'Squares taken, in percent, rounded down.';
COMMENT ON COLUMN analysis.jams.forward_cost IS 'Fewest moves until the lane ahead is clear.';
COMMENT ON COLUMN analysis.jams.reverse_cost IS 'Fewest moves until the lane behind is clear.';
COMMENT ON COLUMN analysis.jams.gap IS 'Moves by which the dearer escape is dearer.';
COMMENT ON COLUMN analysis.jams.n_swaps IS 'Light swaps of the optimum.';
COMMENT ON COLUMN analysis.jams.lowers_bridge IS 'The optimum lowers the drawbridge.';
COMMENT ON COLUMN analysis.jams.n_lights IS 'Traffic lights.';
COMMENT ON COLUMN analysis.jams.n_wrecks IS 'Wrecks.';
COMMENT ON COLUMN analysis.jams.n_barricades IS 'Barricades.';
COMMENT ON COLUMN analysis.jams.n_planters IS 'Planters.';
COMMENT ON COLUMN analysis.jams.hunt_id IS 'The campaign, a hunt.';
COMMENT ON COLUMN analysis.jams.campaign IS 'Its name.';
COMMENT ON COLUMN analysis.jams.world_number IS 'The world, from 1.';
COMMENT ON COLUMN analysis.jams.world IS 'The world''s name.';
COMMENT ON COLUMN analysis.jams.level IS 'The level in the world, from 1.';
COMMENT ON COLUMN analysis.jams.seed IS 'The seed, 64 bits without sign.';
COMMENT ON COLUMN analysis.jams.score_misses IS 'Weighted distance from the plan''s ranges; 0: every range is met.';
COMMENT ON COLUMN analysis.jams.score_merit IS 'Of jams that meet their ranges alike the one with more is better.';
COMMENT ON COLUMN analysis.jams.is_chosen IS 'It is the level of the campaign.';
COMMENT ON COLUMN analysis.jams.difficulty IS 'From 1 to 10 (docs/siren.md, section 7).';
COMMENT ON COLUMN analysis.jams.time_s IS 'A player''s time by the rating, in seconds.';
COMMENT ON COLUMN analysis.jams.three_stars_s IS 'Three stars up to here, in seconds.';
COMMENT ON COLUMN analysis.jams.two_stars_s IS 'Two stars up to here, in seconds.';
COMMENT ON COLUMN analysis.jams.level_file IS 'The jam as a level file, without name and limits.';
COMMENT ON COLUMN analysis.jams.job_id IS 'The job that found it; replay it to find it again.';
COMMENT ON COLUMN analysis.jams.found_at IS 'When it was stored.';
COMMENT ON COLUMN analysis.jams.worker IS 'The worker''s label.';

-- The curve of boards: jams are none.
CREATE OR REPLACE VIEW analysis.discovery_curve AS
SELECT date_trunc('minute', stored_at) AS minute, sum(n_inserted)::bigint AS n_new, sum(n_duplicate)::bigint AS n_known,
    sum(sum(n_inserted)) OVER (ORDER BY date_trunc('minute', stored_at))::bigint AS n_boards
FROM batches t
WHERE NOT EXISTS (SELECT FROM jobs j WHERE j.id = t.job_id AND j.kind = 'siren')
GROUP BY date_trunc('minute', stored_at);

COMMENT ON COLUMN analysis.hunts.lot IS 'Width and height in squares, e.g. 6x6. NULL: a campaign of Siren Jam.';
COMMENT ON COLUMN analysis.hunts.strategy IS 'Kinds of job it is cut into; mixed: scatter and anneal; siren: levels of Siren Jam.';
COMMENT ON VIEW analysis.batches IS 'Boards, or jams (kind siren), handed in together: by whom, when, how many were new.';
COMMENT ON COLUMN analysis.yield_by_strategy.n_new IS 'Boards that nobody had found before; of siren, jams.';
COMMENT ON COLUMN analysis.yield_by_strategy.best_par IS 'Largest par handed in, in slides; of siren, in moves. NULL: none.';

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'analyst') THEN
        GRANT SELECT ON analysis.campaigns, analysis.jams TO analyst;
    END IF;
END
$$;
