//! Redaction of masked values elsewhere in an event.

use std::collections::BTreeSet;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use rego::Value;
use rego::value::{Number, Object, Set};

use super::parts::{Digests, MaskedPart, Part, is_long_enough};
use super::spelling;

/// Members of events that may repeat values of other members.
const REPEATING: [&str; 6] = [
    "input",
    "result",
    "nd_builtin_cache",
    "request_context",
    "query",
    "custom",
];

/// Maximum bytes of search strings; if more is masked, all strings in `REPEATING` are covered.
const MAX_TEXT: usize = 64 << 10;

/// Names that are shorter than this and consist of letters count as common words.
const LONGEST_WORD: usize = 16;

/// Replacement of covered values.
const COVER: &str = "***";

/// Replacement of error messages, because messages repeat the operands of functions.
const MESSAGE: &str = "left out, as a mask hides part of the decision";

/// Masked values, by their parts.
#[derive(Debug, Default)]
pub(super) struct MaskedValues {
    digests: Digests,
    parts: BTreeSet<Part>,
    /// Bytes of all strings and names.
    bytes: usize,
}

/// Finder of masked values.
#[derive(Debug)]
enum Finder<'h> {
    /// Finds any of the masked parts.
    Parts {
        hidden: &'h MaskedValues,
        texts: AhoCorasick,
        /// Names that are found as whole words only.
        words: BTreeSet<&'h str>,
    },
    /// Finds every string, because too much is masked to search for.
    Everything,
}

impl MaskedValues {
    /// Adds a value that a mask removed or replaced. Parts that also occur in the replacement are
    /// not masked.
    pub(super) fn add(&mut self, before: &Value, after: Option<&Value>) {
        let mut remaining = BTreeSet::new();
        if let Some(after) = after {
            self.digests.each_part(after, &mut |part| {
                remaining.insert(part);
            });
        }
        let (parts, bytes) = (&mut self.parts, &mut self.bytes);
        self.digests.each_part(before, &mut |part| {
            if *bytes > MAX_TEXT || remaining.contains(&part) || parts.contains(&part) {
                return;
            }
            if let Part::Text(text) | Part::Name(text) = &part {
                *bytes += text.len();
            }
            parts.insert(part);
        });
    }

    /// Covers the masked values wherever an event repeats them.
    pub(super) fn cover(&self, event: &mut Object) {
        if let Some(error) = event.get_mut("error").and_then(Value::as_object_mut) {
            error.insert("message", Value::from(MESSAGE));
        }
        if self.parts.is_empty() {
            return;
        }
        change(event, |member| self.without_wholes(member).1);
        let finder = self.finder(&visible(event));
        change(event, |member| finder.covered(member));
    }

    /// Returns the value without masked arrays, objects and sets, if it has any, and the digest of
    /// the original.
    fn without_wholes(&self, value: &Value) -> (MaskedPart, Option<Value>) {
        if let Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Bytes(_) = value
        {
            return (self.digests.scalar(value), None);
        }
        let mut inner = Vec::new();
        let changed = with_inner(value, &mut |value| {
            let (seen, changed) = self.without_wholes(value);
            inner.push(seen);
            changed
        });
        let seen = self.digests.composite(value, inner);
        let is_hidden = seen.part().is_some_and(|part| self.parts.contains(&part));
        let changed = match is_hidden {
            true => Some(Value::from(COVER)),
            false => changed,
        };
        (seen, changed)
    }

    /// Builds a finder of all parts except the visible names.
    fn finder(&self, visible: &BTreeSet<String>) -> Finder<'_> {
        if self.bytes > MAX_TEXT {
            return Finder::Everything;
        }
        let mut words = BTreeSet::new();
        let mut texts = Vec::new();
        for part in &self.parts {
            match part {
                Part::Name(name) if visible.contains(name) => {}
                Part::Name(name) if is_ordinary(name) => {
                    words.insert(name.as_str());
                }
                Part::Text(text) | Part::Name(text) => {
                    let decoded = spelling::decoded(text);
                    texts.extend(decoded.filter(|decoded| is_long_enough(decoded.trim())));
                    texts.push(text.clone());
                }
                Part::Number(_) | Part::Whole(_) => {}
            }
        }
        // The time to build this kind is linear in the length of the strings in every case.
        let texts = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .match_kind(MatchKind::LeftmostLongest)
            .build(texts);
        texts.map_or(Finder::Everything, |texts| Finder::Parts {
            hidden: self,
            texts,
            words,
        })
    }

    fn has_number(&self, number: Number) -> bool {
        self.parts.contains(&Part::Number(number))
    }
}

/// Replaces the members of an event that may repeat others, if `changed` returns a replacement.
fn change(event: &mut Object, mut changed: impl FnMut(&Value) -> Option<Value>) {
    for name in REPEATING {
        if let Some(member) = event.get_mut(name)
            && let Some(changed) = changed(member)
        {
            *member = changed;
        }
    }
}

/// Names that are not secret: those that the input still shows, and those from the configuration or
/// the event itself.
fn visible(event: &Object) -> BTreeSet<String> {
    let mut visible = BTreeSet::new();
    let mut show = |value: &Value| visible.extend(value.as_lossy().map(String::from));
    if let Some(input) = event.get("input") {
        each_inner(input, &mut show);
    }
    for name in ["request_context", "custom"] {
        if let Some(member) = event.get(name) {
            each_key(member, &mut show);
        }
    }
    let functions = event.get("nd_builtin_cache").and_then(Value::as_object);
    functions.into_iter().flat_map(Object::keys).for_each(show);
    visible
}

/// Calls `show` with a value and each value in it, including keys.
fn each_inner(value: &Value, show: &mut impl FnMut(&Value)) {
    show(value);
    with_inner(value, &mut |inner| {
        each_inner(inner, show);
        None
    });
}

/// Calls `show` with the keys of an object and of the objects in it.
fn each_key(value: &Value, show: &mut impl FnMut(&Value)) {
    for (key, member) in value.as_object().into_iter().flat_map(Object::iter) {
        show(key);
        each_key(member, show);
    }
}

/// Whether a name is a common word, or part of one.
fn is_ordinary(name: &str) -> bool {
    let letters = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    name.len() < LONGEST_WORD && name.bytes().all(letters)
}

/// Direct elements of a value.
#[derive(Debug)]
enum Inner {
    Items(Vec<Value>),
    Members(Vec<Value>),
    Pairs(Vec<(Value, Value)>),
}

/// Returns the value with its direct elements changed, including keys, if any of them changes.
fn with_inner(value: &Value, change: &mut dyn FnMut(&Value) -> Option<Value>) -> Option<Value> {
    let mut changes = false;
    let mut changed = |value: &Value| {
        let changed = change(value);
        changes |= changed.is_some();
        changed.unwrap_or_else(|| value.clone())
    };
    let changed = match value {
        Value::Array(items) => Inner::Items(items.iter().map(changed).collect()),
        Value::Set(members) => Inner::Members(members.iter().map(changed).collect()),
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(key, value)| (changed(key), changed(value)));
            Inner::Pairs(members.collect())
        }
        _ => return None,
    };
    changes.then(|| match changed {
        Inner::Items(items) => Value::from(items),
        Inner::Members(members) => Value::from(members.into_iter().collect::<Set>()),
        Inner::Pairs(members) => Value::from(Object::of_members(members)),
    })
}

impl Finder<'_> {
    /// Returns the value with masked parts covered, if it contains any.
    fn covered(&self, value: &Value) -> Option<Value> {
        match value {
            Value::Number(number) => {
                let text = number.text();
                let covered = self.text(&text).is_some();
                covered.then(|| Value::from(COVER))
            }
            Value::String(text) => self.text(text).map(Value::from),
            Value::Bytes(bytes) => self.text(&bytes.to_lossy()).map(Value::from),
            _ => with_inner(value, &mut |inner| self.covered(inner)),
        }
    }

    /// Covers the masked parts of a string, or all of it if they occur in another spelling.
    fn text(&self, text: &str) -> Option<String> {
        let Self::Parts {
            hidden,
            texts,
            words,
        } = self
        else {
            return (text != COVER).then(|| COVER.to_owned());
        };
        let covered = texts.is_match(text).then(|| {
            let covers = vec![COVER; texts.patterns_len()];
            texts.replace_all(text, &covers)
        });
        let covered = without_words(covered.as_deref().unwrap_or(text), words).or(covered);
        let left = covered.as_deref().unwrap_or(text);
        let has_number = |text: &str| spelling::numbers(text).any(|n| hidden.has_number(n));
        let is_respelt = has_number(left)
            || spelling::any_level(left, |decoded| {
                texts.is_match(decoded)
                    || has_number(decoded)
                    || without_words(decoded, words).is_some()
            });
        match is_respelt {
            true => Some(COVER.to_owned()),
            false => covered,
        }
    }
}

/// Covers these words of a string, if it has any of them.
fn without_words(text: &str, words: &BTreeSet<&str>) -> Option<String> {
    if words.is_empty() {
        return None;
    }
    let ends = |c: char| !(c.is_alphanumeric() || c == '_');
    let mut changes = false;
    let pieces = text.split_inclusive(ends).map(|piece| {
        let word = piece.trim_end_matches(ends);
        let is_hidden = words.contains(word);
        changes |= is_hidden;
        let (word, end) = piece.split_at(word.len());
        [if is_hidden { COVER } else { word }, end]
    });
    let without: String = pieces.flatten().collect();
    changes.then_some(without)
}

#[cfg(test)]
mod tests {
    use rego::Value;
    use rego::value::{Object, from_json};
    use rstest::rstest;

    use super::super::mask::apply;
    use super::MAX_TEXT;
    use crate::processor_time;

    fn masked(event: &str, masks: &str) -> Result<Value, Box<dyn std::error::Error>> {
        let event = from_json(event.as_bytes())?;
        let mut event: Object = event.as_object().cloned().unwrap_or_default();
        apply(&mut event, &from_json(masks.as_bytes())?)?;
        Ok(Value::from(event))
    }

    #[rstest]
    // Error messages are replaced when any value is masked.
    #[case::error_message(
        r#"{"input": {"p": 1}, "error": {"code": "eval_builtin_error", "message": "to_number: 1"}}"#,
        r#"["/input/p"]"#,
        r#"{"erased":["/input/p"],"error":{"code":"eval_builtin_error","message":"left out, as a mask hides part of the decision"},"input":{}}"#
    )]
    #[case::error_message_without_a_mask(
        r#"{"input": {"p": 1}, "error": {"message": "to_number: 1"}}"#,
        r#"["/input/q"]"#,
        r#"{"error":{"message":"to_number: 1"},"input":{"p":1}}"#
    )]
    // Strings are found within strings and in keys; a string with an escaped copy is
    // covered as a whole. Short strings stay.
    #[case::strings_and_keys(
        r#"{"input": {"p": "S\"CRET", "n": 1234, "s": "ab", "x": 12}, "nd_builtin_cache": {"f": {"[\"S\\\"CRET\"]": "<S\"CRET>"}}, "result": [1234, 12, "ab", "no 1234", {"S\"CRET": true}], "query": "f(1234)", "path": "1234"}"#,
        r#"["/input"]"#,
        r#"{"erased":["/input"],"nd_builtin_cache":{"f":{"***":"<***>"}},"path":"1234","query":"f(***)","result":["***",12,"ab","no ***",{"***":true}]}"#
    )]
    // The replacement of a mask is not masked.
    #[case::replacement(
        r#"{"input": {"user": {"name": "alice", "ssn": "078-05"}, "other": "078-05"}, "result": {"name": "alice", "ssn": "078-05", "n": 1}}"#,
        r#"[{"op": "upsert", "path": "/input/user", "value": {"name": "alice"}}]"#,
        r#"{"input":{"other":"***","user":{"name":"alice"}},"masked":["/input/user"],"result":{"***":"***","n":1,"name":"alice"}}"#
    )]
    fn what_is_hidden_appears_nowhere(
        #[case] event: &str,
        #[case] masks: &str,
        #[case] expected: &str,
    ) -> Result<(), Box<dyn std::error::Error>> {
        assert_eq!(masked(event, masks)?.to_string(), expected);
        Ok(())
    }

    #[rstest]
    // Long names and names with digits are found within words, others only as whole words.
    #[case::within_words(
        r#"{"input": {"obj": {"K3YSECRET": true, "alice": 1}}, "result": ["xK3YSECRETx", "malice", "<alice>"], "query": "y=input.obj.alice"}"#,
        r#"{"erased":["/input/obj"],"input":{},"query":"y=input.obj.***","result":["x***x","malice","<***>"]}"#
    )]
    #[case::names_that_the_input_shows(
        r#"{"input": {"obj": {"name": 1, "bob": 1}, "user": {"name": 2}, "who": "bob"}, "result": {"name": 3, "bob": 3}}"#,
        r#"{"erased":["/input/obj"],"input":{"user":{"name":2},"who":"bob"},"result":{"bob":3,"name":3}}"#
    )]
    // Names of headers come from the configuration, those of functions from policies.
    #[case::headers_and_functions(
        r#"{"input": {"obj": {"headers": 1, "http.send": 1}}, "request_context": {"http": {"headers": {"x": ["headers"]}}}, "nd_builtin_cache": {"http.send": {}}}"#,
        r#"{"erased":["/input/obj"],"input":{},"nd_builtin_cache":{"http.send":{}},"request_context":{"http":{"headers":{"x":["headers"]}}}}"#
    )]
    // Copies of a masked value or its parts are covered as a whole, unless too short.
    #[case::copies_of_the_value(
        r#"{"input": {"obj": {"p": [1, 2, 3, 4], "q": [1]}, "copy": [1.0, 2, 3, 4]}, "result": [{"p": [1, 2, 3, 4], "q": [1]}, [1], [1, 2, 3]]}"#,
        r#"{"erased":["/input/obj"],"input":{"copy":"***"},"result":["***",[1],[1,2,3]]}"#
    )]
    fn names_are_hidden_that_the_input_does_not_show(
        #[case] event: &str,
        #[case] expected: &str,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let masks = r#"["/input/obj"]"#;
        assert_eq!(masked(event, masks)?.to_string(), expected);
        Ok(())
    }

    #[test]
    fn other_spellings_are_hidden() -> Result<(), Box<dyn std::error::Error>> {
        let mut event = Object::new();
        let key = "first line\nsecond line";
        let secrets = [
            ("a", Value::from("Zx9<s\"cret")),
            ("b", Value::from("pass word+1%41")),
            ("c", Value::from(key)),
            ("d", from_json(b"123456789")?),
            ("e", from_json(b"-7654321.50")?),
            ("f", from_json(b"5.00")?),
        ];
        event.insert("input", Value::object(secrets));
        for written in [
            r#"y="\u005ax9<s\"cret""#,
            r#"y=`Zx9<s"cret`"#,
            r#"y=$"Zx9<s\"cret{1}""#,
            r#"{"p":"Zx9\u003cs\"cret"}"#,
            r#""{\"p\":\"Zx9\\u003cs\\\"cret\"}""#,
            "http://h/?p=Zx9%3Cs%22cret",
            "http://h/?p=Zx9%3cs%2522cret",
            "http://h/?p=pass+word%2B1%2541",
            "http://h/?p=pass%20word%2B1%2541",
            "k: |-\n    first line\n    second line\n",
            r#""k: |-\n  second line""#,
            "y=1.23456789e8+0",
            "1.23456789e+08",
            "7.6543215e+06",
            "7654321.5",
        ] {
            event.insert("result", Value::from(written));
            let mut masked = event.clone();
            apply(&mut masked, &from_json(br#"["/input"]"#)?)?;
            let result = masked.get("result").map(Value::to_string);
            let result = result.unwrap_or_default();
            let left = ["Zx9", "ax9", "cret", "pass", "first", "second", "234", "65"];
            assert!(left.iter().all(|left| !result.contains(left)), "{result}");
        }
        event.insert(
            "result",
            from_json(br#"[5, 765.4321, 1.2345678, "a+b \\\\ %41"]"#)?,
        );
        let expected = event.get("result").cloned();
        apply(&mut event, &from_json(br#"["/input"]"#)?)?;
        assert_eq!(event.get("result"), expected.as_ref());
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
        let strings = [&b"<\xfeSECRET>"[..], b"\xffKEY", b"\xfeother"].map(Value::string);
        event.insert("result", Value::from(strings.to_vec()));
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
        // Quadratic growth would cost a hundred times as much.
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
