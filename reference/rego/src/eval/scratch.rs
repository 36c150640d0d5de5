//! Scratch memory: buffers that the evaluations of one thread reuse, so that small ones do not
//! allocate.

use std::cell::Cell;

use super::binding::Binding;
use super::memo::Memos;

/// As many slots have room when an evaluation leaves it to the next.
const SLOTS: usize = 1024;

/// Where an evaluation keeps values; empty between evaluations.
#[derive(Debug, Default)]
pub(super) struct Scratch<'p> {
    pub(super) slots: Vec<Binding<'p>>,
    pub(super) trail: Vec<usize>,
    pub(super) memos: Box<Memos>,
}

thread_local! {
    static LEFT: Cell<Option<Scratch<'static>>> = const { Cell::new(None) };
}

impl Scratch<'_> {
    /// The room that the last evaluation left, or new room.
    pub(super) fn take() -> Self {
        LEFT.try_with(Cell::take).ok().flatten().unwrap_or_default()
    }

    /// Empties it for the next evaluation.
    pub(super) fn leave(mut self) {
        self.slots.clear();
        self.trail.clear();
        if self.slots.capacity().max(self.trail.capacity()) > SLOTS {
            return;
        }
        self.memos.clear();
        let room = Scratch {
            // There are none, and an empty list keeps its room when it is collected.
            slots: self.slots.into_iter().map(|_| Binding::Unbound).collect(),
            trail: self.trail,
            memos: self.memos,
        };
        // A thread that ends keeps nothing.
        let _ = LEFT.try_with(|left| left.set(Some(room)));
    }
}
