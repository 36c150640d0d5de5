//! Normalization of responses: removes what depends on the run, such as names, ids, times,
//! addresses, versions and durations.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Map, Value};

use crate::scenario::resource_names::{canonical, mask_namespace, namespace};

/// Placeholder for the name of a run. Values in which it remains belong to other rules.
const RUN: &str = "<run>";

/// Placeholder of each run-dependent part; each corresponds to a group of the pattern, in this
/// order.
const WORDS: [&str; 9] = [
    "<id>",
    "<time>",
    "<address>",
    "<folder>",
    "<id>",
    "<version>",
    "<duration>",
    "<local>",
    "cursor=<cursor>",
];

static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let parts = [
        r"\b[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b",
        r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?: ?(?:Z|[+-]\d\d:?\d\d))?",
        r"(?:127\.0\.0\.1|localhost|\[::1\]):\d+",
        r"/tmp/[^\s/,;:\x22']+",
        r"\b[0-9a-f]{16,}\b",
        r"\bv?\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?",
        r"\b\d+(?:\.\d+)?(?:ns|µs|us|ms|s|m|h)\b",
        r"__local\d+__",
        r"\bcursor=[^&\s]+",
    ];
    Regex::new(&format!("({})", parts.join(")|("))).ok()
});

/// Removes run-dependent parts from the responses of one rule.
#[derive(Debug)]
pub(crate) struct Normalizer<'a> {
    ns: String,
    run: &'a str,
}

impl<'a> Normalizer<'a> {
    pub(crate) fn new(run: &'a str, rule: &str) -> Self {
        Self {
            ns: namespace(run, rule),
            run,
        }
    }

    pub(crate) fn text(&self, text: &str) -> String {
        let text = mask_namespace(text, &self.ns);
        let text = match self.run {
            "" => text,
            run => text.replace(run, RUN),
        };
        match &*PATTERN {
            None => text,
            Some(pattern) => pattern.replace_all(&text, word).into_owned(),
        }
    }

    /// Normalizes a value; removes members and items that other rules created.
    pub(crate) fn value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => {
                let items = items.iter().map(|item| self.value(item));
                let is_reproducible = |item: &Value| !canonical(item, "").contains(RUN);
                Value::Array(items.filter(is_reproducible).collect())
            }
            Value::Object(members) => Value::Object(self.members(members)),
            other => other.clone(),
        }
    }

    fn members(&self, members: &Map<String, Value>) -> Map<String, Value> {
        let members = members.iter().map(|(name, value)| {
            let value = match value {
                // Amounts of time and memory, and running numbers, vary over time.
                Value::Number(_) if is_measured(name) => Value::from(0),
                // Cursors are opaque.
                Value::String(_) if name == "next_cursor" => Value::from("<cursor>"),
                // The bindings of a trace event have no order.
                Value::Array(_) if name == "locals" => sort_items(self.value(value)),
                value => self.value(value),
            };
            (self.text(name), value)
        });
        members.filter(|(name, _)| !name.contains(RUN)).collect()
    }
}

fn word(found: &Captures<'_>) -> String {
    let mut words = (1..).zip(WORDS);
    let word = words.find(|(group, _)| found.get(*group).is_some());
    word.map_or("", |(_, word)| word).to_owned()
}

fn sort_items(value: Value) -> Value {
    match value {
        Value::Array(mut items) => {
            items.sort_by_cached_key(|item| canonical(item, ""));
            Value::Array(items)
        }
        other => other,
    }
}

fn is_measured(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let ends = ["_ns", "_ms", "_bytes", "_seconds", "_id", "timestamp"];
    ends.iter().any(|end| name.ends_with(end)) || name.starts_with("timer_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_depends_on_the_run_is_taken_out() {
        let rule = "engine/v1/data/get/a-rule";
        let own_namespace = namespace("c123abc", rule);
        let other = namespace("c123abc", "engine/v1/data/get/another");
        let normalizer = Normalizer::new("c123abc", rule);
        for (value, expected) in [
            (
                json!(format!("data.{own_namespace}.x")),
                json!("data.<ns>.x"),
            ),
            (
                json!("at 2026-11-22T14:55:15.123456Z from 127.0.0.1:40123"),
                json!("at <time> from <address>"),
            ),
            (json!("0f8fad5b-d9cb-469f-a165-70867728950e"), json!("<id>")),
            (
                json!("1.22.0-dev+abc in 12.5ms, /tmp/.tmpX1/log.txt"),
                json!("<version> in <duration>, <folder>/log.txt"),
            ),
            (
                json!("d670460b4b4aece5915caf5c68d12f560a9fe3e4"),
                json!("<id>"),
            ),
            (
                json!({"timer_x_ns": 12, "counter": 3, "heap_bytes": 7}),
                json!({"timer_x_ns": 0, "counter": 3, "heap_bytes": 0}),
            ),
            (
                json!({"result": [{"id": own_namespace}, {"id": other}], (other.clone()): 1}),
                json!({"result": [{"id": "<ns>"}]}),
            ),
            (
                json!({"locals": ["b", "__local12__"], "l": [2, 1]}),
                json!({"locals": ["<local>", "b"], "l": [2, 1]}),
            ),
            (
                json!({"next_cursor": "YWI", "path": "/v1/x?cursor=YWI&limit=1"}),
                json!({"next_cursor": "<cursor>", "path": "/v1/x?cursor=<cursor>&limit=1"}),
            ),
            (json!("10 apples, rule 3.4"), json!("10 apples, rule 3.4")),
        ] {
            assert_eq!(normalizer.value(&value), expected, "{value}");
        }
    }
}
