//! Chunks of lists. Those of a parsed document stay text until an item is accessed: text takes a
//! third of the memory, and most of a large document is never accessed.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::tree::Item;

/// A list of items.
pub(super) enum Chunk<T> {
    Items(Vec<T>),
    /// Boxed, as most lists are made by policies and need no room for it.
    LazyChunk(Box<LazyChunk<T>>),
}

/// Items of which there is only the text at first.
pub(super) struct LazyChunk<T> {
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

impl<T: Item> Chunk<T> {
    /// The list of so many items whose JSON is this text, with nothing between it but what
    /// values are written with.
    pub(super) fn unread(text: &str, length: usize) -> Self {
        Self::LazyChunk(LazyChunk::new(text.into(), length))
    }

    /// The number of items.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Items(items) => items.len(),
            Self::LazyChunk(unread) => unread.length,
        }
    }

    /// Whether there is only the text.
    pub(super) fn is_lazy(&self) -> bool {
        match self {
            Self::Items(_) => false,
            Self::LazyChunk(unread) => unread.items.get().is_none(),
        }
    }

    /// The items. They stay, and the text goes.
    #[inline]
    pub(super) fn items(&self) -> &[T] {
        match self {
            Self::Items(items) => items,
            Self::LazyChunk(unread) => unread.items.get_or_init(|| unread.take()),
        }
    }

    /// The items, to change.
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

    /// The list as it is kept now.
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

    /// Reads the text and forgets it.
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
    /// The items. Those of a text are read for this once, and the text stays.
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

    /// Users in an array, and the same by their names: more than one list of them.
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

    /// The first search makes the lookup, and leaves the items as they are.
    #[test]
    fn lookups_leave_the_text() -> Result<(), Box<dyn Error>> {
        let (name, sought) = (Value::from("name"), Value::from("user 0777"));
        for document in documents()? {
            let lookups = document.lookups().ok_or("no lookups")?;
            let path = std::iter::once(&name);
            let pays = || Some(document.pays());
            let Known::Cancellation(lookup) = lookups.known(path.clone(), &sought, pays) else {
                return Err("a lookup does not pay".into());
            };
            lookup.make(&document, named, || Ok::<(), Box<dyn Error>>(()))?;
            let Known::At(places) = lookups.known(path, &sought, || None) else {
                return Err("no lookup was made".into());
            };
            let places: Vec<u32> = places.iter().map(|(_, place)| *place).collect();
            assert_eq!(places, [777]);
            assert!(is_lazy(&document), "{document}");
        }
        Ok(())
    }
}
