//! Trace events as text: location, indentation by query, event.

use std::fmt::Write as _;

use super::{Event, Node, Op};
use crate::hash::HashMap;
use crate::syntax::format::{Conjunction, Reference};
use crate::syntax::terms::constant;
use crate::syntax::visit::{Rewrite, rewrite_body, rewrite_expr};
use crate::syntax::{Expr, ExprTerms, FileId, Term, TermValue, Var};

/// Number of spaces after the longest location.
const PADDING: usize = 5;

/// Text of an event, without indentation.
#[derive(Debug)]
pub(super) struct Line {
    file: FileId,
    row: u32,
    /// Whether the event belongs to an expression of the query, rather than to the query itself.
    inner: bool,
    text: String,
}

impl Line {
    /// Formats an event, with source names of variables.
    pub(super) fn of(event: &Event<'_>) -> Self {
        let inner = match event.op {
            Op::Enter => false,
            Op::Redo => matches!(event.node, Node::Expr(_)),
            _ => true,
        };
        Self {
            file: event.location.file.clone(),
            row: event.location.row,
            inner,
            text: text(event),
        }
    }

    fn place(&self) -> String {
        let file = if self.file.is_empty() {
            "query"
        } else {
            &*self.file
        };
        format!("{file}:{}", self.row)
    }
}

/// Adds locations and indentation to lines, each with the ids of its query and parent query.
pub(super) fn show(lines: &[(u64, u64, &Line)]) -> Vec<String> {
    let width = lines.iter().map(|(_, _, line)| line.place().len()).max();
    let width = width.unwrap_or(0) + PADDING;
    let mut depths: HashMap<u64, usize> = HashMap::default();
    let mut rows = Vec::with_capacity(lines.len());
    for (query, parent, line) in lines {
        let around = depths.get(parent).copied().unwrap_or(0);
        let depth = *depths.entry(*query).or_insert(around + 1);
        let bars = if line.inner { depth } else { depth - 1 };
        // A message with line breaks takes several lines, and only the first one is indented.
        let text = format!("{:width$}{}{}", line.place(), "| ".repeat(bars), line.text);
        rows.extend(text.split('\n').map(str::to_owned));
    }
    if rows.is_empty() {
        rows.push(String::new());
    }
    rows
}

fn text(event: &Event<'_>) -> String {
    let mut text = format!("{} ", event.op.name());
    if event.op == Op::Note {
        text.push('"');
        text.push_str(event.message);
        text.push('"');
        return text;
    }
    // Writing to a string cannot fail.
    let _ = match (event.node, event.reference) {
        (Node::Rule(_), Some(reference)) => {
            write!(text, "{}", Reference(constant_prefix(reference)))
        }
        (_, Some(reference)) => write!(text, "{}", Reference(reference)),
        (Node::Rule(rule), None) => write!(text, "{}", rule.head),
        (Node::Body(body), None) => {
            let mut body = body.clone();
            rewrite_body(&mut body, &mut Names(event));
            write!(text, "{}", Conjunction(&body))
        }
        (Node::Expr(expr), None) => write!(text, "{}", renamed(expr, event)),
        (Node::None, None) => Ok(()),
    };
    if !event.message.is_empty() {
        text.push(' ');
        text.push_str(event.message);
    }
    text
}

/// Returns the constant leading steps of a reference.
fn constant_prefix(reference: &[Term]) -> &[Term] {
    let steps = reference.iter().skip(1);
    let length = 1 + steps.take_while(|step| constant(step).is_some()).count();
    reference.get(..length).unwrap_or(reference)
}

fn renamed(expr: &Expr, event: &Event<'_>) -> Expr {
    let mut expr = expr.clone();
    if let ExprTerms::Every(every) = &mut expr.terms {
        // A generated index has no source name.
        let unnamed = |key: &Term| match &key.value {
            TermValue::Var(name) => (event.written)(name).is_none_or(|name| name.is_generated()),
            _ => false,
        };
        every.key = every.key.take().filter(|key| !unnamed(key));
    }
    rewrite_expr(&mut expr, &mut Names(event));
    expr
}

/// Replaces generated variables by their source names.
struct Names<'a, 'e>(&'a Event<'e>);

impl Rewrite for Names<'_, '_> {
    fn term(&mut self, term: &mut Term) -> bool {
        if let TermValue::Var(name) = &term.value
            && let Some(written) = (self.0.written)(name)
        {
            term.value = TermValue::Var(Var(written.0));
        }
        true
    }
}
