//! How boards and jams are handed in.

use board::cluster::Found;

use super::{MAX_SPELLING_BYTES, RejectCode, StatedJam, WireError, jams, list};
use crate::ids::{BatchId, FencingToken, JobId, Session};
use crate::{MAX_BOARDS_PER_BATCH, v1};

/// A board and what somebody says about it: evidence, to be proved.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StatedBoard {
    /// The stated par, in slides.
    pub par: u32,
    /// The stated canonical spelling of the representative; at most [`MAX_SPELLING_BYTES`] bytes.
    pub canonical: String,
    /// The stated number of positions in the cluster.
    pub states: u64,
    /// The stated minimality; `None`: not examined.
    pub minimal: Option<bool>,
}

impl From<&Found> for StatedBoard {
    fn from(found: &Found) -> StatedBoard {
        StatedBoard {
            par: found.par.get().into(),
            canonical: found.canonical.as_str().to_owned(),
            states: found.states,
            minimal: found.minimal,
        }
    }
}

impl From<StatedBoard> for v1::FoundBoard {
    fn from(board: StatedBoard) -> v1::FoundBoard {
        v1::FoundBoard {
            par: board.par,
            canonical: board.canonical,
            states: board.states,
            minimal: board.minimal,
        }
    }
}

impl TryFrom<v1::FoundBoard> for StatedBoard {
    type Error = WireError;

    fn try_from(wire: v1::FoundBoard) -> Result<StatedBoard, WireError> {
        let len = wire.canonical.len();
        if len > MAX_SPELLING_BYTES {
            return Err(WireError::Length {
                field: "canonical",
                len,
                unit: "bytes",
                low: 0,
                high: MAX_SPELLING_BYTES,
            });
        }
        Ok(StatedBoard {
            par: wire.par,
            canonical: wire.canonical,
            states: wire.states,
            minimal: wire.minimal,
        })
    }
}

/// Boards, or jams, handed in together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Who hands them in.
    pub session: Session,
    /// Repeated, it is answered alike.
    pub id: BatchId,
    /// The job that found them.
    pub job: JobId,
    /// The lease that they were found under; it may have been lost since.
    pub token: FencingToken,
    /// With `known`, at most [`MAX_BOARDS_PER_BATCH`].
    pub boards: Vec<StatedBoard>,
    /// What a siren job found, and no other kind of job; at most one for each of its seeds.
    pub jams: Vec<StatedJam>,
    /// Boards that the worker knows to be stored, by their hashes: see [`board::tally::hash_board`].
    pub known: Vec<u128>,
}

impl From<Batch> for v1::SubmitBoardsRequest {
    fn from(batch: Batch) -> v1::SubmitBoardsRequest {
        v1::SubmitBoardsRequest {
            session: batch.session.to_string(),
            batch_id: batch.id.to_string(),
            job_id: batch.job.get(),
            token: batch.token.get(),
            boards: batch.boards.into_iter().map(Into::into).collect(),
            jams: batch.jams.into_iter().map(jams::to_wire).collect(),
            known: batch.known.into_iter().flat_map(u128::to_le_bytes).collect(),
        }
    }
}

impl TryFrom<v1::SubmitBoardsRequest> for Batch {
    type Error = WireError;

    fn try_from(wire: v1::SubmitBoardsRequest) -> Result<Batch, WireError> {
        let boards = list("boards", wire.boards, MAX_BOARDS_PER_BATCH)?
            .into_iter()
            .map(StatedBoard::try_from);
        let jams = list("jams", wire.jams, siren::job::MAX_SEEDS)?
            .into_iter()
            .map(jams::from_wire);
        let (hashes, rest) = wire.known.as_chunks::<16>();
        let n_boards = boards.len() + hashes.len();
        if n_boards > MAX_BOARDS_PER_BATCH || !rest.is_empty() {
            return Err(WireError::Length {
                field: "known",
                len: wire.known.len(),
                unit: "bytes",
                low: 0,
                high: 16 * (MAX_BOARDS_PER_BATCH - boards.len()),
            });
        }
        Ok(Batch {
            session: Session::parse(&wire.session)?,
            id: BatchId::parse(&wire.batch_id)?,
            job: JobId::new(wire.job_id)?,
            token: FencingToken::new(wire.token)?,
            boards: boards.collect::<Result<_, _>>()?,
            jams: jams.collect::<Result<_, _>>()?,
            known: hashes.iter().map(|&hash| u128::from_le_bytes(hash)).collect(),
        })
    }
}

/// What became of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// Boards that nobody had found before.
    pub n_inserted: u32,
    /// Boards that were known.
    pub n_duplicate: u32,
    /// Boards that were refused, by place in the batch.
    pub rejected: Vec<Rejection>,
    /// Nothing was stored: some of the hashes are of no board known there, and all boards are to be spelled out.
    pub spell_out: bool,
}

/// A board that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Its place in the batch.
    pub board_idx: u32,
    /// Why.
    pub code: RejectCode,
    /// What was found instead, for people.
    pub detail: String,
}

impl From<Ack> for v1::SubmitBoardsResponse {
    fn from(ack: Ack) -> v1::SubmitBoardsResponse {
        v1::SubmitBoardsResponse {
            inserted: ack.n_inserted,
            duplicate: ack.n_duplicate,
            rejected: ack
                .rejected
                .into_iter()
                .map(|rejection| v1::RejectedBoard {
                    index: rejection.board_idx,
                    code: rejection.code.to_wire(),
                    detail: rejection.detail,
                })
                .collect(),
            spell_out: ack.spell_out,
        }
    }
}

impl TryFrom<v1::SubmitBoardsResponse> for Ack {
    type Error = WireError;

    fn try_from(wire: v1::SubmitBoardsResponse) -> Result<Ack, WireError> {
        let rejected = wire.rejected.into_iter().map(|rejection| {
            Ok(Rejection {
                board_idx: rejection.index,
                code: RejectCode::from_wire(rejection.code)?,
                detail: rejection.detail,
            })
        });
        Ok(Ack {
            n_inserted: wire.inserted,
            n_duplicate: wire.duplicate,
            rejected: rejected.collect::<Result<_, WireError>>()?,
            spell_out: wire.spell_out,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(canonical: &str) -> v1::FoundBoard {
        v1::FoundBoard {
            par: 3,
            canonical: canonical.to_owned(),
            states: 10,
            minimal: None,
        }
    }

    fn submit(n_boards: usize) -> v1::SubmitBoardsRequest {
        v1::SubmitBoardsRequest {
            session: "67e55044-10b1-426f-9247-bb680e5fe0c8".to_owned(),
            batch_id: "67e55044-10b1-426f-9247-bb680e5fe0c9".to_owned(),
            job_id: 7,
            token: 1,
            boards: vec![stated("AA"); n_boards],
            jams: Vec::new(),
            known: (1_u8..=32).collect(),
        }
    }

    #[test]
    fn batches_survive_the_wire() {
        let batch = Batch::try_from(submit(3)).unwrap();
        assert_eq!(
            Batch::try_from(v1::SubmitBoardsRequest::from(batch.clone())),
            Ok(batch)
        );
    }

    #[test]
    fn batches_out_of_bounds_are_refused() {
        assert!(Batch::try_from(submit(MAX_BOARDS_PER_BATCH - 2)).is_ok());
        assert!(Batch::try_from(submit(MAX_BOARDS_PER_BATCH - 1)).is_err());
        assert!(Batch::try_from(submit(MAX_BOARDS_PER_BATCH + 1)).is_err());
        assert!(
            Batch::try_from(v1::SubmitBoardsRequest {
                known: vec![0; 31],
                ..submit(0)
            })
            .is_err()
        );
        let long = "o".repeat(MAX_SPELLING_BYTES + 1);
        assert!(
            Batch::try_from(v1::SubmitBoardsRequest {
                boards: vec![stated(&long)],
                ..submit(0)
            })
            .is_err()
        );
        assert!(
            Batch::try_from(v1::SubmitBoardsRequest {
                job_id: 0,
                ..submit(0)
            })
            .is_err()
        );
        assert!(
            Batch::try_from(v1::SubmitBoardsRequest {
                token: -1,
                ..submit(0)
            })
            .is_err()
        );
        assert!(
            Batch::try_from(v1::SubmitBoardsRequest {
                session: "me".to_owned(),
                ..submit(0)
            })
            .is_err()
        );
    }
}
