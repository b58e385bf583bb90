//! What strategies brought, and which boards' neighbourhoods were swept: what the next job is chosen by.

use board::canonical::Canonical;
use board::space::BoardSpace;
use proto::ids::HuntId;

use super::{StoreError, Tx, planning::parse_start, to_sql};

/// How many of an arm's latest jobs its yield is reckoned from: yields fall as boards become known.
const N_LATEST: i64 = 6;

/// What an arm of a hunt brought lately.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmYield {
    /// The arm, as its jobs name it.
    pub arm: String,
    /// Processor time of the jobs looked at, in seconds.
    pub cpu_s: f64,
    /// The same of one of them on average.
    pub job_s: f64,
    /// Sum over the boards they found first, each counting its par over the number of boards known of that par.
    pub worth: f64,
}

/// From no more of a board's positions than this is it swept: by then chances are better elsewhere.
const MAX_PASSES: i16 = 24;

/// A board whose neighbourhood is to be swept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unswept {
    par: i16,
    /// From how many of its positions it was swept before.
    pub n_passes: u16,
    /// Its spelling.
    pub canonical: Canonical,
    /// Positions in its cluster.
    pub n_states: u64,
}

/// Which boards to sweep.
struct UnsweptQuery<'a> {
    hunt: HuntId,
    space: &'a BoardSpace,
    par: i16,
    n_passes: i16,
    n_wanted: i64,
}

impl Tx {
    /// What each arm of a hunt brought with its latest jobs, by arm. Boards below `least_par` count for nothing.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn arm_yields(
        &mut self,
        hunt: HuntId,
        space: &BoardSpace,
        least_par: u16,
    ) -> Result<Vec<ArmYield>, StoreError> {
        let fields = space.fields();
        Ok(sqlx::query_as!(
            ArmYield,
            r#"
            WITH RECURSIVE arms AS (
                -- From arm to arm along the index: a hunt may have more jobs than are worth reading.
                (SELECT arm FROM jobs WHERE hunt_id = $1 AND state = 'done' AND arm IS NOT NULL ORDER BY arm LIMIT 1)
                UNION ALL
                SELECT (SELECT j.arm FROM jobs j
                    WHERE j.hunt_id = $1 AND j.state = 'done' AND j.arm > a.arm ORDER BY j.arm LIMIT 1)
                FROM arms a WHERE a.arm IS NOT NULL
            ), latest AS (
                SELECT a.arm, j.id, j.cpu_ms
                FROM arms a
                CROSS JOIN LATERAL (
                    SELECT id, cpu_ms FROM jobs j
                    WHERE j.hunt_id = $1 AND j.state = 'done' AND j.arm = a.arm AND j.cpu_ms > 0
                    ORDER BY id DESC LIMIT $2
                ) j
            ), known AS (
                SELECT par, sum(n_boards) AS n_boards
                FROM board_counts
                WHERE lot_width = $3 AND lot_height = $4 AND exit_row = $5
                GROUP BY par
            )
            SELECT l.arm AS "arm!", (sum(l.cpu_ms) / 1000.0)::double precision AS "cpu_s!",
                (avg(l.cpu_ms) / 1000.0)::double precision AS "job_s!",
                coalesce(sum(w.worth), 0)::double precision AS "worth!"
            FROM latest l
            LEFT JOIN LATERAL (
                SELECT sum(y.par * y.n_new::double precision / k.n_boards::double precision) AS worth
                FROM job_yields y
                JOIN known k USING (par)
                WHERE y.job_id = l.id AND y.par >= $6
            ) w ON true
            GROUP BY l.arm
            ORDER BY l.arm
            "#,
            hunt.get(),
            N_LATEST,
            i16::from(fields.lot.width()),
            i16::from(fields.lot.height()),
            i16::from(fields.exit_row),
            i16::try_from(least_par).unwrap_or(i16::MAX),
        )
        .fetch_all(&mut *self.tx)
        .await?)
    }

    /// The boards whose changes are tried next, hardest first, of equal par the smallest clusters first. Each pass over a board
    /// makes it count as `step` slides easier, so that those of the hardest are tried from many positions while the sweep comes
    /// down to easier ones; what a job of the hunt has tried or will try is not tried again.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn unswept(
        &mut self,
        hunt: HuntId,
        space: &BoardSpace,
        n_starts: u32,
        step: i16,
    ) -> Result<Vec<Unswept>, StoreError> {
        let fields = space.fields();
        let lot = (i16::from(fields.lot.width()), i16::from(fields.lot.height()));
        let exit_row = i16::from(fields.exit_row);
        let (most_walls, most_vehicles) = (i16::from(*fields.walls.end()), i16::from(*fields.vehicles.end()));
        // Par by par from the top, so that only the partitions in question are read.
        let pars = sqlx::query!(
            r#"
            WITH swept AS (
                SELECT s.par, s.n_passes, count(*) AS n
                FROM hunt_sweeps s
                JOIN jobs j ON j.hunt_id = s.hunt_id AND j.number = s.number
                WHERE s.hunt_id = $1 AND j.state NOT IN ('parked', 'cancelled')
                GROUP BY s.par, s.n_passes
            ), counted AS (
                SELECT par, sum(n_boards) AS n
                FROM board_tallies
                WHERE lot_width = $2 AND lot_height = $3 AND exit_row = $4 AND n_walls <= $5 AND n_vehicles <= $6
                    AND par > 0
                GROUP BY par
            )
            SELECT par AS "par!", n_passes AS "n_passes!"
            FROM (
                SELECT par, 0::smallint AS n_passes
                FROM counted c
                WHERE c.n > (SELECT coalesce(sum(s.n), 0) FROM swept s WHERE s.par = c.par)
                UNION ALL
                SELECT par, n_passes FROM swept WHERE n_passes < $8
            ) left_over
            ORDER BY par - n_passes * $7::smallint DESC, par DESC
            LIMIT 100
            "#,
            hunt.get(),
            lot.0,
            lot.1,
            exit_row,
            most_walls,
            most_vehicles,
            step,
            MAX_PASSES,
        )
        .fetch_all(&mut *self.tx)
        .await?;
        let mut starts = Vec::new();
        for row in pars {
            let n_wanted = i64::from(n_starts) - i64::try_from(starts.len()).unwrap_or(i64::MAX);
            if n_wanted <= 0 {
                break;
            }
            let query = UnsweptQuery {
                hunt,
                space,
                par: row.par,
                n_passes: row.n_passes,
                n_wanted,
            };
            starts.extend(self.unswept_of(&query).await?);
        }
        Ok(starts)
    }

    /// Boards of one par that were swept from so many positions, the smallest clusters first.
    async fn unswept_of(&mut self, query: &UnsweptQuery<'_>) -> Result<Vec<Unswept>, StoreError> {
        let fields = query.space.fields();
        let rows = sqlx::query!(
            r#"
            SELECT canonical, n_states
            FROM boards b
            WHERE par = $2 AND lot_width = $3 AND lot_height = $4 AND exit_row = $5 AND n_walls <= $6
                AND n_vehicles <= $7
                AND $8::smallint = coalesce((
                    SELECT s.n_passes FROM hunt_sweeps s
                    JOIN jobs j ON j.hunt_id = s.hunt_id AND j.number = s.number
                    WHERE s.hunt_id = $1 AND s.par = b.par AND s.canonical = b.canonical
                        AND j.state NOT IN ('parked', 'cancelled')), 0::smallint)
            ORDER BY n_states, canonical
            LIMIT $9
            "#,
            query.hunt.get(),
            query.par,
            i16::from(fields.lot.width()),
            i16::from(fields.lot.height()),
            i16::from(fields.exit_row),
            i16::from(*fields.walls.end()),
            i16::from(*fields.vehicles.end()),
            query.n_passes,
            query.n_wanted,
        )
        .fetch_all(&mut *self.tx)
        .await?;
        rows.iter()
            .map(|board| {
                Ok(Unswept {
                    par: query.par,
                    n_passes: query.n_passes.cast_unsigned(),
                    canonical: parse_start(&board.canonical)?,
                    n_states: super::from_sql(board.n_states),
                })
            })
            .collect()
    }

    /// Notes that a job of the hunt tries all changes of these boards.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn note_sweeps(
        &mut self,
        hunt: HuntId,
        number: u64,
        starts: &[Unswept],
    ) -> Result<(), StoreError> {
        let pars: Vec<i16> = starts.iter().map(|start| start.par).collect();
        let n_passes: Vec<i16> = starts
            .iter()
            .map(|start| start.n_passes.cast_signed() + 1)
            .collect();
        let spellings: Vec<String> = starts
            .iter()
            .map(|start| start.canonical.as_str().to_owned())
            .collect();
        sqlx::query!(
            r#"
            INSERT INTO hunt_sweeps (hunt_id, par, canonical, number, n_passes)
            SELECT $1, s.par, s.canonical, $2, s.n_passes
            FROM unnest($3::smallint[], $4::text[], $5::smallint[]) AS s (par, canonical, n_passes)
            ON CONFLICT (hunt_id, par, canonical) DO UPDATE SET number = EXCLUDED.number, n_passes = EXCLUDED.n_passes
            "#,
            hunt.get(),
            to_sql(number),
            &pars,
            &spellings,
            &n_passes,
        )
        .execute(&mut *self.tx)
        .await?;
        Ok(())
    }
}
