//! One-line form of nodes for traces and error messages: operators are written as calls, wildcards
//! as `_`, sets and objects in order.

use std::fmt::{self, Display, Formatter};

use super::token::is_keyword;
use super::{
    Comprehension, Connective, Every, Expr, ExprTerms, Head, Import, Logic, Operand, Package, Rule,
    SomeDecl, Template, Term, TermValue, Var, Version, With,
};
use crate::types::signature;
use crate::value::quoted_bytes;

/// Formats a reference.
#[derive(Debug)]
pub struct Reference<'a>(pub &'a [Term]);

/// Formats a body.
#[derive(Debug)]
pub struct Conjunction<'a>(pub &'a [Expr]);

/// Formats items with a separator between them.
struct Joined<'a, T>(&'a [T], &'static str);

impl<T: Display> Display for Joined<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (position, item) in self.0.iter().enumerate() {
            if position > 0 {
                f.write_str(self.1)?;
            }
            item.fmt(f)?;
        }
        Ok(())
    }
}

impl Display for Var {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_wildcard() { "_" } else { &self.0 })
    }
}

impl Display for Term {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        super::deep(|| self.value.fmt(f))
    }
}

impl Display for TermValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => value.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::String(text) => write!(f, "\"{}\"", Quoted(text)),
            Self::Bytes(bytes) => f.write_str(&quoted_bytes(bytes.as_bytes())),
            Self::Var(name) => name.fmt(f),
            Self::Ref(steps) => Reference(steps).fmt(f),
            Self::Array(items) => write!(f, "[{}]", Joined(items, ", ")),
            Self::Object(members) => {
                f.write_str("{")?;
                for (position, (key, value)) in members.iter().enumerate() {
                    let comma = if position > 0 { ", " } else { "" };
                    write!(f, "{comma}{key}: {value}")?;
                }
                f.write_str("}")
            }
            Self::Set(members) if members.is_empty() => f.write_str("set()"),
            Self::Set(members) => write!(f, "{{{}}}", Joined(members, ", ")),
            Self::ArrayComprehension(parts) => write!(f, "[{parts}]"),
            Self::SetComprehension(parts) => write!(f, "{{{parts}}}"),
            Self::ObjectComprehension(parts) => write!(
                f,
                "{{{}: {} | {}}}",
                Collected(&parts.key),
                Collected(&parts.value),
                Conjunction(&parts.body)
            ),
            Self::Call(terms) => show_call(f, terms),
            Self::Template(template) => template.fmt(f),
        }
    }
}

impl Display for Comprehension {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} | {}", Collected(&self.term), Conjunction(&self.body))
    }
}

fn show_call(f: &mut Formatter<'_>, terms: &[Term]) -> fmt::Result {
    match terms {
        [operator, operands @ ..] => write!(f, "{operator}({})", Joined(operands, ", ")),
        [] => Ok(()),
    }
}

/// Formats the term before the bar of a comprehension, in which a union needs parentheses: its
/// operator is a bar, too.
struct Collected<'a>(&'a Term);

impl Display for Collected<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let TermValue::Call(terms) = &self.0.value
            && let [operator, left, right] = terms.as_slice()
            && let Some(infix) = signature(&operator.to_string()).and_then(|of| of.infix)
            && infix != "in"
        {
            return write!(f, "({} {infix} {})", Collected(left), Collected(right));
        }
        self.0.fmt(f)
    }
}

impl Display for Reference<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Some((head, steps)) = self.0.split_first() else {
            return Ok(());
        };
        match &head.value {
            TermValue::String(name) => f.write_str(name)?,
            other => other.fmt(f)?,
        }
        for step in steps {
            match &step.value {
                TermValue::String(name) if is_name(name) && !is_keyword(name, Version::V1) => {
                    write!(f, ".{name}")?;
                }
                TermValue::String(name)
                    if !name.contains(|c: char| c.is_control() || c == '\\') =>
                {
                    write!(f, "[\"{name}\"]")?;
                }
                other => write!(f, "[{other}]")?,
            }
        }
        Ok(())
    }
}

/// Whether a string can be written as a name.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

impl Display for Template {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("$\"")?;
        for (part, literal) in self.parts.iter().zip(&self.literal) {
            match &part.terms {
                ExprTerms::Term(term) if *literal => match &term.value {
                    TermValue::String(text) => show_template_text(f, text)?,
                    other => other.fmt(f)?,
                },
                _ => write!(f, "{{{part}}}")?,
            }
        }
        f.write_str("\"")
    }
}

fn show_template_text(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    let mut escaped = false;
    for c in Quoted(text).to_string().chars() {
        if c == '{' && !escaped {
            f.write_str("\\")?;
        }
        write!(f, "{c}")?;
        escaped = c == '\\';
    }
    Ok(())
}

/// Formats the contents of a quoted string.
struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut start = 0;
        for (position, c) in self.0.char_indices() {
            if matches!(c, ' ' | '!' | '#'..='[' | ']'..='~') {
                continue;
            }
            let escape = match c {
                '"' => "\\\"".to_owned(),
                '\\' => "\\\\".to_owned(),
                '\u{7}' => "\\a".to_owned(),
                '\u{8}' => "\\b".to_owned(),
                '\t' => "\\t".to_owned(),
                '\n' => "\\n".to_owned(),
                '\u{b}' => "\\v".to_owned(),
                '\u{c}' => "\\f".to_owned(),
                '\r' => "\\r".to_owned(),
                c if c.is_ascii() => format!("\\x{:02x}", u32::from(c)),
                c if is_printable(c) => continue,
                c if u32::from(c) < 0x10000 => format!("\\u{:04x}", u32::from(c)),
                c => format!("\\U{:08x}", u32::from(c)),
            };
            f.write_str(self.0.get(start..position).unwrap_or_default())?;
            f.write_str(&escape)?;
            start = position + c.len_utf8();
        }
        f.write_str(self.0.get(start..).unwrap_or_default())
    }
}

/// Whether a non-ASCII character is printable.
fn is_printable(c: char) -> bool {
    // A combining mark is escaped only at the beginning.
    let mut buffer = [b'a'; 5];
    let length = match buffer.get_mut(1..) {
        Some(rest) => c.encode_utf8(rest).len(),
        None => return false,
    };
    let text = buffer.get(..=length).map(std::str::from_utf8);
    matches!(text, Some(Ok(text)) if text.escape_debug().nth(1) != Some('\\'))
}

impl Display for Conjunction<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Joined(self.0, "; ").fmt(f)
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.negated {
            f.write_str("not ")?;
        }
        match &self.terms {
            ExprTerms::Term(term) => term.fmt(f)?,
            ExprTerms::Call(terms) => match terms.as_slice() {
                [operator, left, right] if operator.value.global_name() == Some("eq") => {
                    write!(f, "{left} = {right}")?;
                }
                terms => show_call(f, terms)?,
            },
            ExprTerms::Some(declaration) => declaration.fmt(f)?,
            ExprTerms::Every(every) => every.fmt(f)?,
            ExprTerms::Logic(logic) => {
                stacker::maybe_grow(64 * 1024, 1024 * 1024, || logic.fmt(f))?
            }
        }
        self.with.iter().try_for_each(|with| write!(f, " {with}"))
    }
}

impl Display for SomeDecl {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("some ")?;
        if let [only] = self.symbols.as_slice()
            && let TermValue::Call(call) = &only.value
        {
            match call.as_slice() {
                [_, value, domain] => return write!(f, "{value} in {domain}"),
                [_, key, value, domain] => return write!(f, "{key}, {value} in {domain}"),
                _ => {}
            }
        }
        Joined(&self.symbols, ", ").fmt(f)
    }
}

impl Display for Every {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("every ")?;
        if let Some(key) = &self.key {
            write!(f, "{key}, ")?;
        }
        let body = Conjunction(&self.body);
        write!(f, "{} in {} {{ {body} }}", self.value, self.domain)
    }
}

impl Display for Logic {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let name = self.connective.name();
        match self.operands.as_slice() {
            [negated] => {
                write!(f, "{name} ")?;
                match negated.alone() {
                    None => write!(f, "{{{}}}", Conjunction(&negated.body)),
                    Some(only) => Bracketed(only, only.hides_negation()).fmt(f),
                }
            }
            operands => {
                for (position, operand) in operands.iter().enumerate() {
                    if position > 0 {
                        write!(f, " {name} ")?;
                    }
                    match operand.alone() {
                        None => write!(f, "{{ {} }}", Conjunction(&operand.body))?,
                        Some(only) => {
                            let needed = only.hides_operand(self.connective, position > 0);
                            Bracketed(only, needed).fmt(f)?;
                        }
                    }
                }
                Ok(())
            }
        }
    }
}

/// Formats an expression, in parentheses if the flag is true.
struct Bracketed<'a>(&'a Expr, bool);

impl Display for Bracketed<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.1 {
            write!(f, "({})", self.0)
        } else {
            self.0.fmt(f)
        }
    }
}

impl Operand {
    /// Returns the only expression of a body that was written without braces.
    fn alone(&self) -> Option<&Expr> {
        match self.body.as_slice() {
            [only] if !self.explicit => Some(only),
            _ => None,
        }
    }
}

impl Expr {
    /// Whether a `not` that precedes the body would apply to something else.
    fn hides_negation(&self) -> bool {
        match &self.terms {
            _ if !self.with.is_empty() => true,
            ExprTerms::Logic(_) => true,
            ExprTerms::Term(term) => begins_with_brace(term),
            _ => false,
        }
    }

    /// Whether the body would not be parsed as the operand of a connective on this side.
    fn hides_operand(&self, of: Connective, is_right: bool) -> bool {
        match &self.terms {
            _ if !self.with.is_empty() => true,
            ExprTerms::Logic(logic) => match logic.connective {
                Connective::Not => false,
                Connective::And => of == Connective::And && is_right,
                Connective::Or => of == Connective::And || is_right,
            },
            ExprTerms::Term(term) => begins_with_brace(term),
            _ => false,
        }
    }
}

/// Whether a term begins with a brace, which would open a body.
fn begins_with_brace(term: &Term) -> bool {
    match &term.value {
        TermValue::Set(members) => !members.is_empty(),
        TermValue::Object(_)
        | TermValue::SetComprehension(_)
        | TermValue::ObjectComprehension(_) => true,
        TermValue::Ref(steps) => steps.first().is_some_and(begins_with_brace),
        _ => false,
    }
}

impl Display for With {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "with {} as {}", self.target, self.value)
    }
}

impl Display for Package {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let below_data = self.path.get(1..).unwrap_or_default();
        write!(f, "package {}", Reference(below_data))
    }
}

impl Display for Import {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "import {}", self.path)?;
        match &self.alias {
            Some(alias) => write!(f, " as {alias}"),
            None => Ok(()),
        }
    }
}

impl Display for Head {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Reference(&self.reference).fmt(f)?;
        let mut contains = self.key.as_ref();
        if !self.args.is_empty() {
            write!(f, "({})", Joined(&self.args, ", "))?;
            contains = None;
        } else if self.reference.len() > 1 && self.value.is_some() {
            contains = None;
        }
        if let Some(member) = contains {
            write!(f, " contains {member}")?;
        }
        match &self.value {
            Some(value) if self.assign => write!(f, " := {value}"),
            Some(value) => write!(f, " = {value}"),
            None => Ok(()),
        }
    }
}

impl Display for Rule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.default {
            return write!(f, "default {}", self.head);
        }
        write!(f, "{} if {{ {} }}", self.head, Conjunction(&self.body))?;
        let mut branch = self.else_rule.as_deref();
        while let Some(rule) = branch {
            f.write_str(" else ")?;
            if let Some(value) = &rule.head.value {
                write!(f, "= {value}")?;
            }
            write!(f, " if {{ {} }}", Conjunction(&rule.body))?;
            branch = rule.else_rule.as_deref();
        }
        Ok(())
    }
}
