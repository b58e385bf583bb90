-- What is known of complete enumerations, to set what was found against: minimal clusters of 6x6 boards, exit in row 2,
-- by walls and par. Source: M. Fogleman, Rush Hour database, 2018, rows counted; without walls the census of this
-- project counts the same.
CREATE TABLE reference_counts (
    lot_width  smallint NOT NULL,
    lot_height smallint NOT NULL,
    exit_row   smallint NOT NULL,
    n_walls    smallint NOT NULL,
    par        smallint NOT NULL,
    n_minimal  bigint   NOT NULL CHECK (n_minimal >= 1),
    PRIMARY KEY (lot_width, lot_height, exit_row, n_walls, par)
);

COMMENT ON TABLE reference_counts IS 'How many minimal boards there are in all, by published enumeration: hero alone in its row, vehicles of 2 and 3 squares, no full lane.';
COMMENT ON COLUMN reference_counts.lot_width IS 'Squares.';
COMMENT ON COLUMN reference_counts.lot_height IS 'Squares.';
COMMENT ON COLUMN reference_counts.exit_row IS 'The hero''s row, counted from 0 at the top.';
COMMENT ON COLUMN reference_counts.n_walls IS 'Walls.';
COMMENT ON COLUMN reference_counts.par IS 'Slides.';
COMMENT ON COLUMN reference_counts.n_minimal IS 'Minimal boards; pars that are not listed have none.';

INSERT INTO reference_counts (lot_width, lot_height, exit_row, n_walls, par, n_minimal)
SELECT 6, 6, 2, r.n_walls, r.par, r.n_minimal
FROM (VALUES
    (0,1,1), (0,2,8), (0,3,128), (0,4,767), (0,5,3561), (0,6,10629), (0,7,21266), (0,8,34032), (0,9,48301),
    (0,10,59777), (0,11,61984), (0,12,53381), (0,13,41957), (0,14,31534), (0,15,24407), (0,16,19192), (0,17,14696),
    (0,18,11643), (0,19,9086), (0,20,7151), (0,21,5584), (0,22,4212), (0,23,3280), (0,24,2370), (0,25,1792),
    (0,26,1323), (0,27,995), (0,28,748), (0,29,586), (0,30,391), (0,31,316), (0,32,224), (0,33,176), (0,34,126),
    (0,35,114), (0,36,84), (0,37,70), (0,38,47), (0,39,38), (0,40,25), (0,41,30), (0,42,25), (0,43,16), (0,44,15),
    (0,45,8), (0,46,9), (0,47,4), (0,48,3), (0,49,4), (0,50,1), (0,51,1), (1,3,48), (1,4,786), (1,5,5503),
    (1,6,21261), (1,7,48435), (1,8,79341), (1,9,109461), (1,10,129736), (1,11,130696), (1,12,115275), (1,13,93560),
    (1,14,74987), (1,15,61591), (1,16,51455), (1,17,42370), (1,18,34107), (1,19,26972), (1,20,20954), (1,21,16026),
    (1,22,12180), (1,23,8969), (1,24,6692), (1,25,5013), (1,26,3654), (1,27,2715), (1,28,1997), (1,29,1504),
    (1,30,1037), (1,31,775), (1,32,600), (1,33,446), (1,34,366), (1,35,264), (1,36,175), (1,37,154), (1,38,90),
    (1,39,74), (1,40,68), (1,41,37), (1,42,37), (1,43,24), (1,44,20), (1,45,14), (1,46,5), (1,47,7), (1,48,4),
    (1,49,3), (1,50,5), (1,52,1), (1,53,1), (1,54,1), (1,55,1), (1,60,1), (2,4,201), (2,5,2586), (2,6,13519),
    (2,7,36031), (2,8,62849), (2,9,88545), (2,10,104594), (2,11,107066), (2,12,99212), (2,13,85659), (2,14,73700),
    (2,15,63461), (2,16,54235), (2,17,45675), (2,18,36716), (2,19,28819), (2,20,22260), (2,21,16923), (2,22,12962),
    (2,23,9723), (2,24,7320), (2,25,5329), (2,26,3776), (2,27,2869), (2,28,2007), (2,29,1472), (2,30,1039),
    (2,31,747), (2,32,637), (2,33,438), (2,34,369), (2,35,276), (2,36,229), (2,37,149), (2,38,109), (2,39,97),
    (2,40,49), (2,41,32), (2,42,30), (2,43,23), (2,44,23), (2,45,6), (2,46,8), (2,47,5), (2,48,7), (2,49,3),
    (2,50,2), (2,51,1), (2,52,1), (2,53,2), (2,54,3), (2,55,1), (2,58,1)
) AS r (n_walls, par, n_minimal);
