-- How fast jobs were carried out, by party: what the next are sized by. A party has no more than eight places a hunt and
-- kind, so that nobody drives out the others by claiming much.
CREATE TABLE job_paces (
    hunt_id   bigint           NOT NULL REFERENCES hunts,
    kind      text             NOT NULL,
    party     text             NOT NULL,
    place     smallint         NOT NULL CHECK (place BETWEEN 0 AND 7),
    job_id    bigint           NOT NULL REFERENCES jobs,
    worker_id bigint           NOT NULL REFERENCES workers,
    n_work    bigint           NOT NULL CHECK (n_work >= 1),
    seconds   double precision NOT NULL CHECK (seconds >= 0),
    ended_at  timestamptz      NOT NULL,
    PRIMARY KEY (hunt_id, kind, party, place)
);
COMMENT ON TABLE job_paces IS 'How long the latest jobs of each party took, eight at most a hunt and kind: what the next jobs are sized by.';
COMMENT ON COLUMN job_paces.hunt_id IS 'The hunt.';
COMMENT ON COLUMN job_paces.kind IS 'The kind of job.';
COMMENT ON COLUMN job_paces.party IS 'Name of the token of who did it; empty: the door asked for none.';
COMMENT ON COLUMN job_paces.place IS 'The job''s number modulo 8: a later job takes the place of an earlier one.';
COMMENT ON COLUMN job_paces.job_id IS 'The job.';
COMMENT ON COLUMN job_paces.worker_id IS 'Who did it.';
COMMENT ON COLUMN job_paces.n_work IS 'Iterations that its specification asks for.';
COMMENT ON COLUMN job_paces.seconds IS 'From grant to claim.';
COMMENT ON COLUMN job_paces.ended_at IS 'When it was claimed.';
CREATE INDEX job_paces_by_job ON job_paces (job_id);

INSERT INTO job_paces (hunt_id, kind, party, place, job_id, worker_id, n_work, seconds, ended_at)
SELECT DISTINCT ON (j.hunt_id, j.kind, coalesce(w.credential, ''), j.number % 8)
    j.hunt_id, j.kind, coalesce(w.credential, ''), j.number % 8, j.id, w.id, j.n_work,
    greatest(extract(epoch FROM a.ended_at - a.started_at), 0), a.ended_at
FROM hunts h
CROSS JOIN LATERAL (
    SELECT * FROM jobs WHERE jobs.hunt_id = h.id AND jobs.state = 'done' AND jobs.audit_of IS NULL ORDER BY jobs.id DESC LIMIT 200
) j
JOIN job_attempts a ON a.job_id = j.id AND a.token = j.token
JOIN workers w ON w.id = a.worker_id
WHERE h.state IN ('running', 'paused') AND a.ended_at IS NOT NULL
ORDER BY j.hunt_id, j.kind, coalesce(w.credential, ''), j.number % 8, j.id DESC;
