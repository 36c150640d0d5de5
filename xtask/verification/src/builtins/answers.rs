//! Answers of both sides to the same calls.

/// Results of calls on one side, or the error of their query. A result consists of the value as
/// JSON and as a Rego literal, each in a list; both lists are empty if the call is undefined.
pub(super) type Outcome = Result<Vec<String>, String>;

/// Result of an undefined call.
pub(super) const UNDEFINED: &str = "[] []";

/// Results of the same calls on both sides.
#[derive(Debug)]
pub(super) struct Answers {
    pub(super) ours: Outcome,
    pub(super) theirs: Outcome,
}

impl Answers {
    /// Returns true if all calls are undefined on both sides.
    pub(super) fn both_are_undefined(&self) -> bool {
        let is_undefined = |side: &Outcome| {
            let all = |answers: &Vec<String>| answers.iter().all(|answer| answer == UNDEFINED);
            side.as_ref().is_ok_and(all)
        };
        is_undefined(&self.ours) && is_undefined(&self.theirs)
    }

    /// Formats the results of one side for reports.
    pub(super) fn format_outcome(side: &Outcome) -> String {
        match side {
            Ok(answers) => answers.join(" "),
            Err(error) => format!("error: {error}"),
        }
    }
}
