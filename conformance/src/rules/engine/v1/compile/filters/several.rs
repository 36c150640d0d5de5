//! Filters of several targets in one response.

use super::tables::*;
use crate::rules::engine::policy;
use crate::scenario::*;

/// One target for each key that a response for several targets is guaranteed to support.
pub(super) const TOGETHER: [Target; 4] = [ALL, SQLSERVER, MYSQL, POSTGRESQL];

/// A request for the filters of a rule for the targets [`TOGETHER`], with these members of the body
/// and of its options.
pub(super) fn together(rule: &str, body: Value, options: Value) -> Step {
    together_for(&TOGETHER, rule, body, options)
}

/// [`together`] for these targets.
pub(super) fn together_for(targets: &[Target], rule: &str, body: Value, options: Value) -> Step {
    let dialects: Vec<&str> = targets.iter().map(|target| target.dialect).collect();
    let options = with(options, "targetDialects", json!(dialects));
    filter_request(rule, MULTITARGET, with(body, "options", options))
}

/// A request body with the table's columns as unknowns.
pub(super) fn columns() -> Value {
    json!({"unknowns": ["input.fruits"]})
}

/// Requests a response for several targets with one target, and expects the filter under its key.
pub(super) fn multitarget(target: Target, pointer: &'static str) -> Scenario {
    let step = several(&[target]).expect(target.rows(pointer, &fruits(), RED_ROWS));
    let step = match target.language {
        Language::Ucast => step.expect(kind(pointer, Kind::Object)),
        _ => step.expect(kind(pointer, Kind::String)),
    };
    scenario().given(policy(RED)).when(step)
}

/// Requests the filters for two targets in one response. Each must be under the target's key and in
/// its language: the languages escape the compared string differently.
pub(super) fn multitarget_pair(
    first: (Target, &'static str),
    second: (Target, &'static str),
) -> Scenario {
    let table = Table::new(
        "fruits",
        json!({
            "both": {"name": "O'Brien\\Ann"},
            "doubled": {"name": "O''Brien\\\\Ann"},
            "neither": {"name": "O'BrienAnn"},
        }),
    );
    let rule = r#"include if input.fruits.name == "O'Brien\\Ann""#;
    let targets = [first, second];
    let step = several(&targets.map(|(target, _)| target));
    let step = targets.iter().fold(step, |step, (target, pointer)| {
        let found = match target.language {
            Language::Ucast => kind(*pointer, Kind::Object),
            _ => kind(*pointer, Kind::String),
        };
        step.expect(found)
            .expect(target.rows(pointer, &table, &["both"]))
    });
    scenario().given(policy(rule)).when(step)
}

/// Expects that the condition of each of the targets selects these rows of a table.
pub(super) fn all_select(
    step: Step,
    targets: &[Target],
    table: &Table,
    rows: &[&'static str],
) -> Step {
    targets.iter().fold(step, |step, target| {
        step.expect(target.rows(target.condition_pointer(), table, rows))
    })
}

/// Expects that there is no condition for any target.
pub(super) fn no_condition_for_any(step: Step) -> Step {
    ["ucast", "sqlserver", "mysql", "postgresql", "sqlite"]
        .iter()
        .fold(step, |step, key| {
            step.expect(lacks(format!("/result/{key}/query")))
        })
}

impl Target {
    /// Pointer to the target's condition in a response for several targets.
    pub(super) fn condition_pointer(self) -> &'static str {
        match self.language {
            Language::Ucast => "/result/ucast/query",
            Language::Sqlserver => "/result/sqlserver/query",
            Language::Mysql => "/result/mysql/query",
            Language::Postgresql => "/result/postgresql/query",
            Language::Sqlite => "/result/sqlite/query",
        }
    }
}

/// Returns the object with one more member.
fn with(mut object: Value, name: &str, value: Value) -> Value {
    if let Value::Object(members) = &mut object {
        members.insert(name.to_owned(), value);
    }
    object
}
