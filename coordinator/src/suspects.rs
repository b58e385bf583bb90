//! Proves again what a worker in quarantine handed in and was believed for, and takes back what is wrong.
//!
//! Where every board is proved before it is stored, which is the default, there is nothing to do.

use std::sync::Arc;
use std::time::Duration;

use proto::convert::StatedBoard;
use tokio::time::{MissedTickBehavior, interval};
use tracing::{error, info, warn};

use crate::Shared;
use crate::prove::{Case, Prover, Refusal};
use crate::store::{BelievedBoard, Lead, Store, StoreError, WrongBoard};

/// How often workers in quarantine are looked for.
const EVERY: Duration = Duration::from_secs(30);

/// How long to wait when the provers have their hands full.
const REST: Duration = Duration::from_secs(1);

/// Looks until the shutdown.
pub(crate) async fn run(shared: Arc<Shared>) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = shared.shutdown.cancelled() => return,
        }
        tokio::select! {
            looked = look(&shared) => if let Err(error) = looked {
                error!(%error, "what workers in quarantine found is not proved yet");
            },
            () = shared.shutdown.cancelled() => return,
        }
    }
}

async fn look(shared: &Shared) -> Result<(), StoreError> {
    // Another coordinator that looks now will have done what there is to do.
    let Some(lead) = shared.store.lead(Lead::Suspects).await? else {
        return Ok(());
    };
    prove_suspects(&shared.store, &shared.prover).await?;
    lead.commit().await
}

/// Proves every board that a worker in quarantine brought first and was believed for.
///
/// # Errors
/// [`StoreError`]; what was done before it stays done.
pub async fn prove_suspects(store: &Store, prover: &Prover) -> Result<(), StoreError> {
    for worker_id in store.workers_to_prove().await? {
        prove_all_of(store, prover, worker_id).await?;
    }
    Ok(())
}

async fn prove_all_of(store: &Store, prover: &Prover, worker_id: i64) -> Result<(), StoreError> {
    let mut n_boards = 0;
    let mut n_wrong = 0;
    let mut after = None;
    loop {
        let page = store.boards_of_worker(worker_id, after.as_ref()).await?;
        let Some(last) = page.last() else { break };
        let key = &last.row.found;
        after = Some((key.par, key.canonical.as_str().to_owned()));
        n_boards += page.len();
        for believed in page {
            if let Some(refusal) = refusal(prover, &believed).await {
                n_wrong += 1;
                let wrong = WrongBoard {
                    row: believed.row,
                    batch_id: believed.batch_id,
                    code: refusal.code,
                    detail: refusal.detail,
                };
                match refusal.truth {
                    // Others may have handed in the same board since, and have been told that it is stored: it stays.
                    Some(truth) => store.correct(&wrong, &truth).await?,
                    None => store.retract(&wrong).await?,
                }
            }
        }
    }
    store.note_proved(worker_id, n_wrong).await?;
    if n_wrong > 0 {
        warn!(
            worker_id,
            n_boards, n_wrong, "boards of a worker in quarantine were wrong and are taken back"
        );
    } else {
        info!(worker_id, n_boards, "boards of a worker in quarantine are proved");
    }
    Ok(())
}

/// Why a board is wrong; `None`: it is right, or too large to tell.
async fn refusal(prover: &Prover, believed: &BelievedBoard) -> Option<Refusal> {
    let stated = StatedBoard::from(&believed.row.found);
    let case = Case {
        space: Some((
            (believed.row.lot.width(), believed.row.lot.height()),
            believed.row.exit_row,
        )),
        // Whatever is known, this board is proved.
        best_par: None,
        max_states: None,
    };
    loop {
        match prover.judge(vec![stated.clone()], case).await {
            Ok((_, mut verdicts)) => return verdicts.pop()?.err().filter(Refusal::is_strike),
            Err(_busy) => tokio::time::sleep(REST).await,
        }
    }
}
