//! Table of generated calls with OPA's results, with which the tests of the evaluator compare ours.

use std::collections::HashSet;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;

use super::answers::{Answers, UNDEFINED};
use super::call::Call;
use super::calls;
use super::declared::Function;
use super::ours;
use super::sides::{Sides, Verdict};
use crate::{report, root};

/// Path of the table, relative to the root of the workspace.
const TABLE: &str = "reference/rego/tests/calls/generated.txt";

/// Number of recorded calls of each function.
const CALLS: usize = 10;

/// Maximum length of a line in the table, in bytes.
const LENGTH: usize = 300;

/// Generates calls of each function, and writes the table with OPA's results.
///
/// # Errors
/// When OPA cannot be queried, or the file cannot be written.
pub(super) fn write(
    sides: &mut Sides,
    functions: &[Function],
    seed: u64,
) -> Result<(), Box<dyn Error>> {
    let mut table =
        "# Generated calls and the answers of OPA, written by `cargo xtask builtins --bless`.\n"
            .to_owned();
    let mut seen = HashSet::new();
    for function in functions {
        for call in calls(function, seed, CALLS) {
            let (answers, verdict) = sides.one(&call)?;
            if verdict != Verdict::Same {
                continue;
            }
            let Some(answer) = answer(&call, &answers) else {
                continue;
            };
            let call = call.to_string();
            if call.len() <= LENGTH && answer.len() <= LENGTH && !seen.contains(&call) {
                write!(table, "\n{call}\n{answer}")?;
                seen.insert(call);
            }
        }
    }
    table.push('\n');
    fs::write(root().join(TABLE), table)?;
    report("recorded", &format!("{} calls in {TABLE}", seen.len()));
    Ok(())
}

/// Formats OPA's result of a call for the table; `None` if the table cannot represent it.
fn answer(call: &Call, answers: &Answers) -> Option<String> {
    let [answer] = answers.theirs.as_ref().ok()?.as_slice() else {
        return None;
    };
    if answer == UNDEFINED {
        return Some("undefined".to_owned());
    }
    if let Some(message) = answer.strip_prefix("eval_builtin_error: ") {
        return Some(format!("! {}", message.lines().next().unwrap_or_default()));
    }
    if let Some(message) = answer.strip_prefix("eval_type_error: ") {
        return Some(format!("! type: {message}"));
    }
    // Our value is equal to OPA's, but has the member order that the tests expect: OPA orders
    // members by other rules if their keys are not strings. JSON cannot represent some strings.
    let value = ours::value(call)?.to_string();
    let is_text = !answer.contains("\\x") && !value.contains('\u{fffd}');
    is_text.then(|| format!("= {value}"))
}
