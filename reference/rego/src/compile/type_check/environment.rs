//! Type environment: the types of all rules by their path below `data`.

use std::sync::{Arc, OnceLock};

use rpds::RedBlackTreeMapSync;

use crate::Value;
use crate::compile::persistent_tree::change_child;
use crate::types::Type;

/// Node of the type environment.
#[derive(Debug, Default)]
pub(crate) struct TypeNode {
    /// Type that the rules of this path define themselves.
    own: Option<Type>,
    /// Type of the document: `own`, with members that rules below this path add to an object.
    value: Option<Type>,
    children: RedBlackTreeMapSync<Value, Arc<TypeNode>>,
    extent: OnceLock<Option<Type>>,
}

/// Effect on a node of a change at or below it.
enum Change {
    /// No visible effect on the ancestors.
    Nothing,
    /// A new node has this type.
    Added(Type),
    /// Any other change.
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
    /// Returns the child with a key.
    pub(crate) fn child(&self, key: &Value) -> Option<&Arc<TypeNode>> {
        self.children.get(key)
    }

    /// Returns the keys of the children, in their order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &Value> {
        self.children.keys()
    }

    /// Returns the type that rules define at this path; `None` if there are only rules below.
    pub(crate) fn value(&self) -> Option<&Type> {
        self.value.as_ref()
    }

    /// Whether the node has children.
    pub(crate) fn has_children(&self) -> bool {
        !self.children.is_empty()
    }

    /// Returns the node at the end of a path.
    pub(crate) fn find(&self, path: &[Value]) -> Option<&TypeNode> {
        let mut node = self;
        for step in path {
            node = node.child(step)?;
        }
        Some(node)
    }

    /// Returns the type of the whole document. Without rules at this path it is an object of the
    /// documents below, and of anything else, because base documents are not known.
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

    /// Sets the type that the rules of a path define, and updates the objects above.
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
                // The type includes the members of the other nodes already.
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

    /// Whether there are no rules at this path or below.
    fn is_bare(&self) -> bool {
        self.own.is_none() && self.children.is_empty()
    }

    /// Recomputes the type of this node.
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

    /// Collects the nearest nodes below that have a type.
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
