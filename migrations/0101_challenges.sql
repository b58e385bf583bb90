-- Challenges: boards set aside for a day to come.
CREATE TABLE challenges (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    day         date        NOT NULL,
    par         smallint    NOT NULL,
    canonical   text        COLLATE "C" NOT NULL,
    reserved_at timestamptz NOT NULL DEFAULT now(),
    revealed_at timestamptz,
    note        text        CHECK (char_length(note) <= 1000),
    UNIQUE (day, par),
    CONSTRAINT challenges_are_never_used_twice UNIQUE (par, canonical),
    FOREIGN KEY (par, canonical) REFERENCES boards (par, canonical)
);

COMMENT ON TABLE challenges IS 'Boards set aside for days to come. Rows are never deleted, so that no board is used twice.';
COMMENT ON COLUMN challenges.id IS 'Number, by order of reservation.';
COMMENT ON COLUMN challenges.day IS 'The day, in UTC; from its beginning on the board is no secret.';
COMMENT ON COLUMN challenges.par IS 'Slides.';
COMMENT ON COLUMN challenges.canonical IS 'The board''s canonical spelling.';
COMMENT ON COLUMN challenges.reserved_at IS 'When it was set aside.';
COMMENT ON COLUMN challenges.revealed_at IS 'When it was made known before its day. NULL: it was not.';
COMMENT ON COLUMN challenges.note IS 'What it is for, for people. NULL: nothing was said.';

-- What is secret at this moment. Whatever shows boards to people leaves these out; packs leave all challenges out.
CREATE VIEW secret_boards AS
SELECT par, canonical
FROM challenges
WHERE day > (now() AT TIME ZONE 'UTC')::date AND revealed_at IS NULL;

COMMENT ON VIEW secret_boards IS 'Boards that nobody is to see today: reserved for a day to come and not revealed.';
COMMENT ON COLUMN secret_boards.par IS 'Slides.';
COMMENT ON COLUMN secret_boards.canonical IS 'Canonical spelling.';
