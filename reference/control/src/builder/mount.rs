//! Mounts: the part of a source that a requirement selects, and its path.

use rego::Query;
use rego::syntax::{ExprTerms, Term, TermValue};

/// Part of a source below `from`, mounted below `to`. Both are paths below `data`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    /// Selected path; everything if empty.
    pub(super) from: Vec<String>,
    /// Mount point.
    pub(super) to: Vec<String>,
}

impl Mount {
    /// Returns the mounted path of a selected path.
    pub(super) fn mounted(&self, path: &[String]) -> Option<Vec<String>> {
        let rest = path.strip_prefix(self.from.as_slice())?;
        Some([self.to.as_slice(), rest].concat())
    }
}

/// Applies nested mounts to a path, the innermost one first, if all of them select it.
pub(super) fn place(mounts: &[Mount], path: Vec<String>) -> Option<Vec<String>> {
    mounts
        .iter()
        .try_fold(path, |path, mount| mount.mounted(&path))
}

/// Parses a path such as `data.a["b-c"]`, in which `data` is optional.
///
/// # Errors
/// When it is not a reference of constant strings.
pub(super) fn parse(text: &str) -> Result<Vec<String>, String> {
    let refused = || format!("`{text}` is not a reference such as data.a.b");
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let body = Query::read(text).map_err(|_| refused())?;
    let [expr] = body.as_slice() else {
        return Err(refused());
    };
    let ExprTerms::Term(term) = &expr.terms else {
        return Err(refused());
    };
    if expr.negated || !expr.with.is_empty() {
        return Err(refused());
    }
    let (head, rest) = match &term.value {
        TermValue::Var(name) => (name, &[] as &[Term]),
        TermValue::Ref(steps) => match steps.split_first() {
            Some((
                Term {
                    value: TermValue::Var(name),
                    ..
                },
                rest,
            )) => (name, rest),
            _ => return Err(refused()),
        },
        _ => return Err(refused()),
    };
    if head.is_wildcard() {
        return Err(refused());
    }
    let first = (&*head.0 != "data").then(|| head.0.to_string());
    let rest = rest.iter().map(|segment| match &segment.value {
        TermValue::String(name) => Ok(name.to_string()),
        _ => Err(refused()),
    });
    first.into_iter().map(Ok).chain(rest).collect()
}

/// Formats a path below `data` as a reference: `data.a["b-c"]`.
pub(super) fn display(path: &[String]) -> String {
    let mut text = "data".to_owned();
    path.iter().for_each(|segment| push(&mut text, segment));
    text
}

/// Formats a path below `data` as in a package declaration: `a["b-c"]`. The empty one is `data`.
pub(super) fn package(path: &[String]) -> String {
    let Some((first, rest)) = path.split_first() else {
        return "data".to_owned();
    };
    let mut text = first.clone();
    rest.iter().for_each(|segment| push(&mut text, segment));
    text
}

fn push(text: &mut String, segment: &str) {
    if is_name(segment) {
        text.push('.');
        text.push_str(segment);
    } else {
        text.push('[');
        text.push_str(&serde_json::Value::from(segment).to_string());
        text.push(']');
    }
}

/// Whether a segment is a name that never needs quotes.
pub(super) fn is_name(segment: &str) -> bool {
    const KEYWORDS: &[&str] = &[
        "and", "as", "contains", "default", "else", "every", "false", "if", "import", "in", "not",
        "null", "or", "package", "some", "true", "with",
    ];
    let has_valid_start =
        segment.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let has_valid_characters = segment
        .chars()
        .all(|character| character.is_ascii_alphanumeric() || character == '_');
    has_valid_start && has_valid_characters && !KEYWORDS.contains(&segment)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::empty("", Ok("data"))]
    #[case::data("data", Ok("data"))]
    #[case::name("a", Ok("data.a"))]
    #[case::below_data("data.a.b", Ok("data.a.b"))]
    #[case::name_that_begins_with_data("database.x", Ok("data.database.x"))]
    #[case::bracket(r#"a["b-c"].d"#, Ok(r#"data.a["b-c"].d"#))]
    #[case::bracket_below_data(r#"data["b-c"]"#, Ok(r#"data["b-c"]"#))]
    #[case::keyword("a.if", Ok(r#"data.a["if"]"#))]
    #[case::slash("a/b", Err(()))]
    #[case::number_in_brackets("a[1]", Err(()))]
    #[case::variable_in_brackets("a[x]", Err(()))]
    #[case::wildcard("_", Err(()))]
    #[case::call("f(x)", Err(()))]
    #[case::not("not a", Err(()))]
    #[case::two_expressions("a; b", Err(()))]
    #[case::with("a with input as 1", Err(()))]
    #[case::array("[1][0]", Err(()))]
    #[case::string("\"a\"", Err(()))]
    #[case::open_end("a.", Err(()))]
    fn paths_are_references(#[case] text: &str, #[case] expected: Result<&str, ()>) {
        let read = parse(text).map(|path| display(&path)).map_err(drop);
        assert_eq!(read.as_deref(), expected.as_ref().copied());
    }
}
