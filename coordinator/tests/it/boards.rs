//! Boards: imported, counted, listed, exported.

use board::geometry::Lot;
use board::{Board, Par};
use coordinator::import::{ImportLine, ImportRefusal, import};
use coordinator::store::BoardFilter;
use sqlx::PgPool;

use crate::fixture::{Farm, HARDEST, some_boards};

fn line(line: u64, board: &str) -> ImportLine {
    ImportLine {
        line,
        board: board.parse().unwrap(),
        stated_par: None,
        stated_states: None,
    }
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn an_import_stores_representatives_and_reports_what_it_refused(pool: PgPool) {
    let farm = Farm::new(pool);
    let hardest: Board = HARDEST.parse().unwrap();
    let beside = hardest.apply(hardest.slides()[0]).unwrap().to_string();
    let lines = vec![
        line(1, HARDEST),
        line(2, &beside),
        ImportLine {
            stated_par: Some(Par::new(50)),
            ..line(3, HARDEST)
        },
        ImportLine {
            stated_states: Some(4_779),
            ..line(4, HARDEST)
        },
        ImportLine {
            stated_par: Some(Par::new(51)),
            stated_states: Some(4_780),
            ..line(5, HARDEST)
        },
        line(6, "oooooooooooooAAooxoooooooooooooooooo"),
        line(7, "5x5:ooooooooooAAooBooooBooooo"),
    ];
    let mut refused = Vec::new();
    let report = import(&farm.store, &farm.prover, "corpus.txt", lines, |line| {
        refused.push(line)
    })
    .await
    .unwrap();
    assert_eq!(
        (
            report.n_read,
            report.n_inserted,
            report.n_duplicate,
            report.n_refused
        ),
        (7, 2, 2, 3)
    );
    assert_eq!(
        refused.iter().map(|refused| refused.line).collect::<Vec<_>>(),
        [3, 4, 6]
    );
    assert_eq!(refused[0].reason.to_string(), "stated par 50, proved 51");
    assert_eq!(refused[2].reason, ImportRefusal::Unsolvable);
    assert_eq!(
        farm.text("SELECT DISTINCT source FROM discoveries").await,
        "corpus.txt"
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn an_export_is_hardest_first_and_holds_every_board(pool: PgPool) {
    let farm = Farm::new(pool);
    let boards = some_boards();
    let lines = boards
        .iter()
        .enumerate()
        .map(|(idx, board)| line(idx as u64, &board.canonical));
    import(&farm.store, &farm.prover, "test", lines, |refused| {
        panic!("{refused:?}")
    })
    .await
    .unwrap();
    let mut exported = Vec::new();
    let n_boards = farm
        .store
        .export(&BoardFilter::default(), |row| {
            exported.push((std::cmp::Reverse(row.found.par), row.found.canonical.to_string()));
            Ok(())
        })
        .await
        .unwrap();
    assert_eq!((n_boards as usize, exported.len()), (boards.len(), boards.len()));
    assert!(exported.is_sorted());
    let least = exported[2].0.0;
    let filter = BoardFilter {
        least_par: Some(least),
        most_par: Some(least),
        ..BoardFilter::default()
    };
    let n_of_par = farm.store.export(&filter, |_| Ok(())).await.unwrap();
    assert_eq!(
        n_of_par as usize,
        exported.iter().filter(|(par, _)| par.0 == least).count()
    );

    let hardest = farm
        .store
        .hardest_boards(Some(Lot::new(6, 6).unwrap()), 3)
        .await
        .unwrap();
    let listed: Vec<_> = hardest
        .iter()
        .map(|row| row.found.canonical.to_string())
        .collect();
    assert_eq!(
        listed,
        exported[..3]
            .iter()
            .map(|(_, spelling)| spelling.clone())
            .collect::<Vec<_>>()
    );
    assert!(
        farm.store
            .hardest_boards(Some(Lot::new(7, 7).unwrap()), 3)
            .await
            .unwrap()
            .is_empty()
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn an_export_ends_when_its_receiver_takes_no_more(pool: PgPool) {
    let farm = Farm::new(pool);
    import(&farm.store, &farm.prover, "test", [line(1, HARDEST)], |_| ())
        .await
        .unwrap();
    let full = |_| Err(std::io::Error::from(std::io::ErrorKind::StorageFull));
    assert!(farm.store.export(&BoardFilter::default(), full).await.is_err());
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn boards_lie_in_the_partition_of_their_par_and_counts_are_exact(pool: PgPool) {
    let farm = Farm::new(pool);
    let lines = some_boards().into_iter().map(|board| line(0, &board.canonical));
    import(&farm.store, &farm.prover, "test", lines, |_| ())
        .await
        .unwrap();
    import(&farm.store, &farm.prover, "test", [line(0, HARDEST)], |_| ())
        .await
        .unwrap();
    assert_eq!(farm.count("SELECT count(*) FROM boards_par_51").await, 1);
    assert!(!farm.store.has_boards_beyond().await.unwrap());
    let differing = farm
        .count(
            "SELECT count(*) FROM board_counts c FULL JOIN (
                SELECT lot_width, lot_height, exit_row, n_walls, par, count(*) AS n_boards FROM boards
                GROUP BY lot_width, lot_height, exit_row, n_walls, par
            ) b USING (lot_width, lot_height, exit_row, n_walls, par)
            WHERE c.n_boards IS DISTINCT FROM b.n_boards",
        )
        .await;
    assert_eq!(differing, 0);
    let pars = farm.store.par_distribution(None).await.unwrap();
    assert!(pars.is_sorted_by_key(|count| count.par));
    assert_eq!(
        pars.last().map(|count| (count.par, count.n_boards)),
        Some((Par::new(51), 1))
    );
    assert_eq!(
        farm.count("SELECT n_boards FROM par_distribution WHERE lot = '6x6' AND par = 51")
            .await,
        1
    );
    assert_eq!(
        farm.text("SELECT canonical FROM hardest_boards LIMIT 1").await,
        HARDEST
    );
}
