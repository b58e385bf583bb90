//! How numbers, times and names are put into words on the pages: whole numbers are never rounded, instants say
//! how long ago they were, and what is not known is a dash.

use std::fmt::Display;

use time::{Duration, OffsetDateTime};

/// What stands where there is nothing to say.
pub(crate) const NOTHING: &str = "–";

/// A whole number, all its digits, in groups of three: `35,021,774`.
pub(crate) fn count(n: impl TryInto<i128>) -> String {
    let Ok(n) = n.try_into() else {
        return NOTHING.into();
    };
    let digits = n.unsigned_abs().to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3 + 1);
    if n < 0 {
        text.push('−');
    }
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number and its noun: `1 job`, `2 jobs`.
pub(crate) fn counted(n: i64, noun: &str) -> String {
    format!("{} {noun}{}", count(n), if n == 1 { "" } else { "s" })
}

/// A measured figure, three digits of it: `1.53 M`, `842`, `0.31`.
pub(crate) fn figure(value: f64) -> String {
    if !value.is_finite() {
        return NOTHING.into();
    }
    let (scaled, unit) = match value.abs() {
        v if v >= 1e12 => (value / 1e12, " T"),
        v if v >= 1e9 => (value / 1e9, " G"),
        v if v >= 1e6 => (value / 1e6, " M"),
        v if v >= 1e4 => (value / 1e3, " k"),
        _ => (value, ""),
    };
    let digits = match scaled.abs() {
        v if v >= 100.0 || v == 0.0 || (unit.is_empty() && v.fract() == 0.0) => 0,
        v if v >= 10.0 => 1,
        _ => 2,
    };
    if unit.is_empty() && digits == 0 && scaled.abs() >= 1000.0 {
        #[expect(clippy::cast_possible_truncation, reason = "below ten thousand")]
        return count(scaled.round() as i64);
    }
    format!("{scaled:.digits$}{unit}")
}

/// A share between 0 and 1: `37 %`.
pub(crate) fn share(part: f64) -> String {
    if !part.is_finite() {
        return NOTHING.into();
    }
    let percent = part * 100.0;
    if percent > 0.0 && percent < 1.0 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

/// A length of time in its two largest units: `3 d 4 h`, `12 min`, `8 s`.
pub(crate) fn duration(length: Duration) -> String {
    let s = length.whole_seconds().max(0);
    match s {
        0..60 => format!("{s} s"),
        60..600 if s % 60 != 0 => format!("{} min {} s", s / 60, s % 60),
        60..3600 => format!("{} min", s / 60),
        3600..86_400 if s % 3600 >= 60 => format!("{} h {} min", s / 3600, s % 3600 / 60),
        3600..86_400 => format!("{} h", s / 3600),
        _ if s % 86_400 >= 3600 => format!("{} d {} h", s / 86_400, s % 86_400 / 3600),
        _ => format!("{} d", s / 86_400),
    }
}

/// How long before `now` something was, or how long it is until then.
pub(crate) fn ago(at: OffsetDateTime, now: OffsetDateTime) -> String {
    let past = now - at;
    if past.is_negative() {
        return format!("in {}", coarse(-past));
    }
    if past < Duration::seconds(2) {
        "just now".into()
    } else {
        format!("{} ago", coarse(past))
    }
}

/// A length of time in its largest unit.
fn coarse(length: Duration) -> String {
    let s = length.whole_seconds();
    match s {
        0..60 => format!("{s} s"),
        60..3600 => format!("{} min", s / 60),
        3600..172_800 => format!("{} h", s / 3600),
        _ => format!("{} d", s / 86_400),
    }
}

/// An instant in full, UTC: `2026-11-30 11:03:07 UTC`.
pub(crate) fn instant(at: OffsetDateTime) -> String {
    format!("{} UTC", stamp(at))
}

/// An instant in full without its zone, for tables whose head names it.
pub(crate) fn stamp(at: OffsetDateTime) -> String {
    format!(
        "{} {:02}:{:02}:{:02}",
        at.date(),
        at.hour(),
        at.minute(),
        at.second()
    )
}

/// An instant for machines (RFC 3339).
pub(crate) fn machine(at: OffsetDateTime) -> String {
    format!(
        "{}T{:02}:{:02}:{:02}Z",
        at.date(),
        at.hour(),
        at.minute(),
        at.second()
    )
}

/// A value, or a dash.
pub(crate) fn or_nothing<T: Display>(value: Option<T>) -> String {
    value.map_or_else(|| NOTHING.into(), |value| value.to_string())
}

/// Text as one part of a path or query value.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~:".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push('%');
            escaped.push_str(&hex_pair(byte));
        }
    }
    escaped
}

fn hex_pair(byte: u8) -> String {
    format!("{byte:02X}")
}

/// The inverse of [`escape`], also reading `+` as a space; what is not escaped rightly stays as it is.
pub(crate) fn unescape(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        let pair = (bytes[i] == b'%').then(|| text.get(i + 1..i + 3)).flatten();
        if let Some(byte) = pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            plain.push(byte);
            i += 3;
        } else {
            plain.push(if bytes[i] == b'+' { b' ' } else { bytes[i] });
            i += 1;
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_keep_all_their_digits() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1000), "1,000");
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(count(-1234), "−1,234");
    }

    #[test]
    fn figures_have_three_digits() {
        let figures = [
            0.0,
            0.314,
            7.0,
            99.94,
            842.0,
            9_999.0,
            15_300.0,
            1_530_000.0,
            2.5e9,
        ];
        assert_eq!(
            figures.map(figure),
            [
                "0", "0.31", "7", "99.9", "842", "9,999", "15.3 k", "1.53 M", "2.50 G"
            ]
        );
        assert_eq!(figure(f64::NAN), NOTHING);
    }

    #[test]
    fn lengths_of_time_name_two_units() {
        let text = [8, 75, 720, 3600, 7_320, 90_000, 172_800].map(|s| duration(Duration::seconds(s)));
        assert_eq!(
            text,
            [
                "8 s",
                "1 min 15 s",
                "12 min",
                "1 h",
                "2 h 2 min",
                "1 d 1 h",
                "2 d"
            ]
        );
    }

    #[test]
    fn escaping_comes_back() {
        let text = "week 48/ä?&=+%";
        assert_eq!(unescape(&escape(text)), text);
        assert_eq!(unescape("a+b%2"), "a b%2");
        assert_eq!(escape("7x6:ooA"), "7x6:ooA");
    }
}
