-- Tallies: how many boards there are of each kind, kept by a trigger in the transaction that inserts them, whoever
-- inserts (a batch, an import, a COPY). Counting 35 million rows takes seconds; these answer at once and are exact at
-- every commit.
CREATE TABLE board_tallies (
    lot_width  smallint NOT NULL,
    lot_height smallint NOT NULL,
    exit_row   smallint NOT NULL,
    n_walls    smallint NOT NULL,
    n_vehicles smallint NOT NULL,
    par        smallint NOT NULL,
    n_boards   bigint   NOT NULL CHECK (n_boards >= 1),
    n_minimal  bigint   NOT NULL CHECK (n_minimal BETWEEN 0 AND n_boards),
    n_states   numeric  NOT NULL,
    PRIMARY KEY (lot_width, lot_height, par, n_walls, n_vehicles, exit_row)
) WITH (fillfactor = 50);

COMMENT ON TABLE board_tallies IS 'How many boards there are of each kind, exact at every commit.';
COMMENT ON COLUMN board_tallies.lot_width IS 'Squares.';
COMMENT ON COLUMN board_tallies.lot_height IS 'Squares.';
COMMENT ON COLUMN board_tallies.exit_row IS 'The hero''s row, counted from 0 at the top.';
COMMENT ON COLUMN board_tallies.n_walls IS 'Walls.';
COMMENT ON COLUMN board_tallies.n_vehicles IS 'Vehicles, hero included.';
COMMENT ON COLUMN board_tallies.par IS 'Slides.';
COMMENT ON COLUMN board_tallies.n_boards IS 'Boards.';
COMMENT ON COLUMN board_tallies.n_minimal IS 'Of these, boards known to be minimal.';
COMMENT ON COLUMN board_tallies.n_states IS 'Positions in their clusters, summed.';

CREATE TABLE hunt_tallies (
    hunt_id  bigint   NOT NULL,
    par      smallint NOT NULL,
    n_boards bigint   NOT NULL CHECK (n_boards >= 1),
    PRIMARY KEY (hunt_id, par)
) WITH (fillfactor = 50);

COMMENT ON TABLE hunt_tallies IS 'How many boards each hunt found first, by par, exact at every commit.';
COMMENT ON COLUMN hunt_tallies.hunt_id IS 'The hunt; 0: imported.';
COMMENT ON COLUMN hunt_tallies.par IS 'Slides.';
COMMENT ON COLUMN hunt_tallies.n_boards IS 'Boards that it found first.';

-- Rows are upserted in the order of their keys, so that two batches at once wait for each other and never deadlock.
CREATE FUNCTION tally_boards() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO board_tallies AS t
        (lot_width, lot_height, exit_row, n_walls, n_vehicles, par, n_boards, n_minimal, n_states)
    SELECT lot_width, lot_height, exit_row, n_walls, n_vehicles, par, count(*),
        count(*) FILTER (WHERE minimal), sum(n_states)
    FROM fresh
    GROUP BY lot_width, lot_height, par, n_walls, n_vehicles, exit_row
    ORDER BY lot_width, lot_height, par, n_walls, n_vehicles, exit_row
    ON CONFLICT (lot_width, lot_height, par, n_walls, n_vehicles, exit_row) DO UPDATE SET
        n_boards = t.n_boards + EXCLUDED.n_boards,
        n_minimal = t.n_minimal + EXCLUDED.n_minimal,
        n_states = t.n_states + EXCLUDED.n_states;

    INSERT INTO hunt_tallies AS t (hunt_id, par, n_boards)
    SELECT coalesce(j.hunt_id, 0), f.par, sum(f.n_boards)
    FROM (SELECT batch_id, par, count(*) AS n_boards FROM fresh GROUP BY batch_id, par) f
    LEFT JOIN batches b ON b.id = f.batch_id
    LEFT JOIN jobs j ON j.id = b.job_id
    GROUP BY coalesce(j.hunt_id, 0), f.par
    ORDER BY coalesce(j.hunt_id, 0), f.par
    ON CONFLICT (hunt_id, par) DO UPDATE SET n_boards = t.n_boards + EXCLUDED.n_boards;
    RETURN NULL;
END
$$;

CREATE TRIGGER boards_tallied AFTER INSERT ON boards
    REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION tally_boards();

INSERT INTO board_tallies (lot_width, lot_height, exit_row, n_walls, n_vehicles, par, n_boards, n_minimal, n_states)
SELECT lot_width, lot_height, exit_row, n_walls, n_vehicles, par, count(*), count(*) FILTER (WHERE minimal), sum(n_states)
FROM boards
GROUP BY lot_width, lot_height, exit_row, n_walls, n_vehicles, par;

INSERT INTO hunt_tallies (hunt_id, par, n_boards)
SELECT coalesce(j.hunt_id, 0), b.par, count(*)
FROM boards b
LEFT JOIN batches t ON t.id = b.batch_id
LEFT JOIN jobs j ON j.id = t.job_id
GROUP BY coalesce(j.hunt_id, 0), b.par;

-- For packs: the boards of a par with the fewest vehicles and the smallest clusters, without reading the others.
-- Equal keys share an entry, so it costs some ten bytes a board.
CREATE INDEX boards_by_size ON boards (lot_width, lot_height, n_vehicles, n_states);
