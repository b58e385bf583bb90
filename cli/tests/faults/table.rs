//! What came of it, as a table for people.

use std::fmt::Write;
use std::time::Duration;

/// One kind of fault, tried some times.
pub(crate) struct Row {
    pub(crate) fault: &'static str,
    /// Boards that were stored before a fault and not after it, and acknowledged batches that are not there.
    pub(crate) n_lost: usize,
    /// Boards, batches or jobs that count twice.
    pub(crate) n_twice: usize,
    /// From the end of each fault until boards are stored again.
    pub(crate) recoveries: Vec<Duration>,
}

pub(crate) fn markdown(rows: &[Row]) -> String {
    let mut text = String::from(
        "| fault | times | lost | stored twice | seconds to recover, median | worst |\n|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let mut seconds: Vec<f64> = row.recoveries.iter().map(Duration::as_secs_f64).collect();
        seconds.sort_by(f64::total_cmp);
        let median = seconds.get(seconds.len() / 2).copied().unwrap_or(f64::NAN);
        let worst = seconds.last().copied().unwrap_or(f64::NAN);
        writeln!(
            text,
            "| {} | {} | {} | {} | {median:.1} | {worst:.1} |",
            row.fault,
            seconds.len(),
            row.n_lost,
            row.n_twice
        )
        .unwrap();
    }
    text
}
