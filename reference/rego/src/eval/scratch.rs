//! Scratch memory: buffers that the evaluations of one thread reuse, so that small ones do not
//! allocate.

use std::cell::Cell;

use super::binding::Binding;
use super::memo::Memos;

/// Maximum number of slots whose allocation is reused by the next evaluation.
const SLOTS: usize = 1024;

/// Reusable buffers of an evaluation; empty between evaluations.
#[derive(Debug, Default)]
pub(super) struct Scratch<'p> {
    pub(super) slots: Vec<Binding<'p>>,
    pub(super) trail: Vec<usize>,
    pub(super) memos: Box<Memos>,
}

thread_local! {
    static POOL: Cell<Option<Scratch<'static>>> = const { Cell::new(None) };
}

impl Scratch<'_> {
    /// Takes the buffers that this thread's previous evaluation left, or creates new ones.
    pub(super) fn take() -> Self {
        POOL.try_with(Cell::take).ok().flatten().unwrap_or_default()
    }

    /// Clears the buffers and stores them for the next evaluation.
    pub(super) fn recycle(mut self) {
        self.slots.clear();
        self.trail.clear();
        if self.slots.capacity().max(self.trail.capacity()) > SLOTS {
            return;
        }
        self.memos.clear();
        let scratch = Scratch {
            // The vector is empty, and collecting an empty vector retains its allocation.
            slots: self.slots.into_iter().map(|_| Binding::Unbound).collect(),
            trail: self.trail,
            memos: self.memos,
        };
        // Fails only while the thread ends; the buffers are then dropped.
        let _ = POOL.try_with(|left| left.set(Some(scratch)));
    }
}
