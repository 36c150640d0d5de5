//! Substitution of names, addresses and server-generated values in recorded requests.

use serde_json::Value;

use crate::scenario::resource_names::encode;

/// Minimum length of a string in a response that is substituted in later requests, such as a cursor
/// or an id: shorter strings occur in requests by chance.
const SHORTEST: usize = 8;

/// Pairs of a recorded string and its replacement.
#[derive(Debug, Default)]
pub(super) struct Substitutions(Vec<(String, String)>);

impl Substitutions {
    /// Adds a replacement. Replacements are applied in the order in which they were added.
    pub(super) fn add(&mut self, before: impl Into<String>, now: impl Into<String>) {
        let (before, now) = (before.into(), now.into());
        if !before.is_empty() && before != now && !self.0.iter().any(|(known, _)| *known == before)
        {
            self.0.push((before, now));
        }
    }

    /// Applies the replacements to a string.
    pub(super) fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (before, now) in &self.0 {
            if text.contains(before) {
                text = text.replace(before, now);
            }
        }
        text
    }

    /// Applies the replacements to path and query, in which values are percent-encoded.
    pub(super) fn path(&self, path: &str) -> String {
        let mut path = self.text(path);
        for (before, now) in &self.0 {
            let before = encode(before);
            if path.contains(&before) {
                path = path.replace(&before, &encode(now));
            }
        }
        path
    }

    /// Adds replacements for values that differ between the recorded and the new response, if later
    /// requests repeat them.
    pub(super) fn learn(&mut self, before: &Value, now: &Value, later: &dyn Fn(&str) -> bool) {
        match (before, now) {
            (Value::String(before), Value::String(now)) => {
                let is_generated = before.len() >= SHORTEST && self.text(before) != *now;
                if is_generated && later(before) {
                    self.add(before, now);
                }
            }
            (Value::Array(before), Value::Array(now)) => {
                for (before, now) in before.iter().zip(now) {
                    self.learn(before, now, later);
                }
            }
            (Value::Object(before), Value::Object(now)) => {
                for (name, before) in before {
                    if let Some(now) = now.get(&self.text(name)) {
                        self.learn(before, now, later);
                    }
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn later_requests_repeat_what_is_so_now() {
        let mut substitutions = Substitutions::default();
        substitutions.add("c1-own", "c2-own");
        let requests = "/v1/bundles?cursor=bmV4dA%3D%3D-1 and /v1/x/c1-own";
        let later = |text: &str| requests.contains(&encode(text));
        substitutions.learn(
            &json!({"next_cursor": "bmV4dA==-1", "result": [{"name": "c1-own", "id": "unused-id"}]}),
            &json!({"next_cursor": "b3RoZXI=-2", "result": [{"name": "c2-own", "id": "another-id"}]}),
            &later,
        );
        for (before, now) in [
            (
                "/v1/bundles?cursor=bmV4dA%3D%3D-1",
                "/v1/bundles?cursor=b3RoZXI%3D-2",
            ),
            ("/v1/x/c1-own?id=unused-id", "/v1/x/c2-own?id=unused-id"),
        ] {
            assert_eq!(substitutions.path(before), now);
        }
        assert_eq!(substitutions.text("bmV4dA==-1"), "b3RoZXI=-2");
    }
}
