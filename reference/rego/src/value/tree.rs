//! Persistent lists: one list while it is short, a tree of lists when it is long.

use triomphe::Arc;

use super::item::Item;
use super::lazy_chunk::Chunk;
pub(super) use super::lazy_chunk::Run;
use super::list_index::Lookups;

/// Maximum number of entries of one list. A change copies one list on each level.
pub(super) const WIDTH: usize = 64;

/// Number of entries of a newly filled list, which leaves room for insertions.
pub(super) const FILLED: usize = WIDTH * 3 / 4;

/// Position of an item to search for, in a tree and then in a list.
pub(super) trait SearchPosition<T: Item> {
    /// Returns the index of the part that contains the item, if any part does.
    fn part(&mut self, parts: &[Subtree<T>]) -> usize;

    /// Returns the index of the item in a list, or else the index at which it would be inserted.
    fn item(&mut self, items: &[T]) -> Result<usize, usize>;
}

/// A list of items, or of lists.
#[derive(Clone)]
pub(super) enum Tree<T: Item> {
    Chunk(Chunk<T>),
    Branch {
        /// Number of items in all parts.
        length: usize,
        /// Parts in order, none of them empty.
        parts: Vec<Subtree<T>>,
        /// Indexes that find items by their members; used only in the root of a tree.
        lookups: Lookups,
    },
}

#[derive(Clone)]
pub(super) struct Subtree<T: Item> {
    /// Mark of the first item, or of a former first item that also sorts after the preceding part.
    pub(super) mark: T::Mark,
    /// Number of items.
    pub(super) length: usize,
    tree: Arc<Tree<T>>,
}

impl<T: Item> Subtree<T> {
    fn new(tree: Tree<T>) -> Option<Self> {
        let mark = match &tree {
            Tree::Chunk(leaf) => leaf.items().first()?.mark(),
            Tree::Branch { parts, .. } => parts.first()?.mark.clone(),
        };
        Some(Self {
            mark,
            length: tree.len(),
            tree: Arc::new(tree),
        })
    }

    /// Creates a part from a chunk whose first item has this mark.
    pub(super) fn of_leaf(mark: T::Mark, leaf: Chunk<T>) -> Self {
        Self {
            mark,
            length: leaf.len(),
            tree: Arc::new(Tree::Chunk(leaf)),
        }
    }
}

impl<T: Item> Default for Tree<T> {
    fn default() -> Self {
        Self::Chunk(Vec::new().into())
    }
}

impl<T: Item> Tree<T> {
    /// Creates a tree of items in order.
    pub(super) fn of_items(mut items: impl ExactSizeIterator<Item = T>) -> Self {
        if items.len() <= WIDTH {
            let mut items: Vec<T> = items.collect();
            items.shrink_to_fit();
            return Self::Chunk(items.into());
        }
        let mut level = Vec::with_capacity(items.len() / FILLED + 1);
        while items.len() > 0 {
            let leaf: Vec<T> = items.by_ref().take(FILLED).collect();
            level.extend(Subtree::new(Self::Chunk(leaf.into())));
        }
        Self::of_parts(level)
    }

    /// Creates a tree of non-empty parts in order.
    pub(super) fn of_parts(mut level: Vec<Subtree<T>>) -> Self {
        while level.len() > WIDTH {
            let mut rest = level.into_iter();
            let mut above = Vec::new();
            while rest.len() > 0 {
                let parts = rest.by_ref().take(FILLED).collect();
                above.extend(Subtree::new(Self::branch(parts)));
            }
            level = above;
        }
        Self::branch(level)
    }

    fn branch(parts: Vec<Subtree<T>>) -> Self {
        let length = parts.iter().map(|part| part.length).sum();
        Self::Branch {
            length,
            parts,
            lookups: Lookups::default(),
        }
    }

    /// Returns the indexes that find items by their members, if there are many items.
    pub(super) fn lookups(&self) -> Option<&Lookups> {
        match self {
            Self::Chunk(_) => None,
            Self::Branch { lookups, .. } => Some(lookups),
        }
    }

    /// Whether some items are not parsed yet. Only the last chunk is checked, because a full
    /// iteration parses it last.
    pub(super) fn is_lazy(&self) -> bool {
        let mut at = self;
        loop {
            match at {
                Self::Chunk(leaf) => return leaf.is_lazy(),
                Self::Branch { parts, .. } => match parts.last() {
                    Some(part) => at = &part.tree,
                    None => return false,
                },
            }
        }
    }

    /// Returns the item at an index.
    pub(super) fn nth(&self, mut before: usize) -> Option<&T> {
        let mut at = self;
        loop {
            match at {
                Self::Chunk(leaf) => return leaf.items().get(before),
                Self::Branch { parts, .. } => {
                    let part = parts.iter().find(|part| match before < part.length {
                        true => true,
                        false => {
                            before -= part.length;
                            false
                        }
                    });
                    at = &part?.tree;
                }
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Chunk(leaf) => leaf.len(),
            Self::Branch { length, .. } => *length,
        }
    }

    /// Returns the item at a position.
    pub(super) fn find(&self, mut place: impl SearchPosition<T>) -> Option<&T> {
        let mut at = self;
        loop {
            match at {
                Self::Chunk(leaf) => {
                    let items = leaf.items();
                    return items.get(place.item(items).ok()?);
                }
                Self::Branch { parts, .. } => at = &parts.get(place.part(parts))?.tree,
            }
        }
    }

    /// Returns the item at a position, mutably. Shared nodes on the path to it are copied.
    pub(super) fn find_mut(&mut self, mut place: impl SearchPosition<T>) -> Option<&mut T> {
        let mut at = self;
        loop {
            match at {
                Self::Chunk(leaf) => {
                    let items = leaf.items_mut();
                    let place = place.item(items).ok()?;
                    return items.get_mut(place);
                }
                Self::Branch { parts, lookups, .. } => {
                    lookups.clear();
                    let place = place.part(parts);
                    at = Arc::make_mut(&mut parts.get_mut(place)?.tree);
                }
            }
        }
    }

    /// Inserts an item at its position; returns the item that it has replaced.
    pub(super) fn insert(&mut self, mut place: impl SearchPosition<T>, item: T) -> Option<T> {
        let (before, split_off) = self.insert_below(&mut place, item, true);
        if let Some(split_off) = split_off {
            let front = Subtree::new(std::mem::take(self));
            *self = Self::branch(front.into_iter().chain([split_off]).collect());
        }
        before
    }

    /// Inserts an item into the part that its position selects, or into the last one. Returns the
    /// item that it has replaced, and the second half of a list that has become too long.
    fn insert_below(
        &mut self,
        place: &mut impl SearchPosition<T>,
        item: T,
        last: bool,
    ) -> (Option<T>, Option<Subtree<T>>) {
        match self {
            Self::Chunk(leaf) => {
                let items = leaf.items_mut();
                match place.item(items) {
                    Ok(at) => (items.get_mut(at).map(|known| known.replace(item)), None),
                    Err(at) => {
                        let last = last && at == items.len();
                        items.insert(at, item);
                        let split_off = divided(items, last);
                        let part =
                            split_off.and_then(|items| Subtree::new(Self::Chunk(items.into())));
                        (None, part)
                    }
                }
            }
            Self::Branch {
                length,
                parts,
                lookups,
            } => {
                lookups.clear();
                let at = place.part(parts);
                let last = last && at + 1 == parts.len();
                let Some(part) = parts.get_mut(at) else {
                    return (None, None);
                };
                let tree = Arc::make_mut(&mut part.tree);
                let (before, split_off) = tree.insert_below(place, item, last);
                part.length = part.tree.len();
                *length += usize::from(before.is_none());
                let Some(split_off) = split_off else {
                    return (before, None);
                };
                parts.insert(at + 1, split_off);
                let split_off = divided(parts, last).map(Self::branch);
                *length -= split_off.as_ref().map_or(0, Self::len);
                (before, split_off.and_then(Subtree::new))
            }
        }
    }

    /// Removes the item at a position.
    pub(super) fn remove(&mut self, place: &mut impl SearchPosition<T>) -> Option<T> {
        match self {
            Self::Chunk(leaf) => {
                let items = leaf.items_mut();
                let at = place.item(items).ok()?;
                Some(items.remove(at))
            }
            Self::Branch {
                length,
                parts,
                lookups,
            } => {
                lookups.clear();
                let at = place.part(parts);
                let part = parts.get_mut(at)?;
                let removed = Arc::make_mut(&mut part.tree).remove(place)?;
                part.length -= 1;
                *length -= 1;
                if part.length == 0 {
                    parts.remove(at);
                }
                if *length == 0 {
                    *self = Self::default();
                }
                Some(removed)
            }
        }
    }

    /// Converts to a list of the items in order.
    pub(super) fn into_list(self) -> Vec<T> {
        match self {
            Self::Chunk(leaf) => leaf.into_items(),
            Self::Branch { length, parts, .. } => {
                let mut list = Vec::with_capacity(length);
                for part in parts {
                    list.extend(Arc::unwrap_or_clone(part.tree).into_list());
                }
                list
            }
        }
    }
}

/// Splits off the second half of a list that has become too long, or only the last entries if
/// `at_end`, so that a tree that grows at its end has full lists.
fn divided<E>(list: &mut Vec<E>, at_end: bool) -> Option<Vec<E>> {
    let half = if at_end { WIDTH } else { WIDTH / 2 };
    (list.len() > WIDTH).then(|| list.split_off(half))
}

/// Iterator over the items in order.
#[derive(Clone)]
pub(super) struct Iter<'t, T: Item> {
    /// Remaining items of the current list.
    leaf: std::slice::Iter<'t, T>,
    /// Remaining parts of the ancestors, the outermost first.
    above: Vec<std::slice::Iter<'t, Subtree<T>>>,
    left: usize,
}

impl<'t, T: Item> Iter<'t, T> {
    pub(super) fn of_tree(tree: &'t Tree<T>) -> Self {
        match tree {
            Tree::Chunk(leaf) => Self::of_list(leaf.items()),
            Tree::Branch { length, parts, .. } => Self {
                leaf: [].iter(),
                above: vec![parts.iter()],
                left: *length,
            },
        }
    }

    pub(super) fn of_list(items: &'t [T]) -> Self {
        Self {
            leaf: items.iter(),
            above: Vec::new(),
            left: items.len(),
        }
    }
}

impl<'t, T: Item> Iterator for Iter<'t, T> {
    type Item = &'t T;

    #[inline]
    fn next(&mut self) -> Option<&'t T> {
        match self.leaf.next() {
            Some(item) => {
                self.left -= 1;
                Some(item)
            }
            None => self.nth(0),
        }
    }

    /// Skips items, whole parts at a time.
    fn nth(&mut self, mut skipped: usize) -> Option<&'t T> {
        loop {
            let here = self.leaf.len();
            if skipped < here {
                self.left -= skipped + 1;
                return self.leaf.nth(skipped);
            }
            skipped -= here;
            self.left -= here;
            self.leaf = [].iter();
            match self.above.last_mut()?.next() {
                None => {
                    self.above.pop();
                }
                Some(part) if part.length <= skipped => {
                    skipped -= part.length;
                    self.left -= part.length;
                }
                Some(part) => match part.tree.as_ref() {
                    Tree::Chunk(leaf) => self.leaf = leaf.items().iter(),
                    Tree::Branch { parts, .. } => self.above.push(parts.iter()),
                },
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T: Item> ExactSizeIterator for Iter<'_, T> {}

/// Iterator over the lists of items in order, each with the number of its first items to skip.
#[derive(Clone)]
pub(super) struct Runs<'t, T: Item> {
    /// The list, if there is only one.
    only: Option<Run<'t, T>>,
    /// Remaining parts of the ancestors, the outermost first.
    above: Vec<std::slice::Iter<'t, Subtree<T>>>,
    /// Number of items to skip.
    skipped: usize,
}

impl<'t, T: Item> Runs<'t, T> {
    /// Iterates over all items but the first `skipped`.
    pub(super) fn of_tree(tree: &'t Tree<T>, skipped: usize) -> Self {
        match tree {
            Tree::Chunk(leaf) => Self::of_run(leaf.run(), skipped),
            Tree::Branch { parts, .. } => Self {
                only: None,
                above: vec![parts.iter()],
                skipped,
            },
        }
    }

    pub(super) fn of_run(run: Run<'t, T>, skipped: usize) -> Self {
        Self {
            only: Some(run),
            above: Vec::new(),
            skipped,
        }
    }
}

impl<'t, T: Item> Iterator for Runs<'t, T> {
    type Item = (Run<'t, T>, usize);

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(run) = self.only.take() {
            return Some((run, std::mem::take(&mut self.skipped)));
        }
        loop {
            match self.above.last_mut()?.next() {
                None => {
                    self.above.pop();
                }
                Some(part) if part.length <= self.skipped => self.skipped -= part.length,
                Some(part) => match part.tree.as_ref() {
                    Tree::Chunk(leaf) => {
                        return Some((leaf.run(), std::mem::take(&mut self.skipped)));
                    }
                    Tree::Branch { parts, .. } => self.above.push(parts.iter()),
                },
            }
        }
    }
}

/// Mutable iterator over the items in order.
pub(super) struct IterMut<'t, T: Item> {
    leaf: std::slice::IterMut<'t, T>,
    above: Vec<std::slice::IterMut<'t, Subtree<T>>>,
}

impl<'t, T: Item> IterMut<'t, T> {
    pub(super) fn new(tree: &'t mut Tree<T>) -> Self {
        let (leaf, above) = match tree {
            Tree::Chunk(leaf) => (leaf.items_mut().iter_mut(), Vec::new()),
            Tree::Branch { parts, lookups, .. } => {
                lookups.clear();
                ([].iter_mut(), vec![parts.iter_mut()])
            }
        };
        Self { leaf, above }
    }
}

impl<'t, T: Item> Iterator for IterMut<'t, T> {
    type Item = &'t mut T;

    fn next(&mut self) -> Option<&'t mut T> {
        loop {
            if let Some(item) = self.leaf.next() {
                return Some(item);
            }
            match self.above.last_mut()?.next() {
                None => {
                    self.above.pop();
                }
                Some(part) => match Arc::make_mut(&mut part.tree) {
                    Tree::Chunk(leaf) => self.leaf = leaf.items_mut().iter_mut(),
                    Tree::Branch { parts, .. } => self.above.push(parts.iter_mut()),
                },
            }
        }
    }
}
