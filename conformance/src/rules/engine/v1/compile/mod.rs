pub(crate) mod post;
