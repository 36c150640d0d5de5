//! Options in the description of a request.

use std::time::Duration;

use bstr::ByteSlice;

use super::error::RequestError;
use crate::Value;
use crate::builtins::requests::json;
use crate::builtins::url::{Url, quote};
use crate::builtins::{Session, allow_net};
use crate::value::Object;

/// Maximum length of a response body in bytes.
pub(super) const MAX_BODY: usize = 32 << 20;

/// Sources of a certificate or key: a string, a file or an environment variable.
#[derive(Debug, Default, Clone)]
pub(super) struct Sources {
    pub(super) text: Option<String>,
    pub(super) file: Option<String>,
    pub(super) variable: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) struct Options {
    pub(super) method: String,
    pub(super) url: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    /// Timeout; unlimited if absent.
    pub(super) timeout: Option<Duration>,
    pub(super) redirects: bool,
    pub(super) retries: u32,
    pub(super) insecure: bool,
    pub(super) system_certificates: bool,
    pub(super) server_name: Option<String>,
    pub(super) authorities: Sources,
    pub(super) certificate: Sources,
    pub(super) key: Sources,
}

const TIMEOUT: Duration = Duration::from_secs(5);

/// Caching of responses across evaluations.
#[derive(Debug, Clone, Copy)]
pub(super) struct Caching {
    pub(super) shared: bool,
    /// Forced cache duration in seconds; 0 means that of the response headers.
    pub(super) seconds: i32,
}

fn fail<T>(message: impl Into<String>) -> Result<T, RequestError> {
    Err(RequestError::Value(message.into()))
}

/// Returns the identity of a request: its description without the ignored headers.
pub(super) fn key(request: &Object) -> Result<Object, RequestError> {
    let mut key = request.clone();
    if let (Some(ignored), Some(Value::Object(headers))) =
        (request.get("cache_ignored_headers"), request.get("headers"))
    {
        let names = ignored.as_array();
        let names = names.filter(|names| names.iter().all(|name| name.as_str().is_some()));
        let Some(names) = names else {
            return fail("cache_ignored_headers must be an array of strings");
        };
        let counted = headers.iter().filter(|(name, _)| !names.contains(name));
        let counted = counted.map(|(name, value)| (name.clone(), value.clone()));
        key.insert("headers", Value::object(counted));
    }
    key.insert("cache_ignored_headers", Value::Null);
    Ok(key)
}

/// Returns a boolean member; false when absent.
pub(super) fn flag(request: &Object, name: &str) -> Result<bool, RequestError> {
    match request.get(name) {
        None => Ok(false),
        Some(Value::Bool(set)) => Ok(*set),
        Some(_) => fail(format!("invalid value for \"{name}\" field")),
    }
}

/// Whether the caching mode is valid. Responses to requests with other modes are not cached.
pub(super) fn has_caching_mode(request: &Object) -> bool {
    let mode = request.get("caching_mode");
    mode.is_none_or(|mode| matches!(mode.as_str(), Some("serialized" | "deserialized")))
}

pub(super) fn caching(request: &Object) -> Result<Caching, RequestError> {
    let shared = flag(request, "cache")?;
    if !flag(request, "force_cache")? {
        return Ok(Caching { shared, seconds: 0 });
    }
    let Some(seconds) = request.get("force_cache_duration_seconds") else {
        return fail("'force_cache' set but 'force_cache_duration_seconds' parameter is missing");
    };
    let text = seconds.to_string();
    match text.parse() {
        Ok(seconds) => Ok(Caching {
            shared: true,
            seconds,
        }),
        Err(_) => fail(format!(
            "strconv.ParseInt: parsing {}: invalid syntax",
            quote(&text)
        )),
    }
}

impl Sources {
    pub(super) fn is_specified(&self) -> bool {
        self.text.is_some() || self.file.is_some() || self.variable.is_some()
    }
}

impl Options {
    /// Returns the first header with a name.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(own, _)| own.eq_ignore_ascii_case(name))?;
        Some(&found.1)
    }

    /// Whether any TLS option is set.
    pub(super) fn has_tls(&self) -> bool {
        self.insecure
            || self.system_certificates
            || self.server_name.is_some()
            || self.authorities.is_specified()
            || (self.certificate.is_specified() && self.key.is_specified())
    }

    pub(super) fn read(session: &Session, request: &Object) -> Result<Self, RequestError> {
        let mut options = Self {
            method: String::new(),
            url: String::new(),
            headers: Vec::new(),
            body: Vec::new(),
            timeout: Some(TIMEOUT),
            redirects: false,
            retries: 0,
            insecure: false,
            system_certificates: false,
            server_name: None,
            authorities: Sources::default(),
            certificate: Sources::default(),
            key: Sources::default(),
        };
        for (name, value) in request {
            options.take(session, name.as_str().unwrap_or_default(), value)?;
        }
        if let Some(raw) = request.get("raw_body").and_then(Value::as_bytes) {
            options.body = raw.trim_with(|character| character == '"').to_vec();
        }
        Url::parse(&options.url).map_err(RequestError::Value)?;
        if options.method.is_empty() {
            options.method = "GET".to_owned();
        }
        Ok(options)
    }

    fn take(&mut self, session: &Session, name: &str, value: &Value) -> Result<(), RequestError> {
        match name {
            "method" => self.method = text(name, value)?.to_uppercase(),
            "url" => {
                self.url = text(name, value)?;
                check_host(session, &self.url)?;
            }
            "raw_body" => {
                text(name, value)?;
            }
            "body" => self.body = json(value).into_bytes(),
            "headers" => self.headers = headers(value)?,
            "timeout" => self.timeout = timeout(value)?,
            "enable_redirect" => self.redirects = boolean(value)?,
            "max_retry_attempts" => self.retries = retries(value)?,
            "tls_insecure_skip_verify" => self.insecure = boolean(value)?,
            "tls_use_system_certs" => self.system_certificates = boolean(value)?,
            "tls_server_name" => self.server_name = Some(text(name, value)?),
            "tls_ca_cert" => self.authorities.text = Some(text(name, value)?.replace("\\n", "\n")),
            "tls_ca_cert_file" => self.authorities.file = Some(text(name, value)?),
            "tls_ca_cert_env_variable" => self.authorities.variable = Some(text(name, value)?),
            "tls_client_cert" => self.certificate.text = Some(text(name, value)?),
            "tls_client_cert_file" => self.certificate.file = Some(text(name, value)?),
            "tls_client_cert_env_variable" => self.certificate.variable = Some(text(name, value)?),
            "tls_client_key" => self.key.text = Some(text(name, value)?),
            "tls_client_key_file" => self.key.file = Some(text(name, value)?),
            "tls_client_key_env_variable" => self.key.variable = Some(text(name, value)?),
            _ => {}
        }
        Ok(())
    }
}

fn text(name: &str, value: &Value) -> Result<String, RequestError> {
    match value.as_str() {
        Some(text) => Ok(text.trim_matches('"').to_owned()),
        None => fail(format!("\"{name}\" must be a string")),
    }
}

/// Fails unless the evaluation may connect to the host of a URL.
pub(super) fn check_host(session: &Session, url: &str) -> Result<(), RequestError> {
    if session.allowed_hosts.is_none() {
        return Ok(());
    }
    let url = Url::parse(url).map_err(RequestError::Value)?;
    let host = url.authority().split(':').next().unwrap_or_default();
    allow_net::check(session, host).map_err(RequestError::of)
}

fn boolean(value: &Value) -> Result<bool, RequestError> {
    match value.to_string().as_str() {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        other => fail(format!(
            "strconv.ParseBool: parsing {}: invalid syntax",
            quote(other)
        )),
    }
}

fn retries(value: &Value) -> Result<u32, RequestError> {
    let count = match value {
        Value::Number(number) => number.as_i64().and_then(|count| u32::try_from(count).ok()),
        _ => None,
    };
    match count {
        Some(count) => Ok(count),
        None => fail(format!(
            "invalid value {value} for field \"max_retry_attempts\""
        )),
    }
}

fn headers(value: &Value) -> Result<Vec<(String, String)>, RequestError> {
    let Value::Object(members) = value else {
        return fail("invalid type for headers key");
    };
    members
        .iter()
        .map(|(name, value)| match (name.as_str(), value.as_str()) {
            (Some(name), Some(text)) => Ok((name.to_owned(), text.to_owned())),
            _ => fail(format!(
                "invalid type for headers value {}",
                quote(&value.to_string())
            )),
        })
        .collect()
}

fn timeout(value: &Value) -> Result<Option<Duration>, RequestError> {
    let nanoseconds = match value {
        Value::Number(number) => match number.as_i64() {
            Some(nanoseconds) => nanoseconds,
            None => {
                return fail(format!(
                    "invalid timeout number value {value}, must be int64"
                ));
            }
        },
        Value::String(text) => match text.parse() {
            Ok(nanoseconds) => nanoseconds,
            Err(_) => match duration(text) {
                Some(nanoseconds) => nanoseconds,
                None => {
                    return fail(format!(
                        "invalid timeout value {value}: time: invalid duration {value}"
                    ));
                }
            },
        },
        other => {
            let kind = other.kind();
            return Err(RequestError::Type(format!(
                "operand 1 'timeout' must be one of {{string, number}} but got {kind}"
            )));
        }
    };
    let nanoseconds = u64::try_from(nanoseconds).unwrap_or(0);
    Ok((nanoseconds > 0).then(|| Duration::from_nanos(nanoseconds)))
}

/// Parses a duration such as `1.5s` or `1m30s` into nanoseconds.
fn duration(text: &str) -> Option<i64> {
    const UNITS: [(&str, f64); 8] = [
        ("ns", 1.0),
        ("us", 1e3),
        ("µs", 1e3),
        ("μs", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
        ("m", 6e10),
        ("h", 3.6e12),
    ];
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut sum = 0.0;
    let mut parts = 0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(digits);
        let number: f64 = number.parse().ok()?;
        let end = tail.find(|c: char| c.is_ascii_digit() || c == '.');
        let (unit, tail) = tail.split_at(end.unwrap_or(tail.len()));
        let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
        sum += number * factor;
        rest = tail;
        parts += 1;
    }
    // A larger duration would overflow.
    if parts == 0 || sum > 9.2e18 {
        return None;
    }
    let nanoseconds = format!("{sum:.0}").parse::<i64>().ok()?;
    Some(if negative { -nanoseconds } else { nanoseconds })
}

impl Options {
    /// Creates the error of a failed connection or transfer.
    pub(super) fn network_error(&self, cause: impl Into<String>) -> RequestError {
        RequestError::Network {
            request: self.request_line(),
            cause: Some(cause.into()),
        }
    }

    /// Creates the error of a response that takes too long.
    pub(super) fn timeout_error(&self) -> RequestError {
        RequestError::Network {
            request: self.request_line(),
            cause: None,
        }
    }

    /// Formats method and URL, with which messages begin.
    fn request_line(&self) -> (String, String) {
        let method = self.method.to_lowercase();
        let (first, rest) = method.split_at_checked(1).unwrap_or(("", &method));
        (format!("{}{rest}", first.to_uppercase()), self.url.clone())
    }
}
