//! Strict reader of DER, for keys and certificates.
//!
//! Tags have one byte, and lengths and numbers their shortest form. As in Go, elements that follow
//! the last one of a known structure are ignored, unless the structure is read to its end.

/// Tags of universal types.
pub(in crate::builtins) const BOOLEAN: u8 = 0x01;
pub(in crate::builtins) const INTEGER: u8 = 0x02;
pub(in crate::builtins) const BITS: u8 = 0x03;
pub(in crate::builtins) const OCTETS: u8 = 0x04;
pub(in crate::builtins) const IDENTIFIER: u8 = 0x06;
pub(in crate::builtins) const UTC_TIME: u8 = 0x17;
pub(in crate::builtins) const GENERALIZED_TIME: u8 = 0x18;
pub(in crate::builtins) const SEQUENCE: u8 = 0x30;
pub(in crate::builtins) const SET: u8 = 0x31;

/// Tag and value bytes.
pub(in crate::builtins) type Element<'d> = (u8, &'d [u8]);

/// Mask of the tag number; all bits set announce further bytes.
const TAG_NUMBER: u8 = 0x1f;

/// Maximum number of bytes of a length.
const LENGTH_BYTES: usize = 4;

/// Largest part of an object identifier.
const MAX_PART: u64 = (1 << 31) - 1;

/// Reads elements one after another.
#[derive(Debug, Clone, Copy)]
pub(in crate::builtins) struct Reader<'d>(&'d [u8]);

/// Bit string: its bytes, and the number of unused bits in the last one, which are zero.
#[derive(Debug, Clone, Copy)]
pub(in crate::builtins) struct BitString<'d> {
    pub(in crate::builtins) bytes: &'d [u8],
    unused: u8,
}

impl<'d> Reader<'d> {
    pub(in crate::builtins) fn new(der: &'d [u8]) -> Self {
        Self(der)
    }

    /// Enters the sequence that some DER consists of.
    pub(in crate::builtins) fn enter_sequence(der: &'d [u8]) -> Option<Self> {
        let mut outer = Self(der);
        outer.nested(SEQUENCE).filter(|_| outer.is_empty())
    }

    pub(in crate::builtins) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Whether the next element has this tag.
    pub(in crate::builtins) fn peek(self, tag: u8) -> bool {
        self.0.first() == Some(&tag)
    }

    /// Decodes the next tag and length; returns what follows them too.
    fn header(self) -> Option<(u8, usize, &'d [u8])> {
        let (tag, after_tag) = self.0.split_first()?;
        let (first, mut rest) = after_tag.split_first()?;
        let length = match usize::from(*first) {
            short @ ..0x80 => short,
            long => {
                let (bytes, after_length) = rest.split_at_checked(long & 0x7f)?;
                rest = after_length;
                long_length(bytes)?
            }
        };
        (tag & TAG_NUMBER != TAG_NUMBER).then_some((*tag, length, rest))
    }

    /// Reads any element.
    pub(in crate::builtins) fn any(&mut self) -> Option<Element<'d>> {
        let (tag, length, rest) = self.header()?;
        let (value, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, value))
    }

    /// Whether an optional element with this tag comes next.
    ///
    /// # Errors
    /// Returns `None` when the next element, of any tag, has a malformed header.
    pub(in crate::builtins) fn has(self, tag: u8) -> Option<bool> {
        match self.is_empty() {
            true => Some(false),
            false => self.header().map(|(found, ..)| found == tag),
        }
    }

    /// Enters an optional element with one tag, if it begins with an element of the other tag, which
    /// is then the next one; returns whether it does. As in Go, the length of the outer element is
    /// not compared with that of the inner one.
    ///
    /// # Errors
    /// Returns `None` when one of the two has a malformed header, or the outer one is empty.
    pub(in crate::builtins) fn enter(&mut self, outer: u8, inner: u8) -> Option<bool> {
        if !self.has(outer)? {
            return Some(false);
        }
        let (_, _, contents) = self.header().filter(|(_, length, _)| *length > 0)?;
        let has_inner = Self(contents).has(inner)?;
        if has_inner {
            self.0 = contents;
        }
        Some(has_inner)
    }

    /// Reads an element with this tag.
    pub(in crate::builtins) fn read(&mut self, tag: u8) -> Option<&'d [u8]> {
        let value = self.peek(tag).then(|| self.any())?;
        value.map(|(_, value)| value)
    }

    /// Reads an element with this tag, which contains others.
    pub(in crate::builtins) fn nested(&mut self, tag: u8) -> Option<Self> {
        self.read(tag).map(Self)
    }

    /// Reads an element with this tag, if it is the next one.
    ///
    /// # Errors
    /// Returns `None` when it is malformed.
    pub(in crate::builtins) fn optional(&mut self, tag: u8) -> Option<Option<&'d [u8]>> {
        match self.peek(tag) {
            true => self.read(tag).map(Some),
            false => Some(None),
        }
    }

    /// Reads an element with this tag; returns its bytes with tag and length.
    pub(in crate::builtins) fn raw(&mut self, tag: u8) -> Option<&'d [u8]> {
        let before = self.0;
        self.read(tag)?;
        before.get(..before.len() - self.0.len())
    }

    /// Reads any element; returns its bytes with tag and length, or none at the end.
    pub(in crate::builtins) fn any_raw(&mut self) -> Option<&'d [u8]> {
        let before = self.0;
        if !before.is_empty() {
            self.any()?;
        }
        before.get(..before.len() - self.0.len())
    }

    /// Reads an object identifier, whose parts must be less than 2³¹; returns its bytes.
    pub(in crate::builtins) fn identifier(&mut self) -> Option<&'d [u8]> {
        let bytes = self.read(IDENTIFIER)?;
        is_shortest(bytes).then_some(())?;
        let parts = identifier(bytes)?;
        let is_small = parts.iter().all(|part| *part <= MAX_PART);
        is_small.then_some(bytes)
    }

    /// Reads an object identifier with parts of any size; returns its bytes.
    pub(in crate::builtins) fn large_identifier(&mut self) -> Option<&'d [u8]> {
        let bytes = self.read(IDENTIFIER)?;
        let is_complete = bytes.last().is_some_and(|last| last & 0x80 == 0);
        (is_complete && is_shortest(bytes)).then_some(bytes)
    }

    pub(in crate::builtins) fn boolean(&mut self) -> Option<bool> {
        match self.read(BOOLEAN)? {
            [0] => Some(false),
            [0xff] => Some(true),
            _ => None,
        }
    }

    /// Reads an integer; returns its bytes in two's complement.
    pub(in crate::builtins) fn integer(&mut self, tag: u8) -> Option<&'d [u8]> {
        let bytes = self.read(tag)?;
        let is_shortest = match bytes {
            [] => false,
            [_] => true,
            [first, second, ..] => match (first, second & 0x80) {
                (0, sign) => sign != 0,
                (0xff, sign) => sign == 0,
                _ => true,
            },
        };
        is_shortest.then_some(bytes)
    }

    /// Reads an integer that fits `i64`.
    pub(in crate::builtins) fn small_integer(&mut self, tag: u8) -> Option<i64> {
        let bytes = self.integer(tag)?;
        let sign = bytes.first().filter(|first| **first >= 0x80);
        let start = if sign.is_some() { -1_i64 } else { 0 };
        let fits = bytes.len() <= 8;
        fits.then(|| {
            bytes
                .iter()
                .fold(start, |all, byte| all << 8 | i64::from(*byte))
        })
    }

    /// Reads a positive integer of any size; returns its bytes.
    pub(in crate::builtins) fn positive_integer(&mut self) -> Option<&'d [u8]> {
        let bytes = self.integer(INTEGER)?;
        let is_positive = bytes.first().is_some_and(|first| *first < 0x80) && bytes != [0];
        is_positive.then_some(bytes)
    }

    pub(in crate::builtins) fn bit_string(&mut self) -> Option<BitString<'d>> {
        let (unused, bytes) = self.read(BITS)?.split_first()?;
        let last = bytes.last().copied().unwrap_or_default();
        let is_valid = match unused {
            0 => true,
            1..8 => !bytes.is_empty() && last.trailing_zeros() >= u32::from(*unused),
            _ => false,
        };
        is_valid.then_some(BitString {
            bytes,
            unused: *unused,
        })
    }
}

impl BitString<'_> {
    /// Returns the number of bits.
    pub(in crate::builtins) fn length(self) -> usize {
        self.bytes.len() * 8 - usize::from(self.unused)
    }

    /// Returns the bits as a number: shifted so that the last one is the lowest.
    pub(in crate::builtins) fn right_aligned(self) -> Vec<u8> {
        let mut carry = 0_u16;
        let shifted = self.bytes.iter().map(|byte| {
            let all = carry << 8 | u16::from(*byte);
            carry = u16::from(*byte);
            u8::try_from(all >> self.unused & 0xff).unwrap_or_default()
        });
        shifted.collect()
    }
}

/// Decodes a length of several bytes, which a shorter form must not express.
fn long_length(bytes: &[u8]) -> Option<usize> {
    let length = bytes
        .iter()
        .fold(0_usize, |all, byte| all << 8 | usize::from(*byte));
    let is_shortest = length >= 0x80 && bytes.first() != Some(&0);
    (is_shortest && bytes.len() <= LENGTH_BYTES).then_some(length)
}

/// Whether no part of an object identifier begins with a byte that adds nothing.
fn is_shortest(identifier: &[u8]) -> bool {
    let mut begins = true;
    identifier.iter().all(|byte| {
        let is_redundant = begins && *byte == 0x80;
        begins = byte & 0x80 == 0;
        !is_redundant
    })
}

/// Decodes the numbers of an object identifier.
pub(in crate::builtins) fn identifier(bytes: &[u8]) -> Option<Vec<u64>> {
    let mut numbers = Vec::new();
    let mut number = 0_u64;
    for byte in bytes {
        number = number
            .checked_mul(128)?
            .checked_add(u64::from(byte & 0x7f))?;
        if byte & 0x80 != 0 {
            continue;
        }
        if numbers.is_empty() {
            let first = (number / 40).min(2);
            numbers.push(first);
            number -= first * 40;
        }
        numbers.push(number);
        number = 0;
    }
    let complete = bytes.last().is_some_and(|last| last & 0x80 == 0);
    complete.then_some(numbers)
}

/// Formats an object identifier in dotted notation.
pub(in crate::builtins) fn dotted(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    numbers.join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Like Go, refuses lengths, numbers and identifiers with redundant bytes.
    #[test]
    fn only_the_shortest_form_is_read() {
        let any = |der: &'static [u8]| Reader::new(der).any();
        assert_eq!(any(&[0x30, 1, 5, 6]), Some((SEQUENCE, [5].as_slice())));
        assert_eq!(any(&[0x30, 0x81, 1, 5]), None);
        assert_eq!(any(&[0x30, 0x80, 0, 0]), None);
        assert_eq!(any(&[0x3f, 1, 5]), None);
        assert_eq!(any(&[0x30, 2, 5]), None);
        let small = |der: &'static [u8]| Reader::new(der).small_integer(INTEGER);
        assert_eq!(small(&[2, 1, 1]), Some(1));
        assert_eq!(small(&[2, 2, 0, 0x80]), Some(128));
        assert_eq!(small(&[2, 1, 0x80]), Some(-128));
        assert_eq!(small(&[2, 2, 0, 1]), None);
        assert_eq!(small(&[2, 0]), None);
        let identifier = |der: &'static [u8]| Reader::new(der).identifier();
        assert_eq!(identifier(&[6, 1, 0x2a]), Some([0x2a].as_slice()));
        assert_eq!(identifier(&[6, 2, 0x80, 0x2a]), None);
        assert_eq!(identifier(&[6, 1, 0x80]), None);
    }

    #[test]
    fn unused_bits_are_zero() {
        let bits = |der: &'static [u8]| Reader::new(der).bit_string().map(BitString::right_aligned);
        assert_eq!(bits(&[3, 3, 0, 1, 2]), Some(vec![1, 2]));
        assert_eq!(bits(&[3, 3, 4, 0x12, 0x30]), Some(vec![0x01, 0x23]));
        assert_eq!(bits(&[3, 2, 4, 0x13]), None);
        assert_eq!(bits(&[3, 1, 1]), None);
    }

    #[test]
    fn optional_elements_are_absent_by_their_tag() {
        let enter = |der: &'static [u8]| {
            let mut reader = Reader::new(der);
            let has = reader.enter(0xa0, INTEGER)?;
            Some((has, reader.any()))
        };
        let number = Some((INTEGER, [5].as_slice()));
        assert_eq!(enter(&[0xa0, 3, 2, 1, 5]), Some((true, number)));
        // The length of the outer element is not compared.
        assert_eq!(enter(&[0xa0, 9, 2, 1, 5]), Some((true, number)));
        assert_eq!(enter(&[2, 1, 5]), Some((false, number)));
        assert_eq!(enter(&[]), Some((false, None)));
        assert_eq!(enter(&[0xa0, 0]), None);
        assert_eq!(enter(&[0xa1, 0x80]), None);
        assert_eq!(enter(&[0xa0, 2, 2, 0x80]), None);
    }
}
