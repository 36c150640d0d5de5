//! Client faults as data, injected into the reference client.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::faults::{Alteration, Recipient};

/// Fault of the reference client: a way in which it breaks a rule.
#[derive(Debug)]
pub(crate) struct Fault {
    /// Id of the fault: `PATH/NAME`, where `PATH.yaml` is the file that defines it.
    pub(crate) id: String,
    /// Behaviour of the broken client, as a sentence.
    pub(crate) breaks: String,
    /// Id of the rule that must notice the fault.
    pub(crate) rule: String,
    /// Change of the client's requests, or of the responses before the client reads them.
    pub(super) alteration: Option<Alteration>,
    pub(super) habit: Option<FaultMode>,
}

/// Faults other than changes of single requests and responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FaultMode {
    /// Resends every request that is answered 5xx, or not at all.
    Repeats,
    /// Follows redirects with GET and without a body.
    RedirectsAsGet,
    /// Reports null for an undefined value.
    UndefinedAsNull,
    /// Reports an undefined value for null.
    NullAsUndefined,
    /// Reports an undefined value instead of an error.
    ErrorAsUndefined,
    /// Reports false instead of an error.
    ErrorAsFalse,
    /// Reports success, whatever the response.
    ErrorAsDone,
    /// Reports true for every defined document.
    DefinedAsTrue,
    /// Reports one result for all inputs.
    FirstForAll,
    /// Reads an incomplete or missing body as an empty object.
    HalfBody,
    /// Reads an incomplete list as an empty one.
    HalfList,
    /// Drops the path of the configured base address.
    PathOfAddressLost,
    /// Times out after half a second, regardless of the configured timeout.
    Impatient,
}

/// A fault as defined in its file: an alteration of requests and responses, or a mode.
#[derive(Debug, Deserialize)]
pub(super) struct FaultFile {
    fault: String,
    breaks: String,
    habit: Option<FaultMode>,
    #[serde(flatten)]
    alteration: Map<String, Value>,
}

impl Fault {
    /// Reads a fault of the rule `rule`, defined in the file `path`.
    ///
    /// # Errors
    /// An unknown key, a bad pattern, or a fault without effect.
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
                Some(read.map_err(|reason| format!("{name}: {reason}"))?)
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
