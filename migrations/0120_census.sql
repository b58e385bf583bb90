-- Censuses: hunts that count every board of their space exactly once, and the ledger of the ranges counted.
ALTER TABLE hunts DROP CONSTRAINT hunts_strategy_check;
ALTER TABLE hunts ADD CONSTRAINT hunts_strategy_check CHECK (strategy IN ('mixed', 'scatter', 'anneal', 'census'));
COMMENT ON COLUMN hunts.strategy IS 'Kinds of job it is cut into; mixed: scatter and anneal; census: ranges of units (see censuses).';

CREATE TABLE censuses (
    hunt_id           bigint   PRIMARY KEY REFERENCES hunts,
    scope             text     NOT NULL CHECK (scope IN ('standard', 'every')),
    keep              text     NOT NULL CHECK (keep IN ('nothing', 'minimal', 'par', 'solvable')),
    keep_par          smallint CHECK (keep_par >= 0),
    count_unsolvable  boolean  NOT NULL,
    repeats_per_mille smallint NOT NULL CHECK (repeats_per_mille BETWEEN 0 AND 1000),
    engine            text     NOT NULL,
    n_units           bigint   NOT NULL CHECK (n_units >= 0),
    next_unit         bigint   NOT NULL DEFAULT 0 CHECK (next_unit BETWEEN 0 AND n_units),
    CONSTRAINT censuses_keep_par_where_needed CHECK ((keep = 'par') = (keep_par IS NOT NULL))
);

COMMENT ON TABLE censuses IS 'What the hunts of strategy census count. Which number names which unit is the engine''s, hence it is pinned.';
COMMENT ON COLUMN censuses.hunt_id IS 'The hunt.';
COMMENT ON COLUMN censuses.scope IS 'standard: hero alone in its row, no full lane; every: all legal boards.';
COMMENT ON COLUMN censuses.keep IS 'Which clusters are stored as boards; all are counted.';
COMMENT ON COLUMN censuses.keep_par IS 'The least par that is stored, in slides. NULL: keep is not par.';
COMMENT ON COLUMN censuses.count_unsolvable IS 'Clusters without a solved position are counted too.';
COMMENT ON COLUMN censuses.repeats_per_mille IS 'Ranges of a thousand that are counted twice and compared.';
COMMENT ON COLUMN censuses.engine IS 'Engine version that numbers the units; another cannot go on with this census.';
COMMENT ON COLUMN censuses.n_units IS 'Units, numbered from 0.';
COMMENT ON COLUMN censuses.next_unit IS 'The first unit that no range was cut for.';

CREATE TABLE census_ranges (
    job_id               bigint  PRIMARY KEY REFERENCES jobs,
    hunt_id              bigint  NOT NULL REFERENCES censuses,
    first_unit           bigint  NOT NULL CHECK (first_unit >= 0),
    end_unit             bigint  NOT NULL CHECK (end_unit > first_unit),
    repeat_of            bigint  REFERENCES census_ranges (job_id),
    split_at             timestamptz,
    counted_at           timestamptz,
    verdict              text    CHECK (verdict IN ('verified', 'disputed')),
    n_layouts            bigint,
    n_unsolvable         bigint,
    unsolvable_positions numeric(38, 0),
    digest               bytea   CHECK (octet_length(digest) = 16),
    CONSTRAINT census_ranges_counted_whole CHECK ((counted_at IS NULL) = (digest IS NULL)
        AND (counted_at IS NULL) = (n_layouts IS NULL) AND (counted_at IS NULL) = (n_unsolvable IS NULL)
        AND (counted_at IS NULL) = (unsolvable_positions IS NULL)),
    CONSTRAINT census_ranges_judged_when_counted CHECK (verdict IS NULL OR counted_at IS NOT NULL),
    CONSTRAINT census_ranges_counted_or_split CHECK (counted_at IS NULL OR split_at IS NULL)
);

COMMENT ON TABLE census_ranges IS 'The ledger: which units were counted by which job, and whether a second count agreed.';
COMMENT ON COLUMN census_ranges.job_id IS 'The job.';
COMMENT ON COLUMN census_ranges.hunt_id IS 'The census.';
COMMENT ON COLUMN census_ranges.first_unit IS 'First unit of the range.';
COMMENT ON COLUMN census_ranges.end_unit IS 'The unit after its last.';
COMMENT ON COLUMN census_ranges.repeat_of IS 'The range that this counts a second time; such a range is never coverage. NULL: a first count.';
COMMENT ON COLUMN census_ranges.split_at IS 'When it was given up for two halves. NULL: it was not.';
COMMENT ON COLUMN census_ranges.counted_at IS 'When its counts were taken. NULL: not counted.';
COMMENT ON COLUMN census_ranges.verdict IS 'Of two counts of the same units: equal bit for bit, or not. NULL: there are not two.';
COMMENT ON COLUMN census_ranges.n_layouts IS 'Layouts that hold a solved position. NULL: not counted.';
COMMENT ON COLUMN census_ranges.n_unsolvable IS 'Clusters without a solved position, where they are asked for. NULL: not counted.';
COMMENT ON COLUMN census_ranges.unsolvable_positions IS 'Positions of these. NULL: not counted.';
COMMENT ON COLUMN census_ranges.digest IS 'Order-free digest of the minimal clusters. NULL: not counted.';

-- No unit begins two ranges, or ends two; with the view's two sums that makes gaps and overlaps visible.
CREATE UNIQUE INDEX census_ranges_first ON census_ranges (hunt_id, first_unit) WHERE repeat_of IS NULL AND split_at IS NULL;
CREATE UNIQUE INDEX census_ranges_end ON census_ranges (hunt_id, end_unit) WHERE repeat_of IS NULL AND split_at IS NULL;
CREATE UNIQUE INDEX census_ranges_repeated_once ON census_ranges (repeat_of) WHERE repeat_of IS NOT NULL;

CREATE TABLE census_counts (
    job_id            bigint   NOT NULL REFERENCES census_ranges,
    par               smallint NOT NULL CHECK (par >= 0),
    solvable          bigint   NOT NULL CHECK (solvable >= 0),
    minimal           bigint   NOT NULL CHECK (minimal BETWEEN 0 AND solvable),
    positions         numeric(38, 0) NOT NULL CHECK (positions >= 0),
    minimal_positions numeric(38, 0) NOT NULL CHECK (minimal_positions BETWEEN 0 AND positions),
    positions_at      numeric(38, 0) NOT NULL CHECK (positions_at >= 0),
    PRIMARY KEY (job_id, par)
);

COMMENT ON TABLE census_counts IS 'What a range holds, by par.';
COMMENT ON COLUMN census_counts.job_id IS 'The range''s job.';
COMMENT ON COLUMN census_counts.par IS 'Slides.';
COMMENT ON COLUMN census_counts.solvable IS 'Clusters whose depth is this par.';
COMMENT ON COLUMN census_counts.minimal IS 'Of these, clusters with a minimal representative.';
COMMENT ON COLUMN census_counts.positions IS 'Positions of the clusters of this depth.';
COMMENT ON COLUMN census_counts.minimal_positions IS 'Of these, positions of clusters with a minimal representative.';
COMMENT ON COLUMN census_counts.positions_at IS 'Positions of any solvable cluster that are so many slides from a solved one.';

CREATE VIEW census_coverage AS
SELECT c.hunt_id, c.n_units,
    coalesce(sum(r.end_unit - r.first_unit) FILTER (WHERE r.counted_at IS NOT NULL), 0)::bigint AS n_counted,
    coalesce(sum(r.end_unit - r.first_unit) FILTER (WHERE r.verdict = 'verified'), 0)::bigint AS n_verified,
    coalesce(sum(r.end_unit - r.first_unit) FILTER (WHERE r.verdict = 'disputed'), 0)::bigint AS n_disputed,
    coalesce(sum(r.end_unit - r.first_unit), 0)::bigint - coalesce((
        SELECT sum(upper(part) - lower(part)) FROM unnest(range_agg(int8range(r.first_unit, r.end_unit))) AS part), 0)::bigint
        AS n_overlapping,
    (int8multirange(int8range(0, c.n_units)) - coalesce(
        range_agg(int8range(r.first_unit, r.end_unit)) FILTER (WHERE r.counted_at IS NOT NULL), '{}'))::text AS missing
FROM censuses c
LEFT JOIN census_ranges r ON r.hunt_id = c.hunt_id AND r.repeat_of IS NULL AND r.split_at IS NULL
GROUP BY c.hunt_id, c.n_units;

COMMENT ON VIEW census_coverage IS 'How much of each census is counted: units, and the ranges that are missing. Repeats are no coverage.';

CREATE VIEW census_totals AS
SELECT r.hunt_id, n.par, sum(n.solvable)::bigint AS solvable, sum(n.minimal)::bigint AS minimal,
    sum(n.positions) AS positions, sum(n.minimal_positions) AS minimal_positions, sum(n.positions_at) AS positions_at
FROM census_ranges r
JOIN census_counts n USING (job_id)
WHERE r.repeat_of IS NULL AND r.counted_at IS NOT NULL
GROUP BY r.hunt_id, n.par;

COMMENT ON VIEW census_totals IS 'What each census has counted so far, by par; each range once.';
