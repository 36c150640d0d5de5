//! Members of a METADATA block.

use super::Refusal;
use crate::Value;
use crate::syntax::{Expr, ExprTerms, Ref, Term, TermValue, Var, parse_query};
use crate::value::Object;

/// Parsed members of a block.
pub(super) struct Members {
    pub(super) scope: String,
    pub(super) value: Object,
    pub(super) compile: Option<Value>,
}

/// Parses the members of a block from its YAML document.
pub(super) fn read(document: &Value) -> Result<Members, Refusal> {
    let mut value = Object::new();
    for name in ["title", "description"] {
        let text = text(document.get(name));
        if !text.is_empty() {
            value.insert(name, Value::from(text));
        }
    }
    if document.get("entrypoint") == Some(&Value::Bool(true)) {
        value.insert("entrypoint", Value::Bool(true));
    }
    let organizations = items(document, "organizations");
    insert_list(&mut value, "organizations", organizations, |item| {
        Ok(Value::from(text(Some(item))))
    })?;
    let resources = items(document, "related_resources");
    insert_list(&mut value, "related_resources", resources, |item| {
        resource(item).map_err(|reason| named("related-resource", item, reason))
    })?;
    let compile = document.get("compile").map(compile).transpose()?;
    insert_list(&mut value, "schemas", items(document, "schemas"), schema)?;
    insert_list(&mut value, "authors", items(document, "authors"), |item| {
        author(item).map_err(|reason| named("author", item, reason))
    })?;
    for name in ["custom", "labels"] {
        if let Some(Value::Object(members)) = document.get(name)
            && !members.is_empty()
        {
            value.insert(name, Value::Object(members.clone()));
        }
    }
    Ok(Members {
        scope: text(document.get("scope")),
        value,
        compile: compile.flatten(),
    })
}

/// Returns the text of a scalar; empty if it is absent or null.
fn text(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.to_string(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}

fn items<'a>(document: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    let items = document.get(name).and_then(Value::as_array);
    items.into_iter().flatten()
}

fn insert_list<'a>(
    object: &mut Object,
    name: &str,
    items: impl Iterator<Item = &'a Value>,
    read: impl Fn(&Value) -> Result<Value, Refusal>,
) -> Result<(), Refusal> {
    let items = items.map(read).collect::<Result<Vec<_>, _>>()?;
    if !items.is_empty() {
        object.insert(name, Value::from(items));
    }
    Ok(())
}

fn named(kind: &str, item: &Value, reason: &str) -> Refusal {
    let item = match item {
        Value::String(text) => text.to_string(),
        Value::Object(members) => {
            let members = members.iter();
            let members =
                members.map(|(key, value)| format!("{}:{}", text(Some(key)), text(Some(value))));
            format!("map[{}]", members.collect::<Vec<_>>().join(" "))
        }
        Value::Number(number) if number.as_i64().is_some() => format!("%!s(int={number})"),
        Value::Number(number) => format!("%!s(float64={number})"),
        Value::Bool(value) => format!("%!s(bool={value})"),
        other => other.to_string(),
    };
    format!("invalid {kind} definition {item}: {reason}").into()
}

fn resource(item: &Value) -> Result<Value, &'static str> {
    match item {
        Value::String(reference) if reference.is_empty() => Err("ref URL may not be empty string"),
        Value::String(reference) => Ok(Value::object([("ref", Value::String(reference.clone()))])),
        Value::Object(_) => {
            let reference = member(item, "ref");
            if reference.is_empty() {
                return Err("'ref' value required in object");
            }
            let mut resource = Object::new();
            resource.insert("ref", Value::from(reference));
            let description = member(item, "description");
            if !description.is_empty() {
                resource.insert("description", Value::from(description));
            }
            Ok(resource.into())
        }
        _ => Err("invalid value type, must be string or map"),
    }
}

fn author(item: &Value) -> Result<Value, &'static str> {
    let (name, email) = match item {
        Value::String(text) => {
            let mut words: Vec<&str> = text.split_whitespace().collect();
            let last = words.last().ok_or("author is an empty string")?;
            let email = last
                .strip_prefix('<')
                .and_then(|rest| rest.strip_suffix('>'));
            if email.is_some() {
                words.pop();
            }
            (words.join(" "), email.unwrap_or_default())
        }
        Value::Object(_) => (member(item, "name").to_owned(), member(item, "email")),
        _ => return Err("invalid value type, must be string or map"),
    };
    if name.is_empty() && email.is_empty() && item.as_object().is_some() {
        return Err("'name' and/or 'email' values required in object");
    }
    let mut author = Object::new();
    for (key, text) in [("name", name.as_str()), ("email", email)] {
        if !text.is_empty() {
            author.insert(key, Value::from(text));
        }
    }
    Ok(author.into())
}

fn member<'a>(item: &'a Value, name: &str) -> &'a str {
    item.get(name)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .trim()
}

fn schema(item: &Value) -> Result<Value, Refusal> {
    let members = item.as_object();
    let first = members.and_then(|members| members.iter().next());
    let (key, value) = first.ok_or("invalid document reference")?;
    let path = key
        .as_str()
        .and_then(reference)
        .ok_or("invalid document reference")?;
    let mut schema = Object::new();
    schema.insert("path", steps(&path));
    match value {
        Value::String(text) => {
            let path = match term(text).map(|term| term.value) {
                Some(TermValue::Ref(path)) if begins_with_schema(&path) => steps(&path),
                Some(TermValue::Var(Var(name))) if &*name == "schema" => {
                    vec![Value::from(name)].into()
                }
                _ => return Err("invalid schema reference".into()),
            };
            schema.insert("schema", path);
        }
        Value::Object(_) => {
            schema.insert("definition", value.clone());
        }
        _ => {
            let path = text(Some(key));
            return Err(format!("invalid schema declaration for path \"{path}\"").into());
        }
    }
    Ok(schema.into())
}

fn begins_with_schema(path: &[Term]) -> bool {
    matches!(path.first(), Some(Term { value: TermValue::Var(name), .. }) if &*name.0 == "schema")
}

fn compile(item: &Value) -> Result<Option<Value>, Refusal> {
    let Value::Object(_) = item else {
        return Ok(None);
    };
    let mut compile = Object::new();
    let mut unknowns = Vec::new();
    for unknown in items(item, "unknowns").filter_map(Value::as_str) {
        let path = reference(unknown)
            .ok_or_else(|| format!("invalid unknowns element \"{unknown}\": expected ref"))?;
        unknowns.push(steps(&path));
    }
    if !unknowns.is_empty() {
        compile.insert("unknowns", Value::from(unknowns));
    }
    if let Some(mask) = item.get("mask_rule").and_then(Value::as_str) {
        let path = match term(mask).map(|term| term.value) {
            Some(TermValue::Ref(path)) => steps(&path),
            Some(TermValue::Var(Var(name)) | TermValue::String(name)) => {
                vec![Value::from(name)].into()
            }
            _ => return Err(format!("invalid mask_rule annotation \"{mask}\"").into()),
        };
        compile.insert("mask_rule", path);
    }
    Ok(Some(compile.into()))
}

/// Parses a string as a term.
fn term(text: &str) -> Option<Term> {
    let [
        Expr {
            terms: ExprTerms::Term(term),
            ..
        },
    ] = <[Expr; 1]>::try_from(parse_query(text).ok()?).ok()?
    else {
        return None;
    };
    Some(*term)
}

fn reference(text: &str) -> Option<Ref> {
    match term(text)?.value {
        TermValue::Ref(path) => Some(path),
        _ => None,
    }
}

/// Converts a reference to the array of its steps.
fn steps(path: &[Term]) -> Value {
    let steps = path.iter().map(|step| match &step.value {
        TermValue::String(name) | TermValue::Var(Var(name)) => Value::from(name.clone()),
        other => Value::from(other.to_string()),
    });
    steps.collect::<Vec<_>>().into()
}
