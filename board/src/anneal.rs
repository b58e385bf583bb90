//! Climbing from hard boards to harder ones.
