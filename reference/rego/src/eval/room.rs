//! Room that evaluations of one thread leave for each other, so that a small one allocates nothing.

use std::cell::Cell;

use super::memo::Memos;
use crate::Value;

/// As many slots have room when an evaluation leaves it to the next.
const SLOTS: usize = 1024;

/// Where an evaluation keeps values; empty between evaluations.
#[derive(Debug, Default)]
pub(super) struct Room {
    pub(super) slots: Vec<Option<Value>>,
    pub(super) trail: Vec<usize>,
    pub(super) memos: Box<Memos>,
}

thread_local! {
    static LEFT: Cell<Option<Room>> = const { Cell::new(None) };
}

impl Room {
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
        // A thread that ends keeps nothing.
        let _ = LEFT.try_with(|left| left.set(Some(self)));
    }
}
