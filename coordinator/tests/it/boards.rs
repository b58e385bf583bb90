//! Boards: counted, listed, exported.

use board::Par;
use board::geometry::Lot;
use coordinator::store::{BatchToStore, BoardFilter};
use proto::convert::StatedBoard;
use sqlx::PgPool;

use crate::fixture::{Farm, HARDEST, imported, some_boards};

fn spellings(boards: &[StatedBoard]) -> Vec<String> {
    boards.iter().map(|board| board.canonical.clone()).collect()
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn an_import_again_stores_nothing_and_says_where_boards_came_from(pool: PgPool) {
    let farm = Farm::new(pool);
    let first = farm.import(&[HARDEST.to_owned()]).await;
    let again = farm.import(&[HARDEST.to_owned()]).await;
    assert_eq!((first.n_inserted, first.n_duplicate), (1, 0));
    assert_eq!((again.n_inserted, again.n_duplicate), (0, 1));
    assert_eq!(farm.text("SELECT source FROM discoveries").await, "corpus.txt");
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn boards_thought_new_that_are_not_are_stored_once_and_counted_once(pool: PgPool) {
    let farm = Farm::new(pool);
    let boards = spellings(&some_boards());
    let half = boards.len() / 2;
    assert!(half > 2, "{half}");
    let first = farm.import(&boards[..half]).await;
    assert_eq!((first.n_inserted as usize, first.n_duplicate), (half, 0));
    let all = farm.import(&boards).await;
    assert_eq!(
        (all.n_inserted as usize, all.n_duplicate as usize),
        (boards.len() - half, half)
    );
    // Whether they are thought new or not makes no difference to what is told and counted.
    for are_new in [true, false] {
        let batch = BatchToStore {
            are_new,
            ..imported(&boards)
        };
        let ack = farm.store.store_batch(&batch).await.unwrap();
        assert_eq!((ack.n_inserted, ack.n_duplicate as usize), (0, boards.len()));
        let repeated = farm.store.store_batch(&batch).await.unwrap();
        assert_eq!(repeated, ack);
    }
    for sql in [
        "SELECT count(*) FROM boards",
        "SELECT sum(n_boards)::bigint FROM board_counts",
        "SELECT sum(n_boards)::bigint FROM board_tallies",
        "SELECT sum(n_boards)::bigint FROM hunt_tallies",
        "SELECT sum(n_inserted)::bigint FROM batches",
    ] {
        assert_eq!(
            usize::try_from(farm.count(sql).await).unwrap(),
            boards.len(),
            "{sql}"
        );
    }
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn imports_of_the_same_boards_at_once_store_each_once(pool: PgPool) {
    let farm = Farm::new(pool);
    let boards = spellings(&some_boards());
    let mut importing = tokio::task::JoinSet::new();
    for idx in 0..6 {
        // Each begins elsewhere, so that no two of them collide at their first board alone.
        let mut boards = boards.clone();
        let n_before = idx * boards.len() / 6;
        boards.rotate_left(n_before);
        boards.truncate(boards.len() / 2);
        let (store, batch) = (farm.store.clone(), imported(&boards));
        importing.spawn(async move { store.store_batch(&batch).await.unwrap() });
    }
    let acks = importing.join_all().await;
    let n_inserted: u32 = acks.iter().map(|ack| ack.n_inserted).sum();
    assert_eq!(n_inserted as usize, boards.len());
    assert_eq!(
        usize::try_from(farm.count("SELECT count(*) FROM boards").await).unwrap(),
        boards.len()
    );
    assert_eq!(
        usize::try_from(
            farm.count("SELECT sum(n_boards)::bigint FROM board_tallies")
                .await
        )
        .unwrap(),
        boards.len()
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn an_export_is_hardest_first_and_holds_every_board(pool: PgPool) {
    let farm = Farm::new(pool);
    let boards = some_boards();
    farm.import(&spellings(&boards)).await;
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
    farm.import(&[HARDEST.to_owned()]).await;
    let full = |_| Err(std::io::Error::from(std::io::ErrorKind::StorageFull));
    assert!(farm.store.export(&BoardFilter::default(), full).await.is_err());
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn boards_lie_in_the_partition_of_their_par_and_counts_are_exact(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.import(&spellings(&some_boards())).await;
    farm.import(&[HARDEST.to_owned()]).await;
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
