//! Rules of the suite, in one file per endpoint or topic.
//!
//! A file has the same path below this folder as its clauses (`specs/PATH.yaml`) and its snapshots
//! (`snapshots/PATH/`).

pub(crate) mod control;
pub(crate) mod engine;
pub(crate) mod regressions;

use serde_json::{Value, json};

use crate::scenario::{Rule, Scenario};

/// The rules of one endpoint or topic.
#[derive(Debug, Clone, Copy)]
pub struct Section {
    /// Path below `rules/`, `specs/` and `snapshots/`, e.g. `engine/v1/data/put`.
    pub path: &'static str,
    /// The rules, in the order of the clause file.
    pub rules: &'static [Rule],
}

/// Returns every section: the control plane's, the engine's, then the packs'.
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

/// Documents by name: values that programs may confuse with undefined ones, alone and nested.
pub(crate) fn falsy_documents() -> [(&'static str, Value); 6] {
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
