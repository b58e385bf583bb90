-- Difficulty as jobs of the farm: hunts that search nothing and have the stored boards measured.
ALTER TABLE hunts DROP CONSTRAINT hunts_strategy_check;
ALTER TABLE hunts ADD CONSTRAINT hunts_strategy_check
    CHECK (strategy IN ('mixed', 'scatter', 'anneal', 'census', 'siren', 'difficulty'));
COMMENT ON COLUMN hunts.strategy IS 'Kinds of job it is cut into; mixed: scatter and anneal; census: ranges of units (see censuses); '
    'difficulty: stored boards to measure (see difficulty_plans).';

ALTER TABLE jobs DROP CONSTRAINT jobs_kind_check;
ALTER TABLE jobs ADD CONSTRAINT jobs_kind_check
    CHECK (kind IN ('scatter', 'anneal', 'census', 'audit', 'siren', 'difficulty'));

CREATE TABLE difficulty_plans (
    hunt_id         bigint   PRIMARY KEY REFERENCES hunts,
    next_par        smallint NOT NULL,
    after_canonical text     COLLATE "C" NOT NULL
);

COMMENT ON TABLE difficulty_plans IS 'How far the hunts of strategy difficulty have cut the boards into jobs: hardest par first, along its key.';
COMMENT ON COLUMN difficulty_plans.hunt_id IS 'The hunt.';
COMMENT ON COLUMN difficulty_plans.next_par IS 'The par whose boards are cut next, in slides; larger ones are done. 32767: none was begun.';
COMMENT ON COLUMN difficulty_plans.after_canonical IS 'Of that par, boards up to this spelling are done; empty: none.';
