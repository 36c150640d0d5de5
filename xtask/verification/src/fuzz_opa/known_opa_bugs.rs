//! Known bugs of OPA.

use super::alike;

/// Whether the mistakes that were found in a text differ by a flaw of OPA:
///
/// - it has ordered the expressions wrongly,
/// - it looks at a closure before it knows the types of the variables around it,
/// - it takes a variable for unsafe that one expression has as a step and in a closure,
/// - it takes the `not` of a call of `contains` at the start of a query for the name of a rule,
/// - it refuses to go through all members of a collection that is known to be empty (from 1.21.0 to
///   1.22.1),
/// - for what is printed in a closure within the head of another it does not know the variables
///   from outside of the head, and it looks for none in the domain of an `every` within another.
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
    // What it finds beside may follow from it: that a function is not defined, of which the body
    // was refused.
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
    // What is wrong with `print` is found before most else, which then is not looked for.
    let only_print =
        !ours.is_empty() && our_others.is_empty() || !theirs.is_empty() && their_others.is_empty();
    only_print || ours.len() != theirs.len() && alike(&our_others, &their_others)
}

/// Whether a mistake is that nothing can be in a collection.
fn is_in_nothing(mistake: &str) -> bool {
    mistake.contains(" undefined ref: ") && mistake.contains(r#"{"oneOf":null,"#)
}

/// Whether a mistake is that a variable is unsafe which is a step in front of a closure with it.
fn is_unsafe_step(text: &str, mistake: &str) -> bool {
    let variable = mistake
        .strip_suffix(" is unsafe")
        .and_then(|mistake| mistake.rsplit_once(' '));
    let (Some((_, variable)), Some((_, rest))) = (variable, place(text, mistake)) else {
        return false;
    };
    let step = rest.split_once(&format!("[{variable}]"));
    step.is_some_and(|(_, behind)| behind.contains(" | ") && behind.contains(variable))
}

/// The line of a mistake, before its place and from there.
fn place<'t>(text: &'t str, mistake: &str) -> Option<(&'t str, &'t str)> {
    let (row, col) = mistake.split(' ').nth(1)?.split_once(':')?;
    let (row, col) = (row.parse::<usize>().ok()?, col.parse::<usize>().ok()?);
    let line = text.lines().nth(row.checked_sub(1)?)?;
    line.split_at_checked(col.checked_sub(1)?)
}

/// Whether a mistake is that a variable in a closure within the operand of `print` is undeclared.
fn is_of_print(text: &str, mistake: &str) -> bool {
    let Some((before, _)) = place(text, mistake) else {
        return false;
    };
    let call = before.rsplit_once("print(").map(|(_, operands)| operands);
    let undeclared = mistake.starts_with("rego_compile_error ")
        && mistake.ends_with(" is undeclared")
        && mistake.contains(" var ");
    undeclared && call.is_some_and(|operands| !operands.contains(';'))
}
