//! Numbers, strings and template strings.

use thin_vec::ThinVec;

use super::Parser;
use crate::syntax::token::Token;
use crate::syntax::{Expr, ExprTerms, Template, Term, TermValue, Version};
use crate::value::Number;

/// Maximum number of binary digits of a number before the point, or of zeros after it.
const MAX_BINARY_EXPONENT: f64 = 1e5;

impl Parser<'_> {
    /// Parses a number, which may begin with `-` or `.`.
    pub(super) fn number(&mut self) -> Option<Term> {
        let location = self.here();
        let mut text = String::new();
        if self.token() == Token::Minus {
            text.push('-');
            self.scan();
            if !matches!(self.token(), Token::Number | Token::Dot) {
                self.unexpected_but("expected number");
                return None;
            }
        }
        let fraction = self.token() == Token::Dot;
        if fraction {
            text.push_str("0.");
            self.scan();
            if self.token() != Token::Number {
                self.unexpected_but("expected number");
                return None;
            }
        }
        let digits = self.lexeme();
        let after_zero = digits.strip_prefix('0').unwrap_or_default();
        let leading_zero = !matches!(
            after_zero.as_bytes(),
            [] | [b'.', ..] | [b'e' | b'E', _, ..]
        );
        if leading_zero && !fraction {
            self.unexpected_but("expected number without leading zero");
            return None;
        }
        text.push_str(digits);
        if binary_exponent(&text).abs() > MAX_BINARY_EXPONENT {
            self.error_here("number too big");
            return None;
        }
        let Some(number) = Number::parse(&text) else {
            self.unexpected_but("invalid float");
            return None;
        };
        Some(Term {
            value: TermValue::Number(number),
            location,
        })
    }

    /// Parses a string between quotes or backquotes.
    pub(super) fn string(&mut self) -> Option<Term> {
        let text = self.lexeme();
        let inner = between(text);
        let value = if text.starts_with('`') || !inner.contains('\\') {
            inner.into()
        } else if let Some(unescaped) = unescape(inner) {
            unescaped.into()
        } else {
            self.error_here(format!("illegal string literal: {text}"));
            return None;
        };
        Some(Term {
            value: TermValue::String(value),
            location: self.here(),
        })
    }

    /// Parses a template string and the expressions in it.
    pub(super) fn template(&mut self, multi_line: bool) -> Option<Term> {
        let (location, start) = (self.here(), self.offset());
        if self.version == Version::V0 {
            self.error_here("template strings are not supported by current capabilities");
            return None;
        }
        let mut template = Template {
            parts: ThinVec::new(),
            literal: Vec::new(),
            multi_line,
        };
        loop {
            let text = self.template_text(multi_line)?;
            if !text.is_empty() {
                template.push_term(Term {
                    value: TermValue::String(text.into()),
                    location: self.here(),
                });
            }
            if matches!(self.token(), Token::TemplateEnd | Token::RawTemplateEnd) {
                break;
            }
            let comments = self.comments.len();
            self.scan();
            let Some(expression) = self.literal() else {
                self.error_here("invalid template-string expression");
                return None;
            };
            if let Some(message) = refusal(&expression) {
                self.error(&expression.location, message);
                return None;
            }
            // A constant is never undefined, so it needs no expression.
            match expression {
                Expr {
                    terms: ExprTerms::Term(term),
                    ref with,
                    ..
                } if is_constant(&term) && with.is_empty() && comments == self.comments.len() => {
                    template.push_term(*term);
                }
                expression => {
                    template.parts.push(expression);
                    template.literal.push(false);
                }
            }
            if self.token() != Token::RightBrace {
                self.error_here("expected } to end template string expression");
                return None;
            }
            self.scan_template(multi_line);
            if self.token() == Token::Illegal {
                self.error_here("expected template-string part");
                return None;
            }
        }
        Some(Term {
            value: TermValue::Template(Box::new(template)),
            location: self.spanning(&location, start, self.state.lexeme.end),
        })
    }

    /// Returns the literal text of the token.
    fn template_text(&mut self, raw: bool) -> Option<String> {
        let token = self.lexeme();
        let text = token.strip_prefix('$').unwrap_or(token);
        // // The first part begins with a quote, the others after the brace, which they exclude.
        let inner = if text.len() < token.len() {
            between(text)
        } else {
            let mut rest = text.chars();
            rest.next_back();
            rest.as_str()
        };
        let inner = unbrace(inner, raw);
        if raw || !inner.contains('\\') {
            return Some(inner);
        }
        let unescaped = unescape(&inner);
        if unescaped.is_none() {
            let (open, close) = (
                if text.len() < token.len() { '"' } else { '}' },
                token.chars().next_back().unwrap_or('"'),
            );
            self.error_here(format!(
                "illegal template-string part: {open}{inner}{close}"
            ));
        }
        unescaped
    }
}

impl Template {
    fn push_term(&mut self, term: Term) {
        self.parts.push(Expr {
            location: term.location.clone(),
            terms: ExprTerms::Term(Box::new(term)),
            negated: false,
            with: ThinVec::new(),
            index: 0,
            generated: false,
            assigned: false,
        });
        self.literal.push(true);
    }
}

/// Returns the reason why an expression is not allowed in a template string.
fn refusal(expression: &Expr) -> Option<&'static str> {
    if expression.negated {
        return Some("unexpected negation ('not') in template-string expression");
    }
    match &expression.terms {
        ExprTerms::Call(terms) => match terms.first()?.value.global_name()? {
            "eq" => Some("unexpected unification ('=') in template-string expression"),
            "assign" => Some("unexpected assignment (':=') in template-string expression"),
            _ => None,
        },
        ExprTerms::Every(_) => Some("unexpected 'every' in template-string expression"),
        ExprTerms::Some(_) => Some("unexpected 'some' in template-string expression"),
        ExprTerms::Term(_) | ExprTerms::Logic(_) => None,
    }
}

fn is_constant(term: &Term) -> bool {
    term.value.is_scalar()
}

/// Returns the text without its first and last character.
fn between(text: &str) -> &str {
    let mut rest = text.chars();
    rest.next();
    rest.next_back();
    rest.as_str()
}

/// Replaces `\{` by `{`; other escapes are unchanged.
fn unbrace(text: &str, raw: bool) -> String {
    let mut unescaped = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            unescaped.push(c);
        } else if rest.peek() == Some(&'{') {
            rest.next();
            unescaped.push('{');
        } else {
            unescaped.push(c);
            if !raw {
                unescaped.extend(rest.next());
            }
        }
    }
    unescaped
}

/// Unescapes the contents of a JSON string. A lone surrogate becomes U+FFFD.
fn unescape(text: &str) -> Option<String> {
    let mut unescaped = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c < ' ' {
            return None;
        }
        if c != '\\' {
            unescaped.push(c);
            continue;
        }
        unescaped.push(match rest.next()? {
            c @ ('"' | '\\' | '/') => c,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => unicode(&mut rest)?,
            _ => return None,
        });
    }
    Some(unescaped)
}

/// Parses the digits after `\u`, and the next escape if the two form a surrogate pair.
fn unicode(rest: &mut std::str::Chars<'_>) -> Option<char> {
    let first = hex(rest)?;
    let mut ahead = rest.clone();
    if (0xd800..0xdc00).contains(&first) && ahead.next() == Some('\\') && ahead.next() == Some('u')
    {
        let second = hex(&mut ahead)?;
        if (0xdc00..0xe000).contains(&second) {
            *rest = ahead;
            return char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00));
        }
    }
    Some(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
}

fn hex(rest: &mut std::str::Chars<'_>) -> Option<u32> {
    (0..4).try_fold(0, |value, _| Some(value * 16 + rest.next()?.to_digit(16)?))
}

/// Returns the approximate number of binary digits before the point, or of zeros after it.
fn binary_exponent(text: &str) -> f64 {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: f64 = exponent.parse().unwrap_or(0.0);
    let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let integer = integer.trim_start_matches(['-', '0']);
    let leading_zeros = fraction.len() - fraction.trim_start_matches('0').len();
    // The number is a value from 0.1 to 1, times a power of ten.
    let digits = if !integer.is_empty() {
        integer.len() as f64
    } else if leading_zeros == fraction.len() {
        return 0.0;
    } else {
        -(leading_zeros as f64)
    };
    let leading: String = integer
        .chars()
        .chain(
            fraction
                .chars()
                .skip(if integer.is_empty() { leading_zeros } else { 0 }),
        )
        .take(15)
        .collect();
    let leading: f64 = format!("0.{leading}").parse().unwrap_or(1.0);
    (leading.log2() + (digits + exponent) * std::f64::consts::LOG2_10 + 1.0).floor()
}
