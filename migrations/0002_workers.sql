-- Workers: one row for each start of a worker process.
CREATE TABLE workers (
    id                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name              text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    incarnation       uuid        NOT NULL UNIQUE,
    session           uuid        NOT NULL UNIQUE,
    engine            text        NOT NULL,
    program_version   text        NOT NULL,
    protocol          integer     NOT NULL CHECK (protocol >= 1),
    n_slots           integer     NOT NULL CHECK (n_slots >= 1),
    n_threads         integer     NOT NULL CHECK (n_threads >= 1),
    cpu               text        NOT NULL,
    directive         text        NOT NULL DEFAULT 'run' CHECK (directive IN ('run', 'drain', 'stop', 'upgrade')),
    first_seen        timestamptz NOT NULL DEFAULT now(),
    last_seen         timestamptz NOT NULL DEFAULT now(),
    last_seq          bigint      NOT NULL DEFAULT 0,
    gone_at           timestamptz,
    strikes           integer     NOT NULL DEFAULT 0 CHECK (strikes >= 0),
    quarantined_at    timestamptz,
    quarantine_reason text,
    CONSTRAINT workers_quarantine_has_a_reason CHECK ((quarantined_at IS NULL) = (quarantine_reason IS NULL))
);

COMMENT ON TABLE workers IS 'Worker processes, one row for each start of one. Never deleted.';
COMMENT ON COLUMN workers.id IS 'Number, by order of first call.';
COMMENT ON COLUMN workers.name IS 'Label for people; need not be unique.';
COMMENT ON COLUMN workers.incarnation IS 'Made by the process at its start; who the worker is.';
COMMENT ON COLUMN workers.session IS 'Made by the coordinator at the first call; what later calls show.';
COMMENT ON COLUMN workers.engine IS 'Version of what decides a job''s result.';
COMMENT ON COLUMN workers.program_version IS 'For people.';
COMMENT ON COLUMN workers.protocol IS 'Version of the protocol that was agreed on.';
COMMENT ON COLUMN workers.n_slots IS 'Jobs run at once.';
COMMENT ON COLUMN workers.n_threads IS 'Threads searching, over all slots.';
COMMENT ON COLUMN workers.cpu IS 'The processor''s name, for people.';
COMMENT ON COLUMN workers.directive IS 'What the whole worker is to do; told with every beat.';
COMMENT ON COLUMN workers.first_seen IS 'First call.';
COMMENT ON COLUMN workers.last_seen IS 'Last beat or other call that writes.';
COMMENT ON COLUMN workers.last_seq IS 'Number of the newest beat; 0: none yet. An older one changes nothing.';
COMMENT ON COLUMN workers.gone_at IS 'When it took its leave or was given up. NULL: it is there.';
COMMENT ON COLUMN workers.strikes IS 'Boards it sent with a wrong par, cluster size or minimality, counted in batches.';
COMMENT ON COLUMN workers.quarantined_at IS 'Since when nothing is leased to it. NULL: it is trusted.';
COMMENT ON COLUMN workers.quarantine_reason IS 'Why. NULL: it is trusted.';

CREATE INDEX workers_here ON workers (last_seen) WHERE gone_at IS NULL;
