//! `/v1/compile/{path}`

mod accept;
mod masks;
mod options;
pub(crate) mod post;
