//! The distribution of boards over par as a table with bars.

use super::table::{Align, Table};
use super::thousands;

/// The longest bar, in characters.
const MAX_LENGTH: u32 = 50;

/// Counts of something by par, as a table with a bar beside each count. The bars' scale is logarithmic, as the head says:
/// counts run from one to millions, and the few hardest are what one looks for.
pub(crate) fn distribution(what: &str, counts: &[(u64, u64)]) -> String {
    let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let head = "bar (logarithmic: each tenth of the longest is the same factor)";
    let mut table = Table::new(&[("par", Align::Right), (what, Align::Right), (head, Align::Left)]);
    for &(par, count) in counts {
        table.row(vec![
            par.to_string(),
            thousands(count),
            "█".repeat(length(count, most)),
        ]);
    }
    table.to_string()
}

/// Fills the gaps between the first and the last par with zeros, so that a missing par shows.
pub(crate) fn without_gaps(counts: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let (Some((first, _)), Some((last, _))) = (counts.first(), counts.last()) else {
        return Vec::new();
    };
    let count_of = |par| {
        counts
            .iter()
            .find(|(counted, _)| *counted == par)
            .map_or(0, |(_, count)| *count)
    };
    (*first..=*last).map(|par| (par, count_of(par))).collect()
}

/// Length of a bar: 1 for a single board, the longest for the largest count, nothing for nothing.
fn length(count: u64, most: u64) -> usize {
    if count == 0 {
        return 0;
    }
    // Nothing hangs on the last digits of a bar's length.
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts far below 2^52, and only a bar's length"
    )]
    let log = |count: u64| (count as f64 + 1.0).ln();
    let share = log(count) / log(most);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and the longest"
    )]
    let length = (share * f64::from(MAX_LENGTH)).round() as usize;
    length.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_pars_are_shown() {
        assert_eq!(without_gaps(&[(1, 5), (3, 2)]), [(1, 5), (2, 0), (3, 2)]);
        assert_eq!(without_gaps(&[]), []);
    }

    #[test]
    fn every_board_shows_and_the_most_common_par_has_the_longest_bar() {
        let text = distribution("boards", &[(1, 1), (2, 0), (3, 1_000_000)]);
        let bars: Vec<usize> = text
            .lines()
            .skip(1)
            .map(|line| line.matches('█').count())
            .collect();
        assert_eq!(bars[1..], [0, 50]);
        assert!(bars[0] >= 1, "{text}");
    }
}
