-- Recall against an enumeration counts boards that the enumeration counts, and no others: a census of all legal boards, or a
-- hunt with longer vehicles, finds minimal boards that it leaves out.
CREATE FUNCTION is_in_reference(canonical text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    -- A letter beside itself is a vehicle that lies along the lane. The hero is alone in its row and has two squares, no vehicle
    -- has more than three, and no lane is full of walls and what lies along it. Cheap conditions come first.
    SELECT CASE
        WHEN length(canonical) <> 36 OR substr(canonical, 13, 6) !~ 'AA' OR substr(canonical, 13, 6) ~ '([B-Za-np-wyz])\1|AAA'
            THEN false
        WHEN lanes ~ '([A-Za-np-wyz])\1\1\1' THEN false
        WHEN lanes !~ '/[^o/]{6}/' THEN true
        ELSE lanes !~ '/(?:x|([A-Za-np-wyz])\1+)+/'
    END
    -- The rows, then the columns: each letter of the first text stands for a square, and becomes what is there.
    FROM (SELECT translate('/abcdef//ghijkl//mnopqr//stuvwx//yz0123//456789//agmsy4//bhntz5//ciou06//djpv17//ekqw28//flrx39/',
        'abcdefghijklmnopqrstuvwxyz0123456789', canonical)) l (lanes)
$$;
COMMENT ON FUNCTION is_in_reference IS 'Whether a 6x6 board, exit in row 2, is one that the published enumeration counts, if it is minimal.';

CREATE TABLE reference_tallies (
    lot_width  smallint NOT NULL,
    lot_height smallint NOT NULL,
    exit_row   smallint NOT NULL,
    n_walls    smallint NOT NULL,
    par        smallint NOT NULL,
    n_minimal  bigint   NOT NULL CHECK (n_minimal >= 1),
    PRIMARY KEY (lot_width, lot_height, exit_row, n_walls, par)
) WITH (fillfactor = 50);

COMMENT ON TABLE reference_tallies IS 'How many of the boards of the published enumeration are known, exact at every commit.';
COMMENT ON COLUMN reference_tallies.lot_width IS 'Squares.';
COMMENT ON COLUMN reference_tallies.lot_height IS 'Squares.';
COMMENT ON COLUMN reference_tallies.exit_row IS 'The hero''s row, counted from 0 at the top.';
COMMENT ON COLUMN reference_tallies.n_walls IS 'Walls.';
COMMENT ON COLUMN reference_tallies.par IS 'Slides.';
COMMENT ON COLUMN reference_tallies.n_minimal IS 'Minimal boards that the enumeration counts.';

CREATE FUNCTION tally_reference() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO reference_tallies AS t (lot_width, lot_height, exit_row, n_walls, par, n_minimal)
    SELECT lot_width, lot_height, exit_row, n_walls, par, count(*)
    FROM fresh
    WHERE minimal AND lot_width = 6 AND lot_height = 6 AND exit_row = 2 AND n_walls <= 2 AND is_in_reference(canonical)
    GROUP BY lot_width, lot_height, exit_row, n_walls, par
    ORDER BY lot_width, lot_height, exit_row, n_walls, par
    ON CONFLICT (lot_width, lot_height, exit_row, n_walls, par) DO UPDATE SET n_minimal = t.n_minimal + EXCLUDED.n_minimal;
    RETURN NULL;
END
$$;

CREATE TRIGGER boards_tallied_for_recall AFTER INSERT ON boards
    REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION tally_reference();

INSERT INTO reference_tallies (lot_width, lot_height, exit_row, n_walls, par, n_minimal)
SELECT lot_width, lot_height, exit_row, n_walls, par, count(*)
FROM boards
WHERE minimal AND lot_width = 6 AND lot_height = 6 AND exit_row = 2 AND n_walls <= 2 AND is_in_reference(canonical)
GROUP BY lot_width, lot_height, exit_row, n_walls, par;

CREATE OR REPLACE VIEW analysis.recall AS
SELECT r.lot_width || 'x' || r.lot_height AS lot, r.n_walls, r.par, r.n_minimal AS n_there_are,
    coalesce(t.n_minimal, 0) AS n_found, round(100.0 * coalesce(t.n_minimal, 0) / r.n_minimal, 1) AS found_percent
FROM reference_counts r
LEFT JOIN reference_tallies t USING (lot_width, lot_height, exit_row, n_walls, par);

COMMENT ON VIEW analysis.recall IS 'Minimal boards known against all there are, where a complete enumeration is published. Both count boards with '
    'the hero alone in its row, vehicles of 2 and 3 squares and no full lane; others are not looked at here.';
COMMENT ON COLUMN analysis.recall.n_found IS 'Of these boards, those in the database.';
