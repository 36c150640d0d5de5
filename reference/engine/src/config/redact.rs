//! Redacted configuration, shown to clients and policies.

use rego::Value;
use rego::value::Object;

use super::raw::unknown_paths;
use super::{AUTHORIZATION, DECISION};

/// Replacement of a secret whose presence is shown.
const HIDDEN: &str = "***";

/// Members of a section that contain secrets, at any depth below its named entries.
const SECRETS: [(&str, &[&str]); 2] = [
    ("services", &["credentials"]),
    ("keys", &["key", "private_key"]),
];

/// Members whose content is unknown to the engine, as it does not use them.
const OPAQUE: [&[&str]; 2] = [
    &["server", "logger_plugin"],
    &["decision_logs", "intermediate_results"],
];

/// Section that is shown unchanged, also in every logged decision.
const LABELS: &str = "labels";

/// Members that contain URLs, or parts of them.
const ADDRESSES: [&str; 4] = ["address", "prefix", "resource", "url"];

/// Configuration without secrets, as policies see it. Of unknown keys only the names are shown: a
/// value may be a secret under a misspelt name.
pub(crate) fn without_secrets(document: &Value) -> Value {
    let mut redacted = Value::from(document.as_object().cloned().unwrap_or_default());
    match unknown_paths(&document.to_string()) {
        Some(unknown) => unknown.iter().for_each(|path| hide_at(&mut redacted, path)),
        None => hide(&mut redacted),
    }
    OPAQUE.iter().for_each(|path| hide_at(&mut redacted, path));
    let mut redacted = redacted.as_object().cloned().unwrap_or_default();
    for (section, secrets) in SECRETS {
        if let Some(content) = redacted.get_mut(section) {
            remove(content, secrets, 0);
        }
    }
    each(&mut redacted, "services", |service| {
        if let Some(headers) = service.get_mut("headers") {
            hide(headers);
        }
    });
    for (section, content) in redacted.iter_mut() {
        if section.as_str() != Some(LABELS) {
            addresses(content);
        }
    }
    Value::from(redacted)
}

/// Returns a configuration without secrets in the form that clients of the instance with this id
/// see: with defaults and labels.
pub(super) fn with_defaults(document: &Value, id: &str) -> Value {
    let mut document = document.as_object().cloned().unwrap_or_default();
    for (name, default) in [
        ("default_decision", DECISION),
        ("default_authorization_decision", AUTHORIZATION),
    ] {
        document.insert_if_missing(name, || Value::from(default));
    }
    document.insert_if_missing("labels", || Value::from(Object::new()));
    if let Some(labels) = document.get_mut("labels").and_then(Value::as_object_mut) {
        labels.insert("id", Value::from(id));
        labels.insert("version", Value::from(env!("CARGO_PKG_VERSION")));
    }
    Value::from(document)
}

/// Applies a change to each entry of a section, which is an object or an array.
fn each(document: &mut Object, section: &str, mut change: impl FnMut(&mut Object)) {
    let things: Box<dyn Iterator<Item = &mut Value>> = match document.get_mut(section) {
        Some(Value::Object(named)) => Box::new(named.values_mut()),
        Some(Value::Array(items)) => Box::new(items.iter_mut()),
        _ => return,
    };
    for thing in things {
        if let Some(members) = thing.as_object_mut() {
            change(members);
        }
    }
}

/// Removes the members with these names at any depth below the named entries of a section.
fn remove(content: &mut Value, secrets: &[&str], depth: usize) {
    match content {
        Value::Object(members) => {
            if depth > 0 {
                members.retain(|name, _| name.as_str().is_none_or(|name| !secrets.contains(&name)));
            }
            for member in members.values_mut() {
                remove(member, secrets, depth + 1);
            }
        }
        Value::Array(items) => {
            for item in items.iter_mut() {
                remove(item, secrets, depth + 1);
            }
        }
        _ => {}
    }
}

/// Hides the value at a path.
fn hide_at<S: AsRef<str>>(value: &mut Value, path: &[S]) {
    let Some((first, below)) = path.split_first() else {
        return hide(value);
    };
    let first = first.as_ref();
    let member = match value {
        Value::Object(members) => members.get_mut(first),
        Value::Array(items) => first.parse().ok().and_then(|at| items.get_mut(at)),
        _ => None,
    };
    if let Some(member) = member {
        hide_at(member, below);
    }
}

/// Hides the scalars in a value; the names stay.
fn hide(value: &mut Value) {
    match value {
        Value::Object(members) => members.values_mut().for_each(hide),
        Value::Array(items) => items.iter_mut().for_each(hide),
        Value::Null => {}
        _ => *value = Value::from(HIDDEN),
    }
}

/// Hides everything but scheme, host and path of the URLs in a value, at any depth.
fn addresses(content: &mut Value) {
    match content {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                let is_address = name.as_str().is_some_and(|name| ADDRESSES.contains(&name));
                let redacted = member.as_str().filter(|_| is_address).and_then(redact_url);
                match redacted {
                    Some(redacted) => *member = Value::from(redacted),
                    None => addresses(member),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(addresses),
        _ => {}
    }
}

/// Returns the URL without its user, password, parameters, query and fragment, or `None` if it has
/// none of them. The URL is not parsed, because a malformed one may contain secrets, too.
fn redact_url(text: &str) -> Option<String> {
    let scheme = scheme_length(text);
    let (scheme, rest) = text.split_at(scheme);
    let place = rest.trim_start_matches(['/', '\\']);
    let (slashes, _) = rest.split_at(rest.len() - place.len());
    let ends = ['?', ';', '#'];
    let (user, place) = match place.rsplit_once('@') {
        // After a slash, `@` may be part of a path, unless a password precedes it.
        Some((user, place)) if user.contains(':') || !user.contains(['/', '\\']) => {
            if user.contains(ends) {
                return Some(format!("{scheme}{slashes}{HIDDEN}"));
            }
            (Some(HIDDEN), place)
        }
        _ => (None, place),
    };
    let end = place.find(ends).map(|at| at + 1);
    if user.is_none() && end.is_none() {
        return None;
    }
    let user = user.map(|user| format!("{user}@")).unwrap_or_default();
    let hidden = if end.is_some() { HIDDEN } else { "" };
    let place = place.get(..end.unwrap_or(place.len())).unwrap_or_default();
    Some(format!("{scheme}{slashes}{user}{place}{hidden}"))
}

/// Length of a URL's scheme including its colon, if slashes follow it.
fn scheme_length(text: &str) -> usize {
    match text.split_once("://") {
        Some((scheme, _)) if scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
            scheme.len() + 1
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use rego::value::from_json;
    use rstest::rstest;

    use super::{redact_url, without_secrets};

    #[rstest]
    #[case::plain("https://depot.example/v1", None)]
    #[case::path("/bundles/rules.tar.gz", None)]
    #[case::image("registry.example/rules@sha256", None)]
    #[case::host_and_port("localhost:4317", None)]
    #[case::userinfo(
        "https://user:PW@depot.example/v1",
        Some("https://***@depot.example/v1")
    )]
    #[case::userinfo_without_slashes("http:PW@depot.example", Some("***@depot.example"))]
    #[case::backslashes("http:\\\\PW@depot.example", Some("***@depot.example"))]
    #[case::line_feed_in_the_scheme("ht\ntp://u:PW@depot.example", Some("***@depot.example"))]
    #[case::no_scheme("//u:PW@h/x", Some("//***@h/x"))]
    #[case::neither_scheme_nor_slashes("u:PW@h/x", Some("***@h/x"))]
    #[case::path_with_userinfo("/u:PW@h/x://", Some("/***@h/x://"))]
    #[case::slash_in_the_password("https://u:P/W@h/x", Some("https://***@h/x"))]
    #[case::question_mark_in_the_password("https://u:P?W@h/x", Some("https://***"))]
    #[case::question_mark_and_at_sign("https://PW?PW@h/x", Some("https://***"))]
    #[case::at_sign_in_the_query(
        "https://depot.example/v1?sv=1&sig=PW@PW",
        Some("https://depot.example/v1?***")
    )]
    #[case::query_of_a_file("rules.tar.gz?PW", Some("rules.tar.gz?***"))]
    #[case::parameter_and_query("x;sig=PW/y?PW", Some("x;***"))]
    #[case::fragment("x#PW", Some("x#***"))]
    fn addresses_are_shown_without_secrets(#[case] address: &str, #[case] expected: Option<&str>) {
        assert_eq!(redact_url(address).as_deref(), expected);
    }

    #[rstest]
    #[case::services(
        r#"{"services":{"s":{"Credentials":{"bearer":{"token":"PW"}},"HEADERS":{"a":["PW",1,true,null]},"url":"//u:PW@h"}}}"#,
        r#"{"services":{"s":{"Credentials":{"bearer":{"token":"***"}},"HEADERS":{"a":["***","***","***",null]},"url":"//***@h"}}}"#
    )]
    #[case::list_of_services(
        r#"{"services":[{"name":"s","ulr":"PW","url":"http://h?PW"}]}"#,
        r#"{"services":[{"name":"s","ulr":"***","url":"http://h?***"}]}"#
    )]
    #[case::keys(
        r#"{"keys":{"key":{"KEY":"PW","Private_key":"PW","algorithm":"HS256","key":"PW"}}}"#,
        r#"{"keys":{"key":{"KEY":"***","Private_key":"***","algorithm":"HS256"}}}"#
    )]
    #[case::bundle_and_own_section(
        r#"{"bundle":{"name":"a","prefix":"b;PW","signing":{"key":"PW"}},"own":{"a.b":["PW"]}}"#,
        r#"{"bundle":{"name":"a","prefix":"b;***","signing":{"key":"***"}},"own":{"a.b":["***"]}}"#
    )]
    #[case::known_members(
        r#"{"labels":{"key":"a@b","url":"a@b?c"},"server":{"logger_plugin":{"a":"PW"}}}"#,
        r#"{"labels":{"key":"a@b","url":"a@b?c"},"server":{"logger_plugin":{"a":"***"}}}"#
    )]
    // In an unreadable configuration, every key is unknown.
    #[case::unreadable(
        r#"{"keys":["PW"],"labels":{"a":"b"}}"#,
        r#"{"keys":["***"],"labels":{"a":"***"}}"#
    )]
    fn what_is_not_known_is_shown_by_name(
        #[case] document: &str,
        #[case] expected: &str,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let redacted = without_secrets(&from_json(document.as_bytes())?);
        assert_eq!(redacted.to_string(), expected);
        Ok(())
    }
}
