//! Arrays.

use std::fmt;

use triomphe::Arc;

use super::Value;
use super::json::read_items;
use super::list_index::Lookups;
use super::tree::{self, Item, Part, Place, Run, Runs, Tree, WIDTH};

/// The items of an array.
///
/// A clone shares the original: a change to one of a million items copies a few hundred.
#[derive(Clone)]
pub struct Array(Items);

#[derive(Clone)]
enum Items {
    /// A short list as it was made, in one allocation.
    Packed(Arc<[Value]>),
    /// A long list, or one that has been changed.
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

/// The place of the item that has this many others before it.
struct At(usize);

/// The place before that item, or behind the last.
struct Before(usize);

impl Place<Value> for At {
    fn part(&mut self, parts: &[Part<Value>]) -> usize {
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

impl Place<Value> for Before {
    fn part(&mut self, parts: &[Part<Value>]) -> usize {
        let mut place = At(self.0);
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
    /// An array without items.
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

    /// The number of items.
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

    /// The item at an index.
    pub fn get(&self, index: usize) -> Option<&Value> {
        match &self.0 {
            Items::Packed(items) => items.get(index),
            Items::Tree(items) => items.find(At(index)),
        }
    }

    /// Where the items are that have certain members, if there are many items.
    pub(super) fn lookups(&self) -> Option<&Lookups> {
        match &self.0 {
            Items::Packed(_) => None,
            Items::Tree(items) => items.lookups(),
        }
    }

    /// Whether nobody has looked at all items.
    pub(super) fn is_lazy(&self) -> bool {
        match &self.0 {
            Items::Packed(_) => false,
            Items::Tree(items) => items.is_lazy(),
        }
    }

    /// The first item.
    pub fn first(&self) -> Option<&Value> {
        self.get(0)
    }

    /// The last item.
    pub fn last(&self) -> Option<&Value> {
        self.get(self.len().checked_sub(1)?)
    }

    /// Whether an item is equal to this value.
    pub fn contains(&self, sought: &Value) -> bool {
        self.iter().any(|item| item == sought)
    }

    /// The items in their order.
    pub fn iter(&self) -> Iter<'_> {
        Iter(match &self.0 {
            Items::Packed(items) => tree::Iter::of_list(items),
            Items::Tree(items) => tree::Iter::of_tree(items),
        })
    }

    /// The items behind the first ones, list by list, as they are kept.
    pub(super) fn runs(&self, skipped: usize) -> Runs<'_, Value> {
        match &self.0 {
            Items::Packed(items) => Runs::of_run(Run::Items(items), skipped),
            Items::Tree(items) => Runs::of_tree(items, skipped),
        }
    }

    /// The items in their order, to change.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        tree::IterMut::new(self.tree_mut())
    }

    /// The item at an index, to change.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut Value> {
        // Nothing is copied for an item that is not there.
        self.get(index)?;
        self.tree_mut().find_mut(At(index))
    }

    /// Inserts an item before the one at an index, or behind the last.
    pub fn insert(&mut self, index: usize, value: Value) {
        let index = index.min(self.len());
        self.tree_mut().insert(Before(index), value);
    }

    /// Adds an item behind the last.
    pub fn push(&mut self, value: Value) {
        self.insert(self.len(), value);
    }

    /// Removes the item at an index; what was there is the answer.
    pub fn remove(&mut self, index: usize) -> Option<Value> {
        self.get(index)?;
        self.tree_mut().remove(&mut At(index))
    }

    /// The items as a list.
    pub fn to_vec(&self) -> Vec<Value> {
        self.iter().cloned().collect()
    }

    /// The items in the form that can be changed, and is not shared.
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

    /// Whether another value may hold the same items, so that they take no memory of their own.
    pub(super) fn is_shared(&self) -> bool {
        match &self.0 {
            Items::Packed(items) => !items.is_unique(),
            Items::Tree(items) => !items.is_unique(),
        }
    }

    /// Where the items are: no other array has them there.
    pub(super) fn address(&self) -> usize {
        match &self.0 {
            Items::Packed(items) => items.as_ptr().addr(),
            Items::Tree(items) => Arc::as_ptr(items).addr(),
        }
    }
}

/// The items of an array in their order.
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
