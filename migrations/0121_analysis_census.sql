-- Censuses for analysts.
CREATE VIEW analysis.census_coverage AS
SELECT c.hunt_id, h.name AS census, c.n_units, c.n_counted, c.n_verified, c.n_disputed, c.n_overlapping, c.missing
FROM census_coverage c
JOIN hunts h ON h.id = c.hunt_id;

COMMENT ON VIEW analysis.census_coverage IS 'How much of each census is counted. Ranges counted a second time are no coverage.';
COMMENT ON COLUMN analysis.census_coverage.hunt_id IS 'The census, a hunt.';
COMMENT ON COLUMN analysis.census_coverage.census IS 'Its name.';
COMMENT ON COLUMN analysis.census_coverage.n_units IS 'Units there are.';
COMMENT ON COLUMN analysis.census_coverage.n_counted IS 'Units counted.';
COMMENT ON COLUMN analysis.census_coverage.n_verified IS 'Of these, units counted twice with the same result.';
COMMENT ON COLUMN analysis.census_coverage.n_disputed IS 'Units counted twice with different results.';
COMMENT ON COLUMN analysis.census_coverage.n_overlapping IS 'Units in more than one range: 0 if all is well.';
COMMENT ON COLUMN analysis.census_coverage.missing IS 'Ranges of units that are not counted; {}: the census is complete.';

CREATE VIEW analysis.census_totals AS
SELECT t.hunt_id, h.name AS census, h.lot_width || 'x' || h.lot_height AS lot, t.par, t.solvable, t.minimal, t.positions,
    t.minimal_positions
FROM census_totals t
JOIN hunts h ON h.id = t.hunt_id;

COMMENT ON VIEW analysis.census_totals IS 'What each census has counted so far, by par.';
COMMENT ON COLUMN analysis.census_totals.hunt_id IS 'The census, a hunt.';
COMMENT ON COLUMN analysis.census_totals.census IS 'Its name.';
COMMENT ON COLUMN analysis.census_totals.lot IS 'Width and height in squares, e.g. 6x6.';
COMMENT ON COLUMN analysis.census_totals.par IS 'Slides.';
COMMENT ON COLUMN analysis.census_totals.solvable IS 'Clusters of this depth.';
COMMENT ON COLUMN analysis.census_totals.minimal IS 'Of these, clusters with a minimal representative.';
COMMENT ON COLUMN analysis.census_totals.positions IS 'Positions in the clusters of this depth.';
COMMENT ON COLUMN analysis.census_totals.minimal_positions IS 'Of these, positions of clusters with a minimal representative.';

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'analyst') THEN
        GRANT SELECT ON analysis.census_coverage, analysis.census_totals TO analyst;
    END IF;
END
$$;
