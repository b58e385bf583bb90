-- Difficulty for people: measures of boards beside their par. Written by whoever computes them, any number at once.
CREATE TABLE board_difficulty (
    n_solutions     bigint   NOT NULL CHECK (n_solutions >= 1),
    n_way_positions bigint   NOT NULL,
    n_way_slides    bigint   NOT NULL,
    n_right_slides  bigint   NOT NULL CHECK (n_right_slides <= n_way_slides),
    n_dead_ends     bigint   NOT NULL,
    n_unsolved      bigint   NOT NULL CHECK (n_dead_ends <= n_unsolved),
    n_against       integer  NOT NULL,
    luck_tenths     integer  NOT NULL,
    par             smallint NOT NULL,
    n_movers        smallint NOT NULL,
    n_repeat_movers smallint NOT NULL CHECK (n_repeat_movers <= n_movers),
    canonical       text     COLLATE "C" NOT NULL,
    PRIMARY KEY (par, canonical)
);

COMMENT ON TABLE board_difficulty IS 'What makes a board hard for people, as far as it has been measured. See docs/packs.md for sources.';
COMMENT ON COLUMN board_difficulty.n_solutions IS 'Shortest solutions; 2^63 - 1: as many or more.';
COMMENT ON COLUMN board_difficulty.n_way_positions IS 'Unsolved positions on shortest solutions.';
COMMENT ON COLUMN board_difficulty.n_way_slides IS 'Slides possible at these positions.';
COMMENT ON COLUMN board_difficulty.n_right_slides IS 'Of these slides, those on a shortest solution.';
COMMENT ON COLUMN board_difficulty.n_dead_ends IS 'Unsolved positions of the cluster from which no slide leads farther from a solution.';
COMMENT ON COLUMN board_difficulty.n_unsolved IS 'Unsolved positions of the cluster.';
COMMENT ON COLUMN board_difficulty.n_against IS 'Fewest slides against intuition in a shortest solution: hero back, or a vehicle into its way.';
COMMENT ON COLUMN board_difficulty.luck_tenths IS 'How unlikely random slides are to solve the board in par, in tenths of a bit.';
COMMENT ON COLUMN board_difficulty.par IS 'Slides.';
COMMENT ON COLUMN board_difficulty.n_movers IS 'Vehicles that slide in every shortest solution.';
COMMENT ON COLUMN board_difficulty.n_repeat_movers IS 'Vehicles that slide twice or more in every shortest solution.';
COMMENT ON COLUMN board_difficulty.canonical IS 'Canonical spelling of the board.';
