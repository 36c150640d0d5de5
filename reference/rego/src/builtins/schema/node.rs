//! Compiled schemas.

use std::sync::Arc;

use super::super::Prepared;
use super::choices::Choices;
use super::items::Items;
use super::members::Members;
use super::numbers::Numbers;
use super::strings::Strings;
use super::types::Types;
use super::values::Values;

/// The place of a subschema in its schema.
pub(super) type SubschemaId = usize;

/// A compiled schema: all its subschemas, the whole one first.
#[derive(Debug)]
pub(super) struct Schema {
    pub(super) nodes: Vec<Node>,
    /// The bytes of its compiled patterns, about.
    pub(super) patterns: usize,
}

/// The bytes that a subschema takes beside its text, about.
pub(super) const NODE: usize = 512;

/// The bytes that a schema takes for each byte of its text.
const TEXT: usize = 4;

impl Prepared for Schema {
    fn bytes(&self, text: usize) -> usize {
        let nodes = self.nodes.len().saturating_mul(NODE);
        nodes
            .saturating_add(text.saturating_mul(TEXT))
            .saturating_add(self.patterns)
    }
}

/// A subschema. Kinds of keywords that it does not have take no memory.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// The verdict of a schema that is only a boolean.
    pub(super) verdict: Option<bool>,
    /// The subschema that a reference leads to.
    pub(super) target: Option<SubschemaId>,
    pub(super) types: Types,
    pub(super) numbers: Option<Box<Numbers>>,
    pub(super) strings: Option<Box<Strings>>,
    pub(super) members: Option<Box<Members>>,
    pub(super) items: Option<Box<Items>>,
    pub(super) values: Option<Box<Values>>,
    pub(super) choices: Option<Box<Choices>>,
}

/// The value of `additionalProperties` and `additionalItems`.
#[derive(Debug, Default, Clone, Copy)]
pub(super) enum Additional {
    #[default]
    Any,
    None,
    By(SubschemaId),
}

/// A pattern as it was written, and compiled.
#[derive(Debug, Clone)]
pub(super) struct Matcher {
    pub(super) text: crate::value::Text,
    pub(super) pattern: Arc<super::super::pattern::Pattern>,
}
