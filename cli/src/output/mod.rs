//! What commands print for people: numbers, tables, bars. (For programs they print JSON, one object a line.)

pub(crate) mod bars;
pub(crate) mod table;

/// A count with its thousands set apart: `1,234,567`.
pub(crate) fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count and its noun, in the plural where it is not one: `1 board`, `2 boards`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", thousands(count), if count == 1 { "" } else { "s" })
}

/// A time in seconds, with tenths while they matter: `0.3 s`, `12 s`.
pub(crate) fn in_seconds(seconds: f64) -> String {
    let decimals = usize::from(seconds < 9.95);
    format!("{seconds:.decimals$} s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_times_have_tenths() {
        let texts = [0.15, 9.94, 9.96, 519.6].map(in_seconds);
        assert_eq!(texts, ["0.1 s", "9.9 s", "10 s", "520 s"]);
    }

    #[test]
    fn thousands_are_set_apart() {
        let texts = [0, 7, 999, 1_000, 27_103_652_326].map(thousands);
        assert_eq!(texts, ["0", "7", "999", "1,000", "27,103,652,326"]);
    }

    #[test]
    fn one_is_singular() {
        assert_eq!(counted(1, "board"), "1 board");
        assert_eq!(counted(0, "board"), "0 boards");
    }
}
