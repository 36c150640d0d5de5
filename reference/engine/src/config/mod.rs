//! Configuration: a file with overrides by `--set` and `--set-file`.

use std::fs;
use std::path::Path;

use rego::value::{Object, from_json, from_yaml};
use rego::{CacheLimits, Value};
use tracing::warn;

use super::options::Options;
use http_server::StartError;

mod bundles;
mod caching;
mod credentials;
mod disk;
mod distributed_tracing;
mod http_address;
mod keys;
mod raw;
mod redact;
mod reports;
mod seconds;
mod secret;
mod services;
mod set;
mod tls;

pub(super) use bundles::{BundleLocation, Discovery, Source};
pub(super) use credentials::{
    Assertion, AwsAssumedRole, AwsKeys, AwsMetadata, AwsProfile, AwsSigning, AwsWebIdentity,
    AzureIdentity, Bearer, GcpMetadata, GcpToken, Grant, OAuth2,
};
pub(super) use disk::{BufferFull, BufferSync, Disk};
pub(super) use keys::Key;
pub(super) use raw::Plugins;
pub(super) use reports::{DecisionLogs, Status, Upload, UploadTrigger};
pub(super) use seconds::{Delay, Trigger};
pub(super) use services::Service;

use raw::RawConfig;
use redact::with_defaults;
pub(super) use redact::without_secrets;

/// Accepted sections and keys that have no effect.
const WITHOUT_EFFECT: &[&[&str]] = &[
    &[
        "caching",
        "inter_query_builtin_value_cache",
        "named",
        "io_jwt",
    ],
    &["decision_logs", "intermediate_results"],
    &["server", "logger_plugin"],
];

/// Default paths of the decisions of `POST /` and of request authorization.
const DECISION: &str = "/system/main";
const AUTHORIZATION: &str = "/system/authz/allow";

/// Validated configuration of the engine.
#[derive(Debug, Clone)]
pub(super) struct Config {
    /// Configuration as policies see it: without secrets.
    pub(super) redacted: Value,
    /// Configuration as clients see it: with defaults and labels, without secrets.
    pub(super) displayed: Value,
    /// Path segments of the decision of `POST /`.
    pub(super) default_decision: Vec<String>,
    /// Path segments of the decision that authorizes requests.
    pub(super) default_authorization_decision: Vec<String>,
    /// Settings of plugins.
    pub(super) plugins: Plugins,
    /// Limits of the caches that evaluations share.
    pub(super) caches: CacheLimits,
    /// Maximum bytes of a request body as sent.
    pub(super) max_body: usize,
    /// Maximum bytes of a request body after decompression.
    pub(super) max_decoded_body: usize,
    /// Responses longer than this many bytes are compressed.
    pub(super) gzip_threshold: usize,
    /// Compression level of responses: 0, 1 or 9.
    pub(super) gzip_level: u32,
    /// Upper bounds of the histogram buckets of request durations, in seconds, if configured. The
    /// bounds are fixed at the start.
    pub(super) buckets: Option<Vec<f64>>,
}

impl Config {
    /// Reads the boot configuration that the options specify.
    pub(super) fn read(options: &Options) -> Result<Value, StartError> {
        let mut document = match &options.config_file {
            Some(file) => read(file)?,
            None => Value::from(Object::new()),
        };
        // Overrides merge their arrays with each other, but replace arrays of the file.
        let mut over = Value::from(Object::new());
        for (flag, overrides, from_file) in [
            ("--set", &options.set, false),
            ("--set-file", &options.set_file, true),
        ] {
            for text in overrides {
                set::apply(&mut over, text, from_file)
                    .and_then(|()| {
                        overlay(&mut document, &over);
                        raw::check(document.to_string().as_bytes())
                    })
                    .map_err(|error| StartError::new(format!("{flag} `{text}`: {error}")))?;
            }
        }
        for (at, address) in options.addresses().enumerate() {
            let bundle = addressed(at + 1, address)
                .ok_or_else(|| StartError::new(format!("invalid bundle address `{address}`")))?;
            overlay(&mut document, &bundle);
        }
        Ok(document)
    }

    /// Parses the configuration of the instance with this id.
    pub(super) fn of(document: &Value, id: &str) -> Result<Self, String> {
        let shape = RawConfig::of(document.to_string().as_bytes())?;
        let default_decision = shape.default_decision.as_deref().unwrap_or(DECISION);
        let authorization = shape.default_authorization_decision.as_deref();
        let redacted = without_secrets(document);
        Ok(Self {
            default_decision: segments(default_decision),
            default_authorization_decision: segments(authorization.unwrap_or(AUTHORIZATION)),
            max_body: shape.max_body(),
            max_decoded_body: shape.max_decoded_body(),
            gzip_threshold: shape.gzip_threshold(),
            gzip_level: shape.gzip_level(),
            buckets: shape.buckets().map(<[_]>::to_vec),
            displayed: with_defaults(&redacted, id),
            redacted,
            caches: shape.caches()?,
            plugins: shape.plugins()?,
        })
    }

    /// Adds the section `discovery` of the boot configuration to this discovered configuration.
    pub(super) fn discovered_by(mut self, boot: &Self) -> Self {
        self.plugins.discovery.clone_from(&boot.plugins.discovery);
        if let Some(section) = boot.redacted.get("discovery") {
            for document in [&mut self.redacted, &mut self.displayed] {
                if let Some(members) = document.as_object_mut() {
                    members.insert("discovery", section.clone());
                }
            }
        }
        self
    }

    /// Labels of this instance.
    pub(super) fn labels(&self) -> &Value {
        self.displayed.get("labels").unwrap_or(&Value::Null)
    }
}

impl Config {
    /// Default configuration of an instance with this id.
    pub(super) fn new(id: &str) -> Self {
        let nothing = RawConfig::default();
        Self {
            default_decision: segments(DECISION),
            default_authorization_decision: segments(AUTHORIZATION),
            plugins: Plugins::default(),
            caches: CacheLimits::default(),
            max_body: nothing.max_body(),
            max_decoded_body: nothing.max_decoded_body(),
            gzip_threshold: nothing.gzip_threshold(),
            gzip_level: nothing.gzip_level(),
            buckets: None,
            redacted: Value::from(Object::new()),
            displayed: with_defaults(&Value::from(Object::new()), id),
        }
    }
}

/// Overlays `value` with `over`: members of objects one by one, any other value as a whole.
pub(super) fn overlay(value: &mut Value, over: &Value) {
    match (value, over) {
        (Value::Object(members), Value::Object(over)) => {
            for (name, over) in over.iter() {
                match members.get_value_mut(name) {
                    Some(member) => overlay(member, over),
                    None => drop(members.insert(name.clone(), over.clone())),
                }
            }
        }
        (value, over) => *value = over.clone(),
    }
}

/// Configuration of the bundle at a URL, and of a service for it. Both are named by the position of
/// the URL on the command line.
fn addressed(number: usize, address: &str) -> Option<Value> {
    let address: reqwest::Url = address.parse().ok()?;
    let host = address.host_str()?;
    let port = address.port().map(|port| format!(":{port}"));
    let url = format!("{}://{host}{}", address.scheme(), port.unwrap_or_default());
    let query = address.query().map(|query| format!("?{query}"));
    let resource = format!("{}{}", address.path(), query.unwrap_or_default());
    let name = format!("cli{number}");
    let named = |value| Value::object([(name.as_str(), value)]);
    let service = Value::object([("url", Value::from(url))]);
    let bundle = Value::object([
        ("service", Value::from(name.as_str())),
        ("resource", Value::from(resource)),
        ("persist", Value::Bool(true)),
    ]);
    let sections = [("services", named(service)), ("bundles", named(bundle))];
    Some(Value::object(sections))
}

/// Logs the keys of a configuration that have no effect.
pub(super) fn warn(document: &Value) {
    for path in WITHOUT_EFFECT {
        let set = path
            .iter()
            .try_fold(document, |value, name| value.get(name));
        if set.is_some() {
            let key = path.join(".");
            warn!(key, "this key of the configuration has no effect");
        }
    }
    for key in raw::unknown_keys(&document.to_string()) {
        warn!(
            key,
            "this key of the configuration is not known and has no effect"
        );
    }
}

/// Reads the document of a configuration file.
fn read(file: &Path) -> Result<Value, StartError> {
    let refused = |error: &dyn std::fmt::Display| {
        StartError::new(format!("configuration file `{}`: {error}", file.display()))
    };
    let text = fs::read_to_string(file).map_err(|source| refused(&source))?;
    let text = expand(&text);
    let json = file
        .extension()
        .is_some_and(|extension| extension == "json");
    let document = if json {
        raw::check(text.as_bytes()).map_err(|error| refused(&error))?;
        from_json(text.as_bytes()).map_err(|source| refused(&source))?
    } else {
        let document = from_yaml(text.as_bytes()).map_err(|source| refused(&source));
        // Merge keys are not resolved by the parser that reports positions.
        let checked = match (&document, text.contains("<<")) {
            (Ok(document), true) => raw::check(document.to_string().as_bytes()),
            _ => raw::check_yaml(&text),
        };
        checked.map_err(|error| refused(&error))?;
        document?
    };
    match document {
        Value::Null => Ok(Value::from(Object::new())),
        Value::Object(_) => Ok(document),
        _ => Err(refused(&"the configuration must be an object")),
    }
}

/// Substitutes environment variables for `${NAME}`. The reference to an unset variable stays as
/// written, so that it is not mistaken for an empty value, and the log names the variable.
fn expand(text: &str) -> String {
    let mut pieces = text.split("${");
    let mut expanded = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match piece.split_once('}') {
            Some((name, rest)) if !name.contains(char::is_whitespace) => {
                match std::env::var(name) {
                    Ok(value) => expanded.push_str(&value),
                    Err(_) if name.is_empty() => {}
                    Err(_) => {
                        warn!(
                            name,
                            "this environment variable of the configuration is not set"
                        );
                        expanded.extend(["${", name, "}"]);
                    }
                }
                expanded.push_str(rest);
            }
            _ => {
                expanded.push_str("${");
                expanded.push_str(piece);
            }
        }
    }
    expanded
}

/// Segments of a path, with or without leading and trailing slashes.
fn segments(path: &str) -> Vec<String> {
    path.trim_matches('/')
        .split('/')
        .map(str::to_owned)
        .collect()
}
