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

/// Index of a subschema in its schema.
pub(super) type SubschemaId = usize;

/// Compiled schema: all its subschemas, the root first.
#[derive(Debug)]
pub(super) struct Schema {
    pub(super) nodes: Vec<Node>,
    /// Approximate memory of its compiled patterns in bytes.
    pub(super) patterns: usize,
}

/// Approximate memory of a subschema in bytes, in addition to its source.
pub(super) const NODE: usize = 512;

/// Bytes of memory per byte of a schema's source.
const TEXT: usize = 4;

impl Prepared for Schema {
    fn bytes(&self, text: usize) -> usize {
        let nodes = self.nodes.len().saturating_mul(NODE);
        nodes
            .saturating_add(text.saturating_mul(TEXT))
            .saturating_add(self.patterns)
    }
}

/// Subschema. Absent kinds of keywords take no memory.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Result of a boolean schema.
    pub(super) verdict: Option<bool>,
    /// Subschema that a reference resolves to.
    pub(super) target: Option<SubschemaId>,
    pub(super) types: Types,
    pub(super) numbers: Option<Box<Numbers>>,
    pub(super) strings: Option<Box<Strings>>,
    pub(super) members: Option<Box<Members>>,
    pub(super) items: Option<Box<Items>>,
    pub(super) values: Option<Box<Values>>,
    pub(super) choices: Option<Box<Choices>>,
}

/// Value of `additionalProperties` or `additionalItems`.
#[derive(Debug, Default, Clone, Copy)]
pub(super) enum Additional {
    #[default]
    Any,
    None,
    By(SubschemaId),
}

/// Pattern with its source.
#[derive(Debug, Clone)]
pub(super) struct Matcher {
    pub(super) text: crate::value::Text,
    pub(super) pattern: Arc<super::super::pattern::Pattern>,
}
