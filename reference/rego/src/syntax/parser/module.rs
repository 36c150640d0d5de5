//! Modules and queries.

use thin_vec::ThinVec;

use super::bare::bare_rule;
use super::expressions::append;
use super::rules::{ParsedRule, RuleSyntax};
use super::{Location, Parser, Token};
use crate::Errors;
use crate::error::{Code, LanguageError};
use crate::syntax::{
    Body, ExprTerms, FileId, Import, Module, Package, Rule, TermValue, Version, annotations,
};

/// Statement of a module's source.
enum Statement {
    Package(Package),
    Import(Import),
    Rule(Box<ParsedRule>),
    Body(Body),
}

/// Parses a module of Rego v1. An empty source is one error, `empty module`, in row 0.
pub fn parse_module(file: &str, text: &str) -> Result<Module, Errors> {
    parse_module_as(file, text, Version::V1)
}

/// Parses a module of a given version. An empty source is one error, `empty module`, in row 0.
pub fn parse_module_as(file: &str, text: &str, version: Version) -> Result<Module, Errors> {
    let file = FileId::from(file);
    let mut parser = Parser::new(&file, text, version);
    let statements = parser.statements(true);
    let mut errors = parser.take_errors();
    let blocks = annotations::read(&parser.comments, &mut errors, text);
    if !errors.is_empty() {
        return Err(Errors(errors));
    }
    let mut statements = statements.into_iter();
    let first = statements.next();
    if first.is_none() && blocks.is_empty() {
        let nowhere = Location {
            file,
            row: 0,
            col: 0,
            offset: 0,
            length: 0,
        };
        return Err(Errors(vec![parse_error(&nowhere, "empty module")]));
    }
    let (package, first) = match first {
        Some(Statement::Package(package)) => (Some(package), None),
        first => {
            let location = match &first {
                Some(statement) => Some(statement.location()),
                None => blocks.first().map(|block| block.location.clone()),
            };
            errors.extend(location.map(|location| parse_error(&location, "package expected")));
            (None, first)
        }
    };
    // A first statement that is not a package has been reported as such.
    drop(first);
    let mut module = Module {
        file,
        text: text.into(),
        read_as: version,
        version,
        package: package.unwrap_or_else(|| Package {
            path: ThinVec::new(),
            location: parser.here(),
        }),
        imports: Vec::new(),
        rules: Vec::with_capacity(statements.len()),
        annotations: Vec::new(),
        comments: std::mem::take(&mut parser.comments),
    };
    let mut refused = Vec::new();
    let mut statements = statements.peekable();
    while let Some(statement) = statements.next() {
        match statement {
            Statement::Package(package) => {
                errors.push(parse_error(&package.location, "unexpected package"));
            }
            Statement::Import(import) => {
                if imports_version(&import) {
                    module.version = Version::V1;
                }
                module.imports.push(import);
            }
            Statement::Rule(read) => {
                check(&read.rule, &read.syntax, &mut refused);
                module.rules.push(read.rule);
            }
            Statement::Body(body) => {
                let location = body.first().map(|first| first.location.clone());
                let hint = match module.version {
                    Version::V0 => missing_keyword(&body, statements.peek()),
                    Version::V1 => None,
                };
                match bare_rule(body) {
                    Ok(rule) => {
                        let syntax = RuleSyntax {
                            generated_body: true,
                            ..RuleSyntax::default()
                        };
                        check(&rule, &[syntax], &mut refused);
                        module.rules.push(rule);
                    }
                    Err(mut message) => {
                        message.push_str(hint.unwrap_or_default());
                        errors.extend(location.map(|location| parse_error(&location, &message)));
                    }
                }
            }
        }
    }
    if module.version == Version::V1 {
        errors.append(&mut refused);
    }
    if errors.is_empty() {
        errors = annotations::attach(&mut module, blocks);
    }
    if errors.is_empty() {
        Ok(module)
    } else {
        Err(Errors(errors))
    }
}

/// Parses a query of Rego v1. A source without expressions is an empty body.
pub fn parse_query(text: &str) -> Result<Body, Errors> {
    parse_query_as(text, Version::V1)
}

/// Parses a query of a given version. A source without expressions is an empty body.
pub fn parse_query_as(text: &str, version: Version) -> Result<Body, Errors> {
    let mut parser = Parser::new(&"".into(), text, version);
    let statements = parser.statements(false);
    let errors = parser.take_errors();
    if !errors.is_empty() {
        // To distinguish the errors, it is parsed again with rules allowed.
        let mut parser = Parser::new(&"".into(), text, version);
        parser.statements(true);
        let as_rules = parser.take_errors();
        return Err(Errors(if as_rules.is_empty() {
            errors
        } else {
            as_rules
        }));
    }
    let mut query = Body::new();
    for statement in statements {
        let found = match statement {
            Statement::Body(body) => {
                for expression in body {
                    append(&mut query, expression);
                }
                continue;
            }
            Statement::Package(_) => "*ast.Package",
            Statement::Import(_) => "*ast.Import",
            Statement::Rule(_) => "*ast.Rule",
        };
        return Err(Errors(vec![LanguageError {
            code: Code::Parse,
            message: format!("expected body but got {found}"),
            location: None,
            details: None,
        }]));
    }
    Ok(query)
}

/// Whether an import selects the rules of v1, as `import rego.v1` and `import rego.v2` do.
fn imports_version(import: &Import) -> bool {
    let TermValue::Ref(steps) = &import.path.value else {
        return false;
    };
    let names = |root: &TermValue, version: &TermValue| match (root, version) {
        (TermValue::Var(root), TermValue::String(version)) => {
            &*root.0 == "rego" && matches!(&**version, "v1" | "v2")
        }
        _ => false,
    };
    matches!(steps.as_slice(), [root, version] if names(&root.value, &version.value))
}

/// Returns the hint for a keyword that a v0 source has not imported: `p if { … }` is parsed as the
/// expression `p` and a rule `if`.
fn missing_keyword(body: &Body, next: Option<&Statement>) -> Option<&'static str> {
    let row = body.first()?.location.row;
    let next = next.filter(|next| next.location().row == row);
    let name = lone_name(body).and_then(keyword_hint);
    name.or_else(|| match next? {
        Statement::Rule(read) => keyword_hint(&read.rule.head.name.as_ref()?.0),
        Statement::Body(body) => keyword_hint(lone_name(body)?),
        Statement::Package(_) | Statement::Import(_) => None,
    })
}

fn keyword_hint(name: &str) -> Option<&'static str> {
    match name {
        "if" => Some(" (hint: `import future.keywords.if` for `p if { ... }` rules)"),
        "contains" => Some(" (hint: `import future.keywords.contains` for `p contains x` rules)"),
        _ => None,
    }
}

/// Returns the name, if a body is only a name.
fn lone_name(body: &Body) -> Option<&str> {
    let [only] = body.as_slice() else {
        return None;
    };
    match &only.terms {
        ExprTerms::Term(term) => match &term.value {
            TermValue::Var(name) => Some(&name.0),
            _ => None,
        },
        _ => None,
    }
}

fn parse_error(location: &Location, message: &str) -> LanguageError {
    LanguageError::at(Code::Parse, location, message)
}

impl Parser<'_> {
    /// Parses statements up to the end of the source or the first error.
    fn statements(&mut self, rules: bool) -> Vec<Statement> {
        let mut statements = Vec::new();
        while self.token() != Token::Eof && self.statement(rules, &mut statements).is_some() {}
        statements
    }

    fn statement(&mut self, rules: bool, statements: &mut Vec<Statement>) -> Option<()> {
        self.height = 0;
        if rules && self.keyword_as_rule_name(false) {
            return None;
        }
        let saved = self.save();
        if self.token() == Token::Package {
            if let Some(package) = self.package() {
                self.refuse_minus()?;
                statements.push(Statement::Package(package));
                return Some(());
            }
            self.restore_unless_failed(&saved)?;
        }
        if self.token() == Token::Import {
            if let Some((import, alias)) = self.import() {
                self.refuse_minus()?;
                self.apply_import(&import, alias.as_ref());
                statements.push(Statement::Import(import));
                return Some(());
            }
            self.restore_unless_failed(&saved)?;
        }
        if rules {
            if let Some(rules) = self.rules() {
                let rules = rules.into_iter().map(Box::new).map(Statement::Rule);
                statements.extend(rules);
                return Some(());
            }
            self.restore_unless_failed(&saved)?;
        }
        let body = self.statement_body()?;
        statements.push(Statement::Body(body));
        Some(())
    }

    /// Reports a minus after a package or import, which continues neither it nor the next
    /// statement.
    fn refuse_minus(&mut self) -> Option<()> {
        if self.token() == Token::Minus {
            self.unexpected();
            return None;
        }
        Some(())
    }

    fn restore_unless_failed(&mut self, saved: &super::Saved) -> Option<()> {
        if !self.errors.is_empty() {
            return None;
        }
        self.restore(saved.clone());
        Some(())
    }
}

impl Statement {
    fn location(&self) -> Location {
        match self {
            Self::Package(package) => package.location.clone(),
            Self::Import(import) => import.location.clone(),
            Self::Rule(read) => read.rule.location.clone(),
            Self::Body(body) => body.first().map_or_else(
                || Location {
                    file: "".into(),
                    row: 0,
                    col: 0,
                    offset: 0,
                    length: 0,
                },
                |first| first.location.clone(),
            ),
        }
    }
}

/// Collects the violations, by a rule and its `else` branches, of restrictions beyond the grammar.
fn check(rule: &Rule, syntax: &[RuleSyntax], errors: &mut Vec<LanguageError>) {
    let mut branch = Some(rule);
    for syntax in syntax {
        let Some(rule) = branch else {
            return;
        };
        check_branch(rule, syntax, errors);
        branch = rule.else_rule.as_deref();
    }
}

fn check_branch(rule: &Rule, syntax: &RuleSyntax, errors: &mut Vec<LanguageError>) {
    let kind = if rule.head.args.is_empty() {
        "rule"
    } else {
        "function"
    };
    let mut refuse = |message: &str| errors.push(parse_error(&rule.location, message));
    if let (1, Some(name)) = (rule.head.reference.len(), &rule.head.name)
        && crate::syntax::token::is_keyword(&name.0, Version::V1)
    {
        refuse(&format!("{name} keyword cannot be used for rule name"));
    }
    if syntax.generated_body && rule.head.value_generated {
        refuse(&format!(
            "{kind} must have value assignment and/or body declaration"
        ));
    }
    if !syntax.generated_body && !syntax.if_keyword && !rule.default {
        refuse(&format!("`if` keyword is required before {kind} body"));
    }
    if rule.head.value.is_none() && rule.head.key.is_some() && !syntax.contains {
        refuse("`contains` keyword is required for partial set rules");
    }
}
