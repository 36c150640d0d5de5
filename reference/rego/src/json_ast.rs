//! JSON form of the syntax tree, for responses of the Policy API and the Compile API.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::Value;
use crate::syntax::{
    Annotations, Comment, Expr, ExprTerms, Head, Import, Logic, Module, Rule, Template, Term,
    TermValue, Var, With,
};
use crate::value::{JsonSink, Object, ValueSink};

impl Module {
    /// Converts the module: `package`, and nonempty `imports`, `annotations`, `rules`, `comments`.
    pub fn to_json(&self) -> Value {
        ValueSink::filled(|out| self.write(out))
    }

    pub(crate) fn write(&self, out: &mut impl JsonSink) {
        out.object(|out| {
            list_if_any(out, "annotations", &self.annotations, |out, block| {
                out.value(&block.to_json());
            });
            list_if_any(out, "comments", &self.comments, comment);
            list_if_any(out, "imports", &self.imports, import);
            out.name("package");
            out.object(|out| {
                out.name("path");
                terms(out, &self.package.path);
            });
            list_if_any(out, "rules", &self.rules, |out, rule| rule.write(out));
        });
    }
}

impl Rule {
    /// Converts the rule: `head`, `body`, and `default`, `else` and `annotations` if present.
    pub fn to_json(&self) -> Value {
        ValueSink::filled(|out| self.write(out))
    }

    fn write(&self, out: &mut impl JsonSink) {
        crate::syntax::deep(|| {
            out.object(|out| {
                list_if_any(out, "annotations", &self.annotations, |out, block| {
                    out.value(&block.to_json());
                });
                out.name("body");
                body(out, &self.body);
                mark_if(out, "default", self.default);
                if let Some(rule) = &self.else_rule {
                    out.name("else");
                    rule.write(out);
                }
                out.name("head");
                head(out, &self.head);
            });
        });
    }
}

impl Annotations {
    /// Converts the METADATA block: its `scope` and its members, with references as lists of terms.
    pub fn to_json(&self) -> Value {
        let mut block = self.value.as_object().cloned().unwrap_or_default();
        block.insert("scope", Value::from(self.scope.clone()));
        if let Some(authors) = block.get("authors").and_then(Value::as_array) {
            let authors = authors.iter().map(with_name).collect::<Vec<_>>();
            block.insert("authors", authors.into());
        }
        if let Some(schemas) = block.get("schemas").and_then(Value::as_array) {
            let schemas = schemas
                .iter()
                .map(|schema| with_terms(schema, &["path", "schema"]));
            let schemas = schemas.collect::<Vec<_>>();
            block.insert("schemas", schemas.into());
        }
        if let Some(compile) = &self.compile {
            let mut compile = with_terms(compile, &["mask_rule"]);
            if let Some(unknowns) = compile.get("unknowns").and_then(Value::as_array) {
                let unknowns = unknowns.iter().map(path_terms).collect::<Vec<_>>();
                if let Some(compile) = compile.as_object_mut() {
                    compile.insert("unknowns", unknowns.into());
                }
            }
            block.insert("compile", compile);
        }
        block.into()
    }
}

/// Returns an author with the member `name`, even if that is empty.
fn with_name(author: &Value) -> Value {
    let mut author = author.as_object().cloned().unwrap_or_default();
    author.insert_if_missing("name", || Value::from(""));
    author.into()
}

/// Converts an object; the members with these names contain paths, which become lists of terms.
fn with_terms(object: &Value, names: &[&str]) -> Value {
    let mut object = object.as_object().cloned().unwrap_or_default();
    for name in names {
        if let Some(path) = object.get(name).map(path_terms) {
            object.insert(*name, path);
        }
    }
    object.into()
}

fn path_terms(path: &Value) -> Value {
    let steps = path.as_array().into_iter().flatten().enumerate();
    let terms = steps.map(|(position, step)| {
        let kind = if position == 0 { "var" } else { step.kind() };
        Value::object([("type", Value::from(kind)), ("value", step.clone())])
    });
    terms.collect::<Vec<_>>().into()
}

/// Converts a body to the list of its expressions.
pub fn body_to_json(body: &[Expr]) -> Value {
    ValueSink::filled(|out| self::body(out, body))
}

pub(crate) fn body(out: &mut impl JsonSink, body: &[Expr]) {
    out.list(|out| {
        for expr in body {
            expr.write(out);
        }
    });
}

impl Expr {
    /// Converts the expression: `index`, `terms`, and `negated`, `generated` and `with` if present.
    pub fn to_json(&self) -> Value {
        ValueSink::filled(|out| self.write(out))
    }

    fn write(&self, out: &mut impl JsonSink) {
        out.object(|out| {
            mark_if(out, "generated", self.generated);
            out.name("index");
            out.value(&Value::from(self.index as u64));
            mark_if(out, "negated", self.negated);
            out.name("terms");
            match &self.terms {
                ExprTerms::Term(term) => term.write(out),
                ExprTerms::Call(parts) => terms(out, parts),
                ExprTerms::Some(declaration) => out.object(|out| {
                    out.name("symbols");
                    terms(out, &declaration.symbols);
                }),
                ExprTerms::Every(every) => out.object(|out| {
                    out.name("body");
                    body(out, &every.body);
                    member(out, "domain", &every.domain);
                    out.name("key");
                    match &every.key {
                        Some(key) => key.write(out),
                        None => out.value(&Value::Null),
                    }
                    member(out, "value", &every.value);
                }),
                ExprTerms::Logic(logic) => crate::syntax::deep(|| logic.write(out)),
            }
            list_if_any(out, "with", &self.with, with);
        });
    }
}

impl Logic {
    /// Writes `body` and `explicit_body`, or `lhs` and `rhs` with `explicit_lhs` and `explicit_rhs`
    /// for operands in braces, and the connective as `type`.
    fn write(&self, out: &mut impl JsonSink) {
        out.object(|out| {
            if let [negated] = self.operands.as_slice() {
                out.name("body");
                body(out, &negated.body);
                out.name("explicit_body");
                out.value(&Value::Bool(negated.explicit));
            }
            if let [left, right] = self.operands.as_slice() {
                mark_if(out, "explicit_lhs", left.explicit);
                mark_if(out, "explicit_rhs", right.explicit);
                out.name("lhs");
                body(out, &left.body);
                out.name("rhs");
                body(out, &right.body);
            }
            out.name("type");
            out.string(self.connective.name());
        });
    }
}

impl Term {
    /// Converts the term: its `type` and `value`.
    pub fn to_json(&self) -> Value {
        ValueSink::filled(|out| self.write(out))
    }

    fn write(&self, out: &mut impl JsonSink) {
        let kind = self.value.kind();
        match &self.value {
            TermValue::Null => out.typed(kind, |out| out.object(|_| {})),
            TermValue::Bool(value) => out.typed(kind, |out| out.value(&Value::Bool(*value))),
            TermValue::Number(number) => {
                out.typed(kind, |out| out.value(&Value::Number(number.clone())));
            }
            TermValue::String(text) | TermValue::Var(Var(text)) => {
                out.typed(kind, |out| out.string(text));
            }
            TermValue::Bytes(bytes) => out.typed(kind, |out| out.string(&bytes.to_lossy())),
            value => crate::syntax::deep_in(value.nests(), || {
                out.typed(kind, |out| self.write_parts(out));
            }),
        }
    }

    /// Writes the value of a term that contains other terms.
    fn write_parts(&self, out: &mut impl JsonSink) {
        match &self.value {
            TermValue::Ref(parts)
            | TermValue::Array(parts)
            | TermValue::Set(parts)
            | TermValue::Call(parts) => terms(out, parts),
            TermValue::Object(members) => out.list(|out| {
                for (key, value) in members {
                    out.list(|out| {
                        key.write(out);
                        value.write(out);
                    });
                }
            }),
            TermValue::ArrayComprehension(parts) | TermValue::SetComprehension(parts) => {
                out.object(|out| {
                    out.name("body");
                    body(out, &parts.body);
                    member(out, "term", &parts.term);
                });
            }
            TermValue::ObjectComprehension(parts) => out.object(|out| {
                out.name("body");
                body(out, &parts.body);
                member(out, "key", &parts.key);
                member(out, "value", &parts.value);
            }),
            TermValue::Template(template) => out.object(|out| write_template(template, out)),
            TermValue::Null
            | TermValue::Bool(_)
            | TermValue::Number(_)
            | TermValue::String(_)
            | TermValue::Bytes(_)
            | TermValue::Var(_) => self.write(out),
        }
    }
}

/// Writes the parts of a template, or `null` if it has none, and whether backquotes enclose it.
fn write_template(template: &Template, out: &mut impl JsonSink) {
    out.name("multi_line");
    out.value(&Value::Bool(template.multi_line));
    out.name("parts");
    if template.parts.is_empty() {
        return out.value(&Value::Null);
    }
    out.list(|out| {
        for (part, literal) in template.parts.iter().zip(&template.literal) {
            match &part.terms {
                ExprTerms::Term(term) if *literal => term.write(out),
                _ => part.write(out),
            }
        }
    });
}

/// Converts a value to the JSON form of the equivalent term: its `type` and `value`.
pub fn value_to_json(value: &Value) -> Value {
    let inner = match value {
        // The value of null is an object without members.
        Value::Null => Object::new().into(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Bytes(_) => value.clone(),
        Value::Array(items) => items.iter().map(value_to_json).collect::<Vec<_>>().into(),
        Value::Set(members) => members.iter().map(value_to_json).collect::<Vec<_>>().into(),
        Value::Object(members) => {
            let pair = |(key, value)| Value::from(vec![value_to_json(key), value_to_json(value)]);
            members.iter().map(pair).collect::<Vec<_>>().into()
        }
    };
    Value::object([("type", Value::from(value.kind())), ("value", inner)])
}

fn terms(out: &mut impl JsonSink, terms: &[Term]) {
    out.list(|out| {
        for term in terms {
            term.write(out);
        }
    });
}

fn member(out: &mut impl JsonSink, name: &'static str, term: &Term) {
    out.name(name);
    term.write(out);
}

fn with(out: &mut impl JsonSink, with: &With) {
    out.object(|out| {
        member(out, "target", &with.target);
        member(out, "value", &with.value);
    });
}

fn import(out: &mut impl JsonSink, import: &Import) {
    out.object(|out| {
        if let Some(alias) = &import.alias {
            out.name("alias");
            out.string(&alias.0);
        }
        member(out, "path", &import.path);
    });
}

fn head(out: &mut impl JsonSink, head: &Head) {
    out.object(|out| {
        list_if_any(out, "args", &head.args, |out, term| term.write(out));
        mark_if(out, "assign", head.assign);
        if let Some(key) = &head.key {
            member(out, "key", key);
        }
        if let Some(name) = &head.name {
            out.name("name");
            out.string(&name.0);
        }
        out.name("ref");
        terms(out, &head.reference);
        if let Some(value) = &head.value {
            member(out, "value", value);
        }
    });
}

/// Writes a comment. Its members have capitalized names, and its text is in Base64.
fn comment(out: &mut impl JsonSink, comment: &Comment) {
    let place = &comment.location;
    out.object(|out| {
        out.name("Location");
        out.object(|out| {
            out.name("col");
            out.value(&Value::from(u64::from(place.col)));
            out.name("file");
            out.string(&place.file);
            out.name("row");
            out.value(&Value::from(u64::from(place.row)));
        });
        out.name("Text");
        out.string(&STANDARD.encode(comment.text.as_bytes()));
    });
}

fn mark_if(out: &mut impl JsonSink, name: &'static str, holds: bool) {
    if holds {
        out.name(name);
        out.value(&Value::Bool(true));
    }
}

fn list_if_any<S: JsonSink, T>(
    out: &mut S,
    name: &'static str,
    items: &[T],
    write: impl Fn(&mut S, &T),
) {
    if !items.is_empty() {
        out.name(name);
        out.list(|out| {
            for item in items {
                write(out, item);
            }
        });
    }
}
