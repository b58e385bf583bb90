//! Jobs before they are leased: cut from hunts on demand, sized by what earlier ones took, handed to who asks.

mod arms;
pub mod campaign;
pub mod census;
pub mod difficulty;
pub mod grant;
pub mod plan;
pub mod shares;
pub mod size;
pub mod waiting;
pub(crate) mod word;
