-- What the columns of the census' views are.
COMMENT ON COLUMN census_coverage.hunt_id IS 'The census.';
COMMENT ON COLUMN census_coverage.n_units IS 'Units in all.';
COMMENT ON COLUMN census_coverage.n_counted IS 'Units counted; second counts are none.';
COMMENT ON COLUMN census_coverage.n_verified IS 'Of these, units counted twice with equal results.';
COMMENT ON COLUMN census_coverage.n_disputed IS 'Of these, units counted twice with different results.';
COMMENT ON COLUMN census_coverage.n_overlapping IS 'Units that stand in two ranges; must be 0.';
COMMENT ON COLUMN census_coverage.missing IS 'Units not counted, as a multirange; {} when the census is complete.';
COMMENT ON COLUMN census_totals.hunt_id IS 'The census.';
COMMENT ON COLUMN census_totals.par IS 'Slides.';
COMMENT ON COLUMN census_totals.solvable IS 'Clusters of this depth.';
COMMENT ON COLUMN census_totals.minimal IS 'Of these, clusters with a minimal representative.';
COMMENT ON COLUMN census_totals.positions IS 'Positions of the clusters of this depth.';
COMMENT ON COLUMN census_totals.minimal_positions IS 'Of these, positions of clusters with a minimal representative.';
COMMENT ON COLUMN census_totals.positions_at IS 'Positions of any solvable cluster that are so many slides from a solved one.';
