//! Compares the evaluation of generated policies and queries with the real OPA.

mod counts;
mod known_opa_bugs;
mod ours;
mod theirs;

use std::cell::RefCell;
use std::error::Error;

use rego_generate::Choices;

use crate::{random_cases, report};
use counts::Counts;
use theirs::Opa;

/// Maximum number of random bytes from which a policy is generated.
const BYTES: usize = 900;

/// Number of generated queries for every policy, in addition to queries of its rules.
const QUERIES: usize = 3;

/// Result of one side: the value; or the errors, each as `code row:col message` with details.
type Outcome = Result<String, Vec<String>>;

/// Compares both sides until they differ: which policies and queries they accept, the results, and
/// the errors that they report for the others, with codes, locations and messages.
///
/// # Errors
/// Reports the smallest case in which both sides differ. Fails also when OPA cannot be built or
/// queried, or too few of the policies and queries were evaluated.
pub(crate) fn run(cases: u32, seed: u64) -> Result<(), Box<dyn Error>> {
    let state = RefCell::new((Opa::start()?, Counts::default()));
    random_cases::judge((cases, 4_000), seed, 0..BYTES, |bytes| {
        let (opa, tally) = &mut *state.borrow_mut();
        compare(opa, tally, bytes)
    })?;
    let (_, tally) = state.into_inner();
    report("the same", &tally.to_string());
    tally.check()
}

/// Compares one policy and all of its queries.
fn compare(opa: &mut Opa, tally: &mut Counts, bytes: &[u8]) -> Result<(), String> {
    let mut choices = Choices::new(bytes);
    let input = rego_generate::input(&mut choices);
    let generated: Vec<_> = (0..QUERIES)
        .map(|_| rego_generate::query(&mut choices))
        .collect();
    let module = rego_generate::module(&mut choices);
    let differ = |query: &str, ours: &Outcome, theirs: &Outcome| {
        Err(format!(
            "{module}\nquery: {query}\ninput: {input}\nours: {}\nOPA:  {}",
            format_outcome(ours),
            format_outcome(theirs)
        ))
    };
    let Some(theirs) = opa.put(&module).map_err(|error| error.to_string())? else {
        tally.flaws += 1;
        return Ok(());
    };
    let policy = match (ours::compile(&module), theirs) {
        (Ok(policy), Ok(_)) => policy,
        (Err(ours), Err(theirs)) if alike(&ours, &theirs) => {
            tally.refused += 1;
            return Ok(());
        }
        (ours, theirs) if known_opa_bugs::explain(&module, mistakes(&ours), mistakes(&theirs)) => {
            tally.flaws += 1;
            return Ok(());
        }
        (ours, theirs) => return differ("none", &ours.map(|_| "taken".to_owned()), &theirs),
    };
    tally.taken += 1;
    let rules = rego_generate::QUERIES.iter();
    for query in rules.map(|rule| format!("x = {rule}")).chain(generated) {
        let ours = ours::evaluate(&policy, &query, input);
        let Some(theirs) = opa
            .evaluate(&query, input)
            .map_err(|error| error.to_string())?
        else {
            tally.flaws += 1;
            return Ok(());
        };
        match (&ours, &theirs) {
            (Ok(our), Ok(their)) if our == their || sorted(our) == sorted(their) => {}
            (Err(our), Err(their)) if alike(our, their) => {}
            _ if known_opa_bugs::explain(&query, mistakes(&ours), mistakes(&theirs)) => {
                tally.flaws += 1;
                continue;
            }
            _ => return differ(&query, &ours, &theirs),
        }
        tally.count(&ours);
    }
    Ok(())
}

/// Returns the errors of a result.
fn mistakes<T>(answer: &Result<T, Vec<String>>) -> &[String] {
    answer.as_ref().err().map_or(&[], Vec::as_slice)
}

fn format_outcome(answer: &Outcome) -> String {
    match answer {
        Ok(value) => value.clone(),
        Err(mistakes) => mistakes
            .iter()
            .map(|mistake| format!("\n  {mistake}"))
            .collect(),
    }
}

/// Whether both sides report the same errors, as far as OPA's reports are deterministic and
/// accurate:
///
/// - It loses the locations of calls in template strings, so an error without a location may have
///   any, and may be reported twice.
/// - References that begin with the name of a rule share one location, that of the last of them in
///   the module; ours have separate locations.
/// - The path that it reports from a recursive rule back to itself varies from call to call.
/// - It reports generated variables by number, and some without a location by their generated name.
/// - It reports a comprehension or call before a reference as the compiler had rewritten it so far,
///   which says nothing about the policy.
fn alike(ours: &[String], theirs: &[String]) -> bool {
    if ours == theirs {
        return true;
    }
    let places = !theirs
        .iter()
        .any(|mistake| mistake.contains(" - ") && !mistake.contains(" - error limit reached"));
    let descriptions = |mistakes: &[String]| {
        let mut descriptions: Vec<_> = mistakes
            .iter()
            .map(|mistake| described(mistake, places))
            .collect();
        descriptions.sort();
        if !places {
            descriptions.dedup();
        }
        descriptions
    };
    descriptions(ours) == descriptions(theirs)
}

/// Extracts the comparable parts of an error, with its location if `places`.
fn described(mistake: &str, places: bool) -> String {
    let mut parts = mistake.splitn(3, ' ');
    let (code, location, message) = (
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
    );
    let of_reference =
        message.starts_with("undefined ref") || message.contains("used as reference");
    let is_rewritten = message.contains(" | ") || message.contains('(');
    let recursive = message.split_once(" is recursive: ");
    let message = recursive.map_or(message, |(rule, _)| rule);
    let is_nameless = location == "-" && message.ends_with(" is undeclared");
    let message = match (of_reference && is_rewritten, is_nameless) {
        (true, _) => "undefined ref".to_owned(),
        (_, true) => "undeclared".to_owned(),
        _ => without_numbers(message),
    };
    match places && !of_reference {
        true => format!("{code} {location} {message}"),
        false => format!("{code} {message}"),
    }
}

/// Removes the numbers of generated variables from a message.
fn without_numbers(message: &str) -> String {
    let mut parts = message.split("__local");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |before, part| {
        before + "__local" + part.trim_start_matches(|sign: char| sign.is_ascii_digit())
    })
}

/// Sorts the results of a query: OPA's order depends on how objects were created.
fn sorted(answers: &str) -> Vec<String> {
    let answers: Vec<serde_json::Value> = serde_json::from_str(answers).unwrap_or_default();
    let mut answers: Vec<_> = answers.iter().map(ToString::to_string).collect();
    answers.sort();
    answers
}

/// Sorts the errors at the same location. OPA stores the unbound variables of a query in a map
/// whose order varies from call to call, and sorts them only by location.
fn ordered(mut mistakes: Vec<String>) -> Vec<String> {
    let location = |mistake: &str| {
        mistake
            .splitn(3, ' ')
            .take(2)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    for run in mistakes.chunk_by_mut(|left, right| location(left) == location(right)) {
        run.sort();
    }
    mistakes
}
