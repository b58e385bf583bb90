//! What coordinators have promised, and what is wrong with an answer in the light of it.

use std::collections::{BTreeMap, BTreeSet};

use board::cluster::{Explorer, Found};
use board::{Canonical, StateLimit};
use proto::v1::{AcquireResponse, HeartbeatResponse, LeaseAction, SubmitBoardsRequest, SubmitBoardsResponse};

use tonic::{Code, Status};

use crate::call::{Answer, Call, Letter};
use crate::check::Seen;
use crate::lies::must_fail;
use crate::worker::is_accepted;

/// A sentence that says what was broken.
pub(crate) type Broken = String;

/// All that was promised since the simulation began. What was promised since a backup is not, once that is put back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Book {
    /// The session of each incarnation.
    sessions: BTreeMap<String, String>,
    /// The leases that each request was granted.
    requests: BTreeMap<String, BTreeSet<(i64, i64)>>,
    /// Who was granted each lease.
    pub(crate) granted: BTreeMap<(i64, i64), String>,
    /// The answer to each batch.
    pub(crate) acks: BTreeMap<String, SubmitBoardsResponse>,
    /// Boards that were acknowledged since the last look: par and spelling.
    pub(crate) acknowledged: Vec<(u32, String)>,
    /// The claim that was accepted for each job: token and digest.
    pub(crate) claimed: BTreeMap<i64, (i64, Vec<u8>)>,
    /// Somebody counted a census falsely, so that its totals mean nothing.
    pub(crate) is_census_spoiled: bool,
    /// Coordinators that were not told of a backup, and may each refuse one batch over what they remembered.
    pub(crate) n_unaware: usize,
    /// Where tokens went on after each restore.
    pub(crate) marks: Vec<i64>,
    /// The database at the last look.
    pub(crate) seen: Seen,
}

impl Book {
    /// Takes down a call that was carried out, and says what is wrong with its answer.
    pub(crate) fn note(&mut self, letter: &Letter, answer: &Answer, truth: &mut Truth) -> Result<(), Broken> {
        if let Answer::Refused(status) = answer {
            if self.is_due_to_a_restore(letter, status) {
                return Ok(());
            }
            return match letter.lie {
                None => Err(format!(
                    "an honest call was refused: {status:?} to {:?}",
                    letter.call
                )),
                Some(_) if status.code() == tonic::Code::Internal => {
                    Err(format!("{:?} broke something: {status:?}", letter.lie))
                }
                Some(_) => Ok(()),
            };
        }
        match (&letter.call, answer) {
            (Call::Hello(hello), Answer::Hello(welcome)) => {
                let session = self
                    .sessions
                    .entry(hello.incarnation.clone())
                    .or_insert_with(|| welcome.session.clone());
                ensure(
                    *session == welcome.session,
                    "an incarnation was given two sessions",
                )
            }
            (Call::Acquire(wish), Answer::Acquire(granted)) => {
                self.note_grant(&wish.request_id, &wish.session, granted)
            }
            (Call::Beat(beat), Answer::Beat(orders)) => {
                ensure(
                    orders.leases.len() == beat.leases.len(),
                    "a beat was not answered lease by lease",
                )?;
                self.note_orders(letter, &beat.session, orders)
            }
            (Call::Submit(batch), Answer::Submit(ack)) => {
                if letter.lie.is_some() {
                    return Ok(());
                }
                self.note_ack(batch, ack, truth)
            }
            (Call::Complete(claim), Answer::Complete(outcome)) => {
                if !is_accepted(outcome.outcome) {
                    return Ok(());
                }
                ensure(
                    !letter.lie.is_some_and(must_fail),
                    "a claim under a lease that was not its holder's was taken",
                )?;
                self.is_census_spoiled |= letter.lie.is_some() && claim.census.is_some();
                let lease = (claim.job_id, claim.token);
                ensure(
                    self.granted.get(&lease) == Some(&claim.session),
                    "a claim was taken from who never held the lease",
                )?;
                let claim = (claim.token, claim.digest.clone());
                let first = self.claimed.entry(lease.0).or_insert_with(|| claim.clone());
                ensure(*first == claim, "two claims of one job were taken")
            }
            (Call::Release(_), Answer::Release(outcome)) => ensure(
                !(is_accepted(outcome.outcome) && letter.lie.is_some_and(must_fail)),
                "a lease was released by another than its holder",
            ),
            _ => Ok(()),
        }
    }

    /// A session that the database has forgotten, or a batch that was judged by what a coordinator remembers of before.
    fn is_due_to_a_restore(&mut self, letter: &Letter, status: &Status) -> bool {
        match status.code() {
            Code::Unauthenticated => letter
                .call
                .session()
                .is_some_and(|session| !self.sessions.values().any(|known| known == session)),
            Code::Unavailable if matches!(letter.call, Call::Submit(_)) && self.n_unaware > 0 => {
                self.n_unaware -= 1;
                true
            }
            _ => false,
        }
    }

    fn note_grant(&mut self, request: &str, session: &str, granted: &AcquireResponse) -> Result<(), Broken> {
        let leases: BTreeSet<_> = granted
            .leases
            .iter()
            .map(|lease| (lease.job_id, lease.token))
            .collect();
        match self.requests.get(request) {
            Some(before) => ensure(
                leases.is_subset(before),
                "a request that was answered before was granted something else",
            ),
            None if leases.is_empty() => Ok(()),
            None => {
                for &lease in &leases {
                    ensure(
                        self.granted.insert(lease, session.to_owned()).is_none(),
                        "a lease was granted twice",
                    )?;
                }
                self.requests.insert(request.to_owned(), leases);
                Ok(())
            }
        }
    }

    /// Of two beats that an honest holder sends after its hunt was paused or ended, the first must tell it.
    fn note_orders(&self, letter: &Letter, session: &str, orders: &HeartbeatResponse) -> Result<(), Broken> {
        for order in &orders.leases {
            let lease = (order.job_id, order.token);
            if order.action() == LeaseAction::Lost {
                continue;
            }
            ensure(
                self.granted.get(&lease).is_some_and(|holder| holder == session),
                "a lease was renewed for who never held it",
            )?;
            ensure(
                !letter.lie.is_some_and(must_fail),
                "a beat for another's lease was not told LOST",
            )?;
            let Some(job) = self.seen.jobs.get(&order.job_id) else {
                continue;
            };
            ensure(
                job.token == order.token && job.state == "leased",
                "a lease that is over was renewed",
            )?;
            let hunt = &self.seen.hunts[&job.hunt];
            let is_told = matches!(order.action(), LeaseAction::Pause | LeaseAction::Cancel);
            // What a hunt that is done has claimed is run again all the same; nothing goes on in a paused or cancelled one.
            let goes_on = hunt == "running" || job.is_audit && hunt == "done";
            ensure(
                is_told || goes_on,
                "a beat after its hunt was paused or ended was told to go on",
            )?;
        }
        Ok(())
    }

    fn note_ack(
        &mut self,
        batch: &SubmitBoardsRequest,
        ack: &SubmitBoardsResponse,
        truth: &mut Truth,
    ) -> Result<(), Broken> {
        let n_answered = ack.inserted as usize + ack.duplicate as usize + ack.rejected.len();
        let n_by_hash = batch.known.len() / 16;
        if ack.spell_out {
            ensure(n_by_hash > 0, "a batch without hashes is to be spelled out")?;
            return ensure(n_answered == 0, "a batch to be spelled out was answered in part");
        }
        ensure(
            n_answered == batch.boards.len() + n_by_hash,
            "an acknowledgement leaves boards out",
        )?;
        ensure(ack.rejected.is_empty(), "an honest board was rejected")?;
        for board in &batch.boards {
            truth.check(board.par, &board.canonical)?;
            self.acknowledged.push((board.par, board.canonical.clone()));
        }
        let first = self
            .acks
            .entry(batch.batch_id.clone())
            .or_insert_with(|| ack.clone());
        ensure(first == ack, "a batch was answered in two ways")
    }

    /// Whether this request was granted something before.
    pub(crate) fn was_granted(&self, request: &str) -> bool {
        self.requests.contains_key(request)
    }
}

pub(crate) fn ensure(holds: bool, broken: &str) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err(broken.to_owned()) }
}

/// Boards proved so far.
#[derive(Debug, Default)]
pub(crate) struct Truth {
    proved: BTreeMap<String, Option<Found>>,
    explorer: Explorer,
}

impl Truth {
    /// The representative with this spelling and par, proved.
    pub(crate) fn check(&mut self, par: u32, spelling: &str) -> Result<&Found, Broken> {
        let explorer = &mut self.explorer;
        let proved = self.proved.entry(spelling.to_owned()).or_insert_with(|| {
            let board = Canonical::parse(spelling).ok()?.board();
            explorer.entry(&board, StateLimit::DEFAULT).ok()?
        });
        match &*proved {
            Some(found) if u32::from(found.par.get()) == par && found.canonical.as_str() == spelling => {
                Ok(found)
            }
            other => Err(format!(
                "board {spelling:?} with par {par} does not prove: {other:?}"
            )),
        }
    }
}
