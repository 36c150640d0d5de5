//! Sends requests, with retries and redirects.

use std::io::Read;
use std::time::{Duration, Instant};

use super::Stop;
use super::attempt::Attempt;
use super::error::RequestError;
use super::options::{MAX_BODY, Options};
use super::redirect::redirect;
use super::response::Response;
use super::tls;
use crate::builtins::{Call, allow_net};
use crate::host::{HostError, Tls};

/// Maximum number of redirects that a request follows.
pub(super) const MAX_REDIRECTS: usize = 32;

/// Sends a request, with the retries and redirects that it allows.
pub(super) fn send(call: &Call<'_>, options: &Options) -> Result<Response, Stop> {
    let tls = tls::read(call.host(), options)?;
    let mut attempt = 0;
    loop {
        match follow(call, options, tls.as_ref()) {
            Err(Stop::RequestError(RequestError::Network { .. })) if attempt < options.retries => {
                wait(call, attempt)?;
                attempt += 1;
            }
            outcome => return outcome,
        }
    }
}

/// Waits before the next attempt, with exponential backoff of at most 60 seconds.
fn wait(call: &Call<'_>, attempt: u32) -> Result<(), Stop> {
    let longest = Duration::from_secs(60);
    let delay = Duration::from_millis(100).saturating_mul(2_u32.saturating_pow(attempt));
    let waited = call.wait(|host, cancellation| host.pause(delay.min(longest), cancellation));
    waited.map_err(Stop::AbortReason)
}

fn follow(call: &Call<'_>, options: &Options, tls: Option<&Tls>) -> Result<Response, Stop> {
    let start = Instant::now();
    let mut options = options.clone();
    for _ in 0..=MAX_REDIRECTS {
        let left = options
            .timeout
            .map(|timeout| timeout.saturating_sub(start.elapsed()));
        let response = exchange(call, &options, tls, left)?;
        let target = match response.code {
            301 | 302 | 303 | 307 | 308 if options.redirects => response.header("location"),
            _ => None,
        };
        let Some(target) = target else {
            return Ok(response);
        };
        redirect(call.session, &mut options, target, response.code)?;
    }
    Err(options
        .network_error("stopped after too many redirects")
        .into())
}

/// Sends one request and waits for its response.
fn exchange(
    call: &Call<'_>,
    options: &Options,
    tls: Option<&Tls>,
    timeout: Option<Duration>,
) -> Result<Response, Stop> {
    let Attempt { mut request, gzip } = Attempt::new(options, tls)?;
    request.timeout = timeout;
    let host = request.url.host_str().unwrap_or_default().to_owned();
    let port = request.url.port_or_known_default().unwrap_or_default();
    let sent = call.wait(|host, cancellation| host.send(request, cancellation));
    let cause = match sent {
        Ok(response) if gzip => return Ok(inflate(options, response)?),
        Ok(response) => return Ok(response),
        Err(HostError::AbortReason(ended)) => return Err(Stop::AbortReason(ended)),
        Err(HostError::Disallowed) => return Err(allow_net::disallowed(&host).into()),
        Err(HostError::Refused(reason)) => return Err(RequestError::Value(reason).into()),
        Err(HostError::TimedOut) => return Err(options.timeout_error().into()),
        Err(HostError::NoSuchHost) => format!("dial tcp: lookup {host}: no such host"),
        Err(HostError::ConnectionRefused) => {
            format!("dial tcp {host}:{port}: connect: connection refused")
        }
        Err(HostError::TooLong) => too_long(),
        Err(HostError::Broken(cause)) => cause,
    };
    Err(options.network_error(cause).into())
}

fn too_long() -> String {
    format!("the response is longer than {MAX_BODY} bytes")
}

/// Decompresses a response whose compression the policy did not request.
fn inflate(options: &Options, mut response: Response) -> Result<Response, RequestError> {
    if response.header("content-encoding") != Some("gzip") || response.body.is_empty() {
        return Ok(response);
    }
    let maximum = u64::try_from(MAX_BODY).unwrap_or(u64::MAX);
    let mut inflated = Vec::new();
    let decoder = flate2::read::MultiGzDecoder::new(response.body.as_slice());
    let read = decoder.take(maximum + 1).read_to_end(&mut inflated);
    read.map_err(|error| options.network_error(error.to_string()))?;
    if inflated.len() > MAX_BODY {
        return Err(options.network_error(too_long()));
    }
    response
        .headers
        .retain(|(name, _)| name != "content-encoding" && name != "content-length");
    response.body = inflated;
    Ok(response)
}
