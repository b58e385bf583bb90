-- What each strategy brings for the processor time it takes, for analysts and for the dashboard.
CREATE OR REPLACE VIEW analysis.yield_by_strategy AS
SELECT j.kind, count(*) FILTER (WHERE j.state = 'done') AS n_jobs, sum(j.n_new)::bigint AS n_new,
    sum(j.n_known)::bigint AS n_known, sum(j.n_clusters)::bigint AS n_clusters, sum(j.n_positions)::bigint AS n_positions,
    max(j.best_par) AS best_par,
    round(sum(j.n_new)::numeric * 1000000 / nullif(sum(j.n_positions), 0), 1) AS new_per_million_positions,
    round(sum(j.cpu_ms) / 1000.0, 1) AS cpu_s,
    round(sum(j.cpu_ms)::numeric / nullif(sum(j.n_new) FILTER (WHERE j.cpu_ms > 0), 0), 3) AS cpu_ms_per_new
FROM jobs j
GROUP BY j.kind;

COMMENT ON COLUMN analysis.yield_by_strategy.kind IS 'scatter, anneal, sweep, census, audit, siren.';
COMMENT ON COLUMN analysis.yield_by_strategy.cpu_s IS 'Processor time of the jobs carried out, in seconds.';
COMMENT ON COLUMN analysis.yield_by_strategy.cpu_ms_per_new IS 'Processor time for each board that nobody had found before, in '
    'milliseconds. NULL: none, or not measured.';

CREATE VIEW analysis.yield_by_hunt AS
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
WHERE j.state = 'done'
GROUP BY j.hunt_id, h.name, coalesce(j.arm, j.kind);

COMMENT ON VIEW analysis.yield_by_hunt IS 'What each strategy of each hunt brought, by jobs carried out; anneal by temperatures.';
COMMENT ON COLUMN analysis.yield_by_hunt.hunt_id IS 'The hunt.';
COMMENT ON COLUMN analysis.yield_by_hunt.hunt IS 'Its name.';
COMMENT ON COLUMN analysis.yield_by_hunt.arm IS 'The strategy; with anneal, the temperatures at the first and last iteration of a round, in '
    'thousandths of a slide.';
COMMENT ON COLUMN analysis.yield_by_hunt.n_jobs IS 'Jobs carried out.';
COMMENT ON COLUMN analysis.yield_by_hunt.cpu_s IS 'Processor time, in seconds.';
COMMENT ON COLUMN analysis.yield_by_hunt.n_new IS 'Boards that nobody had found before.';
COMMENT ON COLUMN analysis.yield_by_hunt.n_known IS 'Distinct boards of each job that were known.';
COMMENT ON COLUMN analysis.yield_by_hunt.cpu_ms_per_new IS 'Processor time for each new board, in milliseconds. NULL: none.';
COMMENT ON COLUMN analysis.yield_by_hunt.n_new_hard IS 'Of the new boards, those of par 30 or more.';
COMMENT ON COLUMN analysis.yield_by_hunt.best_par IS 'Largest par handed in, in slides. NULL: none.';

CREATE VIEW analysis.yield_curve AS
SELECT j.hunt_id, date_trunc('minute', j.ended_at) AS minute, j.kind, count(*) AS n_jobs,
    round(sum(j.cpu_ms) / 1000.0, 1) AS cpu_s, sum(j.n_new)::bigint AS n_new,
    round(1000.0 * sum(j.n_new) / nullif(sum(j.cpu_ms), 0), 1) AS new_per_cpu_s
FROM jobs j
WHERE j.state = 'done'
GROUP BY j.hunt_id, date_trunc('minute', j.ended_at), j.kind;

COMMENT ON VIEW analysis.yield_curve IS 'What each strategy of each hunt brought, by the minute in which its jobs ended.';
COMMENT ON COLUMN analysis.yield_curve.hunt_id IS 'The hunt.';
COMMENT ON COLUMN analysis.yield_curve.minute IS 'When, cut to the minute.';
COMMENT ON COLUMN analysis.yield_curve.kind IS 'The strategy.';
COMMENT ON COLUMN analysis.yield_curve.n_jobs IS 'Jobs that ended.';
COMMENT ON COLUMN analysis.yield_curve.cpu_s IS 'Processor time of these, in seconds.';
COMMENT ON COLUMN analysis.yield_curve.n_new IS 'Boards of these that nobody had found before.';
COMMENT ON COLUMN analysis.yield_curve.new_per_cpu_s IS 'New boards for a second of processor time. NULL: not measured.';
