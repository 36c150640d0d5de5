//! Errors of the store.

use std::fmt;

use super::database_error::DatabaseError;
use crate::control::model::Kind;

/// Why the store did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    /// The principal may not do this to the thing, which may not even exist.
    #[error("not authorized")]
    NotAuthorized,
    /// There is no such thing.
    #[error("{0}")]
    NotFound(String),
    /// The thing cannot be deleted while others use it.
    #[error("{kind} `{name}` is in use by {}", list_users(users, *more))]
    InUse {
        /// Kind of the used thing.
        kind: Kind,
        /// Name of the used thing.
        name: String,
        /// Its first users, as far as the principal may see them.
        users: Vec<ResourceRef>,
        /// Whether there are more users than those.
        more: bool,
    },
    /// A definition names something that does not exist.
    #[error("{user} names {missing}, which does not exist")]
    MissingReference {
        /// The definition's thing.
        user: ResourceRef,
        /// What is missing.
        missing: ResourceRef,
    },
    /// Another bundle has the place that a bundle is to be written to.
    #[error("bundle `{bundle}` cannot be written to a place that {} has", holder_of(holder.as_deref()))]
    PlaceTaken {
        /// The bundle that is to be written there.
        bundle: String,
        /// The bundle that has the place, if the principal may see it.
        holder: Option<String>,
    },
    /// Whether something is shared is for administrators to say.
    #[error("only an administrator may say whether something is shared")]
    SharedByOthers,
    /// The database was made by a program that knows more of it.
    #[error("the database was made by a newer version of this program")]
    Newer,
    /// A secret was sealed with another key than the one that the others are sealed with.
    #[error("the encryption key was rotated")]
    KeyRotated,
    /// The documents that a bundle is built from are too many.
    #[error("the source data of the bundle is larger than {0} bytes")]
    TooLarge(u64),
    /// A stored definition is none.
    #[error("a stored definition cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// The server of the database has gone without a word.
    #[error("the database does not answer")]
    Silent,
    /// The database failed.
    #[error("the database failed: {0}")]
    Database(#[from] sqlx::Error),
}

impl StoreError {
    /// What is wrong with the database, if that is what failed.
    pub(crate) fn database_failure(&self) -> Option<DatabaseError> {
        match self {
            Self::Database(failure) => Some(DatabaseError::of(failure)),
            _ => None,
        }
    }
}

/// Something that uses another thing, or is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResourceRef {
    /// Its kind.
    pub(crate) kind: String,
    /// Its name.
    pub(crate) name: String,
    /// What of it refers to the used thing, if that is not clear from the kinds.
    pub(crate) place: Option<String>,
}

impl ResourceRef {
    /// A thing as a whole.
    pub(super) fn new(kind: Kind, name: &str) -> Self {
        Self::of_stored_kind(kind.name().to_owned(), name.to_owned())
    }

    /// A thing as a whole, of which the kind was stored.
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
    use super::*;

    #[test]
    fn users_are_named() {
        let user = |name: &str| ResourceRef {
            kind: "bundle".to_owned(),
            name: name.to_owned(),
            place: (name == "c").then(|| "object storage".to_owned()),
        };
        for (names, more, expected) in [
            ("a", false, "bundle `a`"),
            ("ab", false, "bundle `a` and bundle `b`"),
            (
                "abc",
                true,
                "bundle `a`, bundle `b`, bundle `c` (object storage) and others",
            ),
            ("", true, "something that you may not see"),
        ] {
            let users: Vec<ResourceRef> = names
                .split("")
                .filter(|n| !n.is_empty())
                .map(user)
                .collect();
            assert_eq!(list_users(&users, more), expected);
        }
    }
}
