//! Rules with bodies, `default` rules, and `else` branches.

use super::Parser;
use super::expressions::{append, generated_body};
use super::heads::ParsedHead;
use super::relocate::{relocate_body, relocate_head};
use crate::syntax::token::Token;
use crate::syntax::{Body, Head, Location, Rule, Term, TermValue, Var};

/// Maximum number of bytes of heads that chained bodies of one rule copy.
const MAX_COPIED_HEADS: usize = 4 * 1024 * 1024;

/// Details of the source of a rule that the syntax tree does not contain.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RuleSyntax {
    pub(super) if_keyword: bool,
    pub(super) contains: bool,
    pub(super) generated_body: bool,
}

/// A parsed rule, and the details of the source of the rule and its `else` branches.
#[derive(Debug)]
pub(super) struct ParsedRule {
    pub(super) rule: Rule,
    pub(super) syntax: Vec<RuleSyntax>,
}

impl Parser<'_> {
    /// Parses a rule that has a body, uses `contains` or is a default; several rules if bodies are
    /// chained. `None` without an error for another statement, such as `p := 1`.
    pub(super) fn rules(&mut self) -> Option<Vec<ParsedRule>> {
        let (location, start) = (self.here(), self.offset());
        self.reference_ahead();
        let default = self.token() == Token::Default;
        if default {
            self.scan();
            self.reference_ahead();
        }
        if self.token() != Token::Ident {
            if default {
                self.keyword_as_rule_name(true);
            }
            return None;
        }
        let ParsedHead { mut head, contains } = self.head(default)?;
        if default {
            return self.default_rule(head, location, start);
        }
        let if_keyword = self.token() == Token::If;
        if !contains {
            complete_head(&mut head, if_keyword)?;
        }
        let mut syntax = RuleSyntax {
            if_keyword,
            contains,
            generated_body: false,
        };
        let body = if if_keyword {
            self.scan();
            self.body_after_if()?
        } else if self.token() == Token::LeftBrace {
            self.braced_body()?
        } else if contains {
            syntax.generated_body = true;
            let body = generated_body(&location);
            let location = head.location.clone();
            let rule = rule(head, body, location);
            return Some(vec![ParsedRule {
                rule,
                syntax: vec![syntax],
            }]);
        } else {
            return None;
        };
        let mut rule = rule(head, body, location);
        let mut all = vec![syntax];
        if self.token() == Token::Else && !self.reference_ahead() {
            rule.else_rule = Some(Box::new(self.first_else(&rule.head, &mut all)?));
        }
        rule.location = self.until_last(&rule.location, start);
        self.chained(ParsedRule { rule, syntax: all })
    }

    fn default_rule(
        &mut self,
        head: Head,
        location: Location,
        start: usize,
    ) -> Option<Vec<ParsedRule>> {
        let location = self.until_last(&location, start);
        let mut rule = rule(head, generated_body(&location), location);
        rule.default = true;
        if !self.check_default(&rule) {
            return None;
        }
        Some(vec![ParsedRule {
            rule,
            syntax: vec![RuleSyntax::default()],
        }])
    }

    /// Parses the rest after `if`: an expression, or a body in braces.
    fn body_after_if(&mut self) -> Option<Body> {
        let braced = self.token() == Token::LeftBrace;
        let saved = self.save();
        if let Some(expression) = self.literal() {
            // `{ true }` is not a set of one member here, which could never be false.
            if !(braced && expression.is_set()) {
                let mut body = Body::new();
                append(&mut body, expression);
                return Some(body);
            }
        }
        if !braced {
            return None;
        }
        self.restore(saved);
        self.braced_body()
    }

    fn braced_body(&mut self) -> Option<Body> {
        self.scan();
        let body = self.nested_body(Token::RightBrace, false)?;
        self.scan();
        Some(body)
    }

    /// Parses further bodies of a rule, each of which yields a rule with the same head.
    fn chained(&mut self, first: ParsedRule) -> Option<Vec<ParsedRule>> {
        let mut rules = vec![first];
        let mut copied = 0;
        while self.token() == Token::LeftBrace {
            let ParsedRule {
                rule: model,
                syntax,
            } = rules.first()?;
            if model.else_rule.is_some() {
                self.error_here("expected else keyword");
                return None;
            }
            copied += model.head.location.length as usize;
            let (mut head, syntax) = (model.head.clone(), syntax.clone());
            if copied > MAX_COPIED_HEADS {
                self.error_here("too many bodies for one rule head");
                return None;
            }
            let (location, start) = (self.here(), self.offset());
            let body = self.braced_body()?;
            let location = self.until_last(&location, start);
            self.rename_wildcards(&mut head.args);
            relocate_head(&mut head, &location);
            rules.push(ParsedRule {
                rule: rule(head, body, location),
                syntax,
            });
        }
        Some(rules)
    }

    /// Gives new names to the wildcards among copied parameters.
    fn rename_wildcards(&mut self, args: &mut [Term]) {
        for arg in args {
            if let TermValue::Var(name) = &arg.value
                && name.is_wildcard()
            {
                arg.value = TermValue::Var(self.wildcard());
            }
        }
    }

    fn first_else(&mut self, head: &Head, syntax: &mut Vec<RuleSyntax>) -> Option<Rule> {
        let variables = !head.reference.iter().skip(1).all(Term::is_ground);
        if head.reference.len() > 1 && variables {
            self.error_here("else keyword cannot be used on rules with variables in head");
            return None;
        }
        if head.key.is_some() {
            self.error_here("else keyword cannot be used on multi-value rules");
            return None;
        }
        self.else_rule(head, syntax)
    }

    fn else_rule(&mut self, first: &Head, syntax: &mut Vec<RuleSyntax>) -> Option<Rule> {
        self.nested(|parser| parser.else_here(first, syntax))
    }

    fn else_here(&mut self, first: &Head, syntax: &mut Vec<RuleSyntax>) -> Option<Rule> {
        let (location, start) = (self.here(), self.offset());
        let mut head = first.clone();
        head.value_generated = false;
        head.location = location.clone();
        self.rename_wildcards(&mut head.args);
        self.scan();
        match self.token() {
            Token::LeftBrace | Token::If => head.set_true(),
            Token::Assign | Token::Unify => {
                head.assign = self.token() == Token::Assign;
                self.scan();
                head.value = Some(self.infix()?);
                head.location = self.until_last(&location, start);
            }
            _ => {
                self.unexpected_but("expected else value term or rule body");
                return None;
            }
        }
        let if_keyword = self.token() == Token::If;
        if !if_keyword && self.token() != Token::LeftBrace {
            syntax.push(RuleSyntax {
                generated_body: true,
                ..RuleSyntax::default()
            });
            let location = self.until_last(&location, start);
            return Some(rule(head, generated_body(&location), location));
        }
        syntax.push(RuleSyntax {
            if_keyword,
            ..RuleSyntax::default()
        });
        if if_keyword {
            self.scan();
        }
        let body = self.else_body(&location)?;
        let mut rule = rule(head, body, self.until_last(&location, start));
        if self.token() == Token::Else {
            rule.else_rule = Some(Box::new(self.else_rule(first, syntax)?));
            rule.location = self.until_last(&location, start);
        }
        Some(rule)
    }

    fn else_body(&mut self, location: &Location) -> Option<Body> {
        match self.token() {
            Token::LeftBrace => self.braced_body(),
            Token::Eof => {
                self.unexpected_but("rule body expected");
                None
            }
            _ => {
                let mut body = Body::new();
                append(&mut body, self.literal()?);
                relocate_body(&mut body, location);
                Some(body)
            }
        }
    }

    fn check_default(&mut self, rule: &Rule) -> bool {
        let mut messages = Vec::new();
        match &rule.head.value {
            None => messages.push("illegal default rule (must have a value)".to_owned()),
            Some(value) => check_default_value(value, &mut messages),
        }
        if messages.is_empty() {
            let mut names: Vec<&Var> = Vec::new();
            for arg in &rule.head.args {
                match &arg.value {
                    TermValue::Var(name) if names.contains(&name) => messages.push(format!(
                        "illegal default rule (arguments cannot be repeated {name})"
                    )),
                    TermValue::Var(name) => names.push(name),
                    other => messages.push(format!(
                        "illegal default rule (arguments cannot contain {})",
                        other.kind()
                    )),
                }
            }
        }
        let is_valid = messages.is_empty();
        for message in messages {
            self.error(&rule.location, message);
        }
        is_valid
    }
}

fn rule(head: Head, body: Body, location: Location) -> Rule {
    Rule {
        default: false,
        head,
        body,
        else_rule: None,
        annotations: Vec::new(),
        location,
    }
}

/// Determines the kind of `p[x]`: with `if` a rule with a value for each `x`, else a set as in v0.
fn complete_head(head: &mut Head, if_keyword: bool) -> Option<()> {
    if head.reference.len() != 2 {
        return Some(());
    }
    let step = head.reference.get(1)?.clone();
    if if_keyword {
        let dynamic = !step.is_ground() || matches!(step.value, TermValue::Ref(_));
        if dynamic && head.args.is_empty() {
            head.key = Some(step);
        }
        if head.value.is_none() {
            head.set_true();
        } else {
            head.name = Some(head.first_name()?);
        }
    } else if head.args.is_empty() {
        head.name = Some(head.first_name()?);
        head.key = Some(step);
        if head.value.is_none() {
            head.reference.truncate(1);
        }
    }
    Some(())
}

/// Collects reasons why a term cannot be the value of a default rule, except in comprehensions.
fn check_default_value(term: &Term, messages: &mut Vec<String>) {
    match &term.value {
        TermValue::Var(_) | TermValue::Ref(_) | TermValue::Call(_) => messages.push(format!(
            "illegal default rule (value cannot contain {})",
            term.value.kind()
        )),
        TermValue::Array(terms) | TermValue::Set(terms) => {
            for term in terms {
                check_default_value(term, messages);
            }
        }
        TermValue::Object(members) => {
            for (key, value) in members {
                check_default_value(key, messages);
                check_default_value(value, messages);
            }
        }
        _ => {}
    }
}
