//! Reading and spelling: every rule, every refusal, and properties that hold for any board and any text.

#![expect(clippy::unwrap_used, reason = "a test may fail, in its helper functions too")]

mod random_boards;

use board::{Board, Canonical, Exit, Lot, Slide};
use proptest::prelude::*;
use rand::{Rng, RngExt};
use random_boards::{generator, random_board};

/// The board with its vehicles but the hero in another order and under other letters.
fn relettered(rng: &mut impl Rng, board: &Board) -> Board {
    let mut letters: Vec<u8> = board::LETTERS[1..].to_vec();
    for i in 0..letters.len() {
        let j = rng.random_range(i..letters.len());
        letters.swap(i, j);
    }
    let mut spelling = board.to_string().into_bytes();
    let first = spelling
        .iter()
        .position(|&byte| byte == b':')
        .map_or(0, |colon| colon + 1);
    for byte in &mut spelling[first..] {
        if let Some(i) = board.letters()[1..].iter().position(|letter| letter == byte) {
            *byte = letters[i];
        }
    }
    String::from_utf8(spelling).unwrap().parse().unwrap()
}

fn refusal(text: &str) -> String {
    Board::parse(text).unwrap_err().to_string()
}

#[test]
fn every_sign_for_a_square_is_read() {
    let board = Board::parse(".OoxoO#xAAooaa..").unwrap();
    assert_eq!(board.to_string(), "oOoxoOxxAAooaaoo");
}

#[test]
fn capital_o_and_x_are_vehicles_and_small_ones_are_not() {
    let board = Board::parse("oOXxoOXxAAooaaoo").unwrap();
    assert_eq!(board.letters(), b"AOXa");
    assert_eq!(board.n_walls(), 2);
    assert_eq!(board.to_string(), "oOXxoOXxAAooaaoo");
}

#[test]
fn rows_may_stand_on_lines_with_ends_of_any_kind() {
    let bare = Board::parse("oOXxoOXxAAooaaoo").unwrap();
    for end in ["\n", "\r\n", "\r", "\n\n"] {
        let rows = ["oOXx", "oOXx", "AAoo", "aaoo"];
        assert_eq!(Board::parse(&rows.join(end)).unwrap(), bare, "{end:?}");
        assert_eq!(Board::parse(&(rows.join(end) + end)).unwrap(), bare, "{end:?}");
        assert_eq!(
            Board::parse(&format!("{end}4x4:{end}{}{end}", rows.join(end))).unwrap(),
            bare,
            "{end:?}"
        );
        assert_eq!(
            Board::parse(&format!("oOXxoOXxAAooaaoo{end}")).unwrap(),
            bare,
            "{end:?}"
        );
    }
}

#[test]
fn a_size_in_front_is_needed_for_other_lots_and_allowed_for_square_ones() {
    let board = Board::parse("5x3:.oB..AAB#...ZZ.").unwrap();
    assert_eq!(board.lot(), Lot::new(5, 3).unwrap());
    assert_eq!(board.to_string(), "5x3:ooBooAABxoooZZo");
    assert_eq!(
        Board::parse("4x4:oOXxoOXxAAooaaoo").unwrap().to_string(),
        "oOXxoOXxAAooaaoo"
    );
    assert_eq!(
        refusal(".oB..AAB#...ZZ."),
        "15 squares are no square lot, other lots are written WxH: before the squares"
    );
    assert_eq!(
        refusal(".oB..\nAAB#.\n..ZZ."),
        "5 squares in each of 3 rows, write 5x3: before them"
    );
    assert_eq!(
        refusal("5x3:.oB..AAB#...ZZ"),
        "14 squares, expected 15 for a 5x3 lot"
    );
    assert_eq!(
        refusal("5x3:.oB..\nAAB#.\n..ZZ"),
        "row 3 has 4 squares, expected 5"
    );
    assert_eq!(
        refusal("5x3:.oB..\nAAB#."),
        "10 squares, expected 15 for a 5x3 lot"
    );
}

#[test]
fn lots_out_of_range_are_refused() {
    assert_eq!(refusal("AAoo"), "lot 2x2 is out of range, expected 3x3 to 16x16");
    assert_eq!(
        refusal("2x9:AAoooooooooooooooo"),
        "lot 2x9 is out of range, expected 3x3 to 16x16"
    );
    assert_eq!(
        refusal("17x3:"),
        "lot 17x3 is out of range, expected 3x3 to 16x16"
    );
    assert_eq!(
        refusal("AA\noo"),
        "lot 2x2 is out of range, expected 3x3 to 16x16"
    );
    assert!(refusal(&"o".repeat(17 * 17)).starts_with("289 squares are no square lot"));
    assert!(Board::parse(&format!("AA{}", "o".repeat(254))).is_ok());
    assert_eq!(
        refusal("six:AAo"),
        "\"six\" is not the size of a lot, expected something like 6x6"
    );
}

#[test]
fn vehicles_that_are_no_straight_line_are_refused_with_letter_and_place() {
    let on_6x6 = |text: &str| refusal(&format!("6x6:{text:o<36}"));
    assert_eq!(
        on_6x6("BBooooBoooooAA"),
        "vehicle B is not straight, row 2, column 1 is out of line"
    );
    assert_eq!(
        on_6x6("oooooBBoooooAA"),
        "vehicle B wraps from the end of one row to row 2, column 1"
    );
    assert_eq!(
        on_6x6("BoooooooooooAA"),
        "vehicle B at row 1, column 1 has a single square, expected 2 or more"
    );
    assert_eq!(
        on_6x6("BoBoooooooooAA"),
        "vehicle B has a gap before row 1, column 3"
    );
    assert_eq!(
        on_6x6("BoooooooooooAAooooBooooo"),
        "vehicle B has a gap before row 4, column 1"
    );
    assert_eq!(
        on_6x6("ooooooooooooBB"),
        "there is no hero, no square holds the letter A"
    );
    assert_eq!(
        on_6x6("ooooooooooooaa"),
        "there is no hero, no square holds the letter A"
    );
    assert_eq!(
        on_6x6("AoooooA"),
        "hero A at row 1, column 1 lies along a column, the exit is at the right end of a row"
    );
}

#[test]
fn unknown_characters_are_refused_with_their_place() {
    let at_end = |character: char| refusal(&format!("AAoooooo{character}"));
    let expectation = "expected a letter, o or . for empty, x or # for a wall";
    for character in [
        '0', '9', ' ', '-', '*', '\u{0}', '\t', '\u{7f}', 'é', 'А', '🚗', '\u{2028}',
    ] {
        let said = format!("unknown character {character:?} at row 3, column 3, {expectation}");
        assert_eq!(at_end(character), said);
    }
    assert_eq!(
        refusal(""),
        "0 squares are no square lot, other lots are written WxH: before the squares"
    );
}

#[test]
fn boards_with_the_exit_elsewhere_are_turned() {
    let right = Board::parse("ooBoAABooooCoDDC").unwrap();
    let drawn = [
        (Exit::Right, "ooBo AABo oooC oDDC"),
        (Exit::Left, "oBoo oBAA Cooo CDDo"),
        (Exit::Top, "ooCC BBoD oAoD oAoo"),
        (Exit::Bottom, "ooAo DoAo DoBB CCoo"),
    ];
    for (exit, rows) in drawn {
        let board = Board::parse_with_exit(&rows.replace(' ', "\n"), exit).unwrap();
        assert_eq!(board, right, "{exit}");
        assert_eq!(board.letters(), right.letters());
    }
    let error = Board::parse_with_exit("ooBoAABooooCoDDC", Exit::Top).unwrap_err();
    assert_eq!(
        error.to_string(),
        "hero A at row 2, column 1 lies along a row, the exit is at the top end of a column"
    );
    let board = Board::parse_with_exit("3x4:AoBAoBooooox", Exit::Bottom).unwrap();
    assert_eq!(board.to_string(), "4x3:BBoxooooAAoo");
    assert_eq!("left".parse(), Ok(Exit::Left));
    assert!("up".parse::<Exit>().is_err());
}

#[test]
fn a_canonical_spelling_has_letters_in_reading_order_and_the_exit_above() {
    let canonical = |text: &str| Board::parse(text).unwrap().canonical().to_string();
    assert_eq!(canonical("zzooAAoooooooooo"), "BBooAAoooooooooo");
    assert_eq!(canonical("zzooooooAAoooooo"), "ooooAAooooooBBoo");
    // The middle row: of the two mirror images the smaller as bytes; capitals come before small letters.
    assert_eq!(canonical("oooAAoBBo"), "BBoAAoooo");
    assert_eq!(canonical("BBoAAoooo"), "BBoAAoooo");
    assert!(Canonical::parse("BBooAAoooooooooo").is_ok());
    for other in [
        "CCooAAoooooooooo",
        "BB..AA..........",
        "4x4:BBooAAoooooooooo",
        "BBooAAoooooooooo\n",
        "AA",
    ] {
        assert!(Canonical::parse(other).is_err(), "{other:?}");
    }
}

#[test]
fn fifty_vehicles_use_every_letter_of_the_canonical_alphabet() {
    let mut rng = generator(50);
    let lot = Lot::new(16, 16).unwrap();
    let board = (0..200)
        .map(|_| random_board(&mut rng, lot, 49, 0))
        .find(|board| board.n_vehicles() == 50);
    let board = board.expect("a random board of fifty vehicles");
    let canonical = board.canonical();
    assert_eq!(canonical.board().letters(), board::LETTERS);
    assert_eq!(canonical.board().canonical(), canonical);
    assert_eq!(Board::parse(&board.to_string()).unwrap().n_vehicles(), 50);
}

prop_compose! {
    fn any_board()(
        width in 3_u8..=16, height in 3_u8..=16, seed: u64, percent in 0_usize..=40, wall_percent in 0_usize..=30,
    ) -> Board {
        let lot = Lot::new(width, height).unwrap();
        let n_vehicles = (lot.n_squares() * percent / 100).min(49);
        random_board(&mut generator(seed), lot, n_vehicles, lot.n_squares() * wall_percent / 100)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn reading_what_was_spelled_gives_the_board_and_its_letters(board in any_board(), seed: u64) {
        let board = relettered(&mut generator(seed), &board);
        let again = Board::parse(&board.to_string()).unwrap();
        prop_assert_eq!(&again, &board);
        prop_assert_eq!(again.letters(), board.letters());
        prop_assert_eq!(again.to_string(), board.to_string());
    }

    #[test]
    fn the_canonical_spelling_is_its_own_and_blind_to_mirrors_and_letters(board in any_board(), seed: u64) {
        let canonical = board.canonical();
        prop_assert_eq!(canonical.board().canonical(), canonical.clone());
        prop_assert_eq!(Canonical::parse(canonical.as_str()), Ok(canonical.clone()));
        prop_assert_eq!(board.mirrored().canonical(), canonical.clone());
        prop_assert_eq!(relettered(&mut generator(seed), &board).canonical(), canonical.clone());
        prop_assert!(canonical.board().exit_row() <= (board.lot().height() - 1) / 2);
        prop_assert!(canonical.as_str() <= board.canonical().as_str());
    }

    #[test]
    fn a_slide_is_listed_if_and_only_if_it_can_be_applied_and_can_be_taken_back(board in any_board()) {
        let slides = board.slides();
        for vehicle in 0..board.n_vehicles() {
            for squares in -17..=17 {
                let slide = Slide { vehicle, squares };
                match board.apply(slide) {
                    Ok(next) => {
                        prop_assert!(slides.contains(&slide));
                        prop_assert_eq!(next.apply(slide.undo()).unwrap(), board.clone());
                        prop_assert_eq!(next.letters(), board.letters());
                    }
                    Err(_) => prop_assert!(!slides.contains(&slide)),
                }
            }
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in any::<String>()) {
        for exit in [Exit::Right, Exit::Left, Exit::Top, Exit::Bottom] {
            let _ = Board::parse_with_exit(&text, exit);
        }
    }

    #[test]
    fn no_text_that_looks_like_a_board_makes_the_reader_panic(
        text in "([0-9]{0,3}x[0-9]{0,3}:)?[\r\n]{0,2}([.oxABCDXO#]{3,6}[\r\n]{0,2}){3,6}"
    ) {
        for exit in [Exit::Right, Exit::Left, Exit::Top, Exit::Bottom] {
            if let Ok(board) = Board::parse_with_exit(&text, exit) {
                prop_assert_eq!(Board::parse(&board.to_string()).unwrap(), board);
            }
        }
    }

    #[test]
    fn a_board_damaged_in_one_place_is_read_right_or_refused(board in any_board(), at: usize, byte in 0_u8..128) {
        let mut text = board.to_string().into_bytes();
        let at = at % text.len();
        text[at] = byte;
        let text = String::from_utf8(text).unwrap();
        if let Ok(read) = Board::parse(&text) {
            prop_assert_eq!(Board::parse(&read.to_string()).unwrap(), read);
        }
    }
}
