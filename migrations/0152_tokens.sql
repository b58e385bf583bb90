-- Tokens: who may come in, and as what. Of a token only its digest is kept.
CREATE TABLE tokens (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 60 AND position('@' IN name) = 0),
    role       text        NOT NULL CHECK (role IN ('worker', 'operator', 'analyst', 'viewer')),
    digest     bytea       NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    revoked_at timestamptz,
    used_at    timestamptz
);

COMMENT ON TABLE tokens IS 'Who may come in, and as what. Never deleted.';
COMMENT ON COLUMN tokens.id IS 'Number, by order of creation.';
COMMENT ON COLUMN tokens.name IS 'Whose it is: a person, a program, a worker. Several may be of one name, so that a new one is there before the old one ends.';
COMMENT ON COLUMN tokens.role IS 'worker: the workers'' service; operator: everything an operator does, and looking; analyst: the operators'' questions, and looking; '
    'viewer: looking at the pages.';
COMMENT ON COLUMN tokens.digest IS 'SHA-256 of the token, which has 256 random bits and is shown once, when it is made.';
COMMENT ON COLUMN tokens.created_at IS 'When it was made.';
COMMENT ON COLUMN tokens.expires_at IS 'When it ends by itself. NULL: never.';
COMMENT ON COLUMN tokens.revoked_at IS 'When it was ended. NULL: it was not.';
COMMENT ON COLUMN tokens.used_at IS 'When it opened a door last, to the minute. NULL: never.';

CREATE INDEX tokens_by_name ON tokens (name, id);
