//! Paging: `limit` and `cursor` of the list endpoints.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::model::Kind;
use http_server::{ApiError, Request};

/// Maximum and default number of items in a page.
const MAX_PAGE: u32 = 100;

/// Number of bytes in a cursor that are a checksum of the collection and the position.
const CHECK_BYTES: usize = 4;

/// Parameters `limit` and `cursor` of a request for a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Page {
    /// Row id of the last item of the previous page.
    pub(crate) after: i64,
    /// Maximum number of items to return.
    pub(crate) limit: u32,
}

impl Page {
    /// Parses `limit` and `cursor`; empty values count as absent.
    ///
    /// Serves `control/common/paging/limit-not-integer` and the `limit-maximum` rules: a limit
    /// above the maximum is reduced to it; a limit below 1 is refused, because an empty page would
    /// make no progress.
    ///
    /// # Errors
    /// `invalid_parameter` when the limit is not a positive integer, or the cursor was not issued
    /// for this collection.
    pub(crate) fn read(kind: Kind, request: &Request) -> Result<Self, ApiError> {
        let non_empty = |name| request.parameter(name).filter(|value| !value.is_empty());
        Ok(Self {
            after: non_empty("cursor").map_or(Ok(0), |cursor| after(kind, cursor))?,
            limit: limit_of(request, MAX_PAGE)?,
        })
    }
}

/// Parses `limit`; without one, returns `max`, which is also the maximum.
///
/// # Errors
/// `invalid_parameter` when it is not a positive integer.
pub(crate) fn limit_of(request: &Request, max: u32) -> Result<u32, ApiError> {
    let parameter = request.parameter("limit").filter(|value| !value.is_empty());
    parameter.map_or(Ok(max), |text| Ok(limit(text)?.min(max)))
}

fn limit(text: &str) -> Result<u32, ApiError> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    // A number that overflows is above the maximum.
    let limit = digits.parse().unwrap_or(MAX_PAGE);
    if !is_number || limit == 0 {
        let message = format!("`limit` must be an integer of at least 1, not `{text}`");
        return Err(ApiError::invalid_parameter(message));
    }
    Ok(limit.min(MAX_PAGE))
}

/// Returns the cursor for the items after the one with this row id.
pub(crate) fn cursor(kind: Kind, id: i64) -> String {
    let mut bytes = id.to_be_bytes().to_vec();
    bytes.extend(check(kind, id));
    URL_SAFE_NO_PAD.encode(bytes)
}

fn after(kind: Kind, cursor: &str) -> Result<i64, ApiError> {
    let invalid = || {
        let message = format!("`cursor` was not given out for a list of {kind}s");
        ApiError::invalid_parameter(message)
    };
    let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| invalid())?;
    let (id, proof) = bytes.split_first_chunk().ok_or_else(invalid)?;
    let id = i64::from_be_bytes(*id);
    if proof == check(kind, id) {
        Ok(id)
    } else {
        Err(invalid())
    }
}

/// Computes the checksum that detects cursors of other collections and invalid ones; it is not a
/// secret.
fn check(kind: Kind, id: i64) -> [u8; CHECK_BYTES] {
    let mut hash = Sha256::new();
    hash.update(kind.name());
    hash.update(id.to_be_bytes());
    let [a, b, c, d, ..] = <[u8; 32]>::from(hash.finalize());
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::one("1", Some(1))]
    #[case::plus_sign("+7", Some(7))]
    #[case::most("100", Some(100))]
    #[case::more_than_most("101", Some(100))]
    #[case::far_more_than_most("99999999999999999999999", Some(100))]
    #[case::zero("0", None)]
    #[case::minus_sign("-1", None)]
    #[case::fraction("1.5", None)]
    #[case::letters("abc", None)]
    #[case::only_a_sign("+", None)]
    #[case::exponent("1e2", None)]
    #[case::space(" 1", None)]
    fn limits(#[case] text: &str, #[case] expected: Option<u32>) {
        assert_eq!(limit(text).ok(), expected);
    }

    #[test]
    fn cursors_are_bound_to_their_collection() {
        let cursor = cursor(Kind::Bundle, 42);
        assert_eq!(after(Kind::Bundle, &cursor), Ok(42));
        for broken in [
            &cursor[..15],
            "garbage",
            "!!!",
            "%",
            "-1",
            "AAAA",
            &"9".repeat(30),
        ] {
            assert!(after(Kind::Bundle, broken).is_err(), "`{broken}`");
        }
        for kind in [Kind::Source, Kind::Stack, Kind::Secret] {
            assert!(after(kind, &cursor).is_err(), "{kind}");
        }
    }
}
