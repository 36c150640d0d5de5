//! Decisions derived from bytes.

/// Bytes that determine decisions.
#[derive(Debug, Clone)]
pub struct Choices<'b> {
    bytes: std::slice::Iter<'b, u8>,
}

impl<'b> Choices<'b> {
    /// Creates decisions from these bytes; after their end, the first choice is taken.
    pub fn new(bytes: &'b [u8]) -> Self {
        Self {
            bytes: bytes.iter(),
        }
    }

    /// Returns a number below `end`, which is at least 1.
    pub fn below(&mut self, end: usize) -> usize {
        let byte = self.bytes.next().copied().unwrap_or(0);
        usize::from(byte).checked_rem(end).unwrap_or(0)
    }

    /// Returns one of these items.
    pub fn of<T: Copy + Default>(&mut self, items: &[T]) -> T {
        let at = self.below(items.len().max(1));
        items.get(at).copied().unwrap_or_default()
    }

    /// Returns true in one of `count` cases.
    pub fn rarely(&mut self, count: usize) -> bool {
        self.below(count) == count - 1
    }
}
