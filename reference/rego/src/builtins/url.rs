//! Parses URLs like Go's `net/url`: as written, without the corrections of the URL standard.

use std::net::Ipv6Addr;

use bstr::ByteSlice;

use crate::Value;
use crate::value::Literal;

/// Components of a URL reference.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Url {
    /// Scheme in lower case; empty when relative.
    pub(super) scheme: String,
    /// User name and password, still escaped.
    pub(super) userinfo: Option<String>,
    /// The host and its port, unescaped.
    host: Vec<u8>,
    /// The unescaped path.
    pub(super) path: Vec<u8>,
    /// The original path, if it differs from the default escaping of `path`.
    pub(super) raw_path: Option<String>,
    /// The original query.
    pub(super) query: String,
    /// The unescaped fragment.
    pub(super) fragment: Vec<u8>,
    /// The opaque part after a scheme without a slash.
    pub(super) opaque: String,
}

/// Components with different sets of allowed characters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Component {
    Path,
    Host,
    Zone,
    User,
    Fragment,
}

/// Error of an invalid URL. Messages omit the fragment, unless the fragment is wrong.
type Wrong = String;

impl Url {
    /// Parses a URL or a relative reference.
    ///
    /// # Errors
    /// Returns the message that clients see.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (before, fragment) = text.split_once('#').unwrap_or((text, ""));
        let named = |text: &str, error| format!("parse {}: {error}", quote(text));
        let mut url = read(before).map_err(|error| named(before, error))?;
        let fragment = unescape(fragment, Component::Fragment);
        url.fragment = fragment.map_err(|error| named(text, error))?;
        Ok(url)
    }

    /// Returns the host and its port for a request; empty if they are not UTF-8, as such a host
    /// does not exist.
    pub(super) fn authority(&self) -> &str {
        str::from_utf8(&self.host).unwrap_or_default()
    }

    /// Returns the host and its port.
    pub(super) fn host(&self) -> &[u8] {
        &self.host
    }

    /// Returns the host without its port and brackets.
    pub(super) fn hostname(&self) -> &[u8] {
        let host = self.split_port().0;
        let inner = host
            .strip_prefix(b"[")
            .and_then(|host| host.strip_suffix(b"]"));
        inner.unwrap_or(host)
    }

    /// Returns the port as written; empty when there is none.
    pub(super) fn port(&self) -> &[u8] {
        self.split_port().1
    }

    fn split_port(&self) -> (&[u8], &[u8]) {
        match self.host.rsplit_once_str(":") {
            Some((host, port)) if port.iter().all(u8::is_ascii_digit) => (host, port),
            _ => (&self.host, b""),
        }
    }

    /// Returns the escaped path for a request.
    pub(super) fn escaped_path(&self) -> String {
        match &self.raw_path {
            Some(raw) if raw.bytes().all(stands_in_raw_path) => raw.clone(),
            _ if self.path == b"*" => "*".to_owned(),
            _ => escape(&self.path, Component::Path),
        }
    }
}

/// Parses a URL without its fragment.
fn read(text: &str) -> Result<Url, Wrong> {
    if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    let mut url = Url::default();
    if text == "*" {
        url.path = text.as_bytes().to_vec();
    } else {
        read_hierarchy(text, &mut url)?;
    }
    Ok(url)
}

fn read_hierarchy(text: &str, url: &mut Url) -> Result<(), Wrong> {
    let (scheme, rest) = split_scheme(text)?;
    url.scheme = scheme.to_ascii_lowercase();
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    query.clone_into(&mut url.query);
    if !rest.starts_with('/') {
        if !url.scheme.is_empty() {
            rest.clone_into(&mut url.opaque);
            return Ok(());
        }
        if rest.split('/').next().unwrap_or_default().contains(':') {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
    }
    let mut path = rest;
    let takes_authority = !url.scheme.is_empty() || !rest.starts_with("///");
    if let Some(tail) = rest.strip_prefix("//").filter(|_| takes_authority) {
        let end = tail.find('/').unwrap_or(tail.len());
        let (authority, tail) = tail.split_at(end);
        path = tail;
        let (userinfo, host) = match authority.rsplit_once('@') {
            Some((userinfo, host)) => (Some(userinfo), host),
            None => (None, authority),
        };
        url.host = read_host(&url.scheme, host)?;
        if let Some(userinfo) = userinfo {
            check_userinfo(userinfo)?;
            url.userinfo = Some(userinfo.to_owned());
        }
    }
    let unescaped = unescape(path, Component::Path)?;
    url.raw_path = (escape(&unescaped, Component::Path) != path).then(|| path.to_owned());
    url.path = unescaped;
    Ok(())
}

/// Splits off the scheme, if there is one.
fn split_scheme(text: &str) -> Result<(&str, &str), Wrong> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => {
                let (scheme, rest) = text.split_at(at);
                return Ok((scheme, rest.strip_prefix(':').unwrap_or(rest)));
            }
            _ => break,
        }
    }
    Ok(("", text))
}

fn read_host(scheme: &str, host: &str) -> Result<Vec<u8>, Wrong> {
    match host.rfind('[') {
        Some(0) => return read_literal(host).map(String::into_bytes),
        Some(_) => return Err("invalid IP-literal".to_owned()),
        None => {}
    }
    // Lists of hosts with ports are common in database URLs.
    let colon = match scheme {
        "http" | "https" => host.find(':'),
        _ => host.rfind(':'),
    };
    let port = colon.and_then(|at| host.get(at..)).unwrap_or_default();
    check_port(port)?;
    unescape(host, Component::Host)
}

/// Parses a host in brackets: an IPv6 address, optionally with a zone.
fn read_literal(host: &str) -> Result<String, Wrong> {
    let inner = host.strip_prefix('[').unwrap_or(host);
    let Some((inner, port)) = inner.rsplit_once(']') else {
        return Err("missing ']' in host".to_owned());
    };
    check_port(port)?;
    let mut name = Vec::new();
    let (address, zone) = inner.split_at(inner.find("%25").unwrap_or(inner.len()));
    name.extend(unescape(address, Component::Host)?);
    name.extend(unescape(zone, Component::Zone)?);
    let name = String::from_utf8(name);
    let name = name.map_err(|_| "invalid host: expected UTF-8".to_owned())?;
    let (address, zone) = match name.split_once('%') {
        Some((address, zone)) => (address, Some(zone)),
        None => (name.as_str(), None),
    };
    if address.parse::<std::net::Ipv4Addr>().is_ok() && zone.is_none() {
        return Err("invalid IP-literal".to_owned());
    }
    let problem = match (address.parse::<Ipv6Addr>(), zone) {
        (Ok(_), Some("")) => Some("zone must be a non-empty string"),
        (Ok(_), _) => None,
        (Err(_), _) => Some("unable to parse IP"),
    };
    if let Some(problem) = problem {
        let name = quote(&name);
        return Err(format!("invalid host: ParseAddr({name}): {problem}"));
    }
    Ok(format!("[{name}]{port}"))
}

fn check_port(port: &str) -> Result<(), Wrong> {
    let valid = match port.strip_prefix(':') {
        Some(digits) => digits.bytes().all(|digit| digit.is_ascii_digit()),
        None => port.is_empty(),
    };
    if valid {
        return Ok(());
    }
    Err(format!("invalid port {} after host", quote(port)))
}

fn check_userinfo(userinfo: &str) -> Result<(), Wrong> {
    let valid = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
    if !userinfo.bytes().all(valid) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    let (user, password) = userinfo.split_once(':').unwrap_or((userinfo, ""));
    unescape(user, Component::User)?;
    unescape(password, Component::User).map(drop)
}

/// Whether a byte may occur unescaped in this component.
fn is_plain(byte: u8, part: Component) -> bool {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => true,
        b'$' | b'&' | b'+' | b',' | b';' | b'=' | b':' => match part {
            Component::User => byte != b':',
            _ => true,
        },
        b'/' | b'?' | b'@' => match part {
            Component::Path => byte != b'?',
            Component::Fragment => true,
            Component::Host | Component::Zone | Component::User => false,
        },
        b'!' | b'(' | b')' | b'*' => matches!(
            part,
            Component::Host | Component::Zone | Component::Fragment
        ),
        b'\'' | b'[' | b']' | b'<' | b'>' | b'"' => {
            matches!(part, Component::Host | Component::Zone)
        }
        _ => false,
    }
}

/// Whether a byte of an original path can be sent unescaped.
fn stands_in_raw_path(byte: u8) -> bool {
    b"!'()*[]%".contains(&byte) || is_plain(byte, Component::Path)
}

fn escape(text: &[u8], part: Component) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text {
        if is_plain(*byte, part) {
            escaped.push(char::from(*byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

fn unescape(text: &str, part: Component) -> Result<Vec<u8>, Wrong> {
    let hosts = matches!(part, Component::Host | Component::Zone);
    let mut unescaped = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        if *first != b'%' {
            if hosts && first.is_ascii() && !is_plain(*first, part) {
                let quoted = quote(&char::from(*first).to_string());
                return Err(format!("invalid character {quoted} in host name"));
            }
            unescaped.push(*first);
            rest = tail;
            continue;
        }
        let digits = tail
            .get(..2)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        // Hosts may escape non-ASCII bytes and `%`; zones also spaces and plain characters.
        let byte = byte.filter(|byte| match part {
            Component::Host => *byte >= 0x80 || *byte == b'%',
            Component::Zone => *byte == b'%' || *byte == b' ' || is_plain(*byte, Component::Host),
            _ => true,
        });
        let Some(byte) = byte else {
            let escape = rest.get(..3).unwrap_or(rest);
            let escape = Literal(&Value::string(escape));
            return Err(format!("invalid URL escape {escape}"));
        };
        unescaped.push(byte);
        rest = tail.get(2..).unwrap_or_default();
    }
    Ok(unescaped)
}

/// Quotes a string for messages.
pub(super) fn quote(text: &str) -> String {
    Literal(&Value::from(text)).to_string()
}
