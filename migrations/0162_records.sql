-- Records: the hardest board known of each kind of lot, walls and vehicles, and which were proved by two solvers.
CREATE TABLE record_proofs (
    par       smallint    NOT NULL,
    canonical text        COLLATE "C" NOT NULL,
    solvers   text        NOT NULL CHECK (char_length(solvers) BETWEEN 1 AND 200),
    proved_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (par, canonical)
);

COMMENT ON TABLE record_proofs IS 'Boards whose par was proved by two solvers that share no search (parforce records --prove).';
COMMENT ON COLUMN record_proofs.par IS 'Slides.';
COMMENT ON COLUMN record_proofs.canonical IS 'Canonical spelling.';
COMMENT ON COLUMN record_proofs.solvers IS 'The solvers that agreed on par and representative.';
COMMENT ON COLUMN record_proofs.proved_at IS 'When.';

CREATE VIEW analysis.records WITH (security_barrier) AS
SELECT k.lot_width || 'x' || k.lot_height AS lot, k.exit_row, k.n_walls, k.n_vehicles, k.par, b.canonical, b.n_states,
    b.minimal, t.stored_at AS found_at, j.hunt_id, b.job_id, t.source, p.proved_at
FROM (
    SELECT lot_width, lot_height, exit_row, n_walls, n_vehicles, max(par) AS par
    FROM board_tallies
    GROUP BY lot_width, lot_height, exit_row, n_walls, n_vehicles
) k
CROSS JOIN LATERAL (
    SELECT b.canonical, b.n_states, b.minimal, b.batch_id, t.job_id
    FROM boards b
    LEFT JOIN batches t ON t.id = b.batch_id
    WHERE b.par = k.par AND b.lot_width = k.lot_width AND b.lot_height = k.lot_height AND b.exit_row = k.exit_row
        AND b.n_walls = k.n_walls AND b.n_vehicles = k.n_vehicles
        AND NOT EXISTS (SELECT FROM secret_boards s WHERE s.par = b.par AND s.canonical = b.canonical)
    ORDER BY b.batch_id, b.canonical
    LIMIT 1
) b
LEFT JOIN batches t ON t.id = b.batch_id
LEFT JOIN jobs j ON j.id = t.job_id
LEFT JOIN record_proofs p ON p.par = k.par AND p.canonical = b.canonical;

COMMENT ON VIEW analysis.records IS 'The largest par known of each lot, exit row, number of walls and of vehicles, with the board of it that '
    'was found first.';
COMMENT ON COLUMN analysis.records.lot IS 'Width and height in squares, e.g. 7x7.';
COMMENT ON COLUMN analysis.records.exit_row IS 'The hero''s row, counted from 0 at the top.';
COMMENT ON COLUMN analysis.records.n_walls IS 'Walls.';
COMMENT ON COLUMN analysis.records.n_vehicles IS 'Vehicles, hero included.';
COMMENT ON COLUMN analysis.records.par IS 'Slides.';
COMMENT ON COLUMN analysis.records.canonical IS 'Canonical spelling.';
COMMENT ON COLUMN analysis.records.n_states IS 'Positions in the cluster.';
COMMENT ON COLUMN analysis.records.minimal IS 'No vehicle or wall is superfluous. NULL: not examined.';
COMMENT ON COLUMN analysis.records.found_at IS 'When it was stored first.';
COMMENT ON COLUMN analysis.records.hunt_id IS 'The hunt that found it first. NULL: imported.';
COMMENT ON COLUMN analysis.records.job_id IS 'The job that found it first: parforce replay runs it again. NULL: imported.';
COMMENT ON COLUMN analysis.records.source IS 'What it was imported from. NULL: found by a job.';
COMMENT ON COLUMN analysis.records.proved_at IS 'When two solvers agreed on it. NULL: they were not asked.';

-- What is known of all wall-free 6x6 clusters, minimal or not: boards with other vehicles behind the hero and full lanes
-- included. Source: C. van Assema, On the Hardness of 6x6 Rush Hour, thesis, 2014, distributionMaxDistance, whose
-- distance counts leaving the lot and is one more.
CREATE TABLE reference_clusters (
    lot_width  smallint NOT NULL,
    lot_height smallint NOT NULL,
    exit_row   smallint NOT NULL,
    n_walls    smallint NOT NULL,
    par        smallint NOT NULL,
    n_clusters bigint   NOT NULL CHECK (n_clusters >= 1),
    PRIMARY KEY (lot_width, lot_height, exit_row, n_walls, par)
);

COMMENT ON TABLE reference_clusters IS 'How many solvable clusters there are in all, by published enumeration, minimal or not.';
COMMENT ON COLUMN reference_clusters.lot_width IS 'Squares.';
COMMENT ON COLUMN reference_clusters.lot_height IS 'Squares.';
COMMENT ON COLUMN reference_clusters.exit_row IS 'The hero''s row, counted from 0 at the top.';
COMMENT ON COLUMN reference_clusters.n_walls IS 'Walls.';
COMMENT ON COLUMN reference_clusters.par IS 'Slides.';
COMMENT ON COLUMN reference_clusters.n_clusters IS 'Clusters; pars that are not listed have none.';

INSERT INTO reference_clusters (lot_width, lot_height, exit_row, n_walls, par, n_clusters)
SELECT 6, 6, 2, 0, r.par, r.n_clusters
FROM (VALUES
    (1, 9588287), (2, 7313743), (3, 5340629), (4, 3922422), (5, 2472282), (6, 1884823), (7, 1334933), (8, 956655),
    (9, 683175), (10, 483980), (11, 330026), (12, 203696), (13, 130698), (14, 82582), (15, 57219), (16, 40659),
    (17, 28295), (18, 20365), (19, 14527), (20, 10651), (21, 7703), (22, 5513), (23, 4208), (24, 2806), (25, 2068),
    (26, 1492), (27, 1116), (28, 814), (29, 670), (30, 448), (31, 343), (32, 252), (33, 193), (34, 142), (35, 124),
    (36, 90), (37, 75), (38, 51), (39, 41), (40, 26), (41, 31), (42, 25), (43, 17), (44, 15), (45, 8), (46, 9),
    (47, 4), (48, 3), (49, 4), (50, 1), (51, 1)
) AS r (par, n_clusters);
