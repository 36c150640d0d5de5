//! Why the store did not do what it was asked to.

use std::fmt;

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
    #[error("{kind} `{name}` is in use by {}", listed(users, *more))]
    InUse {
        /// Kind of the used thing.
        kind: Kind,
        /// Name of the used thing.
        name: String,
        /// Its first users, as far as the principal may see them.
        users: Vec<User>,
        /// Whether there are more users than those.
        more: bool,
    },
    /// A definition names something that does not exist.
    #[error("{kind} `{name}` does not exist")]
    MissingReference {
        /// Kind of the missing thing.
        kind: Kind,
        /// Name of the missing thing.
        name: String,
    },
    /// The database was made by a program that knows more of it.
    #[error("the database was made by a newer version of this program")]
    Newer,
    /// The database failed.
    #[error("the database failed: {0}")]
    Database(#[from] sqlx::Error),
}

/// Something that uses another thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct User {
    /// Its kind.
    pub(crate) kind: String,
    /// Its name.
    pub(crate) name: String,
    /// What of it refers to the used thing, if that is not clear from the kinds.
    pub(crate) place: Option<String>,
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.kind, self.name)?;
        match &self.place {
            Some(place) => write!(f, " ({place})"),
            None => Ok(()),
        }
    }
}

fn listed(users: &[User], more: bool) -> String {
    let mut names: Vec<String> = users.iter().map(User::to_string).collect();
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
        let user = |name: &str| User {
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
            let users: Vec<User> = names
                .split("")
                .filter(|n| !n.is_empty())
                .map(user)
                .collect();
            assert_eq!(listed(&users, more), expected);
        }
    }
}
