//! The syntax tree as JSON, as the Policy API answers with it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::Value;
use crate::syntax::{
    Annotations, Comment, Expr, ExprTerms, Head, Import, Logic, Module, Package, Rule, Term,
    TermValue, With,
};
use crate::value::Object;

impl Module {
    /// The module: `package`, and `imports`, `annotations`, `rules` and `comments` if it has any.
    pub fn to_json(&self) -> Value {
        let mut module = Object::new();
        module.insert("package", package(&self.package));
        insert_list(&mut module, "imports", &self.imports, import);
        insert_list(&mut module, "annotations", &self.annotations, |block| {
            block.to_json()
        });
        insert_list(&mut module, "rules", &self.rules, Rule::to_json);
        insert_list(&mut module, "comments", &self.comments, comment);
        module.into()
    }
}

impl Rule {
    /// The rule: `head` and `body`, and `default`, `else` and `annotations` if it has them.
    pub fn to_json(&self) -> Value {
        let mut outer: Option<Value> = None;
        let mut branches = Vec::new();
        let mut branch = Some(self);
        while let Some(rule) = branch {
            branches.push(rule);
            branch = rule.else_rule.as_deref();
        }
        while let Some(rule) = branches.pop() {
            let mut json = Object::new();
            json.insert("head", head(&rule.head));
            json.insert("body", body_to_json(&rule.body));
            insert_if(&mut json, "default", rule.default);
            insert_list(&mut json, "annotations", &rule.annotations, |block| {
                block.to_json()
            });
            if let Some(behind) = outer.take() {
                json.insert("else", behind);
            }
            outer = Some(json.into());
        }
        outer.unwrap_or(Value::Null)
    }
}

impl Annotations {
    /// The block: its `scope`, and what it says, with references as lists of terms.
    pub fn to_json(&self) -> Value {
        let mut block = self.value.as_object().cloned().unwrap_or_default();
        block.insert("scope", Value::from(self.scope.clone()));
        if let Some(authors) = block.get("authors").and_then(Value::as_array) {
            let authors = authors.iter().map(named).collect::<Vec<_>>();
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

/// An author, with a name even if it is empty.
fn named(author: &Value) -> Value {
    let mut author = author.as_object().cloned().unwrap_or_default();
    author.insert_if_missing("name", || Value::from(""));
    author.into()
}

/// An object with some paths as lists of terms.
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
        typed(kind, step.clone())
    });
    terms.collect::<Vec<_>>().into()
}

/// A body: the list of its expressions.
pub fn body_to_json(body: &[Expr]) -> Value {
    body.iter().map(Expr::to_json).collect::<Vec<_>>().into()
}

impl Expr {
    /// The expression: `index` and `terms`, and `negated`, `generated` and `with` if it has them.
    pub fn to_json(&self) -> Value {
        let terms = match &self.terms {
            ExprTerms::Term(term) => term.to_json(),
            ExprTerms::Call(terms) => list(terms),
            ExprTerms::Some(declaration) => {
                Value::object([("symbols", list(&declaration.symbols))])
            }
            ExprTerms::Every(every) => Value::object([
                ("key", every.key.as_ref().map_or(Value::Null, Term::to_json)),
                ("value", every.value.to_json()),
                ("domain", every.domain.to_json()),
                ("body", body_to_json(&every.body)),
            ]),
            ExprTerms::Logic(logic) => {
                stacker::maybe_grow(64 * 1024, 1024 * 1024, || logic.to_json())
            }
        };
        let mut json = Object::new();
        json.insert("index", Value::from(self.index as u64));
        json.insert("terms", terms);
        insert_if(&mut json, "negated", self.negated);
        insert_if(&mut json, "generated", self.generated);
        insert_list(&mut json, "with", &self.with, with);
        json.into()
    }
}

impl Logic {
    /// The connective as `type`, and `body` and `explicit_body`, or `lhs` and `rhs` with
    /// `explicit_lhs` and `explicit_rhs` where those are written in braces.
    fn to_json(&self) -> Value {
        let mut json = Object::new();
        json.insert("type", Value::from(self.connective.name()));
        if let [negated] = self.operands.as_slice() {
            json.insert("body", body_to_json(&negated.body));
            json.insert("explicit_body", Value::Bool(negated.explicit));
        }
        if let [left, right] = self.operands.as_slice() {
            json.insert("lhs", body_to_json(&left.body));
            json.insert("rhs", body_to_json(&right.body));
            insert_if(&mut json, "explicit_lhs", left.explicit);
            insert_if(&mut json, "explicit_rhs", right.explicit);
        }
        json.into()
    }
}

impl Term {
    /// The term: its `type` and `value`.
    pub fn to_json(&self) -> Value {
        crate::syntax::deep(|| self.term_to_json())
    }

    fn term_to_json(&self) -> Value {
        let value = match &self.value {
            TermValue::Null => null(),
            TermValue::Bool(value) => Value::Bool(*value),
            TermValue::Number(number) => Value::Number(number.clone()),
            TermValue::String(text) => Value::from(text.clone()),
            TermValue::Var(name) => Value::from(name.0.clone()),
            TermValue::Ref(terms)
            | TermValue::Array(terms)
            | TermValue::Set(terms)
            | TermValue::Call(terms) => list(terms),
            TermValue::Object(members) => {
                let pair = |(key, value): &(Term, Term)| vec![key.to_json(), value.to_json()];
                let pairs = members.iter().map(|member| Value::from(pair(member)));
                pairs.collect::<Vec<_>>().into()
            }
            TermValue::ArrayComprehension(parts) | TermValue::SetComprehension(parts) => {
                Value::object([
                    ("term", parts.term.to_json()),
                    ("body", body_to_json(&parts.body)),
                ])
            }
            TermValue::ObjectComprehension(parts) => Value::object([
                ("key", parts.key.to_json()),
                ("value", parts.value.to_json()),
                ("body", body_to_json(&parts.body)),
            ]),
            TermValue::Template(template) => {
                let parts = template.parts.iter().zip(&template.literal);
                let parts = parts.map(|(part, literal)| match &part.terms {
                    ExprTerms::Term(term) if *literal => term.to_json(),
                    _ => part.to_json(),
                });
                Value::object([
                    ("parts", parts_or_null(parts.collect())),
                    ("multi_line", Value::Bool(template.multi_line)),
                ])
            }
        };
        typed(self.value.kind(), value)
    }
}

/// A null has an object without members in the place of its value.
fn null() -> Value {
    Object::new().into()
}

/// A value as the term that it would be in a policy: its `type` and `value`.
pub fn value_to_json(value: &Value) -> Value {
    let inner = match value {
        Value::Null => null(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
        Value::Array(items) => items.iter().map(value_to_json).collect::<Vec<_>>().into(),
        Value::Set(members) => members.iter().map(value_to_json).collect::<Vec<_>>().into(),
        Value::Object(members) => {
            let pair = |(key, value)| Value::from(vec![value_to_json(key), value_to_json(value)]);
            members.iter().map(pair).collect::<Vec<_>>().into()
        }
    };
    typed(value.kind(), inner)
}

fn parts_or_null(parts: Vec<Value>) -> Value {
    if parts.is_empty() {
        return Value::Null;
    }
    parts.into()
}

fn typed(kind: &'static str, value: Value) -> Value {
    Value::object([("type", Value::from(kind)), ("value", value)])
}

fn list(terms: &[Term]) -> Value {
    terms.iter().map(Term::to_json).collect::<Vec<_>>().into()
}

fn with(with: &With) -> Value {
    Value::object([
        ("target", with.target.to_json()),
        ("value", with.value.to_json()),
    ])
}

fn package(package: &Package) -> Value {
    Value::object([("path", list(&package.path))])
}

fn import(import: &Import) -> Value {
    let mut json = Object::new();
    json.insert("path", import.path.to_json());
    if let Some(alias) = &import.alias {
        json.insert("alias", Value::from(alias.0.clone()));
    }
    json.into()
}

fn head(head: &Head) -> Value {
    let mut json = Object::new();
    if let Some(name) = &head.name {
        json.insert("name", Value::from(name.0.clone()));
    }
    json.insert("ref", list(&head.reference));
    insert_list(&mut json, "args", &head.args, Term::to_json);
    if let Some(key) = &head.key {
        json.insert("key", key.to_json());
    }
    if let Some(value) = &head.value {
        json.insert("value", value.to_json());
    }
    insert_if(&mut json, "assign", head.assign);
    json.into()
}

/// A comment. Its members are written in capitals, and its text in Base64.
fn comment(comment: &Comment) -> Value {
    let place = &comment.location;
    let location = Value::object([
        ("file", Value::from(&*place.file)),
        ("row", Value::from(u64::from(place.row))),
        ("col", Value::from(u64::from(place.col))),
    ]);
    Value::object([
        (
            "Text",
            Value::from(STANDARD.encode(comment.text.as_bytes())),
        ),
        ("Location", location),
    ])
}

fn insert_if(object: &mut Object, name: &str, holds: bool) {
    if holds {
        object.insert(name, Value::Bool(true));
    }
}

fn insert_list<T>(object: &mut Object, name: &str, items: &[T], json: impl Fn(&T) -> Value) {
    if !items.is_empty() {
        object.insert(
            name,
            Value::from(items.iter().map(json).collect::<Vec<_>>()),
        );
    }
}
