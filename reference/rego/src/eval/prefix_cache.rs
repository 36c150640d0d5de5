//! Cache of constant reference prefixes, such as `input.action` within a loop.

use std::cell::Cell;

use crate::Value;
use crate::ir::Reference;

/// As many references are remembered, each in the place that its number has.
const PLACES: usize = 8;

/// Where references led in what outlives the evaluation and does not change in it: the input and
/// the base documents that it began with.
#[derive(Default)]
pub(super) struct PrefixCache<'p>([Cell<Option<(u64, &'p Value)>>; PLACES]);

impl<'p> PrefixCache<'p> {
    /// Where the fixed beginning of a reference led, if that is remembered.
    #[inline]
    pub(super) fn get(&self, reference: &Reference) -> Option<&'p Value> {
        let (id, value) = self.place(reference)?.get()?;
        (id == reference.id).then_some(value)
    }

    /// Remembers it.
    #[inline]
    pub(super) fn put(&self, reference: &Reference, value: &'p Value) {
        if let Some(place) = self.place(reference) {
            place.set(Some((reference.id, value)));
        }
    }

    fn place(&self, reference: &Reference) -> Option<&Cell<Option<(u64, &'p Value)>>> {
        self.0.get(reference.id as usize % PLACES)
    }
}
