//! Types in messages and in the details of errors.

use std::fmt;

use super::{Function, Operand, Type};
use crate::Value;
use crate::value;

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Boolean => f.write_str("boolean"),
            Self::Number => f.write_str("number"),
            Self::String => f.write_str("string"),
            Self::Array(array) => {
                f.write_str("array")?;
                listed(f, &array.items, |f, item| DisplayType(item.as_ref()).fmt(f))?;
                array.rest.iter().try_for_each(|of| write!(f, "[{of}]"))
            }
            Self::Object(object) => {
                f.write_str("object")?;
                listed(f, &object.members, |f, (key, of)| match key {
                    Value::String(text) => write!(f, "{text}: {}", DisplayType(of.as_ref())),
                    other => write!(f, "{other}: {}", DisplayType(of.as_ref())),
                })?;
                object.rest.iter().try_for_each(|(key, of)| {
                    write!(
                        f,
                        "[{}: {}]",
                        DisplayType(key.as_ref()),
                        DisplayType(of.as_ref())
                    )
                })
            }
            Self::Set(set) => {
                f.write_str("set")?;
                set.of.iter().try_for_each(|of| write!(f, "[{of}]"))
            }
            Self::Any(any) => {
                f.write_str("any")?;
                listed(f, &any.of, |f, of| of.fmt(f))
            }
            Self::Function(function) => {
                let args = function
                    .args
                    .iter()
                    .map(|arg| DisplayType(arg.of.as_ref()).to_string());
                let more = function.variadic.iter();
                let more = more.map(|arg| format!("{}...", DisplayType(arg.of.as_ref())));
                let args: Vec<_> = args.chain(more).collect();
                let result = function.result.as_ref().and_then(|arg| arg.of.as_ref());
                write!(f, "({}) => {}", args.join(", "), DisplayType(result))
            }
        }
    }
}

/// Formats a type; `???` if it is not known.
struct DisplayType<'t>(Option<&'t Type>);

impl fmt::Display for DisplayType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(of) => of.fmt(f),
            None => f.write_str("???"),
        }
    }
}

/// Writes `<a, b>`, or nothing if the list is empty.
fn listed<T>(
    f: &mut fmt::Formatter<'_>,
    items: &[T],
    show: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        f.write_str(if index == 0 { "<" } else { ", " })?;
        show(f, item)?;
    }
    if !items.is_empty() {
        f.write_str(">")?;
    }
    Ok(())
}

/// Converts a type to a document: `type`, and the parts of such a type; `null` if it is not known.
pub(crate) fn document(of: Option<&Type>) -> Value {
    of.map_or(Value::Null, |of| Value::from(members(of)))
}

/// Converts an operand to a document: the members of its type and its `name`.
pub(crate) fn operand(arg: &Operand) -> Value {
    let Some(of) = &arg.of else {
        return Value::Null;
    };
    let mut object = members(of);
    if let Some(name) = &arg.name {
        object.insert("name", Value::from(name.clone()));
    }
    Value::from(object)
}

/// Converts the operands of a function to a document: `args`, and `variadic` if more may follow.
pub(crate) fn operands(args: &[Operand], variadic: Option<&Operand>) -> Value {
    let mut object = value::Object::new();
    if !args.is_empty() {
        let args: Vec<_> = args.iter().map(operand).collect();
        object.insert("args", Value::from(args));
    }
    if let Some(more) = variadic {
        object.insert("variadic", operand(more));
    }
    Value::from(object)
}

fn members(of: &Type) -> value::Object {
    let mut object = value::Object::new();
    let kind = match of {
        Type::Null => "null",
        Type::Boolean => "boolean",
        Type::Number => "number",
        Type::String => "string",
        Type::Array(_) => "array",
        Type::Object(_) => "object",
        Type::Set(_) => "set",
        Type::Any(_) => "any",
        Type::Function(_) => "function",
    };
    object.insert("type", Value::from(kind));
    match of {
        Type::Null | Type::Boolean | Type::Number | Type::String => {}
        Type::Array(array) => {
            if !array.items.is_empty() {
                let items: Vec<_> = array.items.iter().map(|of| document(of.as_ref())).collect();
                object.insert("static", Value::from(items));
            }
            if array.rest.is_some() {
                object.insert("dynamic", document(array.rest.as_ref()));
            }
        }
        Type::Object(members) => {
            if !members.members.is_empty() {
                let items = members.members.iter();
                let items = items.map(|(key, of)| pair(key.clone(), of.as_ref()));
                object.insert("static", Value::from(items.collect::<Vec<_>>()));
            }
            if let Some((key, of)) = &members.rest {
                object.insert("dynamic", pair(document(key.as_ref()), of.as_ref()));
            }
        }
        Type::Set(set) => {
            if set.of.is_some() {
                object.insert("of", document(set.of.as_ref()));
            }
        }
        Type::Any(any) => {
            if !any.of.is_empty() {
                let of: Vec<_> = any.of.iter().map(|of| document(Some(of))).collect();
                object.insert("of", Value::from(of));
            }
        }
        Type::Function(function) => function_members(&mut object, function),
    }
    object
}

fn function_members(object: &mut value::Object, function: &Function) {
    if !function.args.is_empty() {
        let args: Vec<_> = function.args.iter().map(operand).collect();
        object.insert("args", Value::from(args));
    }
    if let Some(result) = &function.result {
        object.insert("result", operand(result));
    }
    if let Some(more) = &function.variadic {
        object.insert("variadic", operand(more));
    }
}

fn pair(key: Value, of: Option<&Type>) -> Value {
    Value::object([("key", key), ("value", document(of))])
}
