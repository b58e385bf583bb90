//! Clusters: all positions reachable from a position.

use crate::canonical::Canonical;
use crate::{Board, Par, StateLimit};

/// The row stored for a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The cluster's depth.
    pub par: Par,
    /// The representative.
    pub canonical: Canonical,
    /// Positions in the cluster.
    pub states: u64,
    /// Whether the representative is minimal; `None`: not examined.
    pub minimal: Option<bool>,
    /// Vehicles, the hero included.
    pub n_vehicles: u8,
    /// Walls.
    pub n_walls: u8,
}

/// Explores clusters; under construction.
#[derive(Debug, Default)]
pub struct Explorer {}

/// Why a cluster was not explored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExploreError {
    /// The cluster is larger than the limit.
    #[error("cluster has more than {0} positions")]
    TooLarge(StateLimit),
}

impl Explorer {
    /// A new explorer.
    pub fn new() -> Explorer {
        Explorer {}
    }

    /// The row stored for the board's cluster.
    ///
    /// # Errors
    /// When the cluster is too large.
    pub fn entry(&mut self, _board: &Board, _limit: StateLimit) -> Result<Option<Found>, ExploreError> {
        todo!("under construction")
    }
}
