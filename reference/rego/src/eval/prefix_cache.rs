//! Cache of constant reference prefixes, such as `input.action` within a loop.

use std::cell::Cell;

use crate::Value;
use crate::ir::Reference;

/// Number of slots. The number that identifies a reference determines its slot.
const SLOT_COUNT: usize = 8;

/// Targets of references in values that outlive and do not change during the evaluation: the
/// original input and base documents.
#[derive(Default)]
pub(super) struct PrefixCache<'p>([Cell<Option<(u64, &'p Value)>>; SLOT_COUNT]);

impl<'p> PrefixCache<'p> {
    /// Returns the cached target of the constant prefix of a reference.
    #[inline]
    pub(super) fn get(&self, reference: &Reference) -> Option<&'p Value> {
        let (id, value) = self.place(reference)?.get()?;
        (id == reference.id).then_some(value)
    }

    /// Caches the target.
    #[inline]
    pub(super) fn put(&self, reference: &Reference, value: &'p Value) {
        if let Some(place) = self.place(reference) {
            place.set(Some((reference.id, value)));
        }
    }

    fn place(&self, reference: &Reference) -> Option<&Cell<Option<(u64, &'p Value)>>> {
        self.0.get(reference.id as usize % SLOT_COUNT)
    }
}
