//! Names of the resources of a scenario, and their placeholders.

use serde_json::{Map, Value};

use super::numbers::canonical_number;

/// Maximum length of a slug in a namespace.
const MAX_SLUG_LENGTH: usize = 36;

/// Creates a short random name for a run: the prefix, then letters and digits.
pub(crate) fn run_name(prefix: &str, random: u64) -> String {
    format!("{prefix}{}", base36(random, 6))
}

/// Returns the name prefix of a scenario: run, slug and a hash of the rule id. The hash
/// distinguishes rules with the same slug, and keeps a namespace from being a prefix of another.
/// Except on the control plane, a namespace is an identifier of the policy language, so that it can
/// name a package.
pub(crate) fn namespace(run: &str, rule: &str) -> String {
    let slug = rule.rsplit('/').next().unwrap_or(rule);
    let short_slug: String = slug.chars().take(MAX_SLUG_LENGTH).collect();
    let short_slug = short_slug.trim_end_matches('-');
    let name = format!("{run}-{short_slug}-{}", base36(fnv(rule), 6));
    if rule.starts_with("control/") {
        name
    } else {
        name.replace('-', "_")
    }
}

/// Returns the name of the run whose namespace for this rule occurs in a string.
pub(crate) fn run_in<'a>(text: &'a str, rule: &str) -> Option<&'a str> {
    let end = text.find(&namespace("", rule))?;
    let prefix = text.get(..end)?;
    let is_run_character = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let (rest, run) = prefix.split_at_checked(prefix.trim_end_matches(is_run_character).len())?;
    // The two characters after a percent sign do not belong to the name.
    let run = if rest.ends_with('%') {
        run.get(2..)?
    } else {
        run
    };
    Some(run).filter(|run| !run.is_empty())
}

fn base36(mut number: u64, digits: usize) -> String {
    let mut text = String::with_capacity(digits);
    for _ in 0..digits {
        text.extend(char::from_digit(
            u32::try_from(number % 36).unwrap_or(0),
            36,
        ));
        number /= 36;
    }
    text
}

/// FNV-1a hash, which is the same on every machine and in every version.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Replaces each `{name}` that `lookup` knows; other braces are unchanged.
pub(crate) fn fill(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> String {
    let mut filled = String::with_capacity(text.len() + 32);
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let known = after
            .split_once('}')
            .and_then(|(name, tail)| Some((lookup(name)?, tail)));
        match known {
            Some((value, tail)) => {
                filled.push_str(&value);
                rest = tail;
            }
            None => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    filled
}

/// Applies [`fill`] to every string and key of a JSON value.
pub(crate) fn fill_json(value: &Value, lookup: &dyn Fn(&str) -> Option<String>) -> Value {
    match value {
        Value::String(text) => Value::String(fill(text, lookup)),
        Value::Array(items) => items.iter().map(|item| fill_json(item, lookup)).collect(),
        Value::Object(members) => {
            let filled: Map<String, Value> = members
                .iter()
                .map(|(key, value)| (fill(key, lookup), fill_json(value, lookup)))
                .collect();
            Value::Object(filled)
        }
        other => other.clone(),
    }
}

/// Percent-encodes all except the unreserved characters.
pub(crate) fn encode(text: &str) -> String {
    use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
    const RESERVED: AsciiSet = NON_ALPHANUMERIC
        .remove(b'-')
        .remove(b'.')
        .remove(b'_')
        .remove(b'~');
    utf8_percent_encode(text, &RESERVED).to_string()
}

/// Canonical JSON text: compact, keys sorted, numbers by their value, the namespace as `<ns>`.
pub(crate) fn canonical(value: &Value, ns: &str) -> String {
    let mut text = String::new();
    write_canonical(value, ns, &mut text);
    text
}

fn write_canonical(value: &Value, ns: &str, out: &mut String) {
    match value {
        Value::String(text) => out.push_str(&quoted(&mask_namespace(text, ns))),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_canonical(item, ns, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            // Sorted after the namespace is replaced, because it differs from run to run.
            let mut members: Vec<_> = members
                .iter()
                .map(|(key, value)| (mask_namespace(key, ns), value))
                .collect();
            members.sort_by(|left, right| left.0.cmp(&right.0));
            out.push('{');
            for (index, (key, value)) in members.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&quoted(key));
                out.push(':');
                write_canonical(value, ns, out);
            }
            out.push('}');
        }
        Value::Number(number) => out.push_str(&canonical_number(number)),
        other => out.push_str(&other.to_string()),
    }
}

/// Quotes a string as JSON.
pub(crate) fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

/// Replaces the namespace with `<ns>`.
pub(crate) fn mask_namespace(text: &str, ns: &str) -> String {
    if ns.is_empty() {
        text.to_owned()
    } else {
        text.replace(ns, "<ns>")
    }
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[test]
    fn namespaces_are_short_plain_and_apart() {
        let rules = [
            "control/v1/bundles/get/absent-answers-not-found",
            "control/v1/stacks/get/absent-answers-not-found",
            "engine/v1/data/put/a",
            "engine/v1/data/put/a-b",
            "engine/v1/data/put/a-very-long-slug-that-goes-on-and-on-and-on-and-on-for-ever-and-ever",
            "engine/v1/data/put/a-very-long-slug-that-goes-on-and-on-and-on-and-on-for-ever-and-ends",
        ];
        let names: Vec<_> = rules
            .iter()
            .map(|rule| namespace(&run_name("c", u64::MAX), rule))
            .collect();
        for (index, (name, rule)) in names.iter().zip(rules).enumerate() {
            assert!(name.len() <= 60, "{name}");
            let separator = if rule.starts_with("engine/") {
                '_'
            } else {
                '-'
            };
            assert!(
                name.starts_with(|c: char| c.is_ascii_lowercase())
                    && name
                        .chars()
                        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == separator),
                "{name}"
            );
            for (other, text) in names.iter().enumerate() {
                assert!(
                    index == other || !text.starts_with(name.as_str()),
                    "{name} starts {text}"
                );
            }
        }
    }

    #[test]
    fn the_run_is_found_in_its_own_names() {
        for rule in ["engine/v1/data/get/a-b", "control/v1/stacks/get/a-b"] {
            let name = namespace("acme1x", rule);
            for (text, run) in [
                (format!("http://a/v1/x/{name}/b"), Some("acme1x")),
                (format!("x%2F{name}"), Some("acme1x")),
                (format!("x%22{name}%22"), Some("acme1x")),
                (name.clone(), Some("acme1x")),
                (namespace("", rule), None),
                ("/v1/data".to_owned(), None),
            ] {
                assert_eq!(run_in(&text, rule), run, "{text}");
            }
        }
    }

    #[rstest]
    #[case::within_a_path("/v1/data/{ns}/a", "/v1/data/N/a")]
    #[case::twice("{ns}{ns}", "NN")]
    #[case::within_json("{\"a\": {ns}}", "{\"a\": N}")]
    #[case::unknown("{other} {", "{other} {")]
    #[case::double_braces("{{ns}}", "{N}")]
    fn only_known_placeholders_are_filled(#[case] text: &str, #[case] filled: &str) {
        let lookup = |name: &str| (name == "ns").then(|| "N".to_owned());
        assert_eq!(fill(text, &lookup), filled);
    }

    #[test]
    fn placeholders_within_json_are_filled() {
        let lookup = |name: &str| (name == "ns").then(|| "N".to_owned());
        assert_eq!(
            fill_json(&json!({"{ns}": ["{ns}-a", 1]}), &lookup),
            json!({"N": ["N-a", 1]})
        );
    }

    #[test]
    fn canonical_json_sorts_after_the_namespace_is_replaced() {
        for (text, expected) in [
            (
                r#"{"zz": 1, "n-ns": 1.0, "a": 1e400}"#,
                r#"{"<ns>":1,"a":1e400,"zz":1}"#,
            ),
            (r#"["n-ns/x", "\u00e9\n"]"#, r#"["<ns>/x","é\n"]"#),
        ] {
            let value: Value = serde_json::from_str(text).expect(text);
            assert_eq!(canonical(&value, "n-ns"), expected);
        }
    }
}
