//! Clusters: all positions reachable from a position.
