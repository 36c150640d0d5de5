//! Strings that are not UTF-8.
//!
//! A Rego string is a sequence of bytes. Nearly all strings are UTF-8, and these are
//! [`Value::String`]; decoded keys and signatures often are not, and these are [`Value::Bytes`]. As
//! the two are different variants, a function that only supports text cannot mistake other bytes
//! for text.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use super::Value;

/// A string that is not UTF-8. INVARIANT: its bytes are not UTF-8, so each string has one form.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteString(Arc<[u8]>);

impl ByteString {
    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Compares the string to a value.
    pub(super) fn compare(&self, value: &Value) -> Ordering {
        match value.as_bytes() {
            Some(bytes) => self.as_bytes().cmp(bytes),
            None => value.compare_text("").reverse(),
        }
    }

    /// Returns the string for JSON output, with each byte that is not UTF-8 replaced by U+FFFD.
    pub fn to_lossy(&self) -> String {
        lossy(&self.0).into_owned()
    }
}

impl Value {
    /// Creates a string of these bytes.
    pub fn string(bytes: &[u8]) -> Self {
        match str::from_utf8(bytes) {
            Ok(text) => Self::String(text.into()),
            Err(_) => Self::Bytes(ByteString(bytes.into())),
        }
    }

    /// Returns the bytes of the string, if this value is one.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::String(text) => Some(text.as_bytes()),
            Self::Bytes(bytes) => Some(bytes.as_bytes()),
            _ => None,
        }
    }

    /// Whether this value is a string, UTF-8 or not.
    pub fn is_string(&self) -> bool {
        matches!(self, Self::String(_) | Self::Bytes(_))
    }

    /// Returns the string, if this value is one; each byte that is not UTF-8 becomes U+FFFD.
    pub fn as_lossy(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::String(text) => Some(Cow::Borrowed(text)),
            Self::Bytes(bytes) => Some(Cow::Owned(bytes.to_lossy())),
            _ => None,
        }
    }
}

/// Converts bytes to text, with each byte that is not UTF-8 replaced by U+FFFD.
pub(crate) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    Cow::Owned(text)
}

/// A string as characters, for functions that count them: each byte that is not UTF-8 becomes
/// U+FFFD, and positions in the characters can be mapped back to the bytes.
#[derive(Debug)]
pub(crate) struct Characters<'b> {
    bytes: &'b [u8],
    text: Cow<'b, str>,
    /// Byte offsets in the converted text of each U+FFFD that replaces a byte, in order.
    replaced: Vec<usize>,
}

/// Number of bytes by which U+FFFD is longer than the byte that it replaces.
const REPLACEMENT_GROWTH: usize = char::REPLACEMENT_CHARACTER.len_utf8() - 1;

impl<'b> From<&'b str> for Characters<'b> {
    fn from(text: &'b str) -> Self {
        Self {
            bytes: text.as_bytes(),
            text: Cow::Borrowed(text),
            replaced: Vec::new(),
        }
    }
}

impl<'b> Characters<'b> {
    /// Converts the bytes of a string to characters.
    pub(crate) fn of(bytes: &'b [u8]) -> Self {
        let text = lossy(bytes);
        let mut replaced = Vec::new();
        if let Cow::Owned(_) = text {
            let mut at = 0;
            for chunk in bytes.utf8_chunks() {
                at += chunk.valid().len();
                for _ in chunk.invalid() {
                    replaced.push(at);
                    at += char::REPLACEMENT_CHARACTER.len_utf8();
                }
            }
        }
        Self {
            bytes,
            text,
            replaced,
        }
    }

    /// Returns the number of characters of a string.
    pub(crate) fn count(bytes: &[u8]) -> usize {
        let chunks = bytes.utf8_chunks();
        chunks
            .map(|chunk| chunk.valid().chars().count() + chunk.invalid().len())
            .sum()
    }

    /// Returns the characters.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns all bytes of the original string.
    pub(crate) fn whole(&self) -> &'b [u8] {
        self.bytes
    }

    /// Whether some of the characters replace bytes that are not UTF-8.
    pub(crate) fn is_replaced(&self) -> bool {
        !self.replaced.is_empty()
    }

    /// Returns the original bytes for a range of byte offsets in the characters.
    pub(crate) fn bytes(&self, range: Range<usize>) -> &'b [u8] {
        let byte = |place: usize| {
            let before = self.replaced.partition_point(|at| *at < place);
            place - REPLACEMENT_GROWTH * before
        };
        let range = byte(range.start)..byte(range.end);
        self.bytes.get(range).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};
    use rstest::rstest;

    use super::{Characters, lossy};
    use crate::Value;

    #[rstest]
    #[case::byte_of_no_character(b"a\xffb", "a\u{fffd}b")]
    #[case::truncated_four_byte_character(b"\xf0\x9f\x98", "\u{fffd}\u{fffd}\u{fffd}")]
    #[case::surrogate(b"\xed\xa0\x80", "\u{fffd}\u{fffd}\u{fffd}")]
    #[case::overlong_encoding_of_two_bytes(b"\xc0\xafz", "\u{fffd}\u{fffd}z")]
    fn each_byte_that_is_not_utf8_is_replaced_by_itself(
        #[case] bytes: &[u8],
        #[case] expected: &str,
    ) {
        assert_eq!(lossy(bytes), expected);
    }

    proptest! {
        #[test]
        fn strings_return_their_bytes(bytes: Vec<u8>) {
            let value = Value::string(&bytes);
            assert_eq!(value.as_bytes(), Some(bytes.as_slice()));
            assert_eq!(value.as_str().is_some(), str::from_utf8(&bytes).is_ok());
        }

        #[test]
        fn strings_compare_as_their_bytes(left: Vec<u8>, right: Vec<u8>) {
            let values = (Value::string(&left), Value::string(&right));
            assert_eq!(values.0.cmp(&values.1), left.cmp(&right));
            assert_eq!(values.0 == values.1, left == right);
        }

        #[test]
        fn places_of_characters_lead_to_their_bytes(bytes: Vec<u8>, from in any::<usize>()) {
            let characters = Characters::of(&bytes);
            let text = characters.as_str();
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let place = places.get(from % places.len().max(1)).copied();
            let place = place.unwrap_or_default();
            let halves = [
                characters.bytes(0..place),
                characters.bytes(place..text.len()),
            ];
            assert_eq!(halves.concat(), bytes);
            assert_eq!(lossy(halves[0]).len(), place);
        }
    }
}
