//! Rendering of strings from servers on a page or terminal.

use maud::{Markup, html};
use serde_json::Value;

pub(in crate::report) use crate::visible::visible;

/// Converts a page to the contents of a file. Invisible characters in text are escaped where it is
/// inserted, those in attributes here.
pub(super) fn written(page: Markup) -> String {
    visible(&page.into_string())
}

/// Truncates a string to `most` characters; also returns the number of omitted ones.
pub(super) fn cut(text: &str, most: usize) -> (&str, usize) {
    match text.char_indices().nth(most) {
        Some((end, _)) => text
            .split_at_checked(end)
            .map_or((text, 0), |(head, rest)| (head, rest.chars().count())),
        None => (text, 0),
    }
}

/// Renders at most `most` characters of a server's string, inside a line or a block of code.
pub(super) fn truncated(text: &str, most: usize) -> Markup {
    let (text, left_out) = cut(text, most);
    html! {
        (visible(text))
        @if left_out > 0 { span.cut { "… " (left_out) " more characters" } }
    }
}

/// Renders prose of a clause, with parts between backticks as code.
pub(super) fn prose(text: &str) -> Markup {
    // An unpaired backtick is literal.
    let paired = text.matches('`').count() / 2 * 2;
    let parts = text.splitn(paired + 1, '`').enumerate();
    html! {
        @for (index, part) in parts {
            @if index % 2 == 1 { code { (visible(part)) } } @else { (visible(part)) }
        }
    }
}

/// Pretty-prints a string that is JSON; returns others unchanged.
pub(super) fn pretty_json(text: &str) -> String {
    let looks_like_json = text.trim_start().starts_with(['{', '[']);
    let value = looks_like_json
        .then(|| serde_json::from_str::<Value>(text).ok())
        .flatten();
    let pretty = value.and_then(|value| serde_json::to_string_pretty(&value).ok());
    pretty.unwrap_or_else(|| text.to_owned())
}

/// Renders both sides of a difference, each with the part between their common prefix and suffix
/// highlighted.
pub(super) fn highlight(expected: &str, got: &str) -> (Markup, Markup) {
    let same = |pair: &(char, char)| pair.0 == pair.1;
    let before = expected.chars().zip(got.chars()).take_while(same).count();
    let max_suffix = expected.chars().count().min(got.chars().count()) - before;
    let ends = expected.chars().rev().zip(got.chars().rev());
    let after = ends.take(max_suffix).take_while(same).count();
    let side = |text: &str| {
        let end = text.chars().count() - after;
        let part = |from: usize, to: usize| -> String {
            visible(
                &text
                    .chars()
                    .skip(from)
                    .take(to.saturating_sub(from))
                    .collect::<String>(),
            )
        };
        html! { (part(0, before)) mark { (part(before, end)) } (part(end, usize::MAX)) }
    };
    // Sides with almost nothing in common are better read without marks.
    if before + after < 4 {
        return (html! { (visible(expected)) }, html! { (visible(got)) });
    }
    (side(expected), side(got))
}
