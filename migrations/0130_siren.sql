-- Campaigns of Siren Jam: hunts that are cut into one job a level, and the jams that their seeds gave.
ALTER TABLE hunts DROP CONSTRAINT hunts_strategy_check;
ALTER TABLE hunts ADD CONSTRAINT hunts_strategy_check
    CHECK (strategy IN ('mixed', 'scatter', 'anneal', 'census', 'siren'));
COMMENT ON COLUMN hunts.strategy IS 'Kinds of job it is cut into; mixed: scatter and anneal; census: ranges of units (see censuses); '
    'siren: levels (see campaigns).';

-- A campaign has a plan and no space of boards.
ALTER TABLE hunts
    ALTER COLUMN lot_width DROP NOT NULL, ALTER COLUMN lot_height DROP NOT NULL, ALTER COLUMN exit_row DROP NOT NULL,
    ALTER COLUMN hero_length DROP NOT NULL, ALTER COLUMN first_vehicles DROP NOT NULL, ALTER COLUMN last_vehicles DROP NOT NULL,
    ALTER COLUMN first_walls DROP NOT NULL, ALTER COLUMN last_walls DROP NOT NULL, ALTER COLUMN lengths DROP NOT NULL,
    ALTER COLUMN weights DROP NOT NULL,
    ADD CONSTRAINT hunts_have_a_space_or_a_plan CHECK (
        num_nulls(lot_width, lot_height, exit_row, hero_length, first_vehicles, last_vehicles, first_walls, last_walls,
            lengths, weights) = CASE WHEN strategy = 'siren' THEN 10 ELSE 0 END);
COMMENT ON TABLE hunts IS 'What an operator asks for: a space of boards or a campaign''s plan, a strategy, a budget. Never deleted.';
COMMENT ON COLUMN hunts.lot_width IS 'Squares. NULL: a campaign.';
COMMENT ON COLUMN hunts.lot_height IS 'Squares. NULL: a campaign.';
COMMENT ON COLUMN hunts.exit_row IS 'The hero''s row, counted from 0 at the top. NULL: a campaign.';
COMMENT ON COLUMN hunts.hero_length IS 'Squares. NULL: a campaign.';
COMMENT ON COLUMN hunts.first_vehicles IS 'Fewest vehicles of a board, hero included. NULL: a campaign.';
COMMENT ON COLUMN hunts.last_vehicles IS 'Most vehicles of a board, hero included. NULL: a campaign.';
COMMENT ON COLUMN hunts.first_walls IS 'Fewest walls of a board. NULL: a campaign.';
COMMENT ON COLUMN hunts.last_walls IS 'Most walls of a board. NULL: a campaign.';
COMMENT ON COLUMN hunts.lengths IS 'Lengths of the vehicles other than the hero, in squares, ascending. NULL: a campaign.';
COMMENT ON COLUMN hunts.weights IS 'How often each of the lengths is drawn, against the others. NULL: a campaign.';

ALTER TABLE rejections DROP CONSTRAINT rejections_code_check;
ALTER TABLE rejections ADD CONSTRAINT rejections_code_check CHECK (code IN ('not_a_board', 'not_canonical',
    'not_representative', 'wrong_par', 'unsolvable', 'too_large', 'wrong_cluster', 'outside_job', 'unfit', 'not_of_seed'));
COMMENT ON TABLE rejections IS 'Boards and jams that were refused: samples to judge a worker by, and a part of the batch''s answer.';
COMMENT ON TABLE batches IS 'Boards or jams handed in together by a worker or an import, with the answer given.';
COMMENT ON COLUMN batches.n_inserted IS 'Boards, or jams, that nobody had found before.';
COMMENT ON COLUMN batches.n_duplicate IS 'Boards, or jams, that were known, or stood in the batch twice.';

CREATE TABLE campaigns (
    hunt_id  bigint  PRIMARY KEY REFERENCES hunts,
    plan     jsonb   NOT NULL,
    engine   text    NOT NULL,
    n_levels integer NOT NULL CHECK (n_levels >= 1)
);

COMMENT ON TABLE campaigns IS 'Campaigns of Siren Jam: what the hunts of strategy siren generate.';
COMMENT ON COLUMN campaigns.hunt_id IS 'The hunt.';
COMMENT ON COLUMN campaigns.plan IS 'The plan, as siren/schema/plan.schema.json describes it.';
COMMENT ON COLUMN campaigns.engine IS 'Version of what decides which level a seed gives; another cannot go on with this campaign.';
COMMENT ON COLUMN campaigns.n_levels IS 'Levels, one job each.';

CREATE TABLE campaign_levels (
    hunt_id      bigint  NOT NULL REFERENCES campaigns,
    number       bigint  NOT NULL CHECK (number >= 0),
    place        integer NOT NULL CHECK (place >= 0),
    world_number integer NOT NULL CHECK (world_number >= 1),
    world        text    NOT NULL,
    level        integer NOT NULL CHECK (level >= 1),
    chosen_seed  bigint,
    PRIMARY KEY (hunt_id, number),
    UNIQUE (hunt_id, place)
);

COMMENT ON TABLE campaign_levels IS 'The levels of campaigns.';
COMMENT ON COLUMN campaign_levels.hunt_id IS 'The campaign.';
COMMENT ON COLUMN campaign_levels.number IS 'The number of its job in the hunt (jobs.number). Not the order of the plan: easy and hard levels take turns.';
COMMENT ON COLUMN campaign_levels.place IS 'Its place in the plan, from 0.';
COMMENT ON COLUMN campaign_levels.world_number IS 'Its world, from 1.';
COMMENT ON COLUMN campaign_levels.world IS 'Its world''s name.';
COMMENT ON COLUMN campaign_levels.level IS 'Its number in the world, from 1.';
COMMENT ON COLUMN campaign_levels.chosen_seed IS 'The seed whose jam became the level, kept as the signed number of the same 64 bits. NULL: not chosen yet.';

-- Jams: one row for all that are the same up to turning and mirroring, in one partition a par.
CREATE TABLE jams (
    batch_id         bigint   NOT NULL,
    par              smallint NOT NULL CHECK (par >= 0),
    lot_width        smallint NOT NULL,
    lot_height       smallint NOT NULL,
    n_vehicles       smallint NOT NULL CHECK (n_vehicles >= 0),
    chain_depth      smallint NOT NULL CHECK (chain_depth >= 0),
    n_locked         smallint NOT NULL CHECK (n_locked >= 0),
    fullness_percent smallint NOT NULL CHECK (fullness_percent BETWEEN 0 AND 100),
    forward_cost     smallint NOT NULL CHECK (forward_cost >= par),
    reverse_cost     smallint NOT NULL CHECK (reverse_cost >= par),
    n_swaps          smallint NOT NULL CHECK (n_swaps >= 0),
    lowers_bridge    boolean  NOT NULL,
    n_lights         smallint NOT NULL CHECK (n_lights >= 0),
    n_wrecks         smallint NOT NULL CHECK (n_wrecks >= 0),
    n_barricades     smallint NOT NULL CHECK (n_barricades >= 0),
    n_planters       smallint NOT NULL CHECK (n_planters >= 0),
    canonical        text     COLLATE "C" NOT NULL,
    PRIMARY KEY (par, canonical),
    CONSTRAINT jams_par_is_the_cheaper_cost CHECK (par = least(forward_cost, reverse_cost))
) PARTITION BY LIST (par);

COMMENT ON TABLE jams IS 'Jams found and proved: one row for all that are the same up to turning and mirroring, one partition a par.';
COMMENT ON COLUMN jams.batch_id IS 'The batch that brought it first (batches.id): which job, and when.';
COMMENT ON COLUMN jams.par IS 'Fewest moves until one of the two lanes is clear.';
COMMENT ON COLUMN jams.lot_width IS 'Squares, as the canonical spelling lies: a level drawn from it may be turned.';
COMMENT ON COLUMN jams.lot_height IS 'Squares, as the canonical spelling lies.';
COMMENT ON COLUMN jams.n_vehicles IS 'Vehicles that can drive, the unit not counted.';
COMMENT ON COLUMN jams.chain_depth IS 'Layers of blockers in the optimum''s closure.';
COMMENT ON COLUMN jams.n_locked IS 'Pieces of that closure that others lock in at the start.';
COMMENT ON COLUMN jams.fullness_percent IS 'Squares taken, in percent, rounded down.';
COMMENT ON COLUMN jams.forward_cost IS 'Fewest moves until the lane ahead is clear.';
COMMENT ON COLUMN jams.reverse_cost IS 'Fewest moves until the lane behind is clear.';
COMMENT ON COLUMN jams.n_swaps IS 'Light swaps of the optimum.';
COMMENT ON COLUMN jams.lowers_bridge IS 'The optimum lowers the drawbridge.';
COMMENT ON COLUMN jams.n_lights IS 'Traffic lights.';
COMMENT ON COLUMN jams.n_wrecks IS 'Wrecks.';
COMMENT ON COLUMN jams.n_barricades IS 'Barricades.';
COMMENT ON COLUMN jams.n_planters IS 'Planters.';
COMMENT ON COLUMN jams.canonical IS 'Canonical spelling (docs/siren.md, section 3). Compared byte by byte.';

-- The hardest level of the shipped plan has par 38; what lies above 59 goes to the default partition.
DO $$
BEGIN
    FOR par IN 0..59 LOOP
        EXECUTE format('CREATE TABLE jams_par_%s PARTITION OF jams FOR VALUES IN (%s)', lpad(par::text, 2, '0'), par);
    END LOOP;
END
$$;
CREATE TABLE jams_beyond PARTITION OF jams DEFAULT;
COMMENT ON TABLE jams_beyond IS 'Jams of a par that has no partition of its own.';

CREATE TABLE jam_finds (
    hunt_id               bigint   NOT NULL,
    number                bigint   NOT NULL,
    seed                  bigint   NOT NULL,
    batch_id              bigint   NOT NULL REFERENCES batches,
    par                   smallint NOT NULL,
    score_misses          integer  NOT NULL CHECK (score_misses >= 0),
    score_merit           integer  NOT NULL CHECK (score_merit >= 0),
    difficulty_hundredths smallint NOT NULL CHECK (difficulty_hundredths BETWEEN 100 AND 1000),
    time_tenths           integer  NOT NULL CHECK (time_tenths >= 0),
    three_stars_s         integer  NOT NULL CHECK (three_stars_s >= 0),
    two_stars_s           integer  NOT NULL CHECK (two_stars_s >= three_stars_s),
    is_tried_again        boolean  NOT NULL,
    canonical             text     COLLATE "C" NOT NULL,
    level                 text     NOT NULL,
    PRIMARY KEY (hunt_id, number, seed),
    FOREIGN KEY (hunt_id, number) REFERENCES campaign_levels,
    FOREIGN KEY (par, canonical) REFERENCES jams
);

COMMENT ON TABLE jam_finds IS 'Which seed of which level gave which jam, drawn as that seed drew it.';
COMMENT ON COLUMN jam_finds.hunt_id IS 'The campaign.';
COMMENT ON COLUMN jam_finds.number IS 'The level (campaign_levels.number).';
COMMENT ON COLUMN jam_finds.seed IS 'The seed, kept as the signed number of the same 64 bits.';
COMMENT ON COLUMN jam_finds.batch_id IS 'The batch that brought it.';
COMMENT ON COLUMN jam_finds.par IS 'Moves; with canonical, the jam.';
COMMENT ON COLUMN jam_finds.score_misses IS 'Weighted distance of its figures from the plan''s ranges; 0: every range is met.';
COMMENT ON COLUMN jam_finds.score_merit IS 'Of levels that meet their ranges alike the one with more is better.';
COMMENT ON COLUMN jam_finds.difficulty_hundredths IS 'Difficulty from 1 to 10, in hundredths (docs/siren.md, section 7).';
COMMENT ON COLUMN jam_finds.time_tenths IS 'A player''s time by the rating, in tenths of a second.';
COMMENT ON COLUMN jam_finds.three_stars_s IS 'Three stars up to here, in seconds.';
COMMENT ON COLUMN jam_finds.two_stars_s IS 'Two stars up to here, in seconds.';
COMMENT ON COLUMN jam_finds.is_tried_again IS 'The coordinator tried the seed again and got the same jam.';
COMMENT ON COLUMN jam_finds.canonical IS 'Canonical spelling; with par, the jam.';
COMMENT ON COLUMN jam_finds.level IS 'The jam as a level file without name and limits, as it is drawn: `parforce siren show -` reads it.';

CREATE INDEX jam_finds_by_jam ON jam_finds (par, canonical);
