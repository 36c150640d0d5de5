//! Errors of the store.

use std::fmt;

use super::database_error::DatabaseError;
use crate::model::Kind;

/// Reason why a store operation failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    /// The principal may not do this to the resource, which may not even exist.
    #[error("not authorized")]
    NotAuthorized,
    /// The resource does not exist.
    #[error("{0}")]
    NotFound(String),
    /// The resource cannot be deleted while others use it.
    #[error("{kind} `{name}` is in use by {}", list_users(users, *more))]
    InUse {
        /// Kind of the used resource.
        kind: Kind,
        /// Name of the used resource.
        name: String,
        /// First users of the resource, as far as the principal can see them.
        users: Vec<ResourceRef>,
        /// Whether there are more users than those in `users`.
        more: bool,
    },
    /// A definition names a resource that does not exist.
    #[error("{user} names {missing}, which does not exist")]
    MissingReference {
        /// Resource with the definition.
        user: ResourceRef,
        /// Missing resource.
        missing: ResourceRef,
    },
    /// Another bundle has the storage location of a bundle.
    #[error("bundle `{bundle}` cannot be written to a place that {} has", holder_of(holder.as_deref()))]
    PlaceTaken {
        /// Bundle that is to be written to the location.
        bundle: String,
        /// Bundle that has the location, if the principal can see it.
        holder: Option<String>,
    },
    /// Only administrators may change sharing.
    #[error("only an administrator may change the `shared` setting")]
    SharedByOthers,
    /// The database was created by a newer version of the program.
    #[error("the database was made by a newer version of this program")]
    Newer,
    /// A secret was sealed with a key other than the current one.
    #[error("the encryption key was rotated")]
    KeyRotated,
    /// The documents that a bundle is built from are too large.
    #[error("the source data of the bundle is larger than {0} bytes")]
    TooLarge(u64),
    /// A stored definition is invalid.
    #[error("a stored definition cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// The database server does not respond.
    #[error("the database does not answer")]
    Silent,
    /// The database failed.
    #[error("the database failed: {0}")]
    Database(#[from] sqlx::Error),
}

impl StoreError {
    /// Returns the database error, if the database failed.
    pub(crate) fn database_failure(&self) -> Option<DatabaseError> {
        match self {
            Self::Database(failure) => Some(DatabaseError::of(failure)),
            _ => None,
        }
    }
}

/// Reference to a resource that uses another one, or is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResourceRef {
    /// Kind of the resource.
    pub(crate) kind: String,
    /// Name of the resource.
    pub(crate) name: String,
    /// Part of the resource that refers to the used one, if that is not clear from the kinds.
    pub(crate) place: Option<String>,
}

impl ResourceRef {
    /// Creates a reference to a resource as a whole.
    pub(super) fn new(kind: Kind, name: &str) -> Self {
        Self::of_stored_kind(kind.name().to_owned(), name.to_owned())
    }

    /// Creates a reference to a resource as a whole, from its stored kind.
    pub(super) fn of_stored_kind(kind: String, name: String) -> Self {
        Self {
            kind,
            name,
            place: None,
        }
    }
}

impl fmt::Display for ResourceRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.kind, self.name)?;
        match &self.place {
            Some(place) => write!(f, " ({place})"),
            None => Ok(()),
        }
    }
}

fn holder_of(name: Option<&str>) -> String {
    match name {
        Some(name) => format!("bundle `{name}`"),
        None => "another bundle".to_owned(),
    }
}

fn list_users(users: &[ResourceRef], more: bool) -> String {
    let mut names: Vec<String> = users.iter().map(ResourceRef::to_string).collect();
    if more {
        let what = if names.is_empty() {
            "something that you may not see"
        } else {
            "others"
        };
        names.push(what.to_owned());
    }
    match names.as_slice() {
        [rest @ .., before, last] => {
            let mut text = rest.join(", ");
            if !text.is_empty() {
                text.push_str(", ");
            }
            format!("{text}{before} and {last}")
        }
        _ => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::one("a", false, "bundle `a`")]
    #[case::two("ab", false, "bundle `a` and bundle `b`")]
    #[case::three_and_more(
        "abc",
        true,
        "bundle `a`, bundle `b`, bundle `c` (object storage) and others"
    )]
    #[case::only_hidden("", true, "something that you may not see")]
    fn users_are_named(#[case] names: &str, #[case] more: bool, #[case] expected: &str) {
        let user = |name: &str| ResourceRef {
            kind: "bundle".to_owned(),
            name: name.to_owned(),
            place: (name == "c").then(|| "object storage".to_owned()),
        };
        let users: Vec<ResourceRef> = names
            .split("")
            .filter(|n| !n.is_empty())
            .map(user)
            .collect();
        assert_eq!(list_users(&users, more), expected);
    }
}
