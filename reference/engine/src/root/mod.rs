//! `/`

pub(super) mod get;
pub(super) mod post;
