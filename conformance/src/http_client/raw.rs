//! Raw requests: bytes written to a socket, for requests that an HTTP library refuses to send.

use std::sync::Arc;

use bytes::Bytes;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::http_client::answer::{Answer, NoAnswer};
use crate::http_client::wire::Outgoing;
use crate::http_client::{Base, USER_AGENT};

/// Maximum length of a response, in bytes. It is small, as each arriving part is parsed with all
/// previous ones.
const ANSWER_LIMIT: usize = 1024 * 1024;

/// Maximum number of header lines of a response.
const HEADERS: usize = 128;

/// Serializes the request as HTTP/1.1 bytes, unchanged.
pub(crate) fn request_bytes(base: &Base, prefix: &str, request: &Outgoing) -> Vec<u8> {
    let mut head = format!(
        "{} {prefix}{} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n",
        request.method, request.path, base.authority
    );
    let mut headers = request.headers.iter();
    if !headers.any(|(name, _)| name.eq_ignore_ascii_case("user-agent")) {
        head.push_str(&format!("User-Agent: {USER_AGENT}\r\n"));
    }
    for (name, value) in &request.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if !request.body.is_empty() || !matches!(request.method, "GET" | "HEAD" | "DELETE") {
        head.push_str(&format!("Content-Length: {}\r\n", request.body.len()));
    }
    head.push_str("\r\n");
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(&request.body);
    bytes
}

/// Sends the bytes on a separate connection and reads one response.
pub(crate) async fn exchange(
    base: &Base,
    tls: &Arc<rustls::ClientConfig>,
    bytes: &[u8],
) -> Result<Answer, NoAnswer> {
    let host = base.host.trim_matches(['[', ']']).to_owned();
    let stream = TcpStream::connect((host.as_str(), base.port))
        .await
        .map_err(|error| NoAnswer::new(format!("cannot connect: {error}")))?;
    let head = bytes.starts_with(b"HEAD ");
    if !base.tls {
        return talk(stream, bytes, head).await;
    }
    let name =
        ServerName::try_from(host).map_err(|error| NoAnswer::new(format!("TLS: {error}")))?;
    let stream = tokio_rustls::TlsConnector::from(Arc::clone(tls))
        .connect(name, stream)
        .await
        .map_err(|error| NoAnswer::new(format!("TLS: {error}")))?;
    talk(stream, bytes, head).await
}

/// Writes and reads concurrently: a server may respond before it has read everything.
async fn talk(
    stream: impl AsyncRead + AsyncWrite,
    bytes: &[u8],
    head: bool,
) -> Result<Answer, NoAnswer> {
    let (mut reader, mut writer) = tokio::io::split(stream);
    let write = async {
        // A server that has responded and closed makes the rest of the request fail; the response
        // counts.
        if writer.write_all(bytes).await.is_ok() {
            let _ = writer.flush().await;
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        answer = read_answer(&mut reader, head) => answer,
        () = write => Err(NoAnswer::new("the connection was closed")),
    }
}

async fn read_answer(
    reader: &mut (impl AsyncRead + Unpin),
    head: bool,
) -> Result<Answer, NoAnswer> {
    let mut received = Vec::new();
    let mut chunk = vec![0; 16 * 1024];
    let mut ended = false;
    loop {
        if let Some(answer) = parse(&received, head, ended)? {
            return Ok(answer);
        }
        if ended {
            return Err(NoAnswer::new(if received.is_empty() {
                "the connection was closed without an answer"
            } else {
                "the connection was closed in the middle of the answer"
            }));
        }
        if received.len() > ANSWER_LIMIT {
            let limit = ANSWER_LIMIT / 1024;
            let what = format!("it exceeds {limit} KiB, the most that this suite reads here");
            return Err(NoAnswer::new(what));
        }
        match reader.read(&mut chunk).await {
            Ok(0) => ended = true,
            Ok(length) => received.extend_from_slice(chunk.get(..length).unwrap_or_default()),
            // A TLS peer that closes without notice still ends the response.
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => ended = true,
            Err(error) => return Err(NoAnswer::new(error.to_string())),
        }
    }
}

/// Parses the response in these bytes; none if more are needed.
fn parse(received: &[u8], head: bool, ended: bool) -> Result<Option<Answer>, NoAnswer> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let parsed = response
        .parse(received)
        .map_err(|error| NoAnswer::new(format!("the answer is not HTTP: {error}")))?;
    let httparse::Status::Complete(length) = parsed else {
        return Ok(None);
    };
    let rest = received.get(length..).unwrap_or_default();
    let status = response.code.unwrap_or_default();
    if (100..200).contains(&status) && status != 101 {
        return parse(rest, head, ended);
    }
    let headers: Vec<(String, String)> = response
        .headers
        .iter()
        .map(|header| {
            let value = String::from_utf8_lossy(header.value).into_owned();
            (header.name.to_ascii_lowercase(), value)
        })
        .collect();
    let named = |name: &str| {
        headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.trim())
    };
    let body = if head || matches!(status, 101 | 204 | 304) {
        Some(Bytes::new())
    } else if named("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked"))
    {
        unchunk(rest)?
    } else if let Some(length) = named("content-length") {
        let length: usize = length.parse().map_err(|_| {
            NoAnswer::new("invalid Content-Length of the answer: expected a number")
        })?;
        rest.get(..length).map(Bytes::copy_from_slice)
    } else {
        ended.then(|| Bytes::copy_from_slice(rest))
    };
    Ok(body.map(|body| Answer::new(status, headers, body)))
}

/// Decodes the chunked body; none if more bytes are needed.
fn unchunk(mut rest: &[u8]) -> Result<Option<Bytes>, NoAnswer> {
    let broken = || NoAnswer::new("the answer's chunks are broken");
    let mut body = Vec::new();
    loop {
        let (start, size) = match httparse::parse_chunk_size(rest).map_err(|_| broken())? {
            httparse::Status::Complete(found) => found,
            httparse::Status::Partial => return Ok(None),
        };
        let size = usize::try_from(size).map_err(|_| broken())?;
        if size == 0 {
            return Ok(Some(Bytes::from(body)));
        }
        let end = start.checked_add(size).ok_or_else(broken)?;
        let Some(data) = rest.get(start..end) else {
            return Ok(None);
        };
        body.extend_from_slice(data);
        let Some(next) = rest.get(end + 2..) else {
            return Ok(None);
        };
        rest = next;
    }
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::longer_than_its_length(
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiX",
        false,
        false,
        Some((200, "hi"))
    )]
    #[case::shorter_than_its_length(
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi",
        false,
        false,
        None
    )]
    #[case::answer_to_head(
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n",
        true,
        false,
        Some((200, ""))
    )]
    #[case::no_content("HTTP/1.1 204 No Content\r\n\r\n", false, false, Some((204, "")))]
    #[case::open_end("HTTP/1.1 200 OK\r\n\r\nto the end", false, false, None)]
    #[case::closed_end("HTTP/1.1 200 OK\r\n\r\nto the end", false, true, Some((200, "to the end")))]
    #[case::continue_first(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 400 Bad\r\nContent-Length: 1\r\n\r\nx",
        false,
        false,
        Some((400, "x"))
    )]
    #[case::chunked(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n1;x=y\r\n!\r\n0\r\n\r\n",
        false,
        false,
        Some((200, "hi!"))
    )]
    #[case::open_chunks(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n",
        false,
        false,
        None
    )]
    #[case::open_status_line("HTTP/1.1 200", false, false, None)]
    fn answers_are_read_in_every_framing(
        #[case] text: &str,
        #[case] head: bool,
        #[case] ended: bool,
        #[case] expected: Option<(u16, &str)>,
    ) {
        let answer = parse(text.as_bytes(), head, ended).expect(text);
        let found = answer
            .as_ref()
            .map(|answer| (answer.status, answer.text().into_owned()));
        let expected = expected.map(|(status, body)| (status, body.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_no_http_is_refused() {
        assert!(parse(b"SSH-2.0-x\r\n", false, false).is_err());
    }
}
