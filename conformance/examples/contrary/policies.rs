//! The Policy API, with a language of constants: a package, then `name := JSON` on each line.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::answer::{Answer, Failure};
use crate::routes::{Call, State};
use crate::{body, data};

/// A loaded policy.
pub(crate) struct Module {
    raw: String,
    package: Vec<String>,
    pub(crate) rules: Vec<(String, Value)>,
}

impl Module {
    /// # Errors
    ///
    /// A line outside the language, a name with two values, or an empty module.
    fn parse(raw: &str) -> Result<Self, Failure> {
        let lines = raw.lines().zip(1..).map(|(line, row)| (line.trim(), row));
        let mut lines = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
        let refused = |row: usize| {
            Failure::invalid("the module cannot be parsed: it does not parse").at_row(row)
        };
        let (first, row) = lines.next().ok_or_else(|| refused(1))?;
        let package = first.strip_prefix("package ").ok_or_else(|| refused(row))?;
        let package: Vec<String> = package.trim().split('.').map(str::to_owned).collect();
        if !package.iter().all(|name| is_name(name)) {
            return Err(refused(row));
        }
        let mut rules: Vec<(String, Value)> = Vec::new();
        for (line, row) in lines.filter(|(line, _)| !line.starts_with("import ")) {
            let parts = line.split_once(":=").or(line.split_once('='));
            let (name, value) = parts.ok_or_else(|| refused(row))?;
            let value = serde_json::from_str(value).map_err(|_| refused(row))?;
            let name = name.trim();
            if !is_name(name) {
                return Err(refused(row));
            }
            let other = rules.iter().any(|rule| rule.0 == name && rule.1 != value);
            if other {
                let failure = "the module cannot be compiled: a name has two values";
                return Err(Failure::invalid(failure).at_row(row));
            }
            rules.push((name.to_owned(), value));
        }
        let raw = raw.to_owned();
        Ok(Self {
            raw,
            package,
            rules,
        })
    }

    /// Returns the path of a rule's value in the data.
    pub(crate) fn path<'m>(&'m self, rule: &'m str) -> impl Iterator<Item = &'m str> {
        self.package.iter().map(String::as_str).chain([rule])
    }

    /// Whether a rule of the policy defines the value at this path.
    pub(crate) fn computes(&self, path: &[&str]) -> bool {
        let mut rules = self.rules.iter();
        rules.any(|(rule, _)| {
            let place: Vec<&str> = self.path(rule).collect();
            path.starts_with(&place)
        })
    }

    fn ast(&self) -> Value {
        let root = json!({"type": "var", "value": "data"});
        let names = self.package.iter();
        let path = names.map(|name| json!({"type": "string", "value": name}));
        let path: Vec<Value> = [root].into_iter().chain(path).collect();
        let body = json!([{"index": 0, "terms": term(&json!(true))}]);
        let rules = self.rules.iter().map(|(name, value)| {
            let head = json!({"name": name, "value": term(value)});
            json!({"head": head, "body": body})
        });
        let rules: Vec<Value> = rules.collect();
        json!({"package": {"path": path}, "rules": rules})
    }

    fn to_json(&self, id: &str) -> Value {
        json!({"id": id, "raw": self.raw, "ast": self.ast()})
    }
}

fn is_name(text: &str) -> bool {
    let is_name_char = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.chars().all(is_name_char)
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && !text.is_empty()
}

fn term(value: &Value) -> Value {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(elements) => {
            let terms: Vec<Value> = elements.iter().map(term).collect();
            return json!({"type": "array", "value": terms});
        }
        Value::Object(members) => {
            let pairs = members
                .iter()
                .map(|(name, member)| [term(&json!(name)), term(member)]);
            let pairs: Vec<_> = pairs.collect();
            return json!({"type": "object", "value": pairs});
        }
    };
    json!({"type": kind, "value": value})
}

pub(crate) fn list(state: &State) -> Answer {
    let modules = state
        .modules
        .iter()
        .rev()
        .map(|(id, module)| module.to_json(id));
    let modules: Vec<Value> = modules.collect();
    Answer::ok(json!({"result": modules}))
}

pub(crate) fn get(state: &State, id: &str) -> Result<Answer, Failure> {
    let module = state.modules.get(id).ok_or_else(missing)?;
    Ok(Answer::ok(json!({"result": module.to_json(id)})))
}

pub(crate) fn put(state: &mut State, call: &Call<'_>, id: &str) -> Result<Answer, Failure> {
    body::media_type(call.head, &["text/plain"])?;
    let raw = str::from_utf8(&call.body);
    let raw = raw.map_err(|_| Failure::invalid("the module cannot be parsed: it is not UTF-8"))?;
    let start = Instant::now();
    let module = Module::parse(raw)?;
    let parsed = start.elapsed();
    state.modules.insert(id.to_owned(), module);
    let compiled = start.elapsed().saturating_sub(parsed);
    Ok(changed(
        call,
        &[
            ("rego_module_parse", parsed),
            ("rego_module_compile", compiled),
        ],
    ))
}

pub(crate) fn delete(state: &mut State, call: &Call<'_>, id: &str) -> Result<Answer, Failure> {
    let start = Instant::now();
    state.modules.remove(id).ok_or_else(missing)?;
    Ok(changed(call, &[("rego_module_compile", start.elapsed())]))
}

fn missing() -> Failure {
    Failure::missing("there is no such policy")
}

fn changed(call: &Call<'_>, timers: &[(&str, Duration)]) -> Answer {
    match call.is_requested("metrics") {
        true => Answer::ok(json!({"metrics": data::metrics(call, timers)})),
        false => Answer::ok(json!({})),
    }
}
