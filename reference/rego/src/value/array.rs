//! Arrays.

use std::fmt;

use triomphe::Arc;

use super::Value;
use super::item::Item;
use super::json::read_items;
use super::list_index::Lookups;
use super::tree::{self, Run, Runs, SearchPosition, Subtree, Tree, WIDTH};

/// An array of values.
///
/// A clone shares the items: a change to one of a million items copies only a few hundred.
#[derive(Clone)]
pub struct Array(Items);

#[derive(Clone)]
enum Items {
    /// A short unmodified list, in one allocation.
    Packed(Arc<[Value]>),
    /// A long list, or one that has been modified.
    Tree(Arc<Tree<Value>>),
}

impl Item for Value {
    type Mark = ();

    fn mark(&self) -> Self::Mark {}

    fn replace(&mut self, by: Self) -> Self {
        std::mem::replace(self, by)
    }

    fn read(text: &str) -> Vec<Self> {
        read_items(text)
    }
}

/// Position of the item with this index.
struct AtIndex(usize);

/// Position before the item with this index, or after the last item.
struct BeforeIndex(usize);

impl SearchPosition<Value> for AtIndex {
    fn part(&mut self, parts: &[Subtree<Value>]) -> usize {
        let mut at = 0;
        for part in parts {
            if self.0 < part.length {
                break;
            }
            self.0 -= part.length;
            at += 1;
        }
        at
    }

    fn item(&mut self, items: &[Value]) -> Result<usize, usize> {
        if self.0 < items.len() {
            Ok(self.0)
        } else {
            Err(items.len())
        }
    }
}

impl SearchPosition<Value> for BeforeIndex {
    fn part(&mut self, parts: &[Subtree<Value>]) -> usize {
        let mut place = AtIndex(self.0);
        let at = place.part(parts);
        self.0 = place.0;
        match parts.last() {
            Some(last) if at == parts.len() => {
                self.0 += last.length;
                at - 1
            }
            _ => at,
        }
    }

    fn item(&mut self, items: &[Value]) -> Result<usize, usize> {
        Err(self.0.min(items.len()))
    }
}

impl Array {
    /// Creates an array without items.
    pub fn new() -> Self {
        Self::from(Vec::new())
    }

    pub(super) fn of_items(items: impl ExactSizeIterator<Item = Value>) -> Self {
        if items.len() <= WIDTH {
            return Self(Items::Packed(items.collect()));
        }
        Self(Items::Tree(Arc::new(Tree::of_items(items))))
    }

    pub(super) fn of_tree(items: Tree<Value>) -> Self {
        Self(Items::Tree(Arc::new(items)))
    }

    /// Returns the number of items.
    pub fn len(&self) -> usize {
        match &self.0 {
            Items::Packed(items) => items.len(),
            Items::Tree(items) => items.len(),
        }
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the item at an index.
    pub fn get(&self, index: usize) -> Option<&Value> {
        match &self.0 {
            Items::Packed(items) => items.get(index),
            Items::Tree(items) => items.find(AtIndex(index)),
        }
    }

    /// Returns the indexes that find items by their members, if there are many items.
    pub(super) fn lookups(&self) -> Option<&Lookups> {
        match &self.0 {
            Items::Packed(_) => None,
            Items::Tree(items) => items.lookups(),
        }
    }

    /// Whether some items are not parsed yet.
    pub(super) fn is_lazy(&self) -> bool {
        match &self.0 {
            Items::Packed(_) => false,
            Items::Tree(items) => items.is_lazy(),
        }
    }

    /// Returns the first item.
    pub fn first(&self) -> Option<&Value> {
        self.get(0)
    }

    /// Returns the last item.
    pub fn last(&self) -> Option<&Value> {
        self.get(self.len().checked_sub(1)?)
    }

    /// Whether an item is equal to this value.
    pub fn contains(&self, value: &Value) -> bool {
        self.iter().any(|item| item == value)
    }

    /// Iterates over the items in order.
    pub fn iter(&self) -> Iter<'_> {
        Iter(match &self.0 {
            Items::Packed(items) => tree::Iter::of_list(items),
            Items::Tree(items) => tree::Iter::of_tree(items),
        })
    }

    /// Returns the runs of items in their stored form, without the first `skipped` items.
    pub(super) fn runs(&self, skipped: usize) -> Runs<'_, Value> {
        match &self.0 {
            Items::Packed(items) => Runs::of_run(Run::Items(items), skipped),
            Items::Tree(items) => Runs::of_tree(items, skipped),
        }
    }

    /// Iterates over the items in order, mutably.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        tree::IterMut::new(self.tree_mut())
    }

    /// Returns the item at an index, mutably.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut Value> {
        // Nothing is copied if there is no such item.
        self.get(index)?;
        self.tree_mut().find_mut(AtIndex(index))
    }

    /// Inserts an item before the item at an index, or after the last item.
    pub fn insert(&mut self, index: usize, value: Value) {
        let index = index.min(self.len());
        self.tree_mut().insert(BeforeIndex(index), value);
    }

    /// Appends an item.
    pub fn push(&mut self, value: Value) {
        self.insert(self.len(), value);
    }

    /// Removes and returns the item at an index.
    pub fn remove(&mut self, index: usize) -> Option<Value> {
        self.get(index)?;
        self.tree_mut().remove(&mut AtIndex(index))
    }

    /// Returns the items as a list.
    pub fn to_vec(&self) -> Vec<Value> {
        self.iter().cloned().collect()
    }

    /// Returns the items as an unshared tree that can be modified.
    fn tree_mut(&mut self) -> &mut Tree<Value> {
        loop {
            match self.0 {
                Items::Tree(ref mut items) => return Arc::make_mut(items),
                Items::Packed(ref items) => {
                    self.0 = Items::Tree(Arc::new(Tree::Chunk(items.to_vec().into())));
                }
            }
        }
    }

    /// Whether another array may share the items, so that they take no additional memory here.
    pub(super) fn is_shared(&self) -> bool {
        match &self.0 {
            Items::Packed(items) => !items.is_unique(),
            Items::Tree(items) => !items.is_unique(),
        }
    }

    /// Returns the address of the items, which identifies their storage.
    pub(super) fn address(&self) -> usize {
        match &self.0 {
            Items::Packed(items) => items.as_ptr().addr(),
            Items::Tree(items) => Arc::as_ptr(items).addr(),
        }
    }
}

/// Iterator over the items of an array.
#[derive(Clone)]
pub struct Iter<'a>(tree::Iter<'a, Value>);

impl<'a> Iterator for Iter<'a> {
    type Item = &'a Value;

    #[inline]
    fn next(&mut self) -> Option<&'a Value> {
        self.0.next()
    }

    fn nth(&mut self, skipped: usize) -> Option<&'a Value> {
        self.0.nth(skipped)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl Default for Array {
    fn default() -> Self {
        Self::new()
    }
}

impl From<Vec<Value>> for Array {
    fn from(items: Vec<Value>) -> Self {
        Self::of_items(items.into_iter())
    }
}

impl FromIterator<Value> for Array {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Self {
        Self::from(items.into_iter().collect::<Vec<_>>())
    }
}

impl<'a> IntoIterator for &'a Array {
    type Item = &'a Value;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl fmt::Debug for Iter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}
