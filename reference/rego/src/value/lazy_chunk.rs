//! Chunks of lists. Those of a parsed document remain text until an item is accessed: text takes a
//! third of the memory, and most of a large document is never accessed.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::item::Item;

/// A list of items.
pub(super) enum Chunk<T> {
    Items(Vec<T>),
    /// List that may be unparsed. Boxed, because most lists are created by policies and never had
    /// text.
    LazyChunk(Box<LazyChunk<T>>),
}

/// Items that are stored as text at first.
pub(super) struct LazyChunk<T> {
    /// The number of items.
    length: usize,
    /// Text of the items, with commas between them; `None` once it is parsed.
    text: Mutex<Option<Arc<str>>>,
    items: OnceLock<Vec<T>>,
}

/// A list in its current representation.
#[derive(Clone)]
pub(super) enum Run<'t, T> {
    Items(&'t [T]),
    /// Unparsed text, and its number of items.
    Text(Arc<str>, usize),
}

impl<T: Item> Chunk<T> {
    /// Creates a list from its JSON text in output format, and the number of its items.
    pub(super) fn unread(text: &str, length: usize) -> Self {
        Self::LazyChunk(LazyChunk::new(text.into(), length))
    }

    /// Returns the number of items.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Items(items) => items.len(),
            Self::LazyChunk(unread) => unread.length,
        }
    }

    /// Whether the text is not parsed yet.
    pub(super) fn is_lazy(&self) -> bool {
        match self {
            Self::Items(_) => false,
            Self::LazyChunk(unread) => unread.items.get().is_none(),
        }
    }

    /// Returns the items. Parses the text on first use, and drops it.
    #[inline]
    pub(super) fn items(&self) -> &[T] {
        match self {
            Self::Items(items) => items,
            Self::LazyChunk(unread) => unread.items.get_or_init(|| unread.take()),
        }
    }

    /// Returns the items, mutably.
    pub(super) fn items_mut(&mut self) -> &mut Vec<T> {
        loop {
            match self {
                Self::Items(items) => return items,
                Self::LazyChunk(_) => {
                    let items = std::mem::replace(self, Self::Items(Vec::new())).into_items();
                    *self = Self::Items(items);
                }
            }
        }
    }

    pub(super) fn into_items(self) -> Vec<T> {
        match self {
            Self::Items(items) => items,
            Self::LazyChunk(mut unread) => unread.items.take().unwrap_or_else(|| unread.take()),
        }
    }

    /// Returns the list in its current representation.
    pub(super) fn run(&self) -> Run<'_, T> {
        match self {
            Self::Items(items) => Run::Items(items),
            Self::LazyChunk(unread) => match unread.text() {
                Some(text) => Run::Text(text, unread.length),
                None => Run::Items(self.items()),
            },
        }
    }
}

impl<T: Item> LazyChunk<T> {
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

    /// Parses and drops the text.
    fn take(&self) -> Vec<T> {
        let text = {
            let mut text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
            text.take()
        };
        text.map(|text| T::read(&text)).unwrap_or_default()
    }
}

impl<T: Item> Clone for Chunk<T> {
    fn clone(&self) -> Self {
        match self.run() {
            Run::Items(items) => Self::Items(items.to_vec()),
            Run::Text(text, length) => Self::LazyChunk(LazyChunk::new(text, length)),
        }
    }
}

impl<T> From<Vec<T>> for Chunk<T> {
    fn from(items: Vec<T>) -> Self {
        Self::Items(items)
    }
}

impl<T: Item> Run<'_, T> {
    /// Returns the items. Text is parsed temporarily, and not replaced.
    pub(super) fn items(&self) -> Cow<'_, [T]> {
        match self {
            Self::Items(items) => Cow::Borrowed(items),
            Self::Text(text, _) => Cow::Owned(T::read(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;
    use std::sync::atomic::AtomicBool;

    use crate::Value;
    use crate::value::{Known, document_from_json};

    /// Users in an array, and in an object by name: both have more than one chunk.
    fn documents() -> Result<[Value; 2], Box<dyn Error>> {
        let user = |at: usize| format!(r#"{{"name":"user {at:04}","level":{at}}}"#);
        let items: Vec<String> = (0..1_000).map(user).collect();
        let members = (0..1_000).map(|at| format!(r#""{at:04}":{}"#, user(at)));
        let members: Vec<String> = members.collect();
        let array = document_from_json(format!("[{}]", items.join(",")).as_bytes())?;
        let object = document_from_json(format!("{{{}}}", members.join(",")).as_bytes())?;
        Ok([array, object])
    }

    fn is_lazy(value: &Value) -> bool {
        match value {
            Value::Array(items) => items.is_lazy(),
            Value::Object(members) => members.is_lazy(),
            _ => false,
        }
    }

    #[test]
    fn only_who_looks_for_an_item_has_it_read() -> Result<(), Box<dyn Error>> {
        for document in documents()? {
            for pretty in [false, true] {
                document.to_json(pretty, usize::MAX)?;
                document.measure(pretty, usize::MAX, &AtomicBool::new(false))?;
            }
            assert!(crate::lookup::item(&document, 0).is_some());
            assert!(is_lazy(&document), "{document}");
            assert!(crate::lookup::item(&document, 999).is_some());
            assert!(!is_lazy(&document), "{document}");
        }
        Ok(())
    }

    fn named<'v>(item: &'v Value, name: &Value) -> Option<&'v Value> {
        item.get(name.as_str()?)
    }

    /// Tests that the first search builds the index, and leaves the items unparsed.
    #[test]
    fn lookups_leave_the_text() -> Result<(), Box<dyn Error>> {
        let (name, value) = (Value::from("name"), Value::from("user 0777"));
        for document in documents()? {
            let lookups = document.lookups().ok_or("no lookups")?;
            let path = std::iter::once(&name);
            let searches_before_index = || Some(document.searches_before_index());
            let Known::Unindexed(lookup) =
                lookups.known(path.clone(), &value, searches_before_index)
            else {
                return Err("a lookup does not pay".into());
            };
            lookup.make(&document, named, || Ok::<(), Box<dyn Error>>(()))?;
            let Known::At(places) = lookups.known(path, &value, || None) else {
                return Err("no lookup was made".into());
            };
            let places: Vec<u32> = places.iter().map(|(_, place)| *place).collect();
            assert_eq!(places, [777]);
            assert!(is_lazy(&document), "{document}");
        }
        Ok(())
    }
}
