//! Unary gRPC calls over HTTP/2.

use bytes::{BufMut, Bytes, BytesMut};
use http::{HeaderMap, StatusCode};

/// Length of the prefix of a message: compression flag and message length.
const PREFIX: usize = 5;

/// Frames an uncompressed message.
pub(super) fn frame(message: &Bytes) -> Option<Bytes> {
    let mut framed = BytesMut::with_capacity(PREFIX.saturating_add(message.len()));
    framed.put_u8(0);
    framed.put_u32(u32::try_from(message.len()).ok()?);
    framed.put_slice(message);
    Some(framed.freeze())
}

/// Returns the message in a frame; `None` if it is missing, compressed or truncated.
pub(super) fn message(framed: &Bytes) -> Option<Bytes> {
    let (prefix, message) = framed.split_at_checked(PREFIX)?;
    let (&compressed, length) = prefix.split_first()?;
    let length = u32::from_be_bytes(length.try_into().ok()?);
    let is_complete = usize::try_from(length).is_ok_and(|length| length == message.len());
    (compressed == 0 && is_complete).then(|| framed.slice(PREFIX..))
}

/// Converts the status of a gRPC call to an HTTP status that says the same about whether the call
/// succeeded, and if not, whether it may be retried.
pub(super) fn status(trailers: &HeaderMap) -> StatusCode {
    let status = trailers.get("grpc-status");
    match status.and_then(|status| status.to_str().ok()) {
        Some("0") => StatusCode::OK,
        // Cancelled, deadline exceeded, aborted, out of range, unavailable, data loss.
        Some("1" | "4" | "10" | "11" | "14" | "15") | None => StatusCode::SERVICE_UNAVAILABLE,
        Some(_) => StatusCode::BAD_REQUEST,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn a_message_survives_its_frame() {
        for text in ["", "a", "some message"] {
            let framed = frame(&Bytes::from(text)).unwrap_or_default();
            assert_eq!(message(&framed), Some(Bytes::from(text)));
            for end in 0..framed.len() {
                assert_eq!(message(&framed.slice(..end)), None, "{text} up to {end}");
            }
        }
        assert_eq!(message(&Bytes::from_static(b"\x01\0\0\0\0")), None);
    }

    #[rstest]
    #[case::fine(Some("0"), 200)]
    #[case::unavailable(Some("14"), 503)]
    #[case::no_trailer(None, 503)]
    #[case::invalid_argument(Some("3"), 400)]
    #[case::no_number(Some("x"), 400)]
    fn what_may_be_tried_again_is_told_apart(
        #[case] status_text: Option<&str>,
        #[case] expected: u16,
    ) {
        let mut trailers = HeaderMap::new();
        if let Some(value) = status_text.and_then(|status_text| status_text.parse().ok()) {
            trailers.insert("grpc-status", value);
        }
        assert_eq!(status(&trailers), expected);
    }
}
