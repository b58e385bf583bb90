-- Something of everything for the dashboard's tests, beside two hunts (1, 2) and an imported board.
INSERT INTO workers (name, incarnation, session, engine, program_version, protocol, n_slots, n_threads, cpu, directive,
    last_seen, strikes, quarantined_at, quarantine_reason)
SELECT 'node-' || i, gen_random_uuid(), gen_random_uuid(), 'parforce-1', '0.1.0', 1, 2, 32, 'A processor of some kind',
    CASE WHEN i = 3 THEN 'drain' ELSE 'run' END, now() - CASE WHEN i = 4 THEN interval '10 minutes' ELSE interval '3 seconds' END,
    CASE WHEN i = 1 THEN 3 ELSE 0 END, CASE WHEN i = 1 THEN now() - interval '1 hour' END, CASE WHEN i = 1 THEN 'par 51 stated, 48 found' END
FROM generate_series(1, 8) i;

INSERT INTO jobs OVERRIDING SYSTEM VALUE
SELECT 100000 + i, 1 + i % 2, 1000 + i, CASE WHEN i % 2 = 0 THEN 'anneal' ELSE 'scatter' END, i, '\x', 64000, 'done', 1, NULL, NULL, 0, 64000,
    0, NULL, now() - i * interval '1 minute' - interval '4 minutes', now() - i * interval '1 minute', 'parforce-1', decode(md5(i::text), 'hex'),
    64000, 40000, 20000, 15000, 10, 9000000, 12000, 3000, 900, 700 - i, 200 + i, 30 + i % 12
FROM generate_series(1, 120) i;
INSERT INTO job_attempts (job_id, token, worker_id, request_id, started_at, ended_at, outcome)
SELECT id, 1, 1 + id % 8, gen_random_uuid(), ended_at - (60 + id % 200) * interval '1 second', ended_at, 'done' FROM jobs WHERE state = 'done';
-- Audits of four jobs: one agrees, one is disputed, one is wrong itself, one waits.
INSERT INTO jobs (hunt_id, number, kind, seed, spec, n_work, state, token, ended_at, audit_of, engine, digest)
SELECT hunt_id, number, kind, seed, spec, n_work, CASE id - 100000 WHEN 4 THEN 'queued' ELSE 'done' END, (id <> 100004)::int,
    CASE WHEN id <> 100004 THEN now() END, id, CASE WHEN id <> 100004 THEN engine END, CASE WHEN id <> 100004 THEN digest END
FROM jobs WHERE id BETWEEN 100001 AND 100004;
INSERT INTO audits SELECT id, 'sample', now() - interval '1 hour',
    CASE audit_of - 100000 WHEN 1 THEN 'agrees' WHEN 2 THEN 'disputed' WHEN 3 THEN 'differs' END, CASE WHEN state = 'done' THEN now() END
FROM jobs WHERE audit_of IS NOT NULL;
INSERT INTO job_attempts (job_id, token, worker_id, request_id, ended_at, outcome)
SELECT id, 1, 1 + (id + 3) % 8, gen_random_uuid(), ended_at, 'done' FROM jobs WHERE audit_of IS NOT NULL AND state = 'done';
INSERT INTO batches (batch, worker_id, job_id, token, stored_at, n_inserted, n_duplicate)
SELECT gen_random_uuid(), worker_id, job_id, 1, ended_at, 700, 200 FROM job_attempts WHERE outcome = 'done' AND job_id > 100000;
INSERT INTO jobs (hunt_id, number, kind, seed, spec, n_work, state, token, ended_at, n_failures)
SELECT 1, 5000 + i, 'anneal', i, '\x', 64000, 'parked', 2, now() - i * interval '10 minutes', 6 FROM generate_series(1, 9) i;
INSERT INTO job_attempts (job_id, token, worker_id, request_id, started_at, ended_at, outcome, detail)
SELECT id, t, 1 + (id + t) % 8, gen_random_uuid(), ended_at - interval '9 minutes' / t, ended_at - interval '7 minutes' / t,
    CASE WHEN id % 3 = 0 THEN 'expired' ELSE 'failed' END, CASE WHEN id % 3 = 1 THEN 'no space left on device: ' || id || ' bytes' WHEN id % 3 = 2 THEN 'out of memory at ' || id || ' MiB' END
FROM jobs, generate_series(1, 2) t WHERE state = 'parked';
INSERT INTO jobs (hunt_id, number, kind, seed, spec, n_work, state, token, worker_id, expires_at, work_done, rate)
SELECT 1 + id % 2, 6000 + id, 'scatter', id, '\x', 64000, 'leased', 1, id, now() + interval '1 hour', 1000 * id, 3.5e7 + 1e6 * id FROM workers WHERE quarantined_at IS NULL;
INSERT INTO job_attempts (job_id, token, worker_id, request_id) SELECT id, 1, worker_id, gen_random_uuid() FROM jobs WHERE state = 'leased';
INSERT INTO rejections SELECT id, 0, 'wrong_par', 'BCDDEoBCFoEGBoFAAGHHHIoGooJIKKLLJMMo', 51, 'its par is 48' FROM batches WHERE worker_id = 1 ORDER BY id LIMIT 5;
INSERT INTO events (actor, kind, hunt_id, worker_id, detail) VALUES ('operator anna', 'worker_quarantined', NULL, 1, 'par 51 stated, 48 found'),
    ('node-2', 'record_found', 1, 2, 'par 51'), ('coordinator', 'job_parked', 1, NULL, 'failed 6 times');

INSERT INTO farm_samples
SELECT g.s, date_bin(make_interval(secs => g.s), now(), 'epoch') - i * make_interval(secs => g.s), 6, 1, 1, 1, 256, 190 + i % 40, 60, 9, 5000000 - 300 * i,
    (i % 37 = 0)::int, 2.5e8 + 1e6 * (i % 50) FROM (VALUES (10), (600)) g(s), generate_series(1, 360) i ON CONFLICT DO NOTHING;
INSERT INTO hunt_samples
SELECT h, g.s, date_bin(make_interval(secs => g.s), now(), 'epoch') - i * make_interval(secs => g.s), 400 - i, 6, 30, 9, 900000 - 2000 * i, 400000 - 900 * i, 1000000 - i, 500000 - 1000 * i,
    200000 - 410 * i + i * i / 2, 300000, 900000000, 90 + i % 20, 1e8, 51 - i / 20 FROM (VALUES (1), (2)) hunts(h), (VALUES (10), (600)) g(s), generate_series(1, 360) i ON CONFLICT DO NOTHING;
INSERT INTO worker_samples SELECT w.id, now() - i * interval '5 minutes', 7e7 + 1e6 * (i % 9), 2 FROM workers w, generate_series(1, 100) i;
