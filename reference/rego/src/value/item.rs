//! Items of trees.

/// Item of a tree.
pub(super) trait Item: Clone {
    /// Search key of a part of a tree, which selects the part that contains an item.
    type Mark: Clone;

    /// Returns the mark of a part whose first item is this one.
    fn mark(&self) -> Self::Mark;

    /// Replaces this item by another, and returns the previous item.
    fn replace(&mut self, by: Self) -> Self;

    /// Parses items of a JSON array or object, without the brackets.
    fn read(text: &str) -> Vec<Self>;
}
