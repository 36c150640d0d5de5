//! Client faults as data, injected into the reference client.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::faults::{Alteration, Recipient};

/// A way in which the model breaks rules.
#[derive(Debug)]
pub(crate) struct Fault {
    /// `PATH/NAME`, where `PATH.yaml` is the file that it stands in.
    pub(crate) id: String,
    /// What the broken client does, as a sentence.
    pub(crate) breaks: String,
    /// The rule that must notice it, by id.
    pub(crate) rule: String,
    /// What the client sends otherwise than it should, or reads into answers.
    pub(super) alteration: Option<Alteration>,
    pub(super) habit: Option<FaultMode>,
}

/// What no change of single requests and answers shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FaultMode {
    /// It sends every request again that is answered 5xx, or not at all.
    Repeats,
    /// It follows redirects with GET and without a body.
    RedirectsAsGet,
    /// It tells null where nothing is defined.
    UndefinedAsNull,
    /// It tells that nothing is defined where the value is null.
    NullAsUndefined,
    /// It tells that nothing is defined instead of an error.
    ErrorAsUndefined,
    /// It tells false instead of an error.
    ErrorAsFalse,
    /// It tells that it is done, whatever was answered.
    ErrorAsDone,
    /// It tells true wherever a document is defined.
    DefinedAsTrue,
    /// It tells one answer for all inputs.
    FirstForAll,
    /// It takes what did not come whole, or not at all, for an empty object.
    HalfBody,
    /// It takes a list that did not come whole for an empty one.
    HalfList,
    /// It leaves the path of its address out.
    PathOfAddressLost,
    /// It waits for half a second.
    Impatient,
}

/// A fault as its file has it: changes of requests and answers, as faults of servers have them,
/// or a habit.
#[derive(Debug, Deserialize)]
pub(super) struct FaultFile {
    fault: String,
    breaks: String,
    habit: Option<FaultMode>,
    #[serde(flatten)]
    alteration: Map<String, Value>,
}

impl Fault {
    /// Reads a fault of the rule `rule` in the file `path`.
    ///
    /// # Errors
    /// An unknown key, a bad pattern, or nothing that is done.
    pub(super) fn read(
        path: &str,
        rule: &str,
        api: Recipient,
        written: FaultFile,
    ) -> Result<Self, String> {
        let name = &written.fault;
        let mut changes = written.alteration;
        let alteration = match changes.is_empty() {
            true => None,
            false => {
                if !changes.contains_key("on") {
                    changes.insert("on".to_owned(), serde_json::json!(["* /", "* /**"]));
                }
                let read = Alteration::read(changes, Some(api));
                Some(read.map_err(|why| format!("{name}: {why}"))?)
            }
        };
        if alteration.is_none() == written.habit.is_none() {
            return Err(format!(
                "{name}: it breaks nothing, or has changes and a habit"
            ));
        }
        Ok(Self {
            id: format!("{path}/{name}"),
            breaks: written.breaks,
            rule: rule.to_owned(),
            alteration,
            habit: written.habit,
        })
    }
}
