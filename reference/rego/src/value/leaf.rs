//! The lists that trees are made of. Those of a document that was read are text until somebody
//! looks for an item: a text takes a third of the memory, and most of a large document is never
//! looked at.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::tree::Item;

/// A list of items.
pub(super) enum Leaf<T> {
    Items(Vec<T>),
    /// Boxed, as most lists are made by policies and need no room for it.
    Unread(Box<Unread<T>>),
}

/// Items of which there is only the text at first.
pub(super) struct Unread<T> {
    /// The number of items.
    length: usize,
    /// The items as they are written, with commas between them; none when they are read.
    text: Mutex<Option<Arc<str>>>,
    items: OnceLock<Vec<T>>,
}

/// A list as it is kept.
#[derive(Clone)]
pub(super) enum Run<'t, T> {
    Items(&'t [T]),
    /// The text of so many items that nobody has looked at.
    Text(Arc<str>, usize),
}

impl<T: Item> Leaf<T> {
    /// The list of so many items whose JSON is this text, with nothing between it but what
    /// values are written with.
    pub(super) fn unread(text: &str, length: usize) -> Self {
        Self::Unread(Unread::new(text.into(), length))
    }

    /// The number of items.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Items(items) => items.len(),
            Self::Unread(unread) => unread.length,
        }
    }

    /// Whether there is only the text.
    pub(super) fn is_unread(&self) -> bool {
        match self {
            Self::Items(_) => false,
            Self::Unread(unread) => unread.items.get().is_none(),
        }
    }

    /// The items. They stay, and the text goes.
    #[inline]
    pub(super) fn items(&self) -> &[T] {
        match self {
            Self::Items(items) => items,
            Self::Unread(unread) => unread.items.get_or_init(|| unread.take()),
        }
    }

    /// The items, to change.
    pub(super) fn items_mut(&mut self) -> &mut Vec<T> {
        loop {
            match self {
                Self::Items(items) => return items,
                Self::Unread(_) => {
                    let items = std::mem::replace(self, Self::Items(Vec::new())).into_items();
                    *self = Self::Items(items);
                }
            }
        }
    }

    pub(super) fn into_items(self) -> Vec<T> {
        match self {
            Self::Items(items) => items,
            Self::Unread(mut unread) => unread.items.take().unwrap_or_else(|| unread.take()),
        }
    }

    /// The list as it is kept now.
    pub(super) fn run(&self) -> Run<'_, T> {
        match self {
            Self::Items(items) => Run::Items(items),
            Self::Unread(unread) => match unread.text() {
                Some(text) => Run::Text(text, unread.length),
                None => Run::Items(self.items()),
            },
        }
    }
}

impl<T: Item> Unread<T> {
    fn new(text: Arc<str>, length: usize) -> Box<Self> {
        Box::new(Self {
            length,
            text: Mutex::new(Some(text)),
            items: OnceLock::new(),
        })
    }

    fn text(&self) -> Option<Arc<str>> {
        let text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        text.clone()
    }

    /// Reads the text and forgets it.
    fn take(&self) -> Vec<T> {
        let text = {
            let mut text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
            text.take()
        };
        text.map(|text| T::read(&text)).unwrap_or_default()
    }
}

impl<T: Item> Clone for Leaf<T> {
    fn clone(&self) -> Self {
        match self.run() {
            Run::Items(items) => Self::Items(items.to_vec()),
            Run::Text(text, length) => Self::Unread(Unread::new(text, length)),
        }
    }
}

impl<T> From<Vec<T>> for Leaf<T> {
    fn from(items: Vec<T>) -> Self {
        Self::Items(items)
    }
}

impl<T: Item> Run<'_, T> {
    /// The items. Those of a text are read for this once, and the text stays.
    pub(super) fn items(&self) -> Cow<'_, [T]> {
        match self {
            Self::Items(items) => Cow::Borrowed(items),
            Self::Text(text, _) => Cow::Owned(T::read(text)),
        }
    }
}
