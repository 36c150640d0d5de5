//! Operations on types: unions, members and differences.

use super::{Function, Object, Operand, Type};
use crate::Value;

/// Number of alternatives at which a union becomes the type of all values.
const MAX_ALTERNATIVES: usize = 256;

impl Type {
    /// Returns the type of a document.
    pub(crate) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(_) => Self::Number,
            Value::String(_) | Value::Bytes(_) => Self::String,
            Value::Array(items) => Self::array(
                items.iter().map(|item| Some(Self::of(item))).collect(),
                None,
            ),
            // As a key, a set has the type of the array of its members.
            Value::Set(items) => Self::array(
                items.iter().map(|item| Some(Self::of(item))).collect(),
                None,
            ),
            Value::Object(members) => {
                let members = members.iter();
                let members = members.map(|(key, value)| (key.clone(), Some(Self::of(value))));
                Self::object(members.collect(), None)
            }
        }
    }

    /// Returns the union of the known types; `None` for none, or for functions with other types.
    pub(crate) fn union(types: impl IntoIterator<Item = Option<Type>>) -> Option<Type> {
        let mut all: Vec<Type> = Vec::new();
        let mut functions: Vec<Type> = Vec::new();
        for of in types.into_iter().flatten() {
            match of {
                Self::Any(any) if any.of.is_empty() => {
                    all = vec![Self::Any(any)];
                    break;
                }
                Self::Any(any) => all.extend(any.of.iter().cloned()),
                Self::Function(_) => functions.push(of),
                other => all.push(other),
            }
        }
        if !functions.is_empty() {
            if !all.is_empty() {
                return None;
            }
            return functions.into_iter().map(Some).reduce(|left, right| {
                let (left, right) = (left?, right?);
                left.as_function()?.union(right.as_function()?)
            })?;
        }
        if all.len() > 1 {
            all.sort_unstable();
            all.dedup();
        }
        match all.len() {
            0 => None,
            1 => all.pop(),
            MAX_ALTERNATIVES.. => Some(Self::any()),
            _ => Some(Self::one_of(all)),
        }
    }

    /// Returns the union of two types.
    pub(crate) fn or(left: Option<Type>, right: Option<Type>) -> Option<Type> {
        match (left, right) {
            (None, other) | (other, None) => other,
            (left, right) => Self::union([left, right]),
        }
    }

    /// Whether this type includes another type.
    pub(crate) fn contains(&self, other: &Type) -> bool {
        match self {
            Self::Any(any) => {
                !matches!(other, Self::Function(_))
                    && (any.of.is_empty() || any.of.binary_search(other).is_ok())
            }
            _ => self == other,
        }
    }

    /// Returns the type of the member with a constant key.
    pub(crate) fn select(&self, key: &Value) -> Option<Type> {
        match self {
            Self::Array(array) => {
                let Value::Number(index) = key else {
                    return None;
                };
                let index: usize = index.text().parse().ok()?;
                match array.items.get(index) {
                    Some(item) => item.clone(),
                    None => array.rest.clone(),
                }
            }
            Self::Object(object) => object.select(key),
            Self::Set(set) => {
                let of = Self::of(key);
                match &set.of {
                    Some(member) if *member == of => Some(of),
                    Some(member @ Self::Any(_)) if member.contains(&of) => Some(of),
                    _ => None,
                }
            }
            Self::Any(any) if any.of.is_empty() => Some(self.clone()),
            Self::Any(any) => Self::union(any.of.iter().map(|of| of.select(key))),
            _ => None,
        }
    }

    /// Returns the type of the keys of values of this type.
    pub(crate) fn keys(&self) -> Option<Type> {
        match self {
            Self::Array(_) => Some(Self::Number),
            Self::Object(object) => object.keys.get(|| {
                let members = object.members.iter().map(|(key, _)| Some(Self::of(key)));
                let rest = object.rest.iter().map(|(key, _)| key.clone());
                Self::union(members.chain(rest))
            }),
            Self::Set(set) => set.of.clone(),
            Self::Any(any) if any.of.is_empty() => Some(self.clone()),
            Self::Any(any) => Self::union(any.of.iter().map(Self::keys)),
            _ => None,
        }
    }

    /// Returns the type of the members of values of this type.
    pub(crate) fn values(&self) -> Option<Type> {
        match self {
            Self::Array(array) => array
                .values
                .get(|| Self::union(array.items.iter().cloned().chain([array.rest.clone()]))),
            Self::Object(object) => object.values.get(|| {
                let members = object.members.iter().map(|(_, of)| of.clone());
                let rest = object.rest.iter().map(|(_, of)| of.clone());
                Self::union(members.chain(rest))
            }),
            Self::Set(set) => set.of.clone(),
            Self::Any(any) if any.of.is_empty() => Some(self.clone()),
            Self::Any(any) => Self::union(any.of.iter().map(Self::values)),
            _ => None,
        }
    }

    /// Returns the type of a document that several rules of these types define.
    pub(crate) fn merge(left: Option<Type>, right: Option<Type>) -> Option<Type> {
        match (left, right) {
            (None, other) | (other, None) => other,
            (Some(Self::Any(left)), Some(right)) if !matches!(right, Self::Any(_)) => {
                Self::merge(Some(right), Some(Self::Any(left)))
            }
            (Some(Self::Object(left)), Some(Self::Object(right)))
                if left.members.is_empty() && right.members.is_empty() =>
            {
                match (&left.rest, &right.rest) {
                    (None, _) => Some(Self::Object(right)),
                    (_, None) => Some(Self::Object(left)),
                    (Some((left_key, left)), Some((right_key, right))) => {
                        let key = Self::or(left_key.clone(), right_key.clone());
                        let of = Self::merge(left.clone(), right.clone());
                        Some(Self::object(Vec::new(), Some((key, of))))
                    }
                }
            }
            (Some(Self::Object(left)), Some(Self::Any(right))) => {
                Some(merge_into(&left, &right.of))
                    .flatten()
                    .or_else(|| Self::or(Some(Self::Object(left)), Some(Self::Any(right))))
            }
            (Some(Self::Set(left)), Some(Self::Set(right))) => {
                Some(Self::set(Self::or(left.of.clone(), right.of.clone())))
            }
            (left, right) => Self::or(left, right),
        }
    }

    /// Returns this object type with a member added along a path; other types are unchanged.
    pub(crate) fn with_member(&self, path: &[Value], of: Option<Type>) -> Type {
        let (Self::Object(object), Some((first, rest))) = (self, path.split_first()) else {
            return self.clone();
        };
        let of = if rest.is_empty() {
            of
        } else {
            Some(Self::object(Vec::new(), None).with_member(rest, of))
        };
        let key = Some(Self::of(first));
        let (key, of) = match &object.rest {
            Some((known, value)) => (Self::or(known.clone(), key), Self::or(value.clone(), of)),
            None => (key, of),
        };
        Self::object(object.members.clone(), Some((key, of)))
    }
}

/// Merges an object type without known members into the first such object of a union.
fn merge_into(object: &Object, union: &[Type]) -> Option<Type> {
    let (key, of) = object.rest.as_ref().filter(|_| object.members.is_empty())?;
    let at = union.iter().position(
        |of| matches!(of, Type::Object(other) if other.members.is_empty() && other.rest.is_some()),
    )?;
    let mut types: Vec<Option<Type>> = union.iter().cloned().map(Some).collect();
    let place = types.get_mut(at)?;
    if let Some(Type::Object(other)) = place
        && let Some((other_key, other_of)) = &other.rest
    {
        let key = Type::or(other_key.clone(), key.clone());
        let of = Type::or(other_of.clone(), of.clone());
        *place = Some(Type::object(Vec::new(), Some((key, of))));
    }
    Type::union(types)
}

impl Object {
    /// Returns the type of the member with a constant key.
    pub(crate) fn select(&self, key: &Value) -> Option<Type> {
        let found = self.members.binary_search_by(|(name, _)| name.cmp(key));
        if let Ok(at) = found {
            return self.members.get(at).and_then(|(_, of)| of.clone());
        }
        let (name, of) = self.rest.as_ref()?;
        let is_match = name
            .as_ref()
            .is_some_and(|name| name.contains(&Type::of(key)));
        of.clone().filter(|_| is_match)
    }
}

impl Function {
    /// Returns the union of two functions; `None` if their numbers of operands differ.
    fn union(&self, other: &Function) -> Option<Type> {
        if self.args.len() != other.args.len()
            || self.variadic.is_some() != other.variadic.is_some()
        {
            return None;
        }
        let of = |arg: &Option<Operand>| arg.as_ref().and_then(|arg| arg.of.clone());
        let args = self.args.iter().zip(&other.args);
        let args = args.map(|(left, right)| Type::or(left.of.clone(), right.of.clone()));
        let result = Type::or(of(&self.result), of(&other.result));
        Some(Type::function(args.collect(), result))
    }
}
