//! Traversal of a query.

use std::collections::{BTreeMap, BTreeSet};

use super::ast::{Fragment, Operation, Query};
use super::error::GraphqlError;
use super::types::Types;
use crate::meter::{AbortReason, Meter};

/// Traversal of a query.
#[derive(Debug)]
pub(super) struct Walk<'d> {
    pub(super) types: &'d Types,
    pub(super) query: &'d Query,
    pub(super) fragments: BTreeMap<&'d str, &'d Fragment>,
    /// Current operation.
    pub(super) operation: Option<&'d Operation>,
    /// Variables that the operation uses.
    pub(super) used: BTreeSet<&'d str>,
    /// Fragments that the current operation or fragment has visited.
    pub(super) visited: BTreeSet<&'d str>,
    /// Fragments that operations use.
    pub(super) spread: BTreeSet<&'d str>,
    /// Whether a fragment was traversed: later spreads do not count as uses.
    pub(super) is_past_fragment: bool,
    /// Fragments that were already searched for cycles.
    pub(super) searched: BTreeSet<&'d str>,
    pub(super) misplaced: BTreeSet<(&'d str, u32, u32)>,
    pub(super) compared: Compared<'d>,
    pub(super) meter: &'d Meter,
    /// Reason why the evaluation has to end.
    pub(super) ended: Option<AbortReason>,
    pub(super) errors: Vec<GraphqlError>,
}

/// Comparison state of a document.
#[derive(Debug, Default)]
pub(super) struct Compared<'d> {
    /// Number of fields collected and compared.
    pub(super) steps: usize,
    /// Fragments that the current fields were compared with.
    pub(super) fragments: BTreeSet<&'d str>,
    /// Compared pairs of fragments, and whether only as parts of mutually exclusive objects.
    pub(super) pairs: BTreeMap<(&'d str, &'d str), bool>,
}
