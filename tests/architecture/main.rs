//! Architecture of the repository: which module may import which, and which file may contain what.

mod citations;
mod conformance;
mod imports;
mod language;
mod names;
mod pinned;
mod prose;
mod reference;
mod routes;
mod sources;
