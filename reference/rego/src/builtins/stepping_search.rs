//! Simulation of an NFA that charges the meter for each step, for patterns and inputs with which a
//! library's search could take too long.
//!
//! All threads of the automaton advance through the input together, in the order of their priority,
//! and carry the spans of their groups.

use regex_automata::nfa::thompson::{NFA, State};
use regex_automata::util::primitives::StateID;

use super::{Call, Failure};

/// Start and end offsets of groups, by slot. The first two are those of the whole match.
pub(super) type Slots = Vec<Option<usize>>;

/// Search in one string.
pub(super) struct SteppingSearch<'s> {
    nfa: &'s NFA,
    text: &'s [u8],
    /// Number of slots per thread.
    slots: usize,
    current: Threads,
    next: Threads,
    stack: Vec<Frame>,
}

/// Set of threads by state, in the order of their priority.
struct Threads {
    order: Vec<StateID>,
    /// Position of each state in `order`; arbitrary for absent states.
    places: Vec<usize>,
    /// Slots of the thread of each state.
    slots: Vec<Option<usize>>,
}

/// Pending work of the epsilon closure.
enum Frame {
    Explore(StateID),
    Restore(usize, Option<usize>),
}

impl Threads {
    fn new(states: usize, slots: usize) -> Self {
        Self {
            order: Vec::new(),
            places: vec![0; states],
            slots: vec![None; states * slots],
        }
    }

    /// Adds a state. Returns whether it was absent.
    fn insert(&mut self, state: StateID) -> bool {
        let Some(place) = self.places.get_mut(state.as_usize()) else {
            return false;
        };
        if self.order.get(*place) == Some(&state) {
            return false;
        }
        *place = self.order.len();
        self.order.push(state);
        true
    }
}

impl<'s> SteppingSearch<'s> {
    /// Creates a search with two slots for the whole match only, or with those of all groups.
    ///
    /// # Errors
    /// When the evaluation has to end, for example for lack of memory.
    pub(super) fn new(
        call: &Call<'_>,
        nfa: &'s NFA,
        text: &'s str,
        slots: usize,
    ) -> Result<Self, Failure> {
        let states = nfa.states().len();
        // A value is charged for the memory of four slots.
        let values = states.saturating_mul(2 + slots) / 2;
        call.estimate(values)?;
        call.make(values)?;
        Ok(Self {
            nfa,
            text: text.as_bytes(),
            slots,
            current: Threads::new(states, slots),
            next: Threads::new(states, slots),
            stack: Vec::new(),
        })
    }

    /// Returns the first match from an offset on; of several at the same start, the preferred one.
    ///
    /// # Errors
    /// When the evaluation has to end.
    pub(super) fn find(&mut self, call: &Call<'_>, from: usize) -> Result<Option<Slots>, Failure> {
        let mut found = None;
        self.current.order.clear();
        let anchored = self.nfa.is_always_start_anchored();
        for at in from..=self.text.len() {
            let is_start = found.is_none() && (!anchored || at == 0);
            if self.current.order.is_empty() && !is_start {
                break;
            }
            let mut steps = 1;
            if is_start {
                let mut slots = vec![None; self.slots];
                let start = self.nfa.start_anchored();
                steps += self.close(start, at, &mut slots, true);
            }
            steps += self.advance(at, &mut found);
            call.spend(steps)?;
            std::mem::swap(&mut self.current, &mut self.next);
            self.next.order.clear();
        }
        Ok(found)
    }

    /// Advances all threads over the byte at an offset. The first thread that matches discards
    /// those of lower priority. Returns the number of steps.
    fn advance(&mut self, at: usize, found: &mut Option<Slots>) -> usize {
        let mut steps = 0;
        let order = std::mem::take(&mut self.current.order);
        for state in &order {
            steps += 1;
            let base = state.as_usize() * self.slots;
            let thread_slots = self.current.slots.get(base..base + self.slots);
            let next = match self.nfa.state(*state) {
                State::ByteRange { trans } => trans.matches(self.text, at).then_some(trans.next),
                State::Sparse(transitions) => transitions.matches(self.text, at),
                State::Dense(transitions) => transitions.matches(self.text, at),
                State::Match { .. } => {
                    let is_within = at == self.text.len()
                        || self.text.get(at).is_none_or(|byte| !is_continuation(*byte));
                    let slots = thread_slots.unwrap_or_default().to_vec();
                    // Ignores an empty match within a character.
                    if is_within || slots.first() != Some(&Some(at)) {
                        *found = Some(slots);
                        break;
                    }
                    None
                }
                _ => None,
            };
            if let Some(next) = next {
                let mut slots = thread_slots.unwrap_or_default().to_vec();
                steps += self.close(next, at + 1, &mut slots, false);
            }
        }
        self.current.order = order;
        steps
    }

    /// Adds a state and its epsilon closure to the current or the next threads. Returns the number
    /// of steps.
    fn close(
        &mut self,
        state: StateID,
        at: usize,
        slots: &mut [Option<usize>],
        is_current: bool,
    ) -> usize {
        let mut steps = 0;
        self.stack.push(Frame::Explore(state));
        while let Some(frame) = self.stack.pop() {
            match frame {
                Frame::Restore(slot, old) => {
                    if let Some(slot) = slots.get_mut(slot) {
                        *slot = old;
                    }
                }
                Frame::Explore(state) => steps += self.explore(state, at, slots, is_current),
            }
        }
        steps
    }

    fn explore(
        &mut self,
        mut state: StateID,
        at: usize,
        slots: &mut [Option<usize>],
        is_current: bool,
    ) -> usize {
        let mut steps = 0;
        loop {
            steps += 1;
            let threads = match is_current {
                true => &mut self.current,
                false => &mut self.next,
            };
            if !threads.insert(state) {
                return steps;
            }
            state = match self.nfa.state(state) {
                State::Look { look, next } => {
                    if !self.nfa.look_matcher().matches(*look, self.text, at) {
                        return steps;
                    }
                    *next
                }
                State::Union { alternates } => {
                    let Some((first, others)) = alternates.split_first() else {
                        return steps;
                    };
                    steps += others.len();
                    let others = others.iter().rev();
                    self.stack
                        .extend(others.map(|other| Frame::Explore(*other)));
                    *first
                }
                State::BinaryUnion { alt1, alt2 } => {
                    self.stack.push(Frame::Explore(*alt2));
                    *alt1
                }
                State::Capture { next, slot, .. } => {
                    if let Some(value) = slots.get_mut(slot.as_usize()) {
                        let old = value.replace(at);
                        self.stack.push(Frame::Restore(slot.as_usize(), old));
                    }
                    *next
                }
                State::Fail => return steps,
                State::ByteRange { .. }
                | State::Sparse(_)
                | State::Dense(_)
                | State::Match { .. } => {
                    let base = state.as_usize() * self.slots;
                    if let Some(thread_slots) = threads.slots.get_mut(base..base + self.slots) {
                        thread_slots.copy_from_slice(slots);
                    }
                    return steps + self.slots / 8;
                }
            };
        }
    }
}

/// Whether a byte is a UTF-8 continuation byte.
fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}
