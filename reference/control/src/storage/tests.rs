//! Requests that are sent to storages.

use std::collections::BTreeMap;

use bytes::Bytes;
use rstest::rstest;
use test_server::{Response, TestServer, always, empty, respond, text};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use zeroize::Zeroizing;

use super::{AllowedStorages, Identity, Storage, StorageError, StoredObject};
use crate::model::{ObjectStorage, Secret};

type Tested<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Secrets by name, with `URL` as a placeholder for the address of the server.
const SECRETS: &[(&str, &str)] = &[
    (
        "aws",
        r#"{"type":"aws_auth","access_key_id":"AKEY","secret_access_key":"hush-aws"}"#,
    ),
    (
        "azure",
        r#"{"type":"azure_auth","account_name":"acc","account_key":"aHVzaC1henVyZQ=="}"#,
    ),
    (
        "gcp",
        r#"{"type":"gcp_auth","credentials":"{\"private_key\":\"hush\",\"private_key_id\":\"i\",\"client_email\":\"e\",\"gcs_base_url\":\"URL\",\"disable_oauth\":true}"}"#,
    ),
    ("other", r#"{"type":"token_auth","token":"hush-token"}"#),
    (
        "broken",
        r#"{"type":"azure_auth","account_name":"a","account_key":"hush!"}"#,
    ),
];

fn open(storage: &str, url: &str, hosts: &[&str]) -> Tested<Result<Storage, StorageError>> {
    let storage: ObjectStorage = serde_json::from_str(&storage.replace("URL", url))?;
    let secrets = SECRETS.iter().map(|(name, text)| {
        let text = text.replace("URL", url).into_bytes();
        ((*name).to_owned(), Secret::opened(Zeroizing::new(text)))
    });
    let destinations = AllowedStorages {
        roots: Vec::new(),
        hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
        secrets_over_http: true,
    };
    Ok(Storage::open(
        &storage,
        &secrets.collect::<BTreeMap<_, _>>(),
        &destinations,
    ))
}

/// Writes an archive unconditionally.
async fn write(
    destination: &Storage,
    archive: &'static [u8],
) -> Result<Option<Identity>, StorageError> {
    let staged = destination.stage(&Bytes::from_static(archive)).await?;
    staged.place(&StoredObject::Unknown).await
}

/// Returns the response of a storage that stored or has an object.
fn stored() -> Response {
    let headers = [
        ("etag", "\"e\""),
        ("x-goog-generation", "1"),
        ("last-modified", "Sun, 01 Nov 2026 00:00:00 GMT"),
        // The server would omit it from the response to HEAD.
        ("content-length", "0"),
    ];
    respond(200, &headers, "")
}

#[rstest]
#[case::aws(
    r#"{"aws":{"bucket":"b","key":"/p/x.tar.gz","region":"r-1","url":"URL","credentials":"aws"}}"#,
    "PUT /b/p/x.tar.gz HTTP/1.1",
    "authorization: AWS4-HMAC-SHA256 Credential=AKEY/"
)]
#[case::aws_without_credentials(
    r#"{"aws":{"bucket":"b","key":"x","region":"r-1","url":"URL/s3/"}}"#,
    "PUT /s3/b/x HTTP/1.1",
    ""
)]
#[case::azure(
    r#"{"azure":{"account_url":"URL/acc","container":"c","path":"p/x.tar.gz","credentials":"azure"}}"#,
    "PUT /acc/c/p/x.tar.gz HTTP/1.1",
    "authorization: SharedKey acc:"
)]
#[case::gcp(
    r#"{"gcp":{"project":"p","bucket":"b","object":"x.tar.gz","credentials":"gcp"}}"#,
    "PUT /b/x%2Etar%2Egz HTTP/1.1",
    ""
)]
#[tokio::test]
async fn storages_get_signed_requests(
    #[case] storage: &str,
    #[case] line: &str,
    #[case] header: &str,
) -> Tested {
    let server = TestServer::start(always(stored())).await?;
    let destination = open(storage, &server.url(), &["127.0.0.1"])??;
    write(&destination, b"bundle").await?;
    let requests = server.requests();
    let request = text(requests.first().ok_or("no request")?);
    assert!(request.starts_with(line), "{request}");
    assert!(request.contains(header), "{request}");
    assert_eq!(
        request.contains("AWS4-HMAC"),
        header.contains("AWS4"),
        "{request}"
    );
    assert!(request.ends_with("\r\n\r\nbundle"), "{request}");
    assert!(!request.contains("hush"), "{request}");
    for (archive, expected) in [(b"" as &'static [u8], true), (b"bundle", false)] {
        let archive = Bytes::from_static(archive);
        let found = destination.compare(&archive, None).await?;
        assert_eq!(
            matches!(found, StoredObject::Same(_)),
            expected,
            "{found:?}"
        );
    }
    Ok(())
}

#[rstest]
#[case::refused(respond(403, &[], "denied"), "the storage refuses the credentials")]
#[case::not_found(empty(404), "the storage has no such bucket or container")]
#[case::redirected(
    respond(307, &[("location", "/elsewhere")], ""),
    "the storage cannot be written to"
)]
#[tokio::test]
async fn refusals_say_why_and_redirects_lead_nowhere(
    #[case] answer: Response,
    #[case] expected: &str,
) -> Tested {
    let storage =
        r#"{"aws":{"bucket":"b","key":"x","region":"r","url":"URL","credentials":"aws"}}"#;
    let server = TestServer::start(always(answer)).await?;
    let destination = open(storage, &server.url(), &["127.*"])??;
    let written = write(&destination, b"").await;
    let message = written.err().ok_or("was taken")?.to_string();
    assert!(message.starts_with(expected), "{message}");
    let requests = server.requests();
    let strayed = requests
        .iter()
        .any(|request| request.uri().path() == "/elsewhere");
    assert!(!strayed, "{requests:?}");
    Ok(())
}

/// Starts a server that answers every request with these bytes, and then repeats a piece until the
/// client disconnects.
async fn flooding(start: String, piece: &'static [u8]) -> Tested<String> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let start = start.clone();
            tokio::spawn(async move {
                let mut buffer = [0; 4096];
                let has_request = stream.read(&mut buffer).await? > 0;
                stream.write_all(start.as_bytes()).await?;
                while has_request && !piece.is_empty() {
                    stream.write_all(piece).await?;
                }
                Ok::<_, std::io::Error>(())
            });
        }
    });
    Ok(url)
}

#[rstest]
#[case::more_than_any_limit(
    "HTTP/1.1 403 No\r\nContent-Length: 4611686018427387904\r\n\r\n",
    b"no",
    "the storage refuses the credentials"
)]
#[case::chunked(
    "HTTP/1.1 400 No\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"2\r\nno\r\n",
    "the storage cannot be written to"
)]
#[case::early_end(
    "HTTP/1.1 404 No\r\nContent-Length: 9\r\n\r\nno",
    b"",
    "the storage has no such bucket or container"
)]
#[tokio::test]
async fn of_refusals_only_the_beginning_is_read(
    #[case] head: &str,
    #[case] piece: &'static [u8],
    #[case] expected: &str,
) -> Tested {
    let storage = r#"{"aws":{"bucket":"b","key":"x","region":"r","url":"URL"}}"#;
    let url = flooding(head.to_owned(), piece).await?;
    let destination = open(storage, &url, &["127.*"])??;
    let written = write(&destination, b"").await;
    let message = written.err().ok_or("was taken")?.to_string();
    assert!(message.starts_with(expected), "{message}");
    assert!(message.len() < 20_000, "{}", message.len());
    Ok(())
}

#[tokio::test]
async fn refusals_need_not_be_text() -> Tested {
    let storage = r#"{"aws":{"bucket":"b","key":"x","region":"r","url":"URL"}}"#;
    let answer = respond(412, &[], Bytes::from_static(b"\xff\xfe"));
    let server = TestServer::start(always(answer)).await?;
    let destination = open(storage, &server.url(), &["127.*"])??;
    let staged = destination.stage(&Bytes::new()).await?;
    let placed = staged.place(&StoredObject::Nothing).await?;
    assert_eq!(placed, None);
    Ok(())
}

#[test]
fn definitions_that_lead_elsewhere_are_refused() -> Tested {
    let hosts = ["*.example.com"];
    for (storage, expected) in [
        (r#"{"aws":{"bucket":"b","key":"k","region":"eu-1"}}"#, ""),
        (r#"{"aws":{"bucket":"a.b","key":"k","region":"eu-1"}}"#, ""),
        (
            r#"{"aws":{"bucket":"b","key":"k","region":"r","url":"https://s3.example.com"}}"#,
            "",
        ),
        (
            r#"{"aws":{"bucket":"b","key":"k","region":"r","url":"http://S3.EXAMPLE.com:9"}}"#,
            "",
        ),
        (
            r#"{"aws":{"bucket":"b","key":"k","region":"r","url":"https://s3.r.amazonaws.com"}}"#,
            "",
        ),
        (
            r#"{"aws":{"bucket":"b","key":"k","region":"r","url":"http://s3.r.amazonaws.com"}}"#,
            "--allow-host",
        ),
        (
            r#"{"aws":{"bucket":"b","key":"k","region":"r","url":"http://169.254.169.254"}}"#,
            "--allow-host",
        ),
        (
            r#"{"aws":{"bucket":"b","key":"k","region":"r","url":"https://example.com.evil"}}"#,
            "--allow-host",
        ),
        (
            r#"{"aws":{"bucket":"b","key":"k","region":"r","url":"https://u:p@s3.example.com"}}"#,
            "without user",
        ),
        (
            r#"{"aws":{"bucket":"b","key":"k","region":"r","url":"file:///etc"}}"#,
            "http or https",
        ),
        (
            r#"{"aws":{"bucket":"b","key":"k","region":"r","url":"s3"}}"#,
            "URL",
        ),
        (
            r#"{"aws":{"bucket":"b","key":"k","region":"x.evil/#"}}"#,
            "region",
        ),
        (
            r#"{"aws":{"bucket":"b@evil","key":"k","region":"r"}}"#,
            "bucket",
        ),
        (
            r#"{"aws":{"bucket":"..","key":"k","region":"r"}}"#,
            "bucket",
        ),
        (
            r#"{"aws":{"bucket":"b","key":"a/../k","region":"r"}}"#,
            "object",
        ),
        (r#"{"aws":{"bucket":"b","key":"/","region":"r"}}"#, "object"),
        (
            r#"{"aws":{"bucket":"b","key":"k","region":"r","credentials":"absent"}}"#,
            "does not exist",
        ),
        (
            r#"{"aws":{"bucket":"b","key":"k","region":"r","credentials":"other"}}"#,
            "expected type aws_auth",
        ),
        (
            r#"{"azure":{"account_url":"https://a.blob.core.windows.net","container":"c","path":"p"}}"#,
            "",
        ),
        (
            r#"{"azure":{"account_url":"https://a.blob.core.windows.net:1","container":"c","path":"p"}}"#,
            "--allow-host",
        ),
        (
            r#"{"azure":{"account_url":"https://a.blob.core.windows.net?sig=x","container":"c","path":"p"}}"#,
            "without user",
        ),
        (
            r#"{"azure":{"account_url":"data:x","container":"c","path":"p"}}"#,
            "http or https",
        ),
        (
            r#"{"azure":{"account_url":"https://a.example.com","container":"c/d","path":"p"}}"#,
            "container",
        ),
        (
            r#"{"azure":{"account_url":"https://a.example.com","container":"c","path":"p","credentials":"broken"}}"#,
            "base64",
        ),
        (r#"{"gcp":{"project":"p","bucket":"b","object":"o"}}"#, ""),
        (
            r#"{"gcp":{"project":"p","bucket":"b/c","object":"o"}}"#,
            "bucket",
        ),
        (
            r#"{"gcp":{"project":"p","bucket":"b","object":"o","credentials":"gcp"}}"#,
            "--allow-host",
        ),
        (
            r#"{"gcp":{"project":"p","bucket":"b","object":"o","credentials":"other"}}"#,
            "expected type gcp_auth",
        ),
        (r#"{"filesystem":{"path":"x"}}"#, "--bundle-root"),
        ("{}", "no storage"),
    ] {
        let opened = open(storage, "http://127.0.0.1:9", &hosts)?;
        let message = opened
            .err()
            .map(|failure| failure.to_string())
            .unwrap_or_default();
        let is_expected = message.contains(expected) && message.is_empty() == expected.is_empty();
        assert!(is_expected, "{storage}: {message}");
        assert!(!message.contains("hush"), "{storage}: {message}");
    }
    Ok(())
}
