-- Coordinators remember which boards are stored. Where a backup is put in the database's place, `parforce restored` gives it
-- another epoch, and what is remembered of the one before is forgotten.
CREATE TABLE farm_epoch (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    epoch   uuid    NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO farm_epoch DEFAULT VALUES;

COMMENT ON TABLE farm_epoch IS 'Which life of this database it is: another one after each restore. One row.';
COMMENT ON COLUMN farm_epoch.is_only IS 'True: there is one row.';
COMMENT ON COLUMN farm_epoch.epoch IS 'Drawn when the table was made, and at each restore.';
