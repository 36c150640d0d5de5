//! Data model of the control plane: typed definitions, their parsing and their references.

mod build_status;
mod bundle;
mod deserialize;
mod document;
mod embedded;
mod glob;
mod limits;
mod name;
mod object_storage;
mod options;
mod requirement;
mod secret;
mod source;
mod stack;

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub(crate) use build_status::{BuildResult, Phase};
pub(crate) use bundle::Bundle;
pub(crate) use document::{Document, stored_path};
pub(crate) use embedded::EmbeddedFiles;
pub(crate) use limits::storage_path as check_storage_path;
pub(crate) use name::check_name;
pub(crate) use object_storage::{Aws, Azure, Gcp, LocationDigests, ObjectStorage};
pub(crate) use options::BuildOptions;
pub(crate) use requirement::Requirement;
pub(crate) use secret::{GivenSecret, Secret, wipe};
pub(crate) use source::{Datasource, Git, NO_QUERY, Source, has_query};
pub(crate) use stack::{Selection, Stack};

/// Kind of a named definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Policies and data that are distributed together.
    Bundle,
    /// Policies and data that bundles are built from.
    Source,
    /// Requirements for all bundles that a selector matches.
    Stack,
    /// Named credential.
    Secret,
}

impl Kind {
    /// Returns the name of the kind, as in the database and in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bundle => "bundle",
            Self::Source => "source",
            Self::Stack => "stack",
            Self::Secret => "secret",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Validation error: the path of the invalid member, if any, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ValidationError {
    path: String,
    message: String,
}

impl ValidationError {
    /// Creates an error about the whole value.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            path: String::new(),
            message: message.into(),
        }
    }

    /// Adds an enclosing member in front of the error's path.
    pub(crate) fn under(mut self, member: impl fmt::Display) -> Self {
        let dot = match self.path.chars().next() {
            None | Some('[') => "",
            Some(_) => ".",
        };
        self.path = format!("{member}{dot}{}", self.path);
        self
    }
}

impl fmt::Display for ValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.path, self.message)
        }
    }
}

impl std::error::Error for ValidationError {}

/// Reference to a secret, with the part of the definition that contains it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SecretUse {
    /// Name of the secret.
    pub(crate) name: String,
    /// Part of the definition that contains the reference.
    pub(crate) place: CredentialUse,
}

/// Part of a definition that can reference a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CredentialUse {
    /// Repository of a source.
    Git,
    /// Datasource of a source.
    Datasource,
    /// Object storage of a bundle.
    ObjectStorage,
}

impl CredentialUse {
    /// Returns the name of the part, as in the database and in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Git => "git",
            Self::Datasource => "datasource",
            Self::ObjectStorage => "object storage",
        }
    }

    /// Returns true if the secret must exist before a definition may reference it. A repository or
    /// datasource may name a secret that is created later; a storage without its secret can never
    /// be written.
    pub(crate) fn needs_existing(self) -> bool {
        self == Self::ObjectStorage
    }
}

/// References of a definition to other definitions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct References {
    /// Names of sources.
    pub(crate) sources: BTreeSet<String>,
    /// References to secrets.
    pub(crate) secrets: BTreeSet<SecretUse>,
}

impl References {
    fn secret(&mut self, name: Option<&str>, place: CredentialUse) {
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            let name = name.to_owned();
            self.secrets.insert(SecretUse { name, place });
        }
    }

    fn check_names(&self) -> Result<(), ValidationError> {
        let secrets = self.secrets.iter().map(|secret| &secret.name);
        self.sources
            .iter()
            .chain(secrets)
            .try_for_each(|name| check_name(name))
    }
}

/// Definition of a bundle, a source or a stack.
pub(crate) trait Definition: Serialize + DeserializeOwned {
    /// Kind of the definition.
    const KIND: Kind;

    /// Returns the optional member `name`.
    fn name_mut(&mut self) -> &mut Option<String>;

    /// Checks constraints that the types of the fields do not express.
    fn check(&self) -> Result<(), ValidationError>;

    /// Returns the references of the definition.
    fn uses(&self) -> References;

    /// Returns the member `shared`: true if every owner may reference the definition.
    fn shared(&self) -> Option<bool> {
        None
    }

    /// Returns the storage of a bundle.
    fn storage(&self) -> Option<&ObjectStorage> {
        None
    }

    /// Returns an error if building the definition would send a secret over plain http.
    fn sends_in_clear(&self) -> Option<ValidationError> {
        None
    }
}

/// Definition that is ready to be stored.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Kind of the definition.
    pub(crate) kind: Kind,
    /// Name of the definition.
    pub(crate) name: String,
    /// String to store: JSON including the name, or a sealed secret.
    pub(crate) text: String,
    /// References to other definitions.
    pub(crate) uses: References,
    /// True if every owner may reference the definition; `None` leaves it unchanged.
    pub(crate) shared: Option<bool>,
    /// Storage of a bundle; `None` for other kinds.
    pub(crate) storage: Option<ObjectStorage>,
    /// Locations of the storage; empty until they are resolved.
    pub(crate) places: LocationDigests,
    /// Error if building the definition would send a secret over plain http.
    pub(crate) sends_in_clear: Option<ValidationError>,
}

impl Entry {
    /// Creates an entry for a secret, given its sealed value.
    pub(crate) fn secret(name: &str, sealed: String, shared: Option<bool>) -> Self {
        Self {
            kind: Kind::Secret,
            name: name.to_owned(),
            text: sealed,
            uses: References::default(),
            shared,
            storage: None,
            places: LocationDigests::default(),
            sends_in_clear: None,
        }
    }
}

/// Parses and validates a definition from a request body; its name is that in the path.
///
/// # Errors
/// When the body is not a JSON object, contains another name, or has invalid values.
pub(crate) fn read<D: Definition>(name: &str, body: &[u8]) -> Result<Entry, ValidationError> {
    let value = deserialize::json(body)?;
    entry::<D>(name, deserialize::read(&value)?)
}

/// Validates a definition and sets its name.
///
/// # Errors
/// When the definition contains another name, or violates a constraint that types do not express.
pub(crate) fn entry<D: Definition>(
    name: &str,
    mut definition: D,
) -> Result<Entry, ValidationError> {
    check_name(name)?;
    let definition_name = definition.name_mut();
    name::check_same(D::KIND, name, definition_name.as_deref())?;
    *definition_name = Some(name.to_owned());
    definition.check()?;
    let uses = definition.uses();
    uses.check_names()?;
    let text = serde_json::to_string(&definition);
    Ok(Entry {
        kind: D::KIND,
        name: name.to_owned(),
        text: text.map_err(|failure| ValidationError::new(failure.to_string()))?,
        uses,
        shared: definition.shared(),
        storage: definition.storage().cloned(),
        places: LocationDigests::default(),
        sends_in_clear: definition.sends_in_clear(),
    })
}

/// Returns an error if an address with credentials begins with `http:`.
fn in_clear(address: Option<&str>, credentials: Option<&str>) -> Option<ValidationError> {
    credentials.filter(|name| !name.is_empty())?;
    let address = address?.trim_start().get(..5)?;
    address.eq_ignore_ascii_case("http:").then(|| {
        ValidationError::new(
            "credentials are not sent over plain http; use https, or have the operator start \
             the server with --allow-secrets-over-http",
        )
    })
}
