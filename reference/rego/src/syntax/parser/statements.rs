//! Parsing of packages and imports, and their distinction from rules.

use thin_vec::thin_vec;

use super::Parser;
use crate::syntax::token::{Keywords, Token, is_keyword};
use crate::syntax::{Import, Location, Package, Ref, Term, TermValue, Var};

impl<'t> Parser<'t> {
    /// Reports a keyword that is used as the name of a rule. After `default` it always is;
    /// elsewhere the next token decides. Returns whether it is.
    pub(super) fn keyword_as_rule_name(&mut self, default: bool) -> bool {
        let keyword = self.token();
        let followers: &[Token] = match keyword {
            Token::Every | Token::If | Token::In | Token::Some | Token::As => &[
                Token::Assign,
                Token::Unify,
                Token::If,
                Token::Contains,
                Token::LeftParen,
            ],
            Token::Package | Token::Import => &[Token::Assign, Token::Unify, Token::LeftParen],
            Token::Not | Token::LogicalAnd | Token::LogicalOr => {
                &[Token::Assign, Token::Unify, Token::If, Token::Contains]
            }
            Token::Contains => &[Token::If, Token::Contains],
            _ => return false,
        };
        let here = self.here();
        if !default {
            let saved = self.save();
            self.scan();
            let next = self.token();
            self.restore(saved);
            if !followers.contains(&next) {
                return false;
            }
        }
        let message = format!("{} keyword cannot be used for rule name", keyword.name());
        self.error(&here, message);
        true
    }

    /// Skips `package` or `import`, unless it begins a reference.
    fn declaration_begins(&mut self) -> Option<()> {
        self.scan_whitespace();
        if matches!(self.token(), Token::Dot | Token::LeftBracket) {
            return None;
        }
        if self.token() == Token::Whitespace {
            self.scan();
        }
        if self.is_reference_keyword() {
            self.set_token(Token::Ident);
        }
        if self.token() != Token::Ident {
            self.unexpected();
            return None;
        }
        Some(())
    }

    /// Parses a package declaration; `None` without an error if the statement is something else.
    pub(super) fn package(&mut self) -> Option<Package> {
        let location = self.here();
        self.declaration_begins()?;
        let term = self.term()?;
        let steps = match term.value {
            TermValue::Var(_) => thin_vec![term],
            TermValue::Ref(steps) => steps,
            _ => {
                self.unexpected();
                return None;
            }
        };
        let mut path = Ref::with_capacity(steps.len() + 1);
        for (position, step) in steps.into_iter().enumerate() {
            let expected = match (position, &step.value) {
                (0, TermValue::Var(name)) => {
                    let value = TermValue::String(name.0.clone());
                    path.push(Term {
                        value: TermValue::Var(Var(self.name("data"))),
                        location: step.location.clone(),
                    });
                    path.push(Term { value, ..step });
                    continue;
                }
                (0, _) => "var",
                (_, TermValue::String(_)) => {
                    path.push(step);
                    continue;
                }
                _ => "string",
            };
            let found = step.value.kind();
            let message = format!("unexpected {found} token: expecting {expected}");
            self.error(&step.location, message);
            return None;
        }
        Some(Package { path, location })
    }

    /// Parses an import; `None` without an error if the statement is something else. Also returns
    /// the location of the alias.
    pub(super) fn import(&mut self) -> Option<(Import, Option<Location>)> {
        let location = self.here();
        self.declaration_begins()?;
        // The path may contain words that are keywords elsewhere.
        let keywords = std::mem::replace(&mut self.keywords, Keywords::IMPORT);
        let term = self.term();
        self.keywords = keywords;
        let path = match term {
            Some(Term {
                value: TermValue::Ref(steps),
                location,
            }) => {
                let is_name = |step: &&Term| matches!(step.value, TermValue::String(_));
                if let Some(step) = steps.iter().skip(1).find(|step| !is_name(step)) {
                    let kind = step.value.kind();
                    let message = format!("unexpected {kind} token: expecting string");
                    self.error(&step.location, message);
                    return None;
                }
                Term {
                    value: TermValue::Ref(steps),
                    location,
                }
            }
            Some(term) if matches!(term.value, TermValue::Var(_)) => Term {
                location: term.location.clone(),
                value: TermValue::Ref(thin_vec![term]),
            },
            _ => {
                self.error_here("expected path");
                return None;
            }
        };
        self.check_import_root(&path)?;
        if self.token() == Token::As {
            let (alias, at) = self.alias()?;
            let import = Import {
                path,
                alias: Some(alias),
                location,
            };
            return Some((import, Some(at)));
        }
        self.check_import_end(&path);
        let import = Import {
            path,
            alias: None,
            location,
        };
        Some((import, None))
    }

    fn check_import_root(&mut self, path: &Term) -> Option<()> {
        let TermValue::Ref(steps) = &path.value else {
            return None;
        };
        let first = steps.first()?;
        if let TermValue::Var(name) = &first.value
            && matches!(&*name.0, "data" | "input" | "future" | "rego")
        {
            return Some(());
        }
        self.hint("if this is unexpected, try updating OPA");
        let message = format!(
            "unexpected import path, must begin with one of: {{data, future, input, rego}}, got: {first}"
        );
        self.error(&path.location, message);
        None
    }

    fn alias(&mut self) -> Option<(Var, Location)> {
        self.scan();
        if self.token() != Token::Ident {
            self.unexpected_but("expected var");
            return None;
        }
        if let Some(term) = self.term() {
            match &term.value {
                TermValue::Var(name) => return Some((name.clone(), term.location.clone())),
                TermValue::Ref(steps) => {
                    if let [first] = steps.as_slice() {
                        let message = format!(
                            "unexpected import alias, must not be a reserved name, got: {first}"
                        );
                        self.error(&term.location, message);
                        return None;
                    }
                }
                _ => {}
            }
        }
        self.unexpected_but("expected var");
        None
    }

    /// Reports an error if the imported name is a keyword.
    fn check_import_end(&mut self, path: &Term) {
        let TermValue::Ref(steps) = &path.value else {
            return;
        };
        let (Some(first), Some(last)) = (steps.first(), steps.last()) else {
            return;
        };
        let name = match (&first.value, &last.value) {
            (TermValue::Var(root), TermValue::String(_)) if &*root.0 == "future" => return,
            (_, TermValue::String(name)) => name,
            (_, TermValue::Var(name)) => &name.0,
            _ => return,
        };
        if is_keyword(name, self.version) {
            self.hint("import a different path or use an alias");
            let message =
                format!("unexpected import path, must not end with a keyword, got: {name}");
            self.error(&last.location, message);
        }
    }

    /// Applies `import rego.v1` and `import future.keywords`.
    pub(super) fn apply_import(&mut self, import: &Import, alias: Option<&Location>) {
        let TermValue::Ref(steps) = &import.path.value else {
            return;
        };
        let mut names = steps.iter().map(|step| match &step.value {
            TermValue::Var(Var(name)) | TermValue::String(name) => &**name,
            _ => "",
        });
        match names.next() {
            Some("rego") => self.apply_rego_import(import, alias, &names.collect::<Vec<_>>()),
            Some("future") => self.apply_future_import(import, alias, &names.collect::<Vec<_>>()),
            _ => return,
        }
        // The token after the import was scanned before the keywords were enabled.
        if self.token() == Token::Ident {
            let token = self.keywords.classify(self.lexeme());
            self.set_token(token);
        }
    }

    fn apply_rego_import(&mut self, import: &Import, alias: Option<&Location>, path: &[&str]) {
        if !matches!(path, ["v1" | "v2"]) {
            let message = format!(
                "invalid import `{}`, must be one of: `rego.v1`, `rego.v2`",
                import.path
            );
            self.error(&import.path.location, message);
        } else if let Some(alias) = alias {
            self.error(alias, "`rego` imports cannot be aliased");
        } else if matches!(path, ["v2"]) {
            self.import_keywords(Keywords::ALL);
        } else {
            // Unlike `import future.keywords.not` this does not change what `not` can negate.
            self.keywords = self.keywords.with(Keywords::V1);
        }
    }

    fn apply_future_import(&mut self, import: &Import, alias: Option<&Location>, path: &[&str]) {
        let at = &import.path.location;
        if let (["keywords", ..], Some(alias)) = (path, alias) {
            return self.error(alias, "`future` imports cannot be aliased");
        }
        match path {
            ["keywords", keyword] => match Keywords::importable(keyword) {
                Some(keyword) => self.import_keywords(keyword),
                None => self.error(
                    at,
                    "unexpected keyword, must be one of [and contains every if in not or]",
                ),
            },
            ["keywords", ..] => self.import_keywords(Keywords::ALL),
            _ => self.error(at, "invalid import, must be `future.keywords`"),
        }
    }

    fn import_keywords(&mut self, keywords: Keywords) {
        self.keywords = self.keywords.with(keywords);
        self.negates_bodies |= keywords.has(Keywords::NOT);
    }
}
