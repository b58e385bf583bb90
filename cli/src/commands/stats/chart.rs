//! Bar charts, with a logarithmic axis unless asked otherwise.

use crate::output::thousands;
use crate::sheet::{Anchor, Colour, Sheet};

/// The plot, in points.
const SIZE: (f32, f32) = (720.0, 360.0);
const LEFT: f32 = 70.0;
const RIGHT: f32 = 20.0;
const TOP: f32 = 40.0;
const BOTTOM: f32 = 40.0;

const BAR: Colour = Colour(0x00, 0x72, 0xb2);
const GRID: Colour = Colour(0xdd, 0xdd, 0xdd);
const AXIS: Colour = Colour(0x33, 0x33, 0x33);

/// More labels than this below the bars would overlap.
const MOST_LABELS: usize = 26;

/// A bar for each label.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chart {
    pub(super) title: String,
    pub(super) bars: Vec<(String, f64)>,
    pub(super) is_linear: bool,
}

impl Chart {
    pub(super) fn draw(&self) -> Sheet {
        let mut sheet = Sheet::new(SIZE.0, SIZE.1);
        sheet.text(LEFT, 22.0, 14.0, Anchor::Start, &self.title);
        let top = self.top();
        for tick in self.ticks(top) {
            let y = self.y(tick, top);
            sheet.rectangle(LEFT, y, SIZE.0 - LEFT - RIGHT, 0.5, GRID);
            sheet.text(LEFT - 6.0, y + 3.5, 9.0, Anchor::End, &number(tick));
        }
        let n_bars = u16::try_from(self.bars.len()).unwrap_or(u16::MAX);
        let width = (SIZE.0 - LEFT - RIGHT) / f32::from(n_bars.max(1));
        let every = self.bars.len().div_ceil(MOST_LABELS).max(1);
        for (place, (label, value)) in (0..n_bars).zip(&self.bars) {
            let x = LEFT + f32::from(place) * width;
            if *value > 0.0 {
                let y = self.y(*value, top);
                sheet.rectangle(x + width * 0.1, y, width * 0.8, SIZE.1 - BOTTOM - y, BAR);
            }
            if usize::from(place).is_multiple_of(every) {
                sheet.text(
                    x + width / 2.0,
                    SIZE.1 - BOTTOM + 14.0,
                    9.0,
                    Anchor::Middle,
                    label,
                );
            }
        }
        sheet.rectangle(LEFT, SIZE.1 - BOTTOM, SIZE.0 - LEFT - RIGHT, 1.0, AXIS);
        sheet
    }

    /// The upper end of the axis: a round number, for a logarithmic one a power of ten.
    fn top(&self) -> f64 {
        let largest = self.bars.iter().map(|(_, value)| *value).fold(1.0, f64::max);
        let power = 10_f64.powf(largest.log10().ceil());
        let round = [0.2, 0.5, 1.0].map(|part| part * power);
        let fits = |top: &f64| *top >= largest && self.is_linear;
        round.into_iter().find(fits).unwrap_or(power.max(10.0))
    }

    fn ticks(&self, top: f64) -> Vec<f64> {
        if self.is_linear {
            return (0..=4_u8).map(|quarter| top * f64::from(quarter) / 4.0).collect();
        }
        let powers = std::iter::successors(Some(1.0), |tick: &f64| Some(tick * 10.0));
        powers.take_while(|tick| *tick <= top * 1.001).collect()
    }

    /// Where a value is. The logarithmic axis begins at one half, so that a bar of 1 can be seen.
    #[expect(clippy::cast_possible_truncation, reason = "a place on paper")]
    fn y(&self, value: f64, top: f64) -> f32 {
        let share = if self.is_linear {
            value / top
        } else {
            (value.max(0.5) / 0.5).ln() / (top / 0.5).ln()
        };
        SIZE.1 - BOTTOM - (SIZE.1 - TOP - BOTTOM) * share as f32
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ticks are whole and not negative"
)]
fn number(tick: f64) -> String {
    if tick.fract() == 0.0 {
        thousands(tick as u64)
    } else {
        format!("{tick:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::{Format, encode};

    fn svg(is_linear: bool) -> String {
        let bars = [("1", 1.0), ("2", 0.0), ("3", 21_492.0)].map(|(label, value)| (label.into(), value));
        let chart = Chart {
            title: "n_boards by par".into(),
            bars: bars.to_vec(),
            is_linear,
        };
        String::from_utf8(encode(&[chart.draw()], Format::Svg).unwrap()).unwrap()
    }

    #[test]
    fn a_logarithmic_axis_has_powers_of_ten() {
        let svg = svg(false);
        for tick in ["1", "10", "100", "1,000", "10,000", "100,000"] {
            assert!(svg.contains(&format!(">{tick}</text>")), "{tick}: {svg}");
        }
        // The ground, six ticks, two bars (a bar of 1 among them), the axis.
        assert_eq!(svg.matches("<rect ").count(), 1 + 6 + 2 + 1);
    }

    #[test]
    fn a_linear_axis_has_quarters_of_a_round_number() {
        assert!(svg(true).contains(">50,000</text>") && svg(true).contains(">12,500</text>"));
    }
}
