//! Every rule of the suite: one line per file, in the order of the documents, then of the packs.
//!
//! The path is the file's own path, the clause file's (`specs/PATH.yaml`) and the snapshot
//! folder's (`snapshots/PATH/`).

pub(crate) mod control;
pub(crate) mod engine;
pub(crate) mod regressions;

use serde_json::{Value, json};

use crate::scenario::{Rule, Scenario};

/// The rules of one endpoint or topic.
#[derive(Debug, Clone, Copy)]
pub struct Section {
    /// The path that all folders share, e.g. `engine/v1/data/put`.
    pub path: &'static str,
    /// The rules, in the order of the clause file.
    pub rules: &'static [Rule],
}

/// Every section: the control plane's, the engine's, then the packs'.
pub fn sections() -> impl Iterator<Item = &'static Section> {
    let documents = control::SECTIONS.iter().chain(engine::SECTIONS);
    documents.chain(regressions::SECTIONS)
}

/// The id of every rule, in the order of the sections.
pub fn ids() -> impl Iterator<Item = String> {
    sections().flat_map(|section| {
        let id = |rule: &Rule| format!("{}/{}", section.path, rule.slug);
        section.rules.iter().map(id)
    })
}

/// The scenario of the rule with this id.
pub fn scenario(id: &str) -> Option<Scenario> {
    let (path, slug) = id.rsplit_once('/')?;
    let section = sections().find(|section| section.path == path)?;
    let rule = section.rules.iter().find(|rule| rule.slug == slug)?;
    Some((rule.scenario)())
}

/// Documents that programs may confuse with undefined ones, or that contain such values, by name.
pub(crate) fn hollow_documents() -> [(&'static str, Value); 6] {
    [
        ("empty-object", json!({})),
        ("empty-array", json!([])),
        ("empty-string", json!("")),
        ("zero", json!(0)),
        (
            "members",
            json!({"a": {}, "b": [], "c": "", "d": 0, "e": false, "f": null}),
        ),
        ("items", json!([{}, [], "", 0, false, null])),
    ]
}
