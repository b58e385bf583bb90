//! Jobs before they are leased: cut from hunts on demand, sized by what earlier ones took, handed to who asks.

pub mod campaign;
pub mod census;
pub mod difficulty;
pub mod grant;
pub mod plan;
pub mod size;
