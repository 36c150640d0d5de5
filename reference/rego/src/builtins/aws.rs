//! `providers.aws.sign_req`: signs a request with AWS Signature Version 4.

use std::collections::BTreeMap;
use std::fmt;

use chrono::DateTime;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use super::encoding::hex;
use super::operand::{answer, any, mistyped, names, not_utf8, object};
use super::strings::lowered;
use super::url::Url;
use super::{Call, Cost, Failure, Group, requests};
use crate::Value;
use crate::value::Object;

pub(super) const BUILTINS: Group = &[("providers.aws.sign_req", Cost::Library, sign)];

const REQUIRED: [&str; 4] = [
    "aws_service",
    "aws_access_key",
    "aws_secret_access_key",
    "aws_region",
];

/// Headers that proxies may change on the way and that are therefore not signed.
const UNSIGNED: [&str; 3] = ["authorization", "user-agent", "x-amzn-trace-id"];

/// Credentials and scope of a signature.
#[derive(Clone, Copy)]
pub struct Signer<'c> {
    /// The service that checks the signature, such as `s3`.
    pub service: &'c str,
    /// The access key ID.
    pub access_key: &'c str,
    /// The secret access key.
    pub secret_key: &'c str,
    /// The region of the service.
    pub region: &'c str,
    /// Session token of temporary credentials.
    pub token: Option<&'c str>,
    /// Whether the payload is excluded from the signature.
    pub unsigned_payload: bool,
}

impl fmt::Debug for Signer<'_> {
    /// Omits the keys and the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer")
            .field("service", &self.service)
            .field("region", &self.region)
            .finish_non_exhaustive()
    }
}

/// A request to be signed.
#[derive(Debug, Clone, Copy)]
pub struct UnsignedRequest<'r> {
    /// The method.
    pub method: &'r str,
    /// The absolute URL.
    pub url: &'r str,
    /// Headers to sign in addition to those that signing adds, such as `host`.
    pub headers: &'r [(String, String)],
    /// The body.
    pub body: &'r str,
}

fn sign(_: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    let request = object(operands, 1)?;
    // Messages number the configuration as operand 1 here, and as operand 2 further on.
    let config = object(operands.get(1..).unwrap_or_default(), 1)?;
    let mut signer = Signer::read(config)?;
    let time = seconds(any(operands, 3))?;
    requests::check(request)?;
    let headers = match request.get("headers") {
        None => None,
        Some(Value::Object(headers)) => Some(headers),
        Some(other) => return Err(mistyped(0, "object", other)),
    };
    let fields = ["url", "method"].map(|name| (name, request.get(name).and_then(Value::as_str)));
    let missing = fields.iter().filter(|(_, text)| text.is_none());
    let missing: Vec<Value> = missing.map(|(name, _)| Value::from(*name)).collect();
    let [(_, Some(url)), (_, Some(method))] = fields else {
        return Err(Failure::Type(format!(
            "operand 1 invalid values for required request parameters(s): {}",
            names(&missing)
        )));
    };
    let url = Url::parse(url).map_err(Failure::Value)?;
    let body = match (request.get("raw_body"), request.get("body")) {
        (Some(raw), _) => raw.as_bytes().unwrap_or_default().to_vec(),
        (None, Some(body)) => requests::json(body).into_bytes(),
        (None, None) => Vec::new(),
    };
    signer.unsigned_payload = match config.get("disable_payload_signing") {
        None => false,
        Some(Value::Bool(unsigned)) => *unsigned,
        Some(_) => {
            return Err(Failure::Type(
                "operand 2 invalid value for 'disable_payload_signing' in AWS config".to_owned(),
            ));
        }
    };
    let mut signed = request.clone();
    let text = |value: &Value| match value {
        Value::Bytes(_) => Err(not_utf8(1)),
        other => Ok(other.as_str().unwrap_or_default().to_owned()),
    };
    let headers = headers.into_iter().flat_map(Object::iter);
    let headers = headers.map(|(name, value)| Ok((text(name)?, text(value)?)));
    let headers = headers.collect::<Result<Vec<_>, Failure>>()?;
    let headers = signer.headers(method, &url, headers, &body, time);
    let headers = headers
        .into_iter()
        .map(|(name, value)| (name, Value::from(value)));
    signed.insert("headers", Value::object(headers));
    answer(signed)
}

/// Converts a time in nanoseconds to seconds since 1970.
fn seconds(time: &Value) -> Result<i64, Failure> {
    let Value::Number(number) = time else {
        return Err(mistyped(1, "number", time));
    };
    let Some(nanoseconds) = number.as_whole() else {
        return Err(Failure::Type(
            "operand 3 could not convert time_ns value into a unix timestamp".to_owned(),
        ));
    };
    Ok(nanoseconds.div_euclid(1_000_000_000))
}

impl<'c> Signer<'c> {
    fn read(config: &'c Object) -> Result<Self, Failure> {
        let named = REQUIRED.map(|name| (Value::from(name), config.get(name)));
        let missing = named.iter().filter(|(_, value)| value.is_none());
        let missing: Vec<&Value> = missing.map(|(name, _)| name).collect();
        if !missing.is_empty() {
            return Err(Failure::Type(format!(
                "operand 2 missing required AWS config parameters(s): {}",
                names(missing)
            )));
        }
        let text = |value: &Option<&'c Value>| value.and_then(Value::as_str);
        let invalid = named.iter().filter(|(_, value)| text(value).is_none());
        let invalid: Vec<&Value> = invalid.map(|(name, _)| name).collect();
        let setting = |name| config.get(name).and_then(Value::as_str);
        match REQUIRED.map(setting) {
            [
                Some(service),
                Some(access_key),
                Some(secret_key),
                Some(region),
            ] => Ok(Self {
                service,
                access_key,
                secret_key,
                region,
                token: setting("aws_session_token").filter(|token| !token.is_empty()),
                unsigned_payload: false,
            }),
            _ => Err(Failure::Type(format!(
                "operand 2 invalid values for required AWS config parameters(s): {}",
                names(invalid)
            ))),
        }
    }

    /// Signs a request at a time in seconds since 1970, and returns its headers with the signature.
    ///
    /// # Errors
    /// When the URL of the request cannot be parsed.
    pub fn sign_request(
        &self,
        request: &UnsignedRequest<'_>,
        seconds: i64,
    ) -> Result<BTreeMap<String, String>, String> {
        let url = Url::parse(request.url)?;
        let headers = request.headers.to_vec();
        Ok(self.headers(
            request.method,
            &url,
            headers,
            request.body.as_bytes(),
            seconds,
        ))
    }

    /// Returns the given headers with the signature and the headers that signing adds.
    fn headers(
        &self,
        method: &str,
        url: &Url,
        request_headers: Vec<(String, String)>,
        body: &[u8],
        seconds: i64,
    ) -> BTreeMap<String, String> {
        let (date, time) = timestamp(seconds);
        let payload = match self.unsigned_payload {
            true => "UNSIGNED-PAYLOAD".to_owned(),
            false => hex(&Sha256::digest(body)),
        };
        let mut signing_headers = BTreeMap::from([
            ("host", url.authority().to_owned()),
            ("x-amz-date", format!("{date}T{time}Z")),
        ]);
        if matches!(self.service, "s3" | "glacier") {
            signing_headers.insert("x-amz-content-sha256", payload.clone());
        }
        if let Some(token) = self.token {
            signing_headers.insert("x-amz-security-token", token.to_owned());
        }
        let mut covered: BTreeMap<String, &str> = BTreeMap::new();
        covered.extend(
            signing_headers
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.as_str())),
        );
        let lower = request_headers
            .iter()
            .map(|(name, value)| (lowered(name), value.as_str()));
        covered.extend(lower.filter(|(name, _)| !UNSIGNED.contains(&name.as_str())));
        let list: Vec<&str> = covered.keys().map(String::as_str).collect();
        let list = list.join(";");
        let mut canonical = format!("{method}\n{}\n{}\n", url.escaped_path(), url.query);
        for (name, value) in &covered {
            canonical.push_str(&format!("{name}:{value}\n"));
        }
        canonical.push_str(&format!("\n{list}\n{payload}"));
        let scope = format!("{date}/{}/{}/aws4_request", self.region, self.service);
        let digest = hex(&Sha256::digest(canonical));
        let signature = self.signature(
            &date,
            &format!("AWS4-HMAC-SHA256\n{date}T{time}Z\n{scope}\n{digest}"),
        );
        let authorization = format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope},SignedHeaders={list},Signature={signature}",
            self.access_key
        );
        let mut headers: BTreeMap<String, String> = request_headers.into_iter().collect();
        headers.insert("Authorization".to_owned(), authorization);
        headers.extend(
            signing_headers
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value)),
        );
        headers
    }

    fn signature(&self, date: &str, text: &str) -> String {
        let secret = format!("AWS4{}", self.secret_key).into_bytes();
        let steps = [date, self.region, self.service, "aws4_request", text];
        hex(&steps.iter().fold(secret, |key, step| mac(&key, step)))
    }
}

fn mac(key: &[u8], message: &str) -> Vec<u8> {
    // HMAC accepts keys of any length.
    let Ok(mut mac) = <Hmac<Sha256> as KeyInit>::new_from_slice(key) else {
        return Vec::new();
    };
    mac.update(message.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

/// Returns the date and the time of day: `20060102` and `150405`.
fn timestamp(seconds: i64) -> (String, String) {
    let time = DateTime::from_timestamp(seconds, 0).unwrap_or_default();
    let formatted = |format| time.format(format).to_string();
    (formatted("%Y%m%d"), formatted("%H%M%S"))
}
