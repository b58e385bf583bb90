//! Which boards the published enumeration counts: what the database says of a spelling, and the rules.

use board::stream::Stream;
use board::{Axis, Board, Lot, Squares, Vehicle};
use sqlx::PgPool;

/// Whether the published enumeration counts a 6x6 board with the exit in row 2, if it is minimal: square by square.
fn is_in_reference(board: &Board) -> bool {
    let (horizontal, vertical): (Vec<Vehicle>, Vec<Vehicle>) = board
        .vehicles()
        .iter()
        .partition(|vehicle| vehicle.axis() == Axis::Horizontal);
    let is_full = |axis: Axis, vehicles: &[Vehicle], lane: u8| {
        let square = |place| match axis {
            Axis::Horizontal => Lot::ORDINARY.square(lane, place),
            Axis::Vertical => Lot::ORDINARY.square(place, lane),
        };
        let along = vehicles.iter().filter(|vehicle| vehicle.lane() == lane);
        let n_along: u8 = along.map(|vehicle| vehicle.length()).sum();
        let n_walls = (0..6)
            .filter(|&place| board.walls().contains(square(place)))
            .count();
        usize::from(n_along) + n_walls == 6
    };
    let n_in_hero_row = horizontal
        .iter()
        .filter(|vehicle| vehicle.lane() == board.exit_row())
        .count();
    n_in_hero_row == 1
        && board.hero().length() == 2
        && board.vehicles().iter().all(|vehicle| vehicle.length() <= 3)
        && (0..6).all(|lane| {
            !is_full(Axis::Horizontal, &horizontal, lane) && !is_full(Axis::Vertical, &vertical, lane)
        })
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn the_database_and_the_rules_agree_on_what_the_enumeration_counts(pool: PgPool) {
    let mut stream = Stream::new("reference", 1, 0);
    let mut boards = Vec::new();
    while boards.len() < 4_000 {
        let hero_length = if stream.chance(1, 10) { 3 } else { 2 };
        let mut vehicles = vec![Vehicle::new(
            Axis::Horizontal,
            2,
            stream.between(0, 3),
            hero_length,
        )];
        let mut walls = Squares::EMPTY;
        for _ in 0..stream.below(3) {
            walls.insert(stream.index(36));
        }
        for _ in 0..20 {
            let axis = [Axis::Horizontal, Axis::Vertical][stream.index(2)];
            let length = if stream.chance(1, 20) {
                4
            } else {
                stream.between(2, 3)
            };
            let vehicle = Vehicle::new(axis, stream.between(0, 5), stream.between(0, 6 - length), length);
            vehicles.push(vehicle);
            if Board::new(Lot::ORDINARY, vehicles.clone(), walls).is_err() {
                vehicles.pop();
            }
        }
        boards.extend(Board::new(Lot::ORDINARY, vehicles, walls));
    }
    let spellings: Vec<String> = boards.iter().map(|board| board.canonical().to_string()).collect();
    let told: Vec<bool> = sqlx::query_scalar(
        "SELECT is_in_reference(c) FROM unnest($1::text[]) WITH ORDINALITY AS s (c, idx) ORDER BY idx",
    )
    .bind(&spellings)
    .fetch_all(&pool)
    .await
    .unwrap();
    let n_counted = told.iter().filter(|&&is_counted| is_counted).count();
    assert!((500..3_500).contains(&n_counted), "{n_counted}");
    for ((board, spelling), told) in boards.iter().zip(&spellings).zip(told) {
        assert_eq!(told, is_in_reference(board), "{spelling}");
    }
    let others = ["4x3:AAooooBoooBo", "AAooooooo", ""];
    let told: Vec<bool> = sqlx::query_scalar("SELECT is_in_reference(c) FROM unnest($1::text[]) c")
        .bind(&others[..])
        .fetch_all(&pool)
        .await
        .unwrap();
    assert_eq!(told, [false; 3]);
}
