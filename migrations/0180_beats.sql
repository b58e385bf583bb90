-- A beat changes one row of workers and one of jobs a lease, and nothing is done as often. No index may name what it changes:
-- then Postgres writes the new row beside the old one, and leaves every index as it is (HOT); pages keep room for that.
-- Nobody misses the indexes: leases that ran out are looked for among those that stand still, and pages count all who are there.
DROP INDEX jobs_leased;
DROP INDEX workers_here;
CREATE INDEX workers_here ON workers (id) WHERE gone_at IS NULL;
ALTER TABLE jobs SET (fillfactor = 80);
ALTER TABLE workers SET (fillfactor = 50);
