//! Rules for clients, read from `conformance/clients/**.yaml`.
//!
//! The reader is strict: unknown keys, repeated ids, nonexistent clauses, and rules that no fault
//! breaks are errors that name the file and the rule.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::expected::Expected;
use super::expected_request::ExpectedRequest;
use super::fault::{self, Fault};
use crate::assets::CLIENT_RULES;
use crate::catalogue::{Catalogue, Clause, Document, Level};
use crate::faults::{Recipient, texts_below};

/// Prefix of the ids of rules for clients.
const PREFIX: &str = "client";

/// All rules, and the faults that break them.
#[derive(Debug)]
pub struct Rules {
    rules: Vec<Rule>,
    faults: Vec<Fault>,
}

/// A rule for clients.
#[derive(Debug)]
pub struct Rule {
    /// Id of the rule: `client/PATH/NAME`, where `PATH.yaml` is its file.
    pub id: String,
    /// Behaviour of a client that satisfies the rule.
    pub states: String,
    /// The clause that the rule is based on, and related ones.
    pub clauses: Vec<&'static Clause>,
    pub(super) api: Recipient,
    pub(super) start: Start,
    pub(super) given: Vec<Setup>,
    pub(super) steps: Vec<Step>,
    pub(super) received: Vec<ExpectedRequest>,
    pub(super) shows: Vec<ExpectedState>,
}

/// Initial state of the server and the client.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct Start {
    /// Policies of the engine, by name.
    pub(super) policies: BTreeMap<String, String>,
    /// Initial data documents of the engine.
    pub(super) data: Option<Value>,
    /// Further command line arguments of the engine.
    pub(super) arguments: Vec<String>,
    /// Enabled faults of the mock: names, or definitions with the name as `fault`.
    pub(super) faults: Vec<Value>,
    /// Token of the client; by default, the administrator's for the control plane.
    pub(super) token: Option<String>,
    /// Path prefix of the API in the address that the client is given.
    pub(super) below: String,
    /// Interval at which hanging requests are released, in milliseconds.
    pub(super) release_every: Option<u64>,
}

/// A request by the suite itself, before the client is used.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Setup {
    pub(super) put: String,
    pub(super) json: Value,
    /// Number of times the request is sent; `{n}` is replaced with the number of the repetition.
    #[serde(default = "once")]
    pub(super) times: usize,
}

fn once() -> usize {
    1
}

/// One operation of the client, and its expected reply.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    pub(super) ask: Map<String, Value>,
    pub(super) result: Expected,
}

/// Expected state of the server after the client's operations.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpectedState {
    pub(super) get: String,
    /// Expected `result` of the response.
    pub(super) result: Option<Value>,
    /// Whether the response has no `result`.
    #[serde(default)]
    pub(super) nothing: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Subject of the rules in a file, for its readers.
    #[serde(rename = "topic")]
    _topic: String,
    #[serde(default)]
    start: Map<String, Value>,
    rules: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Entry {
    #[serde(rename = "id")]
    _id: String,
    clauses: Vec<String>,
    states: String,
    #[serde(default)]
    start: Map<String, Value>,
    #[serde(default)]
    given: Vec<Setup>,
    steps: Vec<Step>,
    #[serde(default)]
    received: Vec<ExpectedRequest>,
    #[serde(default)]
    shows: Vec<ExpectedState>,
    broken_by: Vec<fault::FaultFile>,
}

impl Rules {
    /// Returns the embedded rules.
    ///
    /// # Errors
    /// The defects of the files, one per line.
    pub fn embedded() -> Result<Self, String> {
        Self::read(CLIENT_RULES)
    }

    /// Reads the rules of every `PATH.yaml` below a folder.
    ///
    /// # Errors
    /// A file cannot be read, or the defects of the files, one per line.
    pub(crate) fn below(folder: &Path) -> Result<Self, String> {
        let texts = texts_below("clients", folder).map_err(|error| error.to_string())?;
        let files = texts.iter();
        let mut files: Vec<_> = files
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect();
        files.sort_unstable();
        Self::read(&files)
    }

    /// Reads rules from pairs of path (without ending) and contents.
    ///
    /// # Errors
    /// The defects of the files, one per line.
    pub fn read(files: &[(&str, &str)]) -> Result<Self, String> {
        let catalogue = Catalogue::embedded().map_err(ToString::to_string)?;
        let mut read = Self {
            rules: Vec::new(),
            faults: Vec::new(),
        };
        let mut defects = Vec::new();
        for (path, text) in files {
            if let Err(message) = read.file(catalogue, path, text, &mut defects) {
                defects.push(format!("clients/{path}.yaml: {message}"));
            }
        }
        let mut ids = BTreeSet::new();
        let all = read.rules.iter().map(|rule| &rule.id);
        for id in all.chain(read.faults.iter().map(|fault| &fault.id)) {
            if !ids.insert(id) {
                defects.push(format!("duplicate id {id}"));
            }
        }
        match defects.is_empty() {
            true => Ok(read),
            false => Err(defects.join("\n")),
        }
    }

    fn file(
        &mut self,
        catalogue: &'static Catalogue,
        path: &str,
        text: &str,
        defects: &mut Vec<String>,
    ) -> Result<(), String> {
        let file: Value = serde_yaml::from_str(text).map_err(|error| error.to_string())?;
        let file: File =
            serde_json::from_value(expanded(file)).map_err(|error| error.to_string())?;
        let api = Recipient::of_path(path)?;
        for entry in file.rules {
            let name = entry.get("id").and_then(Value::as_str).unwrap_or_default();
            let id = format!("{PREFIX}/{path}/{name}");
            let mut add = || -> Result<(), String> {
                let entry: Entry =
                    serde_json::from_value(entry.clone()).map_err(|error| error.to_string())?;
                if entry.broken_by.is_empty() {
                    return Err("no fault breaks it".to_owned());
                }
                for written in entry.broken_by {
                    let fault = Fault::read(path, &id, api, written)?;
                    self.faults.push(fault);
                }
                let mut start = file.start.clone();
                start.extend(entry.start);
                let start = serde_json::from_value(Value::Object(start))
                    .map_err(|error| error.to_string())?;
                for expected_request in &entry.received {
                    expected_request.check()?;
                }
                if entry.steps.is_empty() {
                    return Err("the client is asked nothing".to_owned());
                }
                self.rules.push(Rule {
                    id: id.clone(),
                    states: entry.states.trim().to_owned(),
                    clauses: clauses(catalogue, &entry.clauses, api)?,
                    api,
                    start,
                    given: entry.given,
                    steps: entry.steps,
                    received: entry.received,
                    shows: entry.shows,
                });
                Ok(())
            };
            if let Err(message) = add() {
                defects.push(format!("clients/{path}.yaml: `{name}`: {message}"));
            }
        }
        Ok(())
    }

    /// Returns every rule, in the order of the files.
    pub fn all(&self) -> &[Rule] {
        &self.rules
    }

    /// The ids of the rules.
    pub fn ids(&self) -> impl Iterator<Item = &str> + Clone {
        self.rules.iter().map(|rule| rule.id.as_str())
    }

    /// Returns every fault of the reference client.
    pub(crate) fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Returns the id of each fault of the reference client, with the id of the rule that must
    /// notice it.
    pub fn aims(&self) -> impl Iterator<Item = (&str, &str)> {
        let faults = self.faults.iter();
        faults.map(|fault| (fault.id.as_str(), fault.rule.as_str()))
    }

    /// Returns the fault with this id.
    pub(crate) fn into_fault(self, id: &str) -> Option<Fault> {
        self.faults.into_iter().find(|fault| fault.id == id)
    }

    pub(super) fn into_parts(self) -> (Vec<Rule>, Vec<Fault>) {
        (self.rules, self.faults)
    }
}

impl Rule {
    /// The section of the document that the rule is based on.
    pub fn section(&self) -> &'static str {
        self.clauses.first().map_or("", |clause| clause.section)
    }
}

/// Member of the placeholder for a long string: `{$repeat: [TEXT, TIMES]}`.
const REPEAT: &str = "$repeat";

/// Expands the placeholders for long strings in a value.
fn expanded(value: Value) -> Value {
    match value {
        Value::Object(members) => match members.get(REPEAT).and_then(Value::as_array) {
            Some(repeat) => {
                let text = repeat.first().and_then(Value::as_str).unwrap_or_default();
                let times = repeat.get(1).and_then(Value::as_u64).unwrap_or_default();
                Value::from(text.repeat(usize::try_from(times).unwrap_or_default()))
            }
            None => {
                let members = members.into_iter();
                Value::Object(
                    members
                        .map(|(name, value)| (name, expanded(value)))
                        .collect(),
                )
            }
        },
        Value::Array(items) => Value::Array(items.into_iter().map(expanded).collect()),
        value => value,
    }
}

/// Looks up clauses by id.
fn clauses(
    catalogue: &'static Catalogue,
    ids: &[String],
    api: Recipient,
) -> Result<Vec<&'static Clause>, String> {
    let document = match api {
        Recipient::Control => Document::Control,
        Recipient::Engine | Recipient::Mock => Document::Engine,
    };
    if ids.is_empty() {
        return Err("it stands on no clause".to_owned());
    }
    let clause = |id: &String| {
        let clause = catalogue.clause(id);
        let clause = clause.ok_or_else(|| format!("there is no clause `{id}`"))?;
        match clause.document == document && clause.level != Level::Open {
            true => Ok(clause),
            false => Err(format!("`{id}` is open, or of the other document")),
        }
    };
    ids.iter().map(clause).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const RULE: &str = "topic: x\nrules:\n- id: a\n  clauses: [engine/v1/data/post/undefined-omits-result]\n  states: X.\n  steps: [{ask: {do: config}, result: undefined}]\n  broken-by: [{fault: b, breaks: Y., answer: [{status: 500}]}]\n";

    #[rstest]
    #[case::unknown_field("states:", "says:", "unknown field `says`")]
    #[case::no_clause("post/undefined-omits", "post/x", "there is no clause")]
    #[case::open_clause("undefined-omits-result", "body-without-input", "is open")]
    #[case::result("result: undefined", "result: nothing", "unknown variant `nothing`")]
    #[case::no_effect("[{status: 500}]", "[]", "no effect")]
    #[case::habit("answer: [{status: 500}]", "habit: none", "unknown variant `none`")]
    #[case::unknown_field_of_a_step(
        "{do: config}",
        "{do: config}, more: 1",
        "unknown field `more`"
    )]
    #[case::unknown_field_of_the_file("topic: x", "title: x", "unknown field `title`")]
    fn a_file_with_a_defect_is_refused_with_the_reason(
        #[case] from: &str,
        #[case] to: &str,
        #[case] reason: &str,
    ) {
        let text = RULE.replace(from, to);
        let refused = Rules::read(&[("engine/x", &text)])
            .err()
            .unwrap_or_default();
        assert!(refused.contains(reason), "{to}: {refused}");
    }

    #[test]
    fn ids_are_unique_and_of_the_document() {
        assert!(Rules::read(&[("engine/x", RULE)]).is_ok());
        let twice = RULE.replace(
            "rules:\n",
            &format!(
                "rules:\n{}",
                RULE.split_once("rules:\n").map_or("", |(_, rules)| rules)
            ),
        );
        let refused = Rules::read(&[("engine/x", &twice)])
            .err()
            .unwrap_or_default();
        assert!(
            refused.contains("duplicate id client/engine/x/a"),
            "{refused}"
        );
        let other = Rules::read(&[("control/x", RULE)])
            .err()
            .unwrap_or_default();
        assert!(other.contains("of the other document"), "{other}");
    }

    #[test]
    fn the_embedded_rules_can_be_read() {
        let read = Rules::embedded().map(|rules| rules.all().len());
        assert!(read.is_ok(), "{}", read.err().unwrap_or_default());
    }
}
