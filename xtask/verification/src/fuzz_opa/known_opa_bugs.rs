//! Known bugs of OPA that explain differences in the errors of both sides.

use super::alike;

/// Whether the errors reported for a source differ due to a bug of OPA:
///
/// - it orders the expressions wrongly,
/// - it checks a closure before it knows the types of the variables around it,
/// - it reports a variable as unsafe that one expression has as a path step and in a closure,
/// - it parses the `not` of a call of `contains` at the start of a query as the name of a rule,
/// - it refuses to iterate over a collection that is known to be empty (from 1.21.0 to 1.22.1),
/// - for `print` in a closure within the head of another it does not know the variables from
///   outside of the head, and it checks none in the domain of an `every` within another.
pub(super) fn explain(text: &str, ours: &[String], theirs: &[String]) -> bool {
    let is_refused = |mistake: &String| {
        mistake.contains("requires evaluation")
            || mistake.ends_with(r#" match error {"a":null,"b":null}"#)
            || is_unsafe_step(text, mistake)
            || text.starts_with("not contains(")
                && mistake
                    .starts_with("rego_parse_error 1:1 not keyword cannot be used for rule name")
    };
    if let [mistake] = theirs
        && is_refused(mistake)
    {
        return true;
    }
    let of_nothing = |mistakes: &[String]| mistakes.iter().filter(|m| is_in_nothing(m)).count();
    // Its other errors may follow from this one: that a function is undefined whose body was
    // refused.
    if of_nothing(ours) < of_nothing(theirs) {
        return true;
    }
    let others = |mistakes: &[String]| -> Vec<String> {
        let others = mistakes
            .iter()
            .filter(|mistake| !is_of_print(text, mistake));
        others.cloned().collect()
    };
    let (our_others, their_others) = (others(ours), others(theirs));
    // Errors in `print` are found before most others, which are then not reported.
    let only_print =
        !ours.is_empty() && our_others.is_empty() || !theirs.is_empty() && their_others.is_empty();
    only_print || ours.len() != theirs.len() && alike(&our_others, &their_others)
}

/// Whether the error states that a collection cannot have members.
fn is_in_nothing(mistake: &str) -> bool {
    mistake.contains(" undefined ref: ") && mistake.contains(r#"{"oneOf":null,"#)
}

/// Whether the error reports an unsafe variable that is a path step before a closure that contains
/// it.
fn is_unsafe_step(text: &str, mistake: &str) -> bool {
    let variable = mistake
        .strip_suffix(" is unsafe")
        .and_then(|mistake| mistake.rsplit_once(' '));
    let (Some((_, variable)), Some((_, rest))) = (variable, split_at_location(text, mistake))
    else {
        return false;
    };
    let step = rest.split_once(&format!("[{variable}]"));
    step.is_some_and(|(_, rest_of_step)| {
        rest_of_step.contains(" | ") && rest_of_step.contains(variable)
    })
}

/// Splits the source line of an error at the location of the error.
fn split_at_location<'t>(text: &'t str, mistake: &str) -> Option<(&'t str, &'t str)> {
    let (row, col) = mistake.split(' ').nth(1)?.split_once(':')?;
    let (row, col) = (row.parse::<usize>().ok()?, col.parse::<usize>().ok()?);
    let line = text.lines().nth(row.checked_sub(1)?)?;
    line.split_at_checked(col.checked_sub(1)?)
}

/// Whether the error reports an undeclared variable in a closure within the operand of `print`.
fn is_of_print(text: &str, mistake: &str) -> bool {
    let Some((before, _)) = split_at_location(text, mistake) else {
        return false;
    };
    let call = before.rsplit_once("print(").map(|(_, operands)| operands);
    let undeclared = mistake.starts_with("rego_compile_error ")
        && mistake.ends_with(" is undeclared")
        && mistake.contains(" var ");
    undeclared && call.is_some_and(|operands| !operands.contains(';'))
}
