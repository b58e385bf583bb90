-- Yields count what hunts' own jobs brought that were carried out: an audit runs another's job again, and of a job that was
-- cut short the boards are known, but neither what it explored nor the time it took.
CREATE OR REPLACE VIEW analysis.yield_by_strategy AS
SELECT j.kind, count(*) AS n_jobs, sum(j.n_new)::bigint AS n_new,
    sum(j.n_known)::bigint AS n_known, sum(j.n_clusters)::bigint AS n_clusters, sum(j.n_positions)::bigint AS n_positions,
    max(j.best_par) AS best_par,
    round(sum(j.n_new)::numeric * 1000000 / nullif(sum(j.n_positions), 0), 1) AS new_per_million_positions,
    round(sum(j.cpu_ms) / 1000.0, 1) AS cpu_s,
    round(sum(j.cpu_ms)::numeric / nullif(sum(j.n_new) FILTER (WHERE j.cpu_ms > 0), 0), 3) AS cpu_ms_per_new
FROM jobs j
WHERE j.state = 'done' AND j.audit_of IS NULL
GROUP BY j.kind;

COMMENT ON VIEW analysis.yield_by_strategy IS 'What each kind of job brought for what it explored, by jobs carried out; audits '
    'apart. What jobs handed in that were cut short is counted in hunts and duplicates alone.';

CREATE OR REPLACE VIEW analysis.yield_by_hunt AS
SELECT j.hunt_id, h.name AS hunt, coalesce(j.arm, j.kind) AS arm, count(*) AS n_jobs,
    round(sum(j.cpu_ms) / 1000.0, 1) AS cpu_s, sum(j.n_new)::bigint AS n_new,
    sum(greatest(j.n_found - j.n_new, 0))::bigint AS n_known,
    round(sum(j.cpu_ms)::numeric / nullif(sum(j.n_new), 0), 3) AS cpu_ms_per_new,
    coalesce(sum(y.n_hard), 0)::bigint AS n_new_hard, max(j.best_par) AS best_par
FROM jobs j
JOIN hunts h ON h.id = j.hunt_id
LEFT JOIN LATERAL (
    SELECT sum(y.n_new) AS n_hard FROM job_yields y WHERE y.job_id = j.id AND y.par >= 30
) y ON true
WHERE j.state = 'done' AND j.audit_of IS NULL
GROUP BY j.hunt_id, h.name, coalesce(j.arm, j.kind);

COMMENT ON VIEW analysis.yield_by_hunt IS 'What each strategy of each hunt brought, by jobs carried out, audits apart; anneal by '
    'temperatures. What jobs handed in that were cut short is counted in hunts and duplicates alone.';

CREATE OR REPLACE VIEW analysis.yield_curve AS
SELECT j.hunt_id, date_trunc('minute', j.ended_at) AS minute, j.kind, count(*) AS n_jobs,
    round(sum(j.cpu_ms) / 1000.0, 1) AS cpu_s, sum(j.n_new)::bigint AS n_new,
    round(1000.0 * sum(j.n_new) / nullif(sum(j.cpu_ms), 0), 1) AS new_per_cpu_s
FROM jobs j
WHERE j.state = 'done' AND j.audit_of IS NULL
GROUP BY j.hunt_id, date_trunc('minute', j.ended_at), j.kind;

COMMENT ON VIEW analysis.yield_curve IS 'What each strategy of each hunt brought, by the minute in which its jobs ended; audits apart.';
