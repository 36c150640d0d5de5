//! Sends requests.

use std::error::Error as _;
use std::io::Read;
use std::sync::LazyLock;
use std::sync::mpsc::channel;
use std::time::Duration;

use reqwest::header::{ACCEPT_ENCODING, HOST, HeaderName, HeaderValue, USER_AGENT};
use reqwest::{Client, ClientBuilder, Method, Request, Url, redirect};
use tokio::runtime::Runtime;

use super::options::{Options, check_host};
use super::response::Response;
use super::trouble::Trouble;
use super::{Stop, tls};
use crate::builtins::url::{self, quote};
use crate::builtins::{Call, Session, waiting};

/// The longest body of a response.
pub(super) const MAX_BODY: usize = 32 << 20;

/// The most redirections that a request follows.
const MAX_REDIRECTS: usize = 32;

/// Evaluations run where they cannot wait for input, so their requests have a thread of their own.
static RUNTIME: LazyLock<Option<Runtime>> = LazyLock::new(|| {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(1).enable_all().build().ok()
});

/// The client of all requests that demand nothing of their connection; it keeps connections open.
static USUAL: LazyLock<Option<Client>> = LazyLock::new(|| {
    let config = tls::usual().ok()?;
    builder().tls_backend_preconfigured(config).build().ok()
});

fn builder() -> ClientBuilder {
    Client::builder()
        .redirect(redirect::Policy::none())
        .referer(false)
}

/// One hop of a request.
#[derive(Debug)]
struct Hop {
    client: Client,
    request: Request,
    gzip: bool,
}

/// Sends a request, again after failures if it says so, and follows redirections if it says so.
pub(super) fn send(call: &Call<'_>, options: &Options) -> Result<Response, Stop> {
    let mut attempt = 0;
    loop {
        match follow(call, options) {
            Err(Stop::Trouble(Trouble::Network { .. })) if attempt < options.retries => {
                wait(call, attempt)?;
                attempt += 1;
            }
            outcome => return outcome,
        }
    }
}

/// Waits before the next attempt, longer each time.
fn wait(call: &Call<'_>, attempt: u32) -> Result<(), Stop> {
    let longest = Duration::from_secs(60);
    let delay = Duration::from_millis(100).saturating_mul(2_u32.saturating_pow(attempt));
    Ok(waiting::pass(call, delay.min(longest))?)
}

fn follow(call: &Call<'_>, options: &Options) -> Result<Response, Stop> {
    let start = std::time::Instant::now();
    let mut options = options.clone();
    for _ in 0..=MAX_REDIRECTS {
        let left = options
            .timeout
            .map(|timeout| timeout.saturating_sub(start.elapsed()));
        let response = exchange(call, &options, left)?;
        let target = match response.code {
            301 | 302 | 303 | 307 | 308 if options.redirects => response.header("location"),
            _ => None,
        };
        let Some(target) = target else {
            return Ok(response);
        };
        redirect(call.session, &mut options, target, response.code)?;
    }
    Err(network(&options, "stopped after too many redirects").into())
}

/// Turns a request into the one that a redirection asks for.
fn redirect(
    session: &Session,
    options: &mut Options,
    target: &str,
    code: u16,
) -> Result<(), Trouble> {
    let from = address(options)?;
    let to = from.join(target).map_err(|_| {
        network(
            options,
            &format!("failed to parse Location header {}", quote(target)),
        )
    })?;
    check_host(session, to.as_str())?;
    if matches!(code, 301..=303) && options.method != "HEAD" {
        options.method = "GET".to_owned();
        options.body.clear();
    }
    // What proves who asks is for the first host only.
    let secret = ["authorization", "cookie", "www-authenticate"];
    let same = from.host() == to.host();
    options.headers.retain(|(name, _)| {
        let name = name.to_ascii_lowercase();
        name != "host" && name != "referer" && (same || !secret.contains(&name.as_str()))
    });
    if from.scheme() == to.scheme() || to.scheme() == "https" {
        options
            .headers
            .push(("Referer".to_owned(), from.to_string()));
    }
    to.as_str().clone_into(&mut options.url);
    Ok(())
}

/// A failure on the way to the server or back.
fn network(options: &Options, cause: &str) -> Trouble {
    Trouble::Network {
        request: named(options),
        cause: Some(cause.to_owned()),
    }
}

/// Method and address as messages begin.
fn named(options: &Options) -> (String, String) {
    let method = options.method.to_lowercase();
    let (first, rest) = method.split_at_checked(1).unwrap_or(("", &method));
    (
        format!("{}{rest}", first.to_uppercase()),
        options.url.clone(),
    )
}

/// The address of a request, which is `http` or `https`.
fn address(options: &Options) -> Result<Url, Trouble> {
    let url = url::Url::parse(&options.url).map_err(Trouble::Value)?;
    match url.scheme.as_str() {
        "http" | "https" | "unix" => {}
        other => {
            return Err(network(
                options,
                &format!("unsupported protocol scheme {}", quote(other)),
            ));
        }
    }
    if url.host.is_empty() {
        return Err(network(options, "http: no Host in request URL"));
    }
    Url::parse(&options.url).map_err(|wrong| network(options, &wrong.to_string()))
}

/// The path of the socket in an address such as `unix://localhost/path?socket=%2Ftmp%2Fsocket`,
/// and the address without it.
fn socket(url: &Url) -> Option<(String, Url)> {
    if url.scheme() != "unix" {
        return None;
    }
    let path = url
        .query_pairs()
        .find(|(name, _)| name == "socket")?
        .1
        .into_owned();
    let others: Vec<(String, String)> = url
        .query_pairs()
        .filter(|(name, _)| name != "socket")
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect();
    let text = url.as_str().strip_prefix("unix://")?.split('?').next()?;
    let mut http = Url::parse(&format!("http://{text}")).ok()?;
    if !others.is_empty() {
        http.query_pairs_mut().extend_pairs(others);
    }
    Some((path, http))
}

fn prepare(options: &Options) -> Result<Hop, Trouble> {
    let mut url = address(options)?;
    let mut host = header(options, "host").map(str::to_owned);
    let client = if let Some((path, http)) = socket(&url) {
        url = http;
        // A client without TLS cannot be built, although no socket of this kind uses it.
        let client = unix(builder(), path);
        client.tls_backend_preconfigured(tls::usual()?).build().ok()
    } else if options.has_tls() {
        let mut client = builder().pool_max_idle_per_host(0);
        let name = options.server_name.as_ref().or(host.as_ref()).cloned();
        if let Some(name) = name.filter(|_| url.scheme() == "https") {
            client = rename(options, client, &mut url, &name, &mut host)?;
        }
        client
            .tls_backend_preconfigured(tls::special(options)?)
            .build()
            .ok()
    } else {
        USUAL.clone()
    };
    let client = client.ok_or_else(|| network(options, "no connections can be made"))?;
    let method = Method::from_bytes(options.method.as_bytes()).map_err(|_| {
        let method = quote(&options.method);
        Trouble::Value(format!("net/http: invalid method {method}"))
    })?;
    let mut request = Request::new(method, url);
    let gzip = add_headers(options, &mut request, host)?;
    let sends = matches!(options.method.as_str(), "POST" | "PUT" | "PATCH");
    if sends || !options.body.is_empty() {
        *request.body_mut() = Some(options.body.clone().into());
    }
    Ok(Hop {
        client,
        request,
        gzip,
    })
}

#[cfg(unix)]
fn unix(client: ClientBuilder, path: String) -> ClientBuilder {
    client.unix_socket(path)
}

#[cfg(not(unix))]
fn unix(client: ClientBuilder, _path: String) -> ClientBuilder {
    client
}

/// Makes a client expect a certificate for another name than that of the host it connects to.
fn rename(
    options: &Options,
    client: ClientBuilder,
    url: &mut Url,
    name: &str,
    host: &mut Option<String>,
) -> Result<ClientBuilder, Trouble> {
    use std::net::ToSocketAddrs;
    let name = name.split(':').next().unwrap_or_default();
    let real = url.host_str().unwrap_or_default().to_owned();
    let port = url.port_or_known_default().unwrap_or(443);
    let found = (real.trim_matches(['[', ']']), port).to_socket_addrs();
    let found: Vec<_> = found.map(Iterator::collect).unwrap_or_default();
    if found.is_empty() {
        return Err(network(
            options,
            &format!("dial tcp: lookup {real}: no such host"),
        ));
    }
    host.get_or_insert_with(|| match url.port() {
        Some(port) => format!("{real}:{port}"),
        None => real,
    });
    url.set_host(Some(name))
        .map_err(|_| Trouble::Value(format!("invalid server name {}", quote(name))))?;
    Ok(client.resolve_to_addrs(name, &found).http1_only())
}

fn header<'o>(options: &'o Options, name: &str) -> Option<&'o str> {
    let mut headers = options.headers.iter();
    let found = headers.find(|(own, _)| own.eq_ignore_ascii_case(name))?;
    Some(&found.1)
}

/// Adds the headers; whether the response may come compressed without the policy knowing.
fn add_headers(
    options: &Options,
    request: &mut Request,
    host: Option<String>,
) -> Result<bool, Trouble> {
    let headers = request.headers_mut();
    let value = |text: &str| {
        HeaderValue::from_str(text).map_err(|_| {
            network(
                options,
                &format!("net/http: invalid header field value {}", quote(text)),
            )
        })
    };
    for (name, text) in &options.headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| {
            network(
                options,
                &format!("net/http: invalid header field name {}", quote(name)),
            )
        })?;
        headers.append(name, value(text)?);
    }
    if let Some(host) = host {
        headers.insert(HOST, value(&host)?);
    }
    if !headers.contains_key(USER_AGENT) {
        let agent = concat!("rego/", env!("CARGO_PKG_VERSION"));
        headers.insert(USER_AGENT, HeaderValue::from_static(agent));
    }
    let gzip = !headers.contains_key(ACCEPT_ENCODING) && options.method != "HEAD";
    if gzip {
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Ok(gzip)
}

/// Why an exchange came to nothing.
#[derive(Debug)]
enum Broken {
    Slow,
    Because(String),
}

/// Sends one request and waits for its response.
fn exchange(
    call: &Call<'_>,
    options: &Options,
    timeout: Option<Duration>,
) -> Result<Response, Stop> {
    let hop = prepare(options)?;
    let Some(runtime) = RUNTIME.as_ref() else {
        return Err(network(options, "no threads can be started").into());
    };
    let (sent, received) = channel();
    let gzip = hop.gzip;
    let task = runtime.spawn(async move {
        let outcome = match timeout {
            None => receive(hop).await,
            Some(timeout) => match tokio::time::timeout(timeout, receive(hop)).await {
                Ok(outcome) => outcome,
                Err(_) => Err(Broken::Slow),
            },
        };
        sent.send(outcome).ok();
    });
    let outcome = waiting::receive(call, &received).inspect_err(|_| task.abort())?;
    let broken = || Err(Broken::Because("the exchange broke off".to_owned()));
    match outcome.unwrap_or_else(broken) {
        Ok(response) if gzip => Ok(inflate(options, response)?),
        Ok(response) => Ok(response),
        Err(Broken::Because(cause)) => Err(network(options, &cause).into()),
        Err(Broken::Slow) => Err(Stop::Trouble(Trouble::Network {
            request: named(options),
            cause: None,
        })),
    }
}

async fn receive(hop: Hop) -> Result<Response, Broken> {
    let response = hop.client.execute(hop.request).await;
    let mut response = response.map_err(|wrong| Broken::Because(cause(&wrong)))?;
    let code = response.status();
    let reason = response.extensions().get::<hyper::ext::ReasonPhrase>();
    let reason = match reason {
        Some(reason) => String::from_utf8_lossy(reason.as_bytes()).into_owned(),
        None => code.canonical_reason().unwrap_or_default().to_owned(),
    };
    let headers = response.headers().iter();
    let headers = headers.map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), value)
    });
    let headers = headers.collect();
    let mut body = Vec::new();
    while let Some(piece) = response
        .chunk()
        .await
        .map_err(|wrong| Broken::Because(cause(&wrong)))?
    {
        if body.len() + piece.len() > MAX_BODY {
            return Err(Broken::Because(too_long()));
        }
        body.extend_from_slice(&piece);
    }
    Ok(Response {
        code: code.as_u16(),
        reason,
        headers,
        body,
    })
}

fn too_long() -> String {
    format!("the response is longer than {MAX_BODY} bytes")
}

/// Undoes the compression that the policy did not ask for.
fn inflate(options: &Options, mut response: Response) -> Result<Response, Trouble> {
    if response.header("content-encoding") != Some("gzip") || response.body.is_empty() {
        return Ok(response);
    }
    let most = u64::try_from(MAX_BODY).unwrap_or(u64::MAX);
    let mut plain = Vec::new();
    let decoder = flate2::read::MultiGzDecoder::new(response.body.as_slice());
    let read = decoder.take(most + 1).read_to_end(&mut plain);
    read.map_err(|wrong| network(options, &wrong.to_string()))?;
    if plain.len() > MAX_BODY {
        return Err(network(options, &too_long()));
    }
    response
        .headers
        .retain(|(name, _)| name != "content-encoding" && name != "content-length");
    response.body = plain;
    Ok(response)
}

/// The innermost reason, in the words that clients know.
fn cause(wrong: &reqwest::Error) -> String {
    let host = wrong
        .url()
        .and_then(Url::host_str)
        .unwrap_or_default()
        .to_owned();
    let port = wrong
        .url()
        .and_then(Url::port_or_known_default)
        .unwrap_or_default();
    let mut reason = wrong.to_string();
    let mut next = wrong.source();
    while let Some(inner) = next {
        if let Some(io) = inner.downcast_ref::<std::io::Error>()
            && io.kind() == std::io::ErrorKind::ConnectionRefused
        {
            return format!("dial tcp {host}:{port}: connect: connection refused");
        }
        reason = inner.to_string();
        next = inner.source();
    }
    if wrong.is_connect() && reason.contains("lookup") {
        return format!("dial tcp: lookup {host}: no such host");
    }
    reason
}
