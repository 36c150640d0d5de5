//! Architecture tests: permitted imports of each module, and restrictions on the code of some
//! files.

mod citations;
mod conformance;
mod cycles;
mod imports;
mod language;
mod names;
mod pinned;
mod prose;
mod reference;
mod routes;
mod sources;
