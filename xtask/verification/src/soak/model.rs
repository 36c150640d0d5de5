//! Model of the documents that one client writes and reads.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Pseudo-random numbers, determined by a seed.
#[derive(Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number below `bound`.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % bound.max(1)
    }

    /// Returns a small document.
    pub(super) fn value(&mut self) -> Value {
        let number = self.below(1_000);
        match self.below(6) {
            0 => json!(number),
            1 => json!(format!("text {number} \u{fc}\u{4e16}\"\\")),
            2 => json!([number, null, true, [], {"a": number}]),
            3 => json!({"a": {"b": [number]}, "c": number < 500}),
            4 => json!("x".repeat(usize::try_from(number).unwrap_or(0))),
            _ => json!(vec![number; 50]),
        }
    }
}

/// Expected documents of the server below a path, by key.
#[derive(Debug, Default)]
pub(super) struct Documents(BTreeMap<String, Value>);

/// Number of keys.
const KEYS: u64 = 16;

/// Next request (its method, its path relative to the documents, and its body) with the expected
/// status.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) method: &'static str,
    pub(super) path: String,
    pub(super) body: String,
    pub(super) status: u16,
    /// Expected `result` of the response. The inner `None` means that the member is absent, the
    /// outer one that the response has no body.
    pub(super) result: Option<Option<Value>>,
}

impl Documents {
    /// Returns a random request with the expected response, and updates the documents.
    pub(super) fn step(&mut self, random: &mut Random) -> Step {
        let key = format!("k{}", random.below(KEYS));
        let value = random.value();
        let known = self.0.contains_key(&key);
        let step = |method, body: String, status| Step {
            method,
            path: format!("/{key}"),
            body,
            status,
            result: None,
        };
        match random.below(10) {
            0..=2 => {
                self.0.insert(key.clone(), value.clone());
                step("PUT", value.to_string(), 204)
            }
            3 => {
                self.0.remove(&key);
                step("DELETE", String::new(), if known { 204 } else { 404 })
            }
            4..=5 => {
                let operation = match (known, random.below(3)) {
                    (true, 0) => json!({"op": "remove", "path": key}),
                    (true, 1) => json!({"op": "replace", "path": key, "value": value}),
                    _ => json!({"op": "add", "path": key, "value": value}),
                };
                match operation.get("value") {
                    Some(value) => drop(self.0.insert(key.clone(), value.clone())),
                    None => drop(self.0.remove(&key)),
                }
                Step {
                    path: String::new(),
                    ..step("PATCH", json!([operation]).to_string(), 204)
                }
            }
            6 => Step {
                // A patch with a failing operation changes nothing.
                path: String::new(),
                ..step(
                    "PATCH",
                    json!([
                        {"op": "add", "path": key, "value": value},
                        {"op": "remove", "path": "never"},
                    ])
                    .to_string(),
                    404,
                )
            },
            7..=8 => Step {
                result: Some(self.0.get(&key).cloned()),
                ..step("GET", String::new(), 200)
            },
            _ => Step {
                path: String::new(),
                result: Some(Some(json!(self.0))),
                ..step("GET", String::new(), 200)
            },
        }
    }
}
