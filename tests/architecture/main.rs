//! The map of the repository: what may import what, and what belongs where.

mod citations;
mod conformance;
mod imports;
mod language;
mod names;
mod pinned;
mod reference;
mod routes;
mod sources;
