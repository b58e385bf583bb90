//! Draws jams, for terminals and as SVG: facings, lights, the ring road with its exits, bridge and crossings.

mod svg;
mod text;

pub use svg::svg;
pub use text::text;
