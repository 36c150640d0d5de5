//! Static types of values and functions, and the declarations of the built-in functions.

use std::cmp::Ordering;
use std::sync::{Arc, OnceLock};

use crate::Value;

mod algebra;
mod parse;
mod print;
mod signatures;

pub(crate) use print::{document, operands};
pub(crate) use signatures::{Signature, declarations, signature};

/// Maximum number of parts of a type; a larger type becomes `any`, so that the cost of comparisons
/// stays proportional to the source.
const MAX_SIZE: u32 = 1 << 15;

/// Maximum nesting depth of a type; a deeper type becomes `any`.
const MAX_DEPTH: u16 = 128;

/// Type of a value. Parts that are not known yet are `None`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Type {
    /// `null`
    Null,
    /// `boolean`
    Boolean,
    /// `number`
    Number,
    /// `string`
    String,
    /// Arrays.
    Array(Arc<Array>),
    /// Objects.
    Object(Arc<Object>),
    /// Sets.
    Set(Arc<Set>),
    /// Union of these types, in their order; any type at all if there are none.
    Any(Arc<Union>),
    /// Functions.
    Function(Arc<Function>),
}

/// Size and depth of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TypeSize {
    size: u32,
    depth: u16,
    unknown: bool,
}

/// Arrays: the types of the first items, and the type of all further ones.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Array {
    pub(crate) rest: Option<Type>,
    pub(crate) items: Vec<Option<Type>>,
    weight: TypeSize,
    values: Derived,
}

/// Objects: the known members, sorted by name, and the type of other members.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Object {
    pub(crate) rest: Option<(Option<Type>, Option<Type>)>,
    pub(crate) members: Vec<(Value, Option<Type>)>,
    weight: TypeSize,
    keys: Derived,
    values: Derived,
}

/// Type that is derived from the parts of its container on first use. It adds no information, so
/// all such types are equal in comparisons.
#[derive(Debug, Default)]
struct Derived(OnceLock<Option<Type>>);

impl Derived {
    fn get(&self, derive: impl FnOnce() -> Option<Type>) -> Option<Type> {
        self.0.get_or_init(derive).clone()
    }
}

impl PartialEq for Derived {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Derived {}

impl PartialOrd for Derived {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Derived {
    fn cmp(&self, _: &Self) -> Ordering {
        Ordering::Equal
    }
}

/// Sets; the empty set if the type of members is absent.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Set {
    pub(crate) of: Option<Type>,
    weight: TypeSize,
}

/// Union of several types.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Union {
    pub(crate) of: Vec<Type>,
    weight: TypeSize,
}

/// An operand or result, with its name if the declaration has one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Operand {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) of: Option<Type>,
}

/// Function type: its operands and result.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Function {
    pub(crate) args: Vec<Operand>,
    /// `None` for functions that are called for their effect only.
    pub(crate) result: Option<Operand>,
    /// Type of additional operands, of which there can be any number.
    pub(crate) variadic: Option<Operand>,
}

impl TypeSize {
    const LEAF: Self = Self {
        size: 1,
        depth: 1,
        unknown: false,
    };

    /// Returns the size of a type with these parts.
    fn of<'t>(parts: impl IntoIterator<Item = Option<&'t Type>>) -> Self {
        let mut sum = Self::LEAF;
        for part in parts {
            match part {
                Some(part) => {
                    let weight = part.weight();
                    sum.size = sum.size.saturating_add(weight.size);
                    sum.depth = sum.depth.max(weight.depth.saturating_add(1));
                    sum.unknown |= weight.unknown;
                }
                None => {
                    sum.size = sum.size.saturating_add(1);
                    sum.unknown = true;
                }
            }
        }
        sum
    }

    fn too_much(self) -> bool {
        self.size > MAX_SIZE || self.depth > MAX_DEPTH
    }
}

impl Type {
    /// Returns the type of all values.
    pub(crate) fn any() -> Self {
        Self::Any(Arc::new(Union {
            of: Vec::new(),
            weight: TypeSize::LEAF,
        }))
    }

    /// Returns the type of arrays with these first items, followed by others.
    pub(crate) fn array(items: Vec<Option<Type>>, rest: Option<Type>) -> Self {
        let parts = items.iter().map(Option::as_ref);
        let weight = TypeSize::of(parts.chain(rest.as_ref().map(Some)));
        if weight.too_much() {
            return Self::any();
        }
        Self::Array(Arc::new(Array {
            rest,
            items,
            weight,
            values: Derived::default(),
        }))
    }

    /// Returns the type of objects with these members, and possibly others.
    pub(crate) fn object(
        mut members: Vec<(Value, Option<Type>)>,
        rest: Option<(Option<Type>, Option<Type>)>,
    ) -> Self {
        members.sort_by(|(left, _), (right, _)| left.cmp(right));
        let known = members.iter().map(|(_, of)| of.as_ref());
        let more = rest
            .iter()
            .flat_map(|(key, of)| [key.as_ref(), of.as_ref()]);
        let weight = TypeSize::of(known.chain(more));
        if weight.too_much() {
            return Self::any();
        }
        Self::Object(Arc::new(Object {
            rest,
            members,
            weight,
            keys: Derived::default(),
            values: Derived::default(),
        }))
    }

    /// Returns the type of sets whose members have this type.
    pub(crate) fn set(of: Option<Type>) -> Self {
        let mut weight = TypeSize::of(of.as_ref().map(Some));
        weight.unknown |= of.is_none();
        if weight.too_much() {
            return Self::any();
        }
        Self::Set(Arc::new(Set { of, weight }))
    }

    /// Returns the type of a function with unnamed operands.
    pub(crate) fn function(args: Vec<Option<Type>>, result: Option<Type>) -> Self {
        let unnamed = |of| Operand { name: None, of };
        Self::Function(Arc::new(Function {
            args: args.into_iter().map(unnamed).collect(),
            result: result.map(|of| unnamed(Some(of))),
            variadic: None,
        }))
    }

    /// Returns the union of types; the caller has sorted and deduplicated them.
    fn one_of(of: Vec<Type>) -> Self {
        let mut weight = TypeSize::of(of.iter().map(Some));
        // A union counts as known, even if one of its types has unknown parts.
        weight.unknown = false;
        if weight.too_much() {
            return Self::any();
        }
        Self::Any(Arc::new(Union { of, weight }))
    }

    fn weight(&self) -> TypeSize {
        match self {
            Self::Null | Self::Boolean | Self::Number | Self::String => TypeSize::LEAF,
            Self::Array(array) => array.weight,
            Self::Object(object) => object.weight,
            Self::Set(set) => set.weight,
            Self::Any(any) => any.weight,
            Self::Function(function) => {
                let args = function.args.iter().map(|arg| arg.of.as_ref());
                let result = function
                    .result
                    .as_ref()
                    .and_then(|result| result.of.as_ref());
                TypeSize::of(args.chain([result]))
            }
        }
    }

    /// Whether some part of the type is not known.
    pub(crate) fn is_unknown(&self) -> bool {
        self.weight().unknown
    }

    /// Whether this is the type of all values.
    pub(crate) fn is_any(&self) -> bool {
        matches!(self, Self::Any(any) if any.of.is_empty())
    }

    /// Returns the function, if this is the type of one.
    pub(crate) fn as_function(&self) -> Option<&Function> {
        match self {
            Self::Function(function) => Some(function),
            _ => None,
        }
    }
}

/// Returns the sorted names of the known members of objects, including those in a union.
pub(crate) fn keys_of(of: &Type) -> Vec<Value> {
    let mut keys: Vec<Value> = match of {
        Type::Object(object) => object.members.iter().map(|(key, _)| key.clone()).collect(),
        Type::Any(any) => any.of.iter().flat_map(keys_of).collect(),
        _ => Vec::new(),
    };
    keys.sort_unstable();
    keys.dedup();
    keys
}
