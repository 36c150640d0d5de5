//! METADATA blocks: YAML in comments, about the package or rule below them.

use std::sync::Arc;

use super::{Annotations, Comment, Module};
use crate::error::LanguageError;

/// Reads the blocks among the comments of a text.
pub(super) fn read(
    _comments: &[Comment],
    _errors: &mut Vec<LanguageError>,
    _text: &str,
) -> Vec<Annotations> {
    Vec::new()
}

/// Attaches the blocks to what stands below them.
pub(super) fn attach(module: &mut Module, blocks: Vec<Annotations>) -> Vec<LanguageError> {
    module.annotations = blocks.into_iter().map(Arc::new).collect();
    Vec::new()
}
