//! `/v1/compile/{path}`

mod accept;
mod asked;
mod masks;
pub(in crate::engine) mod post;
