//! How a hunt goes, while it goes: a picture on a terminal, plain lines elsewhere.

use std::collections::VecDeque;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use board::Board;
use coordinator::store::{CampaignProgress, CensusCoverage, HuntProgress, HuntRecord};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use worker::Progress;

use crate::commands::show;
use crate::output::{counted, thousands};

/// Rates are means over so long.
const WINDOW: Duration = Duration::from_secs(15);
/// Units of a census come in ranges of a minute or more.
const CENSUS_WINDOW: Duration = Duration::from_mins(10);
/// A census says how long it will take once so much of it is counted.
const ESTIMATE_FROM_THOUSANDTHS: u128 = 50;
/// How often a line is printed where there is no terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// What else is known of how far it is.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// There for a census.
    pub(super) census: Option<CensusCoverage>,
    /// There for a campaign.
    pub(super) campaign: Option<CampaignProgress>,
}

/// Shows how a hunt goes, on standard error.
pub(super) struct Live {
    begun: Instant,
    limit: Option<Duration>,
    /// `None` where there is no terminal.
    bar: Option<ProgressBar>,
    last_line: Option<Instant>,
    rate: Rate,
    /// Units of a census.
    counted: Rate,
    lot: String,
    /// Levels of a campaign that were done when it was first looked at.
    done_before: Option<u64>,
    /// The hardest board and its drawing, kept until another is harder.
    hardest: Option<(String, String)>,
}

impl Live {
    /// Begins to show a hunt that takes so long.
    pub(super) fn start(hunt: &HuntRecord, limit: Option<Duration>) -> Live {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(4));
            bar.set_style(
                ProgressStyle::with_template("{spinner} {msg}").expect("the template is well formed"),
            );
            bar.enable_steady_tick(Duration::from_millis(250));
            bar
        });
        Live {
            begun: Instant::now(),
            limit,
            bar,
            last_line: None,
            rate: Rate::over(WINDOW),
            counted: Rate::over(CENSUS_WINDOW),
            lot: hunt
                .space
                .as_ref()
                .map_or(String::new(), |space| space.lot().to_string()),
            done_before: None,
            hardest: None,
        }
    }

    /// Shows the present state.
    pub(super) fn show(&mut self, progress: &HuntProgress, ledger: &Ledger, worker: &Progress) {
        let now = Instant::now();
        if let Some(campaign) = &ledger.campaign {
            let line = self.levels(campaign, progress, now);
            return self.tell(line, "", now);
        }
        let coverage = ledger.census.as_ref();
        self.rate.note(now, worker.counters.solvable);
        if let Some(coverage) = coverage {
            self.counted.note(now, coverage.n_counted);
        }
        let par = progress
            .best_par
            .map_or(String::from("none yet"), |par| par.to_string());
        let covered = coverage.map_or(String::new(), |coverage| self.covered(coverage));
        let line = format!(
            "{}{covered}  {} boards/s  {} new  {} of {}  best par {par}",
            self.time(now),
            thousands(self.rate.per_second()),
            thousands(progress.n_new),
            counted(progress.n_boards, "board"),
            self.lot,
        );
        if self.bar.is_some()
            && let Some(hardest) = &progress.hardest
            && self.hardest.as_ref().is_none_or(|(shown, _)| shown != hardest)
        {
            let picture =
                Board::parse(hardest).map_or(String::new(), |board| show::picture_for_errors(&board));
            self.hardest = Some((hardest.clone(), picture));
        }
        let picture = self
            .hardest
            .as_ref()
            .map_or(String::new(), |(_, picture)| picture.clone());
        self.tell(line, &picture, now);
    }

    fn tell(&mut self, line: String, picture: &str, now: Instant) {
        match &self.bar {
            Some(bar) => bar.set_message(if picture.is_empty() {
                line
            } else {
                format!("{line}\n\n{picture}")
            }),
            None if self.last_line.is_none_or(|last| now - last >= LINE_INTERVAL) => {
                self.last_line = Some(now);
                say!("{line}");
            }
            None => {}
        }
    }

    /// How many levels of a campaign are done, and how long the rest will take: hard and easy ones take turns, so that the
    /// rest is like what was done. Nothing is said before a few were.
    fn levels(&mut self, campaign: &CampaignProgress, progress: &HuntProgress, now: Instant) -> String {
        const FEW: u64 = 5;
        let (n_done, n_levels) = (campaign.n_done, campaign.n_levels);
        let n_now = n_done - *self.done_before.get_or_insert(n_done);
        let left = if n_now >= FEW && n_done < n_levels {
            let nth = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
            let left = (now - self.begun) * nth(n_levels - n_done) / nth(n_now);
            format!(", about {} to go", clock(left))
        } else {
            String::new()
        };
        let parked = if campaign.n_parked > 0 {
            format!("  {} failed too often", counted(campaign.n_parked, "level"))
        } else {
            String::new()
        };
        format!(
            "{}  {n_done} of {n_levels} levels{left}  {} ({} distinct){parked}  {}",
            self.time(now),
            counted(campaign.n_finds, "jam"),
            thousands(campaign.n_distinct),
            counted(progress.jobs_leased, "job")
        ) + " at work"
    }

    /// How much of a census is counted, and how long the rest will take if it is like what was counted last. Nothing
    /// is said of that at the start: the first units have the fewest vehicles and by far the largest clusters.
    fn covered(&self, coverage: &CensusCoverage) -> String {
        let (n_counted, n_units) = (
            u128::from(coverage.n_counted),
            u128::from(coverage.n_units.max(1)),
        );
        let thousandths = n_counted * 1_000 / n_units;
        let mut text = format!(
            "  {}.{} % of {} units",
            thousandths / 10,
            thousandths % 10,
            thousands(coverage.n_units)
        );
        let per_second = self.counted.per_second();
        if per_second > 0 && thousandths >= ESTIMATE_FROM_THOUSANDTHS && coverage.n_counted < coverage.n_units
        {
            let left = Duration::from_secs((coverage.n_units - coverage.n_counted) / per_second);
            text += ", about ";
            text += &clock(left);
            text += " to go";
        }
        text
    }

    /// Says that what was found is being handed in.
    pub(super) fn ending(&mut self, interrupted: bool) {
        let why = if interrupted { "interrupted" } else { "over" };
        let line = format!("{why}: handing in what was found (a second Ctrl-C ends at once)");
        if let Some(bar) = &self.bar {
            bar.set_message(line);
        } else {
            say!("{line}");
        }
    }

    /// Leaves the terminal to the report.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn time(&self, now: Instant) -> String {
        let elapsed = clock(now - self.begun);
        self.limit
            .map_or(elapsed.clone(), |limit| format!("{elapsed} of {}", clock(limit)))
    }
}

/// A time as minutes and seconds, or hours where it is so long: `4:05`, `1:00:00`.
pub(crate) fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

/// A count a second, over a window.
#[derive(Debug)]
struct Rate {
    window: Duration,
    counts: VecDeque<(Instant, u64)>,
}

impl Rate {
    fn over(window: Duration) -> Rate {
        Rate {
            window,
            counts: VecDeque::new(),
        }
    }

    fn note(&mut self, now: Instant, count: u64) {
        self.counts.push_back((now, count));
        while self.counts.len() > 2 && now - self.counts[0].0 > self.window {
            self.counts.pop_front();
        }
    }

    fn per_second(&self) -> u64 {
        let (Some((begun, first)), Some((now, last))) = (self.counts.front(), self.counts.back()) else {
            return 0;
        };
        let millis = u64::try_from((*now - *begun).as_millis())
            .unwrap_or(u64::MAX)
            .max(1);
        (last - first) * 1000 / millis
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_at_a_glance() {
        let clocks = [0, 65, 3600, 86_461].map(|seconds| clock(Duration::from_secs(seconds)));
        assert_eq!(clocks, ["0:00", "1:05", "1:00:00", "24:01:01"]);
    }

    #[test]
    fn rates_are_over_the_window_alone() {
        let mut rate = Rate::over(WINDOW);
        let begun = Instant::now();
        for second in 0..60 {
            // Idle for half a minute, then 100 a second.
            rate.note(
                begun + Duration::from_secs(second),
                second.saturating_sub(30) * 100,
            );
        }
        assert_eq!(rate.per_second(), 100);
    }
}
