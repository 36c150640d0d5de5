//! Documentation page about built-in functions.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;

use super::differences::Known;
use crate::{report, root};

/// Path of the page, relative to the root of the workspace.
const PAGE: &str = "docs/builtins.md";

const INTRODUCTION: &str = "\
# Built-in functions

Every built-in function of OPA 1.22, with the cost of a call, the limits beyond which a call fails, \
and the calls that answer otherwise than OPA's. `cargo xtask builtins` generates calls from OPA's own \
declarations and the grammars of the languages that functions read, and compares value, absence of a \
value, and error code and message with the real OPA; `--bless` writes this page.

- [Differences](#differences)
- [Limits](#limits)
- [Functions](#functions)

A call that fails is undefined, or the error `eval_builtin_error` or `eval_type_error` where \
`strict-builtin-errors` is set.
";

const COSTS: &str = "\
Costs are charged to the evaluation, which ends at [its limits](limits.md#requests):

- *linear*: in the operands and the result, charged before the call
- *product of the sizes*: of the operands, charged before the call
- *match*: a pattern is matched against a text, in time linear in both
- *stepping*: not bounded by the operands; charged step by step, and ended at any step
- *bounded before the call*: operands are charged for what they unfold to, and whatever is not linear \
in that is bounded; the call itself is not interrupted
- *outside*: depends on something outside of the evaluation, such as the network
";

/// Writes the page with the known differences.
///
/// # Errors
/// When the file cannot be written.
pub(super) fn write(known: &Known) -> Result<(), Box<dyn Error>> {
    fs::write(root().join(PAGE), page(known)?)?;
    report("wrote", PAGE);
    Ok(())
}

fn page(known: &Known) -> Result<String, Box<dyn Error>> {
    let mut page = INTRODUCTION.to_owned();
    page.push_str("\n## Differences\n\n| Functions | Difference |\n|---|---|\n");
    for (functions, reason) in known.listed() {
        let functions = match functions {
            [] => "all".to_owned(),
            functions => names(functions),
        };
        writeln!(page, "| {functions} | {reason} |")?;
    }
    page.push_str("\n## Limits\n\n| Functions | What is limited | The most |\n|---|---|---|\n");
    for limit in rego::builtin_limits() {
        let (functions, subject, most) = (names(limit.functions), limit.subject, limit.most);
        writeln!(page, "| {functions} | {subject} | {most} |")?;
    }
    write!(page, "\n## Functions\n\n{COSTS}\n")?;
    page.push_str("| Function | Operands and result | Cost |\n|---|---|---|\n");
    for function in rego::builtins() {
        let (name, declaration, cost) = (function.name, function.declaration, function.cost);
        writeln!(page, "| `{name}` | `{declaration}` | {cost} |")?;
    }
    Ok(page)
}

/// Formats function names for the page. A name that ends in a dot is a prefix.
fn names(functions: &[impl AsRef<str>]) -> String {
    let formatted = functions.iter().map(|name| match name.as_ref() {
        name if name.ends_with('.') => format!("`{name}*`"),
        name => format!("`{name}`"),
    });
    formatted.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_that_of_the_functions() -> Result<(), Box<dyn Error>> {
        let expected = page(&Known::read()?)?;
        let written = fs::read_to_string(root().join(PAGE))?;
        assert!(
            written == expected,
            "`cargo xtask builtins --bless` writes {PAGE}"
        );
        Ok(())
    }
}
