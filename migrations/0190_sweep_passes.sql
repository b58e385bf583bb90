-- Sweeps of a board from several of its positions: a change of one piece leads elsewhere from another position.
ALTER TABLE hunt_sweeps ADD COLUMN n_passes smallint NOT NULL DEFAULT 1 CHECK (n_passes >= 1);

COMMENT ON TABLE hunt_sweeps IS 'Boards whose changes a hunt has tried, or will when the job is carried out: first those of the board itself, '
    'then those of other positions of its cluster, one at each pass.';
COMMENT ON COLUMN hunt_sweeps.number IS 'The job of the latest pass, by its place in the hunt. If it was parked or cancelled, the board may '
    'be swept again.';
COMMENT ON COLUMN hunt_sweeps.n_passes IS 'From how many of its positions its changes were tried.';
