//! Strict reader of DER, for certificates.
//!
//! Tags have one byte, and lengths and numbers their shortest form. As in Go, elements that follow
//! the last one of a known structure are ignored, unless the structure is read to its end.

use super::tlv::{self, BITS, BOOLEAN, Element, IDENTIFIER, INTEGER};

/// Mask of the tag number; all bits set announce further bytes.
const TAG_NUMBER: u8 = 0x1f;

/// Maximum number of bytes of a length.
const LENGTH_BYTES: usize = 4;

/// Largest part of an object identifier.
const MAX_PART: u64 = (1 << 31) - 1;

/// Reads elements one after another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'d>(&'d [u8]);

/// Bit string: its bytes, and the number of unused bits in the last one, which are zero.
#[derive(Debug, Clone, Copy)]
pub(super) struct BitString<'d> {
    pub(super) bytes: &'d [u8],
    unused: u8,
}

impl<'d> Reader<'d> {
    pub(super) fn new(der: &'d [u8]) -> Self {
        Self(der)
    }

    pub(super) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Whether the next element has this tag.
    pub(super) fn peek(self, tag: u8) -> bool {
        self.0.first() == Some(&tag)
    }

    /// Reads any element.
    pub(super) fn any(&mut self) -> Option<Element<'d>> {
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
        if tag & TAG_NUMBER == TAG_NUMBER {
            return None;
        }
        let (value, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((*tag, value))
    }

    /// Reads an element with this tag.
    pub(super) fn read(&mut self, tag: u8) -> Option<&'d [u8]> {
        let value = self.peek(tag).then(|| self.any())?;
        value.map(|(_, value)| value)
    }

    /// Reads an element with this tag, which contains others.
    pub(super) fn nested(&mut self, tag: u8) -> Option<Self> {
        self.read(tag).map(Self)
    }

    /// Reads an element with this tag, if it is the next one.
    ///
    /// # Errors
    /// Returns `None` when it is malformed.
    pub(super) fn optional(&mut self, tag: u8) -> Option<Option<&'d [u8]>> {
        match self.peek(tag) {
            true => self.read(tag).map(Some),
            false => Some(None),
        }
    }

    /// Reads an element with this tag; returns its bytes with tag and length.
    pub(super) fn raw(&mut self, tag: u8) -> Option<&'d [u8]> {
        let before = self.0;
        self.read(tag)?;
        before.get(..before.len() - self.0.len())
    }

    /// Reads any element; returns its bytes with tag and length, or none at the end.
    pub(super) fn any_raw(&mut self) -> Option<&'d [u8]> {
        let before = self.0;
        if !before.is_empty() {
            self.any()?;
        }
        before.get(..before.len() - self.0.len())
    }

    /// Reads an object identifier, whose parts must be less than 2³¹; returns its bytes.
    pub(super) fn identifier(&mut self) -> Option<&'d [u8]> {
        let bytes = self.read(IDENTIFIER)?;
        is_shortest(bytes).then_some(())?;
        let parts = tlv::identifier(bytes)?;
        let is_small = parts.iter().all(|part| *part <= MAX_PART);
        is_small.then_some(bytes)
    }

    /// Reads an object identifier with parts of any size; returns its bytes.
    pub(super) fn large_identifier(&mut self) -> Option<&'d [u8]> {
        let bytes = self.read(IDENTIFIER)?;
        let is_complete = bytes.last().is_some_and(|last| last & 0x80 == 0);
        (is_complete && is_shortest(bytes)).then_some(bytes)
    }

    pub(super) fn boolean(&mut self) -> Option<bool> {
        match self.read(BOOLEAN)? {
            [0] => Some(false),
            [0xff] => Some(true),
            _ => None,
        }
    }

    /// Reads an integer; returns its bytes in two's complement.
    pub(super) fn integer(&mut self, tag: u8) -> Option<&'d [u8]> {
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
    pub(super) fn small_integer(&mut self, tag: u8) -> Option<i64> {
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
    pub(super) fn positive_integer(&mut self) -> Option<&'d [u8]> {
        let bytes = self.integer(INTEGER)?;
        let is_positive = bytes.first().is_some_and(|first| *first < 0x80) && bytes != [0];
        is_positive.then_some(bytes)
    }

    pub(super) fn bit_string(&mut self) -> Option<BitString<'d>> {
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
    pub(super) fn length(self) -> usize {
        self.bytes.len() * 8 - usize::from(self.unused)
    }

    /// Returns the bits as a number: shifted so that the last one is the lowest.
    pub(super) fn right_aligned(self) -> Vec<u8> {
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
