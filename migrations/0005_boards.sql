-- Boards: one row a cluster, in one partition a par. All that is kept of who found a board, and when, is batch_id.
CREATE TABLE boards (
    n_states   bigint   NOT NULL CHECK (n_states >= 1),
    batch_id   bigint   NOT NULL,
    par        smallint NOT NULL CHECK (par >= 0),
    lot_width  smallint NOT NULL,
    lot_height smallint NOT NULL,
    exit_row   smallint NOT NULL,
    n_vehicles smallint NOT NULL CHECK (n_vehicles >= 1),
    n_walls    smallint NOT NULL CHECK (n_walls >= 0),
    minimal    boolean,
    canonical  text     COLLATE "C" NOT NULL,
    PRIMARY KEY (par, canonical)
) PARTITION BY LIST (par);

COMMENT ON TABLE boards IS 'Boards found and proved: the representative of each cluster, one partition a par.';
COMMENT ON COLUMN boards.n_states IS 'Positions in the cluster.';
COMMENT ON COLUMN boards.batch_id IS 'The batch that brought it first (batches.id): which job or import, and when. No foreign key: the row is '
    'written in the same transaction, and a check a board would cost more than the insert.';
COMMENT ON COLUMN boards.par IS 'Fewest slides from the representative to a solved position; the depth of its cluster.';
COMMENT ON COLUMN boards.lot_width IS 'Squares.';
COMMENT ON COLUMN boards.lot_height IS 'Squares.';
COMMENT ON COLUMN boards.exit_row IS 'The hero''s row, counted from 0 at the top; in the upper half or the middle.';
COMMENT ON COLUMN boards.n_vehicles IS 'Vehicles, hero included.';
COMMENT ON COLUMN boards.n_walls IS 'Walls.';
COMMENT ON COLUMN boards.minimal IS 'No vehicle or wall can be taken away without the par falling. NULL: not examined.';
COMMENT ON COLUMN boards.canonical IS 'Canonical spelling of the representative. Compared byte by byte.';

-- The largest pars known to anybody are far below 100; what lies above goes to the default partition, which
-- the coordinator watches (boards_beyond must stay empty: a partition can only be added while it is).
DO $$
BEGIN
    FOR par IN 0..99 LOOP
        EXECUTE format('CREATE TABLE boards_par_%s PARTITION OF boards FOR VALUES IN (%s)', lpad(par::text, 2, '0'), par);
    END LOOP;
END
$$;

CREATE TABLE boards_beyond PARTITION OF boards DEFAULT;
COMMENT ON TABLE boards_beyond IS 'Boards of a par that has no partition yet. An alert watches that it is empty.';

-- Counts, written by the statement that inserts the boards: a count(*) of all partitions takes seconds at
-- millions of rows, and a page asks every second.
CREATE TABLE board_counts (
    lot_width  smallint NOT NULL,
    lot_height smallint NOT NULL,
    exit_row   smallint NOT NULL,
    n_walls    smallint NOT NULL,
    par        smallint NOT NULL,
    n_boards   bigint   NOT NULL CHECK (n_boards >= 1),
    PRIMARY KEY (lot_width, lot_height, exit_row, n_walls, par)
) WITH (fillfactor = 50);

COMMENT ON TABLE board_counts IS 'How many boards there are, exact at every commit.';
COMMENT ON COLUMN board_counts.lot_width IS 'Squares.';
COMMENT ON COLUMN board_counts.lot_height IS 'Squares.';
COMMENT ON COLUMN board_counts.exit_row IS 'The hero''s row, counted from 0 at the top.';
COMMENT ON COLUMN board_counts.n_walls IS 'Walls.';
COMMENT ON COLUMN board_counts.par IS 'Slides.';
COMMENT ON COLUMN board_counts.n_boards IS 'Boards.';
