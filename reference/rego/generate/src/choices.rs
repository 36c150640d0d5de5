//! Decisions taken from bytes.

/// Bytes that decide.
#[derive(Debug, Clone)]
pub struct Choices<'b> {
    bytes: std::slice::Iter<'b, u8>,
}

impl<'b> Choices<'b> {
    /// Decisions by these bytes, and the first choice behind their end.
    pub fn new(bytes: &'b [u8]) -> Self {
        Self {
            bytes: bytes.iter(),
        }
    }

    /// A number below `end`, which is at least 1.
    pub fn below(&mut self, end: usize) -> usize {
        let byte = self.bytes.next().copied().unwrap_or(0);
        usize::from(byte).checked_rem(end).unwrap_or(0)
    }

    /// One of these.
    pub fn of<T: Copy + Default>(&mut self, items: &[T]) -> T {
        let at = self.below(items.len().max(1));
        items.get(at).copied().unwrap_or_default()
    }

    /// Whether one of `count` chances came up.
    pub fn rarely(&mut self, count: usize) -> bool {
        self.below(count) == count - 1
    }
}
