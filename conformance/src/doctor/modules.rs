//! Policies that a server has before a run and that may conflict with rules.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::http_client::answer::Answer;
use crate::scenario::{Body, Scenario, Send};

/// A policy on a server, with the names by which it may conflict with another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Module {
    /// Id of the policy in the Policy API.
    pub(crate) id: String,
    /// Package of the policy, such as `system`.
    package: String,
    /// Names of the rules that the policy defines.
    names: BTreeSet<String>,
}

impl Module {
    /// Whether the policy defines the response of `POST /`.
    pub(super) fn decides(&self) -> bool {
        self.package == "system" && self.names.contains("main")
    }
}

/// Parses the policies in the response of `GET /v1/policies`.
pub(crate) fn of(list: &Answer) -> Vec<Module> {
    let items = list.at("/result").and_then(Value::as_array);
    let modules = items.into_iter().flatten().filter_map(|item| {
        let id = item.get("id")?.as_str()?;
        module(id, item.get("raw")?.as_str()?)
    });
    modules.collect()
}

/// Parses a policy; `None` without a package.
fn module(id: &str, text: &str) -> Option<Module> {
    let mut lines = text.lines();
    let package = lines.find_map(|line| line.strip_prefix("package "))?;
    let package = package.split('#').next().unwrap_or_default().trim();
    Some(Module {
        id: id.to_owned(),
        package: package.to_owned(),
        names: lines.filter_map(name).map(str::to_owned).collect(),
    })
}

/// Returns the name of the rule that begins on a line, if any.
fn name(line: &str) -> Option<&str> {
    let line = line.strip_prefix("default ").unwrap_or(line);
    let is_name_char = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = line.find(|c: char| !is_name_char(c)).unwrap_or(line.len());
    let name = line.get(..end)?;
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    (begins && name != "import").then_some(name)
}

/// Returns a policy that defines the same rule as a scenario, and that rule, such as `system.main`.
pub(crate) fn in_the_way<'m>(
    modules: &'m [Module],
    scenario: &Scenario,
) -> Option<(&'m Module, String)> {
    let texts = scenario
        .steps
        .iter()
        .filter_map(|step| match &step.request {
            Send::Http { body, .. } => text_of(body),
            Send::Raw(_) => None,
        });
    let scenario_modules: Vec<Module> = texts.filter_map(|text| module("", text)).collect();
    modules.iter().find_map(|existing| {
        let mut same = scenario_modules
            .iter()
            .filter(|scenario_modules| scenario_modules.package == existing.package);
        let name = same.find_map(|scenario_modules| {
            scenario_modules.names.intersection(&existing.names).next()
        })?;
        Some((existing, format!("{}.{name}", existing.package)))
    })
}

fn text_of(body: &Body) -> Option<&str> {
    match body {
        Body::Text(_, text) => Some(text),
        Body::Gzip(inner) => text_of(inner),
        Body::Empty | Body::Json(_) | Body::Bytes(..) => None,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::scenario::*;

    #[rstest]
    #[case::both_define_it(
        "# theirs\npackage system # of ours\n\nimport rego.v1\ndefault main := 1\n",
        "package system\nmain := {ns}",
        Some("system.main")
    )]
    #[case::another_rule("package system\nother := 1", "package system\nmain := 1", None)]
    #[case::another_package("package systems\nmain := 1", "package system\nmain := 1", None)]
    #[case::namespace("package a.{ns}\nmain := 1", "package a\nmain := 1", None)]
    #[case::no_module("no module", "package system\nmain := 1", None)]
    fn what_both_define_is_in_the_way(
        #[case] theirs: &str,
        #[case] ours: &str,
        #[case] expected: Option<&str>,
    ) {
        let own = |text: &str| {
            let put = put("/v1/policies/{ns}");
            scenario().given(put.text("text/plain", text.to_owned()))
        };
        let modules: Vec<_> = module("theirs", theirs).into_iter().collect();
        let found = in_the_way(&modules, &own(ours)).map(|(_, what)| what);
        assert_eq!(found.as_deref(), expected);
    }
}
