//! The way of a batch of jams, and what is asked of a siren job's claim.
//!
//! Every jam is proved anew ([`siren::proof`]): read, solved, played, spelled, held against the rules and its template.
//! That it is the *seed's* jam costs as much to prove as to find, so the seed is tried again only for a share that no
//! worker can foresee, and wherever two workers say different things of it. A claim must match what was handed in to the
//! bit, and a seed of which a worker says that it gives nothing is tried again always: it is seldom.

use std::collections::{HashMap, HashSet};

use proto::convert::{
    Ack, Batch, Completion, LeaseOutcome, RejectCode, Rejection, Release, ReleaseReason, StatedJam, jam_tally,
};
use siren::job::{JamJob, JamTally, SeedEnd};
use siren::proof::{FalseJam, prove};
use tracing::warn;

use crate::prove::{Prover, Refusal, refuse};
use crate::store::{JamBatchToStore, JamRow, JobRecord, LeaseOrigin, RejectionToStore, Sampling, Store};
use crate::submit::SubmitError;

/// How many of a thousand seeds are tried again.
pub const TRIED_AGAIN_PER_MILLE: u64 = 50;

/// Stores what is new and true in a batch of jams.
///
/// # Errors
/// [`SubmitError`]; then nothing was stored.
pub(crate) async fn submit(
    store: &Store,
    prover: &Prover,
    max_strikes: u32,
    batch: Batch,
    lease: LeaseOrigin,
    job: &JobRecord,
    spec: &JamJob,
) -> Result<Ack, SubmitError> {
    let known: HashMap<u64, String> = store
        .level_finds(job.hunt, job.number)
        .await?
        .into_iter()
        .collect();
    let spec = spec.clone();
    let chosen: HashSet<u64> = spec
        .seeds()
        .iter()
        .copied()
        .filter(|&seed| prover.chooses(seed))
        .collect();
    let judged = prover
        .work(move || judge(&spec, batch.jams, &known, &chosen))
        .await?;
    let to_store = JamBatchToStore {
        id: batch.id,
        lease,
        number: job.number,
        jams: judged.rows,
        n_known: judged.n_known,
        rejections: judged.rejections,
        strike: judged.strike,
        max_strikes,
    };
    Ok(store.store_jams(&to_store).await?)
}

#[derive(Default)]
struct Judged {
    /// Sorted by key, so that two batches at once wait for each other and never deadlock.
    rows: Vec<JamRow>,
    n_known: u32,
    rejections: Vec<RejectionToStore>,
    strike: Option<String>,
}

fn judge(spec: &JamJob, jams: Vec<StatedJam>, known: &HashMap<u64, String>, chosen: &HashSet<u64>) -> Judged {
    let mut judged = Judged::default();
    let mut seen = HashSet::new();
    for (board_idx, stated) in (0..).zip(jams) {
        let stored = known.get(&stated.seed);
        // Said already. Its par and spelling may be lies, which then go nowhere.
        if stored == Some(&stated.level) || !seen.insert(stated.clone()) {
            judged.n_known += 1;
            continue;
        }
        let is_tried_again = stored.is_some() || chosen.contains(&stated.seed);
        let verdict = prove(spec, &stated)
            .map_err(|error| refusal(&error))
            .and_then(|proved| {
                if is_tried_again {
                    is_of_seed(spec, &stated)?;
                }
                Ok(JamRow {
                    proved,
                    is_tried_again,
                })
            });
        match verdict {
            Ok(row) => judged.rows.push(row),
            Err(refusal) => {
                if refusal.is_strike() && judged.strike.is_none() {
                    judged.strike = Some(format!("{}: {}", refusal.code, refusal.detail));
                }
                judged.rejections.push(RejectionToStore {
                    rejection: Rejection {
                        board_idx,
                        code: refusal.code,
                        detail: refusal.detail,
                    },
                    canonical: stated.canonical,
                    stated_par: stated.par,
                });
            }
        }
    }
    judged.rows.sort_unstable_by(|a, b| key(a).cmp(&key(b)));
    judged
}

fn key(row: &JamRow) -> (u32, &str, u64) {
    let proved = &row.proved;
    (
        proved.candidate.measures.par,
        proved.canonical.as_str(),
        proved.seed,
    )
}

fn refusal(error: &FalseJam) -> Refusal {
    let code = match error {
        FalseJam::Seed(_) => RejectCode::OutsideJob,
        FalseJam::Unreadable(_) => RejectCode::NotABoard,
        FalseJam::Spelling | FalseJam::NotCanonical { .. } => RejectCode::NotCanonical,
        FalseJam::Unfit(_) => RejectCode::Unfit,
        FalseJam::Par { .. } => RejectCode::WrongPar,
    };
    refuse(code, error.to_string())
}

fn is_of_seed(spec: &JamJob, stated: &StatedJam) -> Result<(), Refusal> {
    let given = try_again(spec, stated.seed);
    if given.as_ref() == Some(stated) {
        return Ok(());
    }
    let detail = match given {
        Some(given) => format!(
            "seed {} gives {} of par {}",
            stated.seed, given.canonical, given.par
        ),
        None => format!("seed {} gives no level", stated.seed),
    };
    Err(refuse(RejectCode::NotOfSeed, detail))
}

/// What a seed of the job gives.
fn try_again(spec: &JamJob, seed: u64) -> Option<StatedJam> {
    let idx = spec
        .seeds()
        .iter()
        .position(|&other| other == seed)
        .expect("the seed was found to be the job's");
    match spec.try_seed(idx, &mut |_| true) {
        SeedEnd::Complete(outcome) => JamTally::default().absorb(&outcome),
        SeedEnd::Stopped(_) => unreachable!("nobody stopped it"),
    }
}

/// Ends a siren job if its claim holds. Else the job goes back to the queue as failed, the holder gets a strike, and the
/// answer is that the lease is lost. `None`: the job is none of this kind.
///
/// # Errors
/// [`SubmitError`]; then the claim may be made again.
pub async fn complete(
    store: &Store,
    prover: &Prover,
    (max_failures, max_strikes): (u32, u32),
    claim: &Completion,
    sampling: Option<&Sampling<'_>>,
) -> Result<Option<LeaseOutcome>, SubmitError> {
    let Some(lease) = store.lease_origin(claim.session, claim.job, claim.token).await? else {
        return Ok(None);
    };
    if !lease.is_siren {
        return Ok(None);
    }
    let job = store
        .job(claim.job)
        .await?
        .expect("a lease of it was granted, and jobs are never deleted");
    let Some(spec) = job.spec.jams().cloned() else {
        return Ok(None);
    };
    let finds = store.level_finds(job.hunt, job.number).await?;
    let claim_made = claim.clone();
    let reason = match prover.work(move || holds(&spec, &claim_made, &finds)).await? {
        Verdict::Holds => return Ok(Some(store.complete_sampled(claim, &[], sampling).await?)),
        Verdict::HoldsWithout(seeds) => {
            warn!(job.id = %claim.job, ?seeds, "what another said of these seeds was false");
            store.remove_finds(job.hunt, job.number, &seeds).await?;
            return Ok(Some(store.complete_sampled(claim, &[], sampling).await?));
        }
        Verdict::False(reason) => reason,
    };
    warn!(job.id = %claim.job, worker = lease.worker_name, reason, "a claim does not hold");
    let release = Release {
        session: claim.session,
        job: claim.job,
        token: claim.token,
        reason: ReleaseReason::Error,
        detail: reason.clone(),
        checkpoint: None,
        counters: claim.counters,
    };
    if store.release(&release, max_failures).await? == LeaseOutcome::Accepted {
        store.strike_holder(&lease, &reason, max_strikes).await?;
    }
    Ok(Some(LeaseOutcome::Lost))
}

/// What a claim is worth.
enum Verdict {
    /// It is about what was handed in, all of it, and nothing is missing.
    Holds,
    /// It is true, but others said of these seeds what is not.
    HoldsWithout(Vec<u64>),
    /// It is not, for this reason.
    False(String),
}

fn holds(spec: &JamJob, claim: &Completion, finds: &[(u64, String)]) -> Verdict {
    let Some(attempts) = jam_tally(&claim.counters) else {
        return Verdict::False(String::from("no attempts can have such counters"));
    };
    let told = JamTally::claimed(
        finds.iter().map(|(seed, level)| (*seed, level.as_str())),
        attempts,
    );
    if claim.counters.found != told.n_found() || claim.digest.to_bytes() != told.digest() {
        return settle(spec, claim, finds);
    }
    let given: HashSet<u64> = finds.iter().map(|&(seed, _)| seed).collect();
    let missing = spec.seeds().iter().filter(|seed| !given.contains(seed));
    for &seed in missing {
        if try_again(spec, seed).is_some() {
            return Verdict::False(format!("seed {seed} gives a level that was not handed in"));
        }
    }
    Verdict::Holds
}

/// A claim that does not match what was handed in: the whole job is run here to see who is right.
fn settle(spec: &JamJob, claim: &Completion, finds: &[(u64, String)]) -> Verdict {
    let truth = spec.run();
    if claim.digest.to_bytes() != truth.tally.digest() {
        return Verdict::False(String::from("the digest is not that of what the seeds give"));
    }
    let is_true = |(seed, level): &(u64, String)| {
        truth
            .found
            .iter()
            .any(|stated| stated.seed == *seed && stated.level == *level)
    };
    let (proved, refuted): (Vec<_>, Vec<_>) = finds.iter().partition(|find| is_true(find));
    if proved.len() < truth.found.len() {
        let n_missing = truth.found.len() - proved.len();
        return Verdict::False(format!("{n_missing} of the levels claimed were not handed in"));
    }
    Verdict::HoldsWithout(refuted.iter().map(|&&(seed, _)| seed).collect())
}
