//! Inputs: pieces of good ones, spoiled in the ways that parsers trip over.

use board::stream::Stream;

/// Bytes that are often where a parser's cases part.
const TELLING: [&[u8]; 24] = [
    b"\0",
    b"\xff",
    b"\x7f",
    b"\x80",
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b"-",
    b"0",
    b"x",
    b"o",
    b"A",
    b"18446744073709551616",
    b"1e999",
    b"-1",
    b"null",
    b"\\ud800",
    b"\xf0\x9f\x9a\x97",
    b"99x99:",
];

/// The longest input that is made, in bytes.
const MAX_BYTES: usize = 4_096;

/// One of the samples, spoiled once to six times; now and then bytes that come from none.
pub(crate) fn spoiled(samples: &[Vec<u8>], draws: &mut Stream) -> Vec<u8> {
    if draws.chance(1, 20) {
        let n_bytes = draws.index(200);
        return (0..n_bytes).map(|_| byte(draws)).collect();
    }
    let mut bytes = samples[draws.index(samples.len())].clone();
    for _ in 0..=draws.index(6) {
        spoil(&mut bytes, samples, draws);
    }
    bytes.truncate(MAX_BYTES);
    bytes
}

fn spoil(bytes: &mut Vec<u8>, samples: &[Vec<u8>], draws: &mut Stream) {
    let at = draws.index(bytes.len() + 1);
    let end = at + draws.index((bytes.len() - at).min(16) + 1);
    match draws.below(8) {
        0 if at < bytes.len() => bytes[at] ^= 1 << draws.below(8),
        1 if at < bytes.len() => bytes[at] = byte(draws),
        2 => drop(bytes.drain(at..end)),
        3 => {
            let piece = bytes[at..end].to_vec();
            let n_times = 1 + draws.index(20);
            bytes.splice(at..at, piece.repeat(n_times));
        }
        4 => {
            let other = &samples[draws.index(samples.len())];
            let from = draws.index(other.len() + 1);
            let to = from + draws.index((other.len() - from).min(64) + 1);
            bytes.splice(at..end, other[from..to].iter().copied());
        }
        5 => bytes.truncate(at),
        _ => {
            let telling = TELLING[draws.index(TELLING.len())];
            bytes.splice(at..end, telling.iter().copied());
        }
    }
}

fn byte(draws: &mut Stream) -> u8 {
    draws.between(0, u8::MAX)
}
