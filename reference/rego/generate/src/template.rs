//! Templates with placeholders.

use super::Choices;
use super::body::{body, closed};
use super::terms::{Kind, Scope, literal, term};

/// Fills the placeholders of a template. They consist of a mark and mostly the letter of a kind.
///
/// - `#n` is a term,
/// - `~n` a constant,
/// - `!n` a new variable, which is in scope in `@n` and `%` and after the template,
/// - `^1` the first variable that the template created, `^2` the second,
/// - `|#n|` a term without wildcards,
/// - `%` a body in braces or after the `|` of a comprehension,
/// - `@n` a term in whose scope the bindings of the template and its body are.
///
/// Bindings for `@` and `%` only are out of scope after the template. A doubled mark is literal.
pub(crate) fn expand(choices: &mut Choices<'_>, scope: &mut Scope, template: &str) -> String {
    let before = scope.in_braces;
    scope.in_braces |= template.contains('{') && !template.contains(['|', '%', '$']);
    let text = fill(choices, scope, template);
    scope.in_braces = before;
    text
}

fn fill(choices: &mut Choices<'_>, scope: &mut Scope, template: &str) -> String {
    let known = scope.variables.len();
    let begins = scope.begins;
    let mut new: Vec<(String, Kind)> = Vec::new();
    let mut pieces: Vec<String> = Vec::new();
    let mut later: Vec<(usize, Kind)> = Vec::new();
    let mut signs = template.chars().peekable();
    while let Some(sign) = signs.next() {
        if !"#~!^%@$".contains(sign) {
            pieces.push(sign.to_string());
            continue;
        }
        if signs.next_if_eq(&sign).is_some() {
            pieces.push(sign.to_string());
            continue;
        }
        if sign == '%' {
            scope.variables.append(&mut new.clone());
            scope.begins = true;
            let closed = std::mem::take(&mut scope.closed);
            let unmodified = std::mem::replace(&mut scope.unmodified, scope.query);
            let inside = scope.deeper(|scope| body(choices, scope, "; "));
            (scope.begins, scope.closed) = (begins, closed);
            scope.unmodified = unmodified;
            pieces.push(inside);
            later.push((usize::MAX, 'x'));
            continue;
        }
        let kind = signs.next_if(char::is_ascii_alphanumeric);
        let Some(kind) = kind else {
            pieces.push(sign.to_string());
            continue;
        };
        match sign {
            '#' => {
                let is_closed = pieces.last().is_some_and(|piece| piece == "|")
                    && signs.next_if_eq(&'|').is_some();
                let text = if is_closed {
                    pieces.pop();
                    closed(scope, |scope| term(choices, scope, kind))
                } else {
                    term(choices, scope, kind)
                };
                let has_parts = signs.peek() == Some(&'[') || template.contains("][");
                pieces.push(match is_refused(scope, &pieces, &text, has_parts) {
                    true => literal(choices, kind),
                    false => text,
                });
            }
            '~' => pieces.push(literal(choices, kind)),
            '!' => {
                let name = scope.fresh(choices);
                scope.begins = false;
                new.push((name.clone(), kind));
                pieces.push(name);
            }
            '^' => {
                let at = kind.to_digit(10).and_then(|at| usize::try_from(at).ok());
                let name = at.and_then(|at| new.get(at.saturating_sub(1)));
                pieces.push(name.map(|(name, _)| name.clone()).unwrap_or_default());
            }
            _ => {
                later.push((pieces.len(), kind));
                pieces.push(String::new());
            }
        }
    }
    if later.is_empty() {
        scope.variables.append(&mut new);
        return pieces.concat();
    }
    if !template.contains('%') {
        scope.variables.append(&mut new);
    }
    for (at, kind) in later {
        if let Some(piece) = pieces.get_mut(at) {
            *piece = term(choices, scope, kind);
        }
    }
    scope.variables.truncate(known);
    pieces.concat()
}

/// Whether a term is invalid, or invalid for OPA, after these pieces of source:
///
/// - A term in parentheses cannot be indexed.
/// - OPA reports the variables of a call or comprehension as unsafe if an object or set contains a
///   part of it.
/// - OPA does not resolve names in template strings in the steps of references.
/// - OPA does not find all members of a non-constant array or set literal there, and visits those
///   of an object in another order.
fn is_refused(scope: &Scope, before: &[String], text: &str, has_parts: bool) -> bool {
    let is_operation = text.starts_with('(') || scope.in_braces && text.contains(['(', '|']);
    let is_step = before.last().is_some_and(|piece| piece == "[");
    let is_domain = before.ends_with(&["i", "n", " "].map(str::to_owned));
    let is_written = text.starts_with(['{', '[']) && !is_comprehension(text);
    has_parts && is_operation
        || is_step && text.contains('$')
        || (is_domain || has_parts) && is_written
}

/// Whether the braces around a term enclose a comprehension, not members that contain one.
fn is_comprehension(text: &str) -> bool {
    let mut depth = 0_usize;
    text.chars().any(|sign| {
        match sign {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 1 && sign == '|'
    })
}
