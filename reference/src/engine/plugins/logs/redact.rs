//! What masks hide of a decision, where it appears elsewhere in its event.

use std::collections::BTreeSet;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use rego::Value;
use rego::value::{Object, Set};

/// The members of events that may repeat what another one holds.
const REPEATING: [&str; 5] = [
    "input",
    "result",
    "nd_builtin_cache",
    "request_context",
    "query",
];

/// Shorter strings and numbers are in every event, so that they tell nothing.
const SHORTEST_STRING: usize = 3;
const SHORTEST_NUMBER: usize = 4;

/// So many bytes are looked for. If more is hidden, no string stays where they could be.
const MAX_TEXT: usize = 64 << 10;

/// Stands where something was.
const COVER: &str = "***";

/// The message of an error in whose place it stands: messages repeat what functions are given.
const MESSAGE: &str = "left out, as a mask hides part of the decision";

/// The strings and numbers that masks hide, as texts.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    texts: BTreeSet<String>,
    /// The bytes of all texts.
    bytes: usize,
}

/// Finds what is hidden.
#[derive(Debug)]
enum Finder {
    /// Any of these texts.
    Texts(AhoCorasick),
    /// Every string, as too much is hidden to look for.
    Everything,
}

impl Hidden {
    /// Adds what a mask removed, or put something else in the place of. What is part of that, too,
    /// is not hidden.
    pub(super) fn add(&mut self, before: &Value, after: Option<&Value>) {
        let mut shown = BTreeSet::new();
        if let Some(after) = after {
            each_text(after, &mut |text| {
                shown.insert(text.to_owned());
            });
        }
        each_text(before, &mut |text| {
            if self.bytes <= MAX_TEXT && !shown.contains(text) && !self.texts.contains(text) {
                self.bytes += text.len();
                self.texts.insert(text.to_owned());
            }
        });
    }

    /// Covers it wherever an event repeats it.
    pub(super) fn cover(&self, event: &mut Object) {
        if let Some(error) = event.get_mut("error").and_then(Value::as_object_mut) {
            error.insert("message", Value::from(MESSAGE));
        }
        if self.texts.is_empty() {
            return;
        }
        let finder = self.finder();
        for name in REPEATING {
            if let Some(member) = event.get_mut(name)
                && let Some(covered) = finder.covered(member)
            {
                *member = covered;
            }
        }
    }

    fn finder(&self) -> Finder {
        if self.bytes > MAX_TEXT {
            return Finder::Everything;
        }
        // Texts within texts are written with escapes, as the arguments of functions are.
        let written = self.texts.iter().filter_map(|text| {
            let written = Value::from(text.as_str()).to_string();
            let inner = written.strip_prefix('"')?.strip_suffix('"')?;
            (inner != text).then(|| inner.to_owned())
        });
        let texts: Vec<String> = self.texts.iter().cloned().chain(written).collect();
        // This kind is made in time that is linear in the texts, whatever they are.
        let finder = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .match_kind(MatchKind::LeftmostLongest)
            .build(texts);
        finder.map_or(Finder::Everything, Finder::Texts)
    }
}

impl Finder {
    /// A value without what is hidden, if it holds any of that.
    fn covered(&self, value: &Value) -> Option<Value> {
        match value {
            Value::Null | Value::Bool(_) => None,
            Value::Number(number) => self.text(&number.text()).map(|_| Value::from(COVER)),
            Value::String(text) => self.text(text).map(Value::from),
            Value::Bytes(bytes) => self.text(&bytes.to_lossy()).map(Value::from),
            Value::Array(items) => self.list(items.iter()).map(Value::from),
            Value::Set(members) => {
                let members = self.list(members.iter())?;
                Some(Value::from(members.into_iter().collect::<Set>()))
            }
            Value::Object(members) => {
                let mut changes = false;
                let mut covered = |value: &Value| {
                    let covered = self.covered(value);
                    changes |= covered.is_some();
                    covered.unwrap_or_else(|| value.clone())
                };
                let members: Vec<_> = members
                    .iter()
                    .map(|(key, value)| (covered(key), covered(value)))
                    .collect();
                changes.then(|| Value::from(Object::of_members(members)))
            }
        }
    }

    fn list<'v>(&self, items: impl Iterator<Item = &'v Value>) -> Option<Vec<Value>> {
        let mut changes = false;
        let items = items.map(|item| {
            let covered = self.covered(item);
            changes |= covered.is_some();
            covered.unwrap_or_else(|| item.clone())
        });
        let items: Vec<Value> = items.collect();
        changes.then_some(items)
    }

    fn text(&self, text: &str) -> Option<String> {
        match self {
            Self::Texts(texts) if !texts.is_match(text) => None,
            Self::Texts(texts) => {
                let covers = vec![COVER; texts.patterns_len()];
                Some(texts.replace_all(text, &covers))
            }
            Self::Everything => (text != COVER).then(|| COVER.to_owned()),
        }
    }
}

/// Shows each string and number in a value, but not the keys of objects, which say what is there
/// rather than what it is.
fn each_text(value: &Value, show: &mut impl FnMut(&str)) {
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => {
            let text = number.text();
            if text.len() >= SHORTEST_NUMBER {
                show(&text);
            }
        }
        Value::String(_) | Value::Bytes(_) => {
            let text = value.as_lossy().unwrap_or_default();
            if text.chars().count() >= SHORTEST_STRING {
                show(&text);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| each_text(item, show)),
        Value::Set(members) => members.iter().for_each(|member| each_text(member, show)),
        Value::Object(members) => members.values().for_each(|member| each_text(member, show)),
    }
}

#[cfg(test)]
mod tests {
    use rego::Value;
    use rego::value::{Object, from_json};

    use super::super::mask::apply;
    use super::MAX_TEXT;
    use crate::processor_time;

    fn masked(event: &str, masks: &str) -> Result<Value, Box<dyn std::error::Error>> {
        let event = from_json(event.as_bytes())?;
        let mut event: Object = event.as_object().cloned().unwrap_or_default();
        apply(&mut event, &from_json(masks.as_bytes())?)?;
        Ok(Value::from(event))
    }

    #[test]
    fn what_is_hidden_appears_nowhere() -> Result<(), Box<dyn std::error::Error>> {
        for (event, masks, expected) in [
            // Messages of errors go when anything is hidden, whatever it is.
            (
                r#"{"input": {"p": 1}, "error": {"code": "eval_builtin_error", "message": "to_number: 1"}}"#,
                r#"["/input/p"]"#,
                r#"{"erased":["/input/p"],"error":{"code":"eval_builtin_error","message":"left out, as a mask hides part of the decision"},"input":{}}"#,
            ),
            (
                r#"{"input": {"p": 1}, "error": {"message": "to_number: 1"}}"#,
                r#"["/input/q"]"#,
                r#"{"error":{"message":"to_number: 1"},"input":{"p":1}}"#,
            ),
            // Texts are found within texts, in keys, and written with escapes; short ones stay.
            (
                r#"{"input": {"p": "S\"CRET", "n": 1234, "s": "ab", "x": 12}, "nd_builtin_cache": {"f": {"[\"S\\\"CRET\"]": "<S\"CRET>"}}, "result": [1234, 12, "ab", "no 1234", {"S\"CRET": true}], "query": "f(1234)", "path": "1234"}"#,
                r#"["/input"]"#,
                r#"{"erased":["/input"],"nd_builtin_cache":{"f":{"[\"***\"]":"<***>"}},"path":"1234","query":"f(***)","result":["***",12,"ab","no ***",{"***":true}]}"#,
            ),
            // What a mask leaves in the place is not hidden, and neither are keys.
            (
                r#"{"input": {"user": {"name": "alice", "ssn": "078-05"}, "other": "078-05"}, "result": {"name": "alice", "ssn": "078-05"}}"#,
                r#"[{"op": "upsert", "path": "/input/user", "value": {"name": "alice"}}]"#,
                r#"{"input":{"other":"***","user":{"name":"alice"}},"masked":["/input/user"],"result":{"name":"alice","ssn":"***"}}"#,
            ),
        ] {
            assert_eq!(masked(event, masks)?.to_string(), expected, "{event}");
        }
        Ok(())
    }

    #[test]
    fn strings_that_are_not_utf8_are_covered() -> Result<(), Box<dyn std::error::Error>> {
        let mut event = Object::new();
        let hidden = Value::object([
            ("p", Value::from("SECRET")),
            ("b", Value::string(b"\xffKEY")),
        ]);
        event.insert("input", hidden);
        let shown = [&b"<\xfeSECRET>"[..], b"\xffKEY", b"\xfeother"].map(Value::string);
        event.insert("result", Value::from(shown.to_vec()));
        apply(&mut event, &from_json(br#"["/input"]"#)?)?;
        let result = event.get("result").map(Value::to_string);
        assert_eq!(
            result.as_deref(),
            Some("[\"<\u{fffd}***>\",\"***\",\"\u{fffd}other\"]")
        );
        Ok(())
    }

    #[test]
    fn repetitive_texts_are_looked_for_in_linear_time() -> Result<(), Box<dyn std::error::Error>> {
        let event = |length: usize| {
            let long = "x".repeat(length);
            format!(r#"{{"input": ["{long}", "{long}y"], "result": "{long}y{long}xyx"}}"#)
        };
        let [short, long] = [MAX_TEXT / 40, MAX_TEXT / 4].map(event);
        let found = masked(&long, r#"["/input"]"#)?;
        assert_eq!(found.get("result"), Some(&Value::from("******xyx")));
        let mask = |event: &str| drop(masked(event, r#"["/input"]"#));
        // What grew by the square would cost a hundred times as much.
        processor_time::compare(30, || mask(&short), || mask(&long))?;
        Ok(())
    }

    #[test]
    fn too_much_to_look_for_leaves_no_string() -> Result<(), Box<dyn std::error::Error>> {
        let long = "x".repeat(MAX_TEXT + 1);
        let event = format!(r#"{{"input": "{long}", "result": {{"a": ["xyz", 7, true]}}}}"#);
        let masked = masked(&event, r#"["/input"]"#)?;
        let expected = r#"{"***":["***","***",true]}"#;
        assert_eq!(
            masked.get("result").map(Value::to_string).as_deref(),
            Some(expected)
        );
        Ok(())
    }
}
