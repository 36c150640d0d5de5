//! Parser for the notation of types in the table of built-in functions.

use std::sync::Arc;

use super::{Function, Operand, Type};
use crate::Value;

/// Parses `(x: number, set[any]) -> y: string`; `None` on a syntax error.
pub(crate) fn parse(text: &str) -> Option<Function> {
    let mut reader = Reader { rest: text };
    reader.expect("(")?;
    let mut args = Vec::new();
    let mut variadic = None;
    while reader.expect(")").is_none() {
        let arg = reader.operand()?;
        if reader.expect("...").is_some() {
            variadic = Some(arg);
        } else {
            args.push(arg);
        }
        let _ = reader.expect(", ");
    }
    let result = match reader.expect(" -> ") {
        Some(()) => Some(reader.operand()?),
        None => None,
    };
    reader.rest.is_empty().then_some(Function {
        args,
        result,
        variadic,
    })
}

struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    fn expect(&mut self, text: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(text)?;
        Some(())
    }

    fn word(&mut self) -> &'t str {
        let end = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        let (word, rest) = self
            .rest
            .split_at(self.rest.find(end).unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }

    fn operand(&mut self) -> Option<Operand> {
        let start = self.rest;
        let end = |c: char| !c.is_ascii_alphanumeric() && c != '_' && c != ' ';
        let (name, rest) = start.split_at(start.find(end).unwrap_or(start.len()));
        self.rest = rest;
        if self.expect(": ").is_some() {
            let of = Some(self.of()?);
            let name = Some(Arc::from(name));
            return Some(Operand { name, of });
        }
        self.rest = start;
        let of = Some(self.of()?);
        Some(Operand { name: None, of })
    }

    fn of(&mut self) -> Option<Type> {
        Some(match self.word() {
            "null" => Type::Null,
            "boolean" => Type::Boolean,
            "number" => Type::Number,
            "string" => Type::String,
            "any" => {
                let of = self.list(Self::of)?;
                Type::one_of(of)
            }
            "array" => {
                let items = self.list(|reader| reader.of().map(Some))?;
                let rest = self.bracketed(Self::of)?;
                Type::array(items, rest)
            }
            "set" => Type::set(self.bracketed(Self::of)?),
            "object" => {
                let members = self.list(|reader| {
                    let key = Value::from(reader.word());
                    reader.expect(": ")?;
                    Some((key, Some(reader.of()?)))
                })?;
                let rest = self.bracketed(|reader| {
                    let key = reader.of()?;
                    reader.expect(": ")?;
                    Some((Some(key), Some(reader.of()?)))
                })?;
                Type::object(members, rest)
            }
            _ => return None,
        })
    }

    fn list<T>(&mut self, item: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut items = Vec::new();
        if self.expect("<").is_some() {
            while self.expect(">").is_none() {
                items.push(item(self)?);
                let _ = self.expect(", ");
            }
        }
        Some(items)
    }

    fn bracketed<T>(&mut self, item: impl Fn(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if self.expect("[").is_none() {
            return Some(None);
        }
        let item = item(self)?;
        self.expect("]")?;
        Some(Some(item))
    }
}
