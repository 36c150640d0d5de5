pub(crate) mod filters;
pub(crate) mod post;
