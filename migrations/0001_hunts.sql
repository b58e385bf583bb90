-- Hunts: what an operator asks for. The coordinator cuts each into jobs, one after the other, on demand.
CREATE TABLE hunts (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name           text        NOT NULL UNIQUE CHECK (char_length(name) BETWEEN 1 AND 100),
    lot_width      smallint    NOT NULL CHECK (lot_width BETWEEN 3 AND 8),
    lot_height     smallint    NOT NULL CHECK (lot_height BETWEEN 3 AND 8),
    exit_row       smallint    NOT NULL CHECK (exit_row BETWEEN 0 AND lot_height - 1),
    hero_length    smallint    NOT NULL CHECK (hero_length >= 2),
    first_vehicles smallint    NOT NULL CHECK (first_vehicles >= 1),
    last_vehicles  smallint    NOT NULL CHECK (last_vehicles >= first_vehicles),
    first_walls    smallint    NOT NULL CHECK (first_walls >= 0),
    last_walls     smallint    NOT NULL CHECK (last_walls >= first_walls),
    lengths        smallint[]  NOT NULL CHECK (cardinality(lengths) >= 1),
    weights        integer[]   NOT NULL CHECK (cardinality(weights) = cardinality(lengths)),
    strategy       text        NOT NULL CHECK (strategy IN ('mixed', 'scatter', 'anneal')),
    seed           bigint      NOT NULL,
    priority       integer     NOT NULL DEFAULT 0,
    state          text        NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'paused', 'done', 'cancelled')),
    ends_at        timestamptz,
    time_left      interval,
    end_number     bigint,
    until_par      smallint    CHECK (until_par >= 1),
    next_number    bigint      NOT NULL DEFAULT 0,
    created_at     timestamptz NOT NULL DEFAULT now(),
    ended_at       timestamptz,
    end_reason     text        CHECK (end_reason IN ('time', 'jobs', 'par', 'operator')),
    CONSTRAINT hunts_over_have_an_end CHECK ((state IN ('done', 'cancelled')) = (ended_at IS NOT NULL)),
    CONSTRAINT hunts_over_have_a_reason CHECK ((ended_at IS NULL) = (end_reason IS NULL)),
    CONSTRAINT hunts_keep_time_only_while_paused CHECK (time_left IS NULL OR state = 'paused')
);

COMMENT ON TABLE hunts IS 'What an operator asks for: a space of boards, a strategy, a budget. Never deleted.';
COMMENT ON COLUMN hunts.id IS 'Number, by order of creation.';
COMMENT ON COLUMN hunts.name IS 'Label, unique: a hunt asked for again under its name goes on where it stopped.';
COMMENT ON COLUMN hunts.lot_width IS 'Squares.';
COMMENT ON COLUMN hunts.lot_height IS 'Squares.';
COMMENT ON COLUMN hunts.exit_row IS 'The hero''s row, counted from 0 at the top.';
COMMENT ON COLUMN hunts.hero_length IS 'Squares.';
COMMENT ON COLUMN hunts.first_vehicles IS 'Fewest vehicles of a board, hero included.';
COMMENT ON COLUMN hunts.last_vehicles IS 'Most vehicles of a board, hero included.';
COMMENT ON COLUMN hunts.first_walls IS 'Fewest walls of a board.';
COMMENT ON COLUMN hunts.last_walls IS 'Most walls of a board.';
COMMENT ON COLUMN hunts.lengths IS 'Lengths of the vehicles other than the hero, in squares, ascending.';
COMMENT ON COLUMN hunts.weights IS 'How often each of the lengths is drawn, against the others.';
COMMENT ON COLUMN hunts.strategy IS 'Kinds of job it is cut into; mixed: scatter and anneal.';
COMMENT ON COLUMN hunts.seed IS 'Seed of its jobs'' seeds: 64 bits without sign, kept as the signed number of the same bits.';
COMMENT ON COLUMN hunts.priority IS 'Higher goes first; 0 is usual.';
COMMENT ON COLUMN hunts.state IS 'running, paused: may go on; done: its budget is spent; cancelled: by an operator.';
COMMENT ON COLUMN hunts.ends_at IS 'When its time is up. NULL: no limit, or paused (see time_left).';
COMMENT ON COLUMN hunts.time_left IS 'What was left of its time when it was paused. NULL: not paused, or no limit.';
COMMENT ON COLUMN hunts.end_number IS 'No job of this number or above is planned. NULL: no limit.';
COMMENT ON COLUMN hunts.until_par IS 'It is done when a board of this par or more is stored for it, in slides. NULL: no such aim.';
COMMENT ON COLUMN hunts.next_number IS 'Number of the next job; a number, and with it a seed, is never used twice.';
COMMENT ON COLUMN hunts.created_at IS 'When it was first asked for.';
COMMENT ON COLUMN hunts.ended_at IS 'When it was done or cancelled. NULL: it is not over.';
COMMENT ON COLUMN hunts.end_reason IS 'What ended it. NULL: it is not over.';

CREATE INDEX hunts_running ON hunts (priority DESC, id) WHERE state = 'running';
