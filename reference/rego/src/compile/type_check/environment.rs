//! Type environment: the types of all rules by their path below `data`.

use std::sync::{Arc, OnceLock};

use rpds::RedBlackTreeMapSync;

use crate::Value;
use crate::compile::persistent_tree::change_child;
use crate::types::Type;

/// A place and the type of the document there.
#[derive(Debug, Default)]
pub(crate) struct TypeNode {
    /// What the rules of this place give by themselves.
    own: Option<Type>,
    /// The same, with what rules below this place add to an object.
    value: Option<Type>,
    children: RedBlackTreeMapSync<Value, Arc<TypeNode>>,
    extent: OnceLock<Option<Type>>,
}

/// What becomes of a place when one at or below it changes.
enum Change {
    /// It looks as before from above.
    Nothing,
    /// A place that is new has this type.
    Added(Type),
    /// Anything else.
    Other,
}

impl Clone for TypeNode {
    fn clone(&self) -> Self {
        Self {
            own: self.own.clone(),
            value: self.value.clone(),
            children: self.children.clone(),
            extent: OnceLock::new(),
        }
    }
}

impl TypeNode {
    /// The place one step below.
    pub(crate) fn child(&self, key: &Value) -> Option<&Arc<TypeNode>> {
        self.children.get(key)
    }

    /// The keys of the places one step below, in their order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &Value> {
        self.children.keys()
    }

    /// The type that rules give to this place; absent where only other places hang below.
    pub(crate) fn value(&self) -> Option<&Type> {
        self.value.as_ref()
    }

    /// Whether nothing hangs below.
    pub(crate) fn has_children(&self) -> bool {
        !self.children.is_empty()
    }

    /// The place at the end of a path.
    pub(crate) fn find(&self, path: &[Value]) -> Option<&TypeNode> {
        let mut node = self;
        for step in path {
            node = node.child(step)?;
        }
        Some(node)
    }

    /// The type of the whole document here. Where there are no rules it is an object of what is
    /// below, and of anything else, because nothing is known about base documents.
    pub(crate) fn extent(&self) -> Option<Type> {
        if let Some(value) = &self.value {
            return Some(value.clone());
        }
        let extent = self.extent.get_or_init(|| {
            let children = self.children.iter();
            let named = children.filter(|(key, _)| {
                matches!(key, Value::String(_) | Value::Number(_) | Value::Bool(_))
            });
            let members = named.map(|(key, child)| (key.clone(), child.extent()));
            let rest = (Some(Type::String), Some(Type::any()));
            Some(Type::object(members.collect(), Some(rest)))
        });
        extent.clone()
    }

    /// Sets what the rules of a place give, and what that adds to the objects above.
    pub(crate) fn set(&mut self, path: &[Value], own: Option<Type>) {
        self.change(path, own);
    }

    fn change(&mut self, path: &[Value], own: Option<Type>) -> Change {
        let Some((first, rest)) = path.split_first() else {
            self.own = own;
            let (was_there, is_leaf) = (self.value.is_some(), self.children.is_empty());
            return match (self.refresh(), &self.value) {
                (Change::Other, Some(value)) if !was_there && is_leaf => {
                    Change::Added(value.clone())
                }
                (Change::Other, None) if !was_there => Change::Nothing,
                (change, _) => change,
            };
        };
        let change = change_child(&mut self.children, first, Self::is_bare, |child| {
            child.change(rest, own)
        });
        match change {
            Change::Nothing => Change::Nothing,
            Change::Added(of) => match &self.value {
                // What the other places add is in the type already.
                Some(value @ Type::Object(_)) => {
                    let value = value.with_member(path, Some(of));
                    self.replace(Some(value))
                }
                Some(_) => Change::Nothing,
                None => {
                    self.extent = OnceLock::new();
                    Change::Added(of)
                }
            },
            Change::Other => self.refresh(),
        }
    }

    /// Whether no rules are here or below.
    fn is_bare(&self) -> bool {
        self.own.is_none() && self.children.is_empty()
    }

    /// Finds the type of this place anew.
    fn refresh(&mut self) -> Change {
        let mut value = self.own.clone();
        if matches!(value, Some(Type::Object(_))) && self.has_children() {
            let mut leaves = Vec::new();
            self.leaves(&mut Vec::new(), &mut leaves);
            for (path, of) in leaves {
                value = value.map(|value| value.with_member(&path, Some(of)));
            }
        }
        self.replace(value)
    }

    fn replace(&mut self, value: Option<Type>) -> Change {
        self.extent = OnceLock::new();
        let is_same = self.value.is_some() && self.value == value;
        self.value = value;
        if is_same {
            Change::Nothing
        } else {
            Change::Other
        }
    }

    /// The nearest places below that have a type.
    fn leaves(&self, path: &mut Vec<Value>, found: &mut Vec<(Vec<Value>, Type)>) {
        for (key, child) in self.children.iter() {
            path.push(key.clone());
            match &child.value {
                Some(value) => found.push((path.clone(), value.clone())),
                None => child.leaves(path, found),
            }
            path.pop();
        }
    }
}
