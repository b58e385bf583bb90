-- The census page looks for the few hunts that enumerate among all jobs there ever were.
CREATE INDEX jobs_census ON jobs (hunt_id) WHERE kind = 'census';
