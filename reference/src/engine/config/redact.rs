//! The configuration as clients and policies may see it: without secrets.

use rego::Value;
use rego::value::Object;
use reqwest::Url;

use super::{AUTHORIZATION, DECISION};

/// Stands where a secret is whose place is shown.
const HIDDEN: &str = "***";

/// The members of a section that hold secrets, at any depth below the names that it gives.
const SECRETS: [(&str, &[&str]); 2] = [
    ("services", &["credentials"]),
    ("keys", &["key", "private_key"]),
];

/// What policies may see of a configuration: it without its secrets.
pub(in crate::engine) fn without_secrets(given: &Value) -> Value {
    let mut shown = given.as_object().cloned().unwrap_or_default();
    for (section, secrets) in SECRETS {
        if let Some(content) = shown.get_mut(section) {
            remove(content, secrets, 0);
        }
    }
    each(&mut shown, "services", |service| {
        if let Some(headers) = service.get_mut("headers") {
            hide(headers);
        }
        address(service, "url");
    });
    each(&mut shown, "bundles", |bundle| address(bundle, "resource"));
    for section in ["discovery", "decision_logs"] {
        if let Some(Value::Object(content)) = shown.get_mut(section) {
            address(content, "resource");
        }
    }
    Value::from(shown)
}

/// What clients may see of a configuration without secrets, of the instance with this id: it with
/// defaults and labels.
pub(super) fn with_defaults(shown: &Value, id: &str) -> Value {
    let mut shown = shown.as_object().cloned().unwrap_or_default();
    for (name, default) in [
        ("default_decision", DECISION),
        ("default_authorization_decision", AUTHORIZATION),
    ] {
        shown.insert_if_missing(name, || Value::from(default));
    }
    shown.insert_if_missing("labels", || Value::from(Object::new()));
    if let Some(labels) = shown.get_mut("labels").and_then(Value::as_object_mut) {
        labels.insert("id", Value::from(id));
        labels.insert("version", Value::from(env!("CARGO_PKG_VERSION")));
    }
    Value::from(shown)
}

/// Changes each thing that a section describes, by name or in a list.
fn each(shown: &mut Object, section: &str, mut change: impl FnMut(&mut Object)) {
    let things: Box<dyn Iterator<Item = &mut Value>> = match shown.get_mut(section) {
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

/// Removes the members with these names at any depth below the names that the section gives.
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

/// Hides the values of an object; the names stay.
fn hide(headers: &mut Value) {
    if let Value::Object(members) = headers {
        for value in members.values_mut() {
            *value = Value::from(HIDDEN);
        }
    }
}

/// Hides what an address holds beside the place: user, password, and the values of its query.
fn address(members: &mut Object, name: &str) {
    let Some(value) = members.get_mut(name) else {
        return;
    };
    if let Some(shown) = value.as_str().and_then(redact_url) {
        *value = Value::from(shown);
    }
}

/// An address without its secrets, if it has any.
fn redact_url(text: &str) -> Option<String> {
    let parsed = Url::parse(text).ok();
    let signed_in = parsed
        .filter(|url| !url.username().is_empty() || url.password().is_some_and(|p| !p.is_empty()));
    let without_user = signed_in.and_then(|mut url| {
        url.set_username(HIDDEN).ok()?;
        url.set_password(None).ok()?;
        Some(url.to_string())
    });
    let shown = without_user.as_deref().unwrap_or(text);
    match shown.split_once('?') {
        Some((place, query)) => {
            let pairs = query.split('&').map(|pair| match pair.split_once('=') {
                Some((name, _)) => format!("{name}={HIDDEN}"),
                None => HIDDEN.to_owned(),
            });
            Some(format!("{place}?{}", pairs.collect::<Vec<_>>().join("&")))
        }
        None => without_user,
    }
}

#[cfg(test)]
mod tests {
    use super::redact_url;

    #[test]
    fn addresses_are_shown_without_secrets() {
        for (address, expected) in [
            ("https://depot.example/v1", None),
            ("/bundles/rules.tar.gz", None),
            (
                "https://user:secret@depot.example/v1",
                Some("https://***@depot.example/v1"),
            ),
            (
                "http:token@depot.example",
                Some("http://***@depot.example/"),
            ),
            (
                "https://depot.example/v1?sv=1&sig=secret",
                Some("https://depot.example/v1?sv=***&sig=***"),
            ),
            ("rules.tar.gz?secret", Some("rules.tar.gz?***")),
        ] {
            assert_eq!(redact_url(address).as_deref(), expected, "{address}");
        }
    }
}
