-- Strategies: hunts that mix them by what each brings, neighbourhood sweeps, and what the choice is made from.
ALTER TABLE hunts DROP CONSTRAINT hunts_strategy_check;
ALTER TABLE hunts ADD CONSTRAINT hunts_strategy_check
    CHECK (strategy IN ('mixed', 'scatter', 'anneal', 'sweep', 'census', 'siren', 'difficulty'));
ALTER TABLE hunts ADD COLUMN aim text NOT NULL DEFAULT 'broad' CHECK (aim IN ('broad', 'deep'));
ALTER TABLE hunts ADD COLUMN mix text[] NOT NULL DEFAULT '{scatter,anneal,sweep}'
    CHECK (cardinality(mix) >= 1 AND mix <@ '{scatter,anneal,sweep}');

COMMENT ON COLUMN hunts.strategy IS 'Kinds of job it is cut into; mixed: those of mix; census: ranges of units (see censuses); '
    'siren: levels of a campaign (see campaigns); difficulty: the stored boards of the space, measured.';
COMMENT ON COLUMN hunts.aim IS 'broad: boards of every par; deep: the hardest alone. Decides what the strategies'' finds are worth.';
COMMENT ON COLUMN hunts.mix IS 'Strategies that a mixed hunt mixes.';

ALTER TABLE jobs DROP CONSTRAINT jobs_kind_check;
ALTER TABLE jobs ADD CONSTRAINT jobs_kind_check
    CHECK (kind IN ('scatter', 'anneal', 'sweep', 'census', 'audit', 'siren', 'difficulty'));
ALTER TABLE jobs ADD COLUMN arm text CHECK (char_length(arm) BETWEEN 1 AND 100);
ALTER TABLE jobs ADD COLUMN cpu_ms bigint NOT NULL DEFAULT 0 CHECK (cpu_ms >= 0);

COMMENT ON COLUMN jobs.arm IS 'What it was planned as, finer than kind: its strategy with the choices that its yield decides, such as a '
    'temperature. NULL: planned by no choice.';
COMMENT ON COLUMN jobs.cpu_ms IS 'Processor time of its search threads, in milliseconds, as claimed at its end. 0: not done, or not measured.';

CREATE INDEX jobs_by_arm ON jobs (hunt_id, arm, id) WHERE state = 'done' AND arm IS NOT NULL;

-- What each job brought, by par. The boards' own rows tell it too, but only by reading them all.
CREATE TABLE job_yields (
    job_id bigint   NOT NULL,
    par    smallint NOT NULL,
    n_new  bigint   NOT NULL CHECK (n_new >= 1),
    PRIMARY KEY (job_id, par)
) WITH (fillfactor = 50);

COMMENT ON TABLE job_yields IS 'How many boards each job found first, by par, exact at every commit.';
COMMENT ON COLUMN job_yields.job_id IS 'The job.';
COMMENT ON COLUMN job_yields.par IS 'Slides.';
COMMENT ON COLUMN job_yields.n_new IS 'Boards that it found first.';

CREATE FUNCTION note_yields() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO job_yields AS y (job_id, par, n_new)
    SELECT t.job_id, f.par, sum(f.n_new)
    FROM (SELECT batch_id, par, count(*) AS n_new FROM fresh GROUP BY batch_id, par) f
    JOIN batches t ON t.id = f.batch_id
    WHERE t.job_id IS NOT NULL
    GROUP BY t.job_id, f.par
    ORDER BY t.job_id, f.par
    ON CONFLICT (job_id, par) DO UPDATE SET n_new = y.n_new + EXCLUDED.n_new;
    RETURN NULL;
END
$$;

CREATE TRIGGER boards_yielded AFTER INSERT ON boards
    REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION note_yields();

INSERT INTO job_yields (job_id, par, n_new)
SELECT t.job_id, b.par, count(*)
FROM boards b
JOIN batches t ON t.id = b.batch_id
WHERE t.job_id IS NOT NULL
GROUP BY t.job_id, b.par;

-- Which boards' neighbourhoods were swept: a sweep says all there is to say, and is never repeated.
CREATE TABLE hunt_sweeps (
    hunt_id   bigint   NOT NULL REFERENCES hunts,
    par       smallint NOT NULL,
    canonical text     COLLATE "C" NOT NULL,
    number    bigint   NOT NULL,
    PRIMARY KEY (hunt_id, par, canonical)
);

COMMENT ON TABLE hunt_sweeps IS 'Boards whose changes a hunt has tried, or will when the job is carried out; each belongs to one job.';
COMMENT ON COLUMN hunt_sweeps.hunt_id IS 'The hunt: another may have another space, and so other changes to try.';
COMMENT ON COLUMN hunt_sweeps.par IS 'Slides.';
COMMENT ON COLUMN hunt_sweeps.canonical IS 'Canonical spelling.';
COMMENT ON COLUMN hunt_sweeps.number IS 'The job, by its place in the hunt. If it was parked or cancelled, the board may be swept again.';
