//! `/v1/compile/{path}`

mod accept;
mod masks;
mod options;
pub(in crate::engine) mod post;
