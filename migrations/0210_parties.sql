-- A token is one party: its workers may choose their names, so that what they say of each other proves nothing, and what is
-- held against some of them is held against the token. And who fails a job that others carry out is told apart from a job
-- that fails everybody.

-- Workers that may be given something, by party: the parties of a farm of thousands are told by a few steps through it. No
-- beat changes what it names.
CREATE INDEX workers_parties ON workers (coalesce(credential, ''))
    WHERE gone_at IS NULL AND quarantined_at IS NULL AND directive = 'run';

ALTER TABLE workers ADD COLUMN n_lone_failures integer NOT NULL DEFAULT 0 CHECK (n_lone_failures >= 0);
ALTER TABLE workers ADD COLUMN lone_failure_at timestamptz;
COMMENT ON COLUMN workers.n_lone_failures IS 'Jobs in a row that it failed and another worker then carried out, since it last carried out one itself; too many, '
    'and it is quarantined. Leases lost at one time count once. The next start of the same worker begins with as many.';
COMMENT ON COLUMN workers.lone_failure_at IS 'When the last attempt ended that n_lone_failures counts. NULL: none was counted yet.';
COMMENT ON COLUMN workers.credential IS 'Name of the token that it showed: all workers of one token are one party. NULL: the door asked for none; all such '
    'workers are one party too.';

CREATE TABLE token_quarantines (
    credential text        PRIMARY KEY CHECK (char_length(credential) BETWEEN 1 AND 60),
    since      timestamptz NOT NULL DEFAULT now(),
    reason     text        NOT NULL CHECK (char_length(reason) <= 1000)
);
COMMENT ON TABLE token_quarantines IS 'Tokens several of whose workers were in quarantine at one time: whoever shows one is welcomed into quarantine, until an '
    'operator trusts one of its workers again.';
COMMENT ON COLUMN token_quarantines.credential IS 'Name of the token (workers.credential).';
COMMENT ON COLUMN token_quarantines.since IS 'Since when.';
COMMENT ON COLUMN token_quarantines.reason IS 'Why; also the quarantine_reason of the workers that are in quarantine for it alone.';

-- The parties that have a worker of this engine which may be given something and was heard of lately: the first sixteen by
-- name, which is more than ever made the runs of one job.
CREATE FUNCTION live_parties(of_engine text, silence interval) RETURNS text[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    parties text[] := '{}';
    party   text;
BEGIN
    PERFORM FROM workers w
    WHERE coalesce(w.credential, '') = '' AND w.gone_at IS NULL AND w.quarantined_at IS NULL AND w.directive = 'run'
        AND w.engine = of_engine AND w.last_seen > now() - silence
    LIMIT 1;
    IF FOUND THEN
        parties := '{""}';
    END IF;
    party := '';
    WHILE cardinality(parties) < 16 LOOP
        SELECT coalesce(w.credential, '') INTO party FROM workers w
        WHERE coalesce(w.credential, '') > party AND w.gone_at IS NULL AND w.quarantined_at IS NULL AND w.directive = 'run'
            AND w.engine = of_engine AND w.last_seen > now() - silence
        ORDER BY coalesce(w.credential, '')
        LIMIT 1;
        EXIT WHEN NOT FOUND;
        parties := parties || party;
    END LOOP;
    RETURN parties;
END
$$;

-- Whether a worker of a party that is not wanted may be given something all the same: no other party is there, and it is not
-- one of the workers that are not wanted themselves, or nobody else is there either.
CREATE FUNCTION may_stand_in(me text, of_engine text, workers_unwanted text[], parties_unwanted text[], silence interval)
RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF NOT live_parties(of_engine, silence) <@ parties_unwanted THEN
        RETURN false;
    END IF;
    RETURN me <> ALL (workers_unwanted) OR NOT EXISTS (
        SELECT FROM workers w
        WHERE w.gone_at IS NULL AND w.quarantined_at IS NULL AND w.directive = 'run' AND w.engine = of_engine
            AND w.last_seen > now() - silence AND w.identity <> ALL (workers_unwanted));
END
$$;

-- Whether a worker may run a job that others ran, to compare: an audit, or one of the two counts of a range. Another party
-- comes first; only if none is there, or none came for so long (patience), another worker of a party that has run it. An
-- audit never goes to who made one of the runs.
CREATE FUNCTION may_compare(job bigint, worker bigint, silence interval, patience interval) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
DECLARE
    me      record;
    it      record;
    made_by text[];
    parties text[];
    waits   timestamptz;
BEGIN
    SELECT w.identity, coalesce(w.credential, '') AS party, w.engine INTO me FROM workers w WHERE w.id = worker;
    SELECT j.audit_of, r.repeat_of, j.created_at INTO it
    FROM jobs j LEFT JOIN census_ranges r ON r.job_id = coalesce(j.audit_of, j.id)
    WHERE j.id = job;
    IF it.audit_of IS NULL THEN
        -- The other of the two, whichever was granted first.
        IF it.repeat_of IS NOT NULL THEN
            PERFORM FROM jobs f WHERE f.id = it.repeat_of AND f.state = 'queued';
            IF FOUND THEN
                -- Both may be asked for in one breath. The first one is granted first.
                RETURN false;
            END IF;
        END IF;
        SELECT array_agg(DISTINCT w.identity), array_agg(DISTINCT coalesce(w.credential, '')), max(a.started_at)
        INTO made_by, parties, waits
        FROM job_attempts a JOIN workers w ON w.id = a.worker_id
        WHERE a.outcome IN ('running', 'done') AND (a.job_id = it.repeat_of
            OR a.job_id IN (SELECT twin.job_id FROM census_ranges twin WHERE twin.repeat_of = job));
    ELSE
        SELECT array_agg(DISTINCT w.identity), array_agg(DISTINCT coalesce(w.credential, '')), max(a.ended_at)
        INTO made_by, parties, waits
        FROM jobs run
        JOIN job_attempts a ON a.job_id = run.id AND a.token = run.token AND a.outcome = 'done'
        JOIN workers w ON w.id = a.worker_id
        WHERE run.id IN (it.audit_of, it.repeat_of) OR run.audit_of = it.audit_of
            OR run.id IN (SELECT twin.job_id FROM census_ranges twin WHERE twin.repeat_of = it.audit_of);
        IF me.identity = ANY (made_by) THEN
            RETURN false;
        END IF;
    END IF;
    IF made_by IS NULL OR me.party <> ALL (parties) THEN
        RETURN true;
    END IF;
    IF greatest(waits, it.created_at) < now() - patience THEN
        RETURN true;
    END IF;
    -- (A range is counted twice by one worker if it is all there is.)
    RETURN may_stand_in(me.identity, me.engine, made_by, parties, silence);
END
$$;

-- Whether a worker may have a job that failed before: not if it failed with this worker or its party, while another party is
-- there with which it did not fail, or another worker; unless none of them took it for so long (patience).
CREATE FUNCTION may_try_again(job bigint, worker bigint, silence interval, patience interval) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
DECLARE
    me        record;
    failed_by text[];
    parties   text[];
    waits     timestamptz;
BEGIN
    SELECT array_agg(DISTINCT w.identity), array_agg(DISTINCT coalesce(w.credential, '')), max(a.ended_at)
    INTO failed_by, parties, waits
    FROM job_attempts a JOIN workers w ON w.id = a.worker_id
    WHERE a.job_id = job AND a.outcome IN ('failed', 'unsupported', 'expired', 'stalled');
    SELECT w.identity, coalesce(w.credential, '') AS party, w.engine INTO me FROM workers w WHERE w.id = worker;
    IF failed_by IS NULL OR me.party <> ALL (parties) OR waits < now() - patience THEN
        RETURN true;
    END IF;
    RETURN may_stand_in(me.identity, me.engine, failed_by, parties, silence);
END
$$;
