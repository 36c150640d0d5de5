//! HTTP client that limits the error responses of storages. The library `object_store` reads an
//! error response completely, allocates the announced length, and copies the body to its error.

use std::time::Duration;

use async_trait::async_trait;
use http::header::{AUTHORIZATION, CONTENT_RANGE};
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt;
use object_store::client::{
    HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};

/// Maximum number of bytes that are read of an error response.
const MAX_ERROR_BODY: usize = 16 << 10;

/// Timeout for reading an error response.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(10);

/// Header with the session token of AWS.
const SESSION_TOKEN: &str = "x-amz-security-token";

/// Replacement for a credential.
const HIDDEN: &str = "***";

/// Minimum length of a credential to hide, in bytes.
const MIN_SECRET_LENGTH: usize = 16;

/// Client that truncates error responses and masks the request's credentials in them: a storage
/// that echoes the request must not reveal credentials.
#[derive(Debug)]
pub(super) struct Bounded(pub(super) reqwest::Client);

#[async_trait]
impl HttpService for Bounded {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let secrets = credentials(request.headers());
        let (head, body) = self.0.call(request).await?.into_parts();
        if head.status == StatusCode::PARTIAL_CONTENT && !is_countable(&head.headers) {
            return Err(HttpError::new(HttpErrorKind::Decode, InvalidRange));
        }
        if !head.status.is_client_error() && !head.status.is_server_error() {
            return Ok(HttpResponse::from_parts(head, body));
        }
        let bytes = read_beginning(body).await;
        let text = redact(String::from_utf8_lossy(&bytes).into_owned(), &secrets);
        Ok(HttpResponse::from_parts(head, text.into()))
    }
}

/// Error for a response with a byte range that would overflow.
#[derive(Debug, thiserror::Error)]
#[error("the storage names an impossible range of bytes")]
struct InvalidRange;

/// Returns true if the numbers in `Content-Range` cannot overflow. The library refuses other
/// invalid ranges.
fn is_countable(headers: &HeaderMap) -> bool {
    let range = headers.get(CONTENT_RANGE);
    let range = range.and_then(|range| range.to_str().ok()).unwrap_or("");
    let numbers = range.split(|character: char| !character.is_ascii_digit());
    let mut numbers = numbers.filter_map(|digits| digits.parse::<u64>().ok());
    numbers.all(|number| number <= i64::MAX as u64)
}

/// Reads the beginning of a body. It ends where the body is interrupted or becomes too slow.
async fn read_beginning(mut body: HttpResponseBody) -> Vec<u8> {
    let mut bytes = Vec::new();
    let reading = async {
        while let Some(Ok(frame)) = body.frame().await {
            let Ok(part) = frame.into_data() else {
                continue;
            };
            let remaining = MAX_ERROR_BODY.saturating_sub(bytes.len());
            bytes.extend(part.iter().take(remaining));
            if bytes.len() == MAX_ERROR_BODY {
                return;
            }
        }
    };
    // After a timeout, the bytes received so far are used.
    drop(tokio::time::timeout(REFUSAL_TIMEOUT, reading).await);
    bytes
}

/// Returns the credentials in the headers of a request: tokens and signatures.
fn credentials(headers: &HeaderMap) -> Vec<String> {
    let authorization = headers.get(AUTHORIZATION).into_iter();
    let values = authorization.chain(headers.get(SESSION_TOKEN));
    let texts = values.filter_map(|value| value.to_str().ok());
    // The authentication scheme precedes the credentials.
    let texts = texts.map(|text| text.split_once(' ').map_or(text, |(_, rest)| rest));
    let words = texts.flat_map(|text| text.split([' ', ',']));
    let secrets = words.flat_map(|word| {
        // `Signature=…` of AWS, `ACCOUNT:…` of Azure.
        let named = word.split_once(['=', ':']).map(|(_, secret)| secret);
        std::iter::once(word).chain(named)
    });
    let secrets = secrets.filter(|secret| secret.len() >= MIN_SECRET_LENGTH);
    secrets.map(str::to_owned).collect()
}

fn redact(mut text: String, secrets: &[String]) -> String {
    for secret in secrets {
        if text.contains(secret.as_str()) {
            text = text.replace(secret.as_str(), HIDDEN);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::aws(
        "authorization",
        "AWS4-HMAC-SHA256 Credential=AKEY/20260101/r/s3/aws4_request, \
                 SignedHeaders=host;x-amz-date, Signature=0123456789abcdef0123456789abcdef",
        "AWS4-HMAC-SHA256 ***, ***, ***"
    )]
    #[case::azure(
        "authorization",
        "SharedKey acc:c2lnbmF0dXJlIG9mIDMyIGI=",
        "SharedKey ***"
    )]
    #[case::bearer("authorization", "Bearer eyJh.eyJp.c2ln-c2ln", "Bearer ***")]
    #[case::token("x-amz-security-token", "dG9rZW4vdG9rZW4rdG9rZW4=", "***")]
    #[case::other_header("x-other", "0123456789abcdef", "0123456789abcdef")]
    fn what_requests_prove_themselves_with_is_hidden(
        #[case] name: &'static str,
        #[case] value: &'static str,
        #[case] redacted: &str,
    ) {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_static(value));
        let echo = format!("<Header>{value}</Header>");
        let expected = format!("<Header>{redacted}</Header>");
        assert_eq!(redact(echo, &credentials(&headers)), expected);
    }

    #[test]
    fn signatures_are_hidden_without_their_scheme() {
        let text = "the signature c2lnbmF0dXJlIG9mIDMyIGI= is wrong".to_owned();
        let mut headers = HeaderMap::new();
        let value = HeaderValue::from_static("SharedKey acc:c2lnbmF0dXJlIG9mIDMyIGI=");
        headers.insert(AUTHORIZATION, value);
        let redacted = redact(text, &credentials(&headers));
        assert_eq!(redacted, "the signature *** is wrong");
    }

    #[rstest]
    #[case::range("bytes 5-9/10", true)]
    #[case::unknown_range("bytes */10", true)]
    #[case::no_range("none", true)]
    #[case::end_that_overflows("bytes 5-18446744073709551615/10", false)]
    #[case::size_that_overflows("bytes 5-9/9223372036854775808", false)]
    fn ranges_that_overflow_are_refused(#[case] range: &'static str, #[case] expected: bool) {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_RANGE, HeaderValue::from_static(range));
        assert_eq!(is_countable(&headers), expected);
    }
}
