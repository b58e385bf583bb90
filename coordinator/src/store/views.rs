//! The analysts' views as tables of text, for the command line: the same queries that analysts run.

use sqlx::AssertSqlSafe;

use super::{Store, StoreError, to_sql};

/// A view of the schema `analysis` that can be shown as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnalysisView {
    /// Boards by par and lot.
    ParDistribution,
    /// Boards by kind.
    Tallies,
    /// Boards by par and hunt.
    ParByHunt,
    /// The hardest boards.
    HardestBoards,
    /// New and known boards by the minute.
    DiscoveryCurve,
    /// What each kind of job brought.
    YieldByStrategy,
    /// Share of known boards by hunt.
    Duplicates,
    /// Minimal boards known against all there are.
    Recall,
    /// Measures of difficulty.
    Difficulty,
    /// Challenges that are no secret.
    Challenges,
    /// Bytes on disk.
    Storage,
    /// What each strategy of each hunt brought.
    YieldByHunt,
    /// What each strategy brought by the minute.
    YieldCurve,
    /// The hardest board of each kind.
    Records,
}

impl AnalysisView {
    /// The view's name, and what its rows are ordered by.
    fn to_sql(self) -> (&'static str, &'static str) {
        match self {
            AnalysisView::ParDistribution => ("par_distribution", "lot, par"),
            AnalysisView::Tallies => ("tallies", "lot, exit_row, n_walls, n_vehicles, par"),
            AnalysisView::ParByHunt => ("par_by_hunt", "hunt_id, par"),
            AnalysisView::HardestBoards => ("hardest_boards", "par DESC"),
            AnalysisView::DiscoveryCurve => ("discovery_curve", "minute"),
            AnalysisView::YieldByStrategy => ("yield_by_strategy", "kind"),
            AnalysisView::Duplicates => ("duplicates", "hunt, kind"),
            AnalysisView::Recall => ("recall", "lot, n_walls, par"),
            AnalysisView::Difficulty => ("difficulty", "luck_bits DESC, par, canonical"),
            AnalysisView::Challenges => ("challenges", "day, par"),
            AnalysisView::Storage => ("storage", "n_boards"),
            AnalysisView::YieldByHunt => ("yield_by_hunt", "hunt_id, arm"),
            AnalysisView::YieldCurve => ("yield_curve", "hunt_id, minute, kind"),
            AnalysisView::Records => ("records", "lot, exit_row, n_walls, n_vehicles"),
        }
    }
}

/// Rows of a view as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewRows {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Rows, a cell a column; `None`: NULL.
    pub rows: Vec<Vec<Option<String>>>,
}

impl Store {
    /// The first rows of an analysts' view.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn view_rows(&self, view: AnalysisView, limit: u64) -> Result<ViewRows, StoreError> {
        let (name, order) = view.to_sql();
        let columns = sqlx::query_scalar!(
            r#"
            SELECT column_name::text AS "name!"
            FROM information_schema.columns
            WHERE table_schema = 'analysis' AND table_name = $1
            ORDER BY ordinal_position
            "#,
            name,
        )
        .fetch_all(&self.pool)
        .await?;
        let cells: Vec<String> = columns.iter().map(|column| format!("{column}::text")).collect();
        let sql = format!(
            "SELECT ARRAY[{}] FROM analysis.{name} ORDER BY {order} LIMIT $1",
            cells.join(", ")
        );
        // All of it is from this file and from the names of a view's own columns.
        let rows = sqlx::query_scalar(AssertSqlSafe(sql))
            .bind(to_sql(limit))
            .fetch_all(&self.pool)
            .await?;
        Ok(ViewRows { columns, rows })
    }
}
