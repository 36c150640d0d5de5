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
pub(crate) use object_storage::{Aws, Azure, Gcp, ObjectStorage, Places};
pub(crate) use options::BuildOptions;
pub(crate) use requirement::Requirement;
pub(crate) use secret::{GivenSecret, Secret, wipe};
pub(crate) use source::{Datasource, Git, NO_QUERY, Source, has_query};
pub(crate) use stack::{Selection, Stack};

/// Kind of a named definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Collection of policies and data that can be distributed.
    Bundle,
    /// Origin of policies and data.
    Source,
    /// Requirements for the bundles that a selector chooses.
    Stack,
    /// Named credential.
    Secret,
}

impl Kind {
    /// Returns the kind as it is stored and shown in messages.
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
    /// Creates an error about the value as a whole.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            path: String::new(),
            message: message.into(),
        }
    }

    /// Prefixes the path of the error with an enclosing member.
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

/// Reference to a secret, and where the definition makes it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SecretUse {
    /// Name of the secret.
    pub(crate) name: String,
    /// Part of the definition that refers to it.
    pub(crate) place: CredentialUse,
}

/// Part of a definition that refers to a secret.
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
    /// Returns the place as it is stored and shown in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Git => "git",
            Self::Datasource => "datasource",
            Self::ObjectStorage => "object storage",
        }
    }

    /// Whether the secret must exist before it is referenced here. Repositories and datasources may
    /// name one that is created later; a storage without its credentials can never be written to.
    pub(crate) fn needs_existing(self) -> bool {
        self == Self::ObjectStorage
    }
}

/// References of a definition to other definitions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct References {
    /// Names of sources.
    pub(crate) sources: BTreeSet<String>,
    /// Secrets and where they are referenced.
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

/// Definition with a kind and a name.
pub(crate) trait Definition: Serialize + DeserializeOwned {
    /// Kind of the definition.
    const KIND: Kind;

    /// Returns the name, if the definition contains one.
    fn name_mut(&mut self) -> &mut Option<String>;

    /// Checks constraints beyond the types of the fields.
    fn check(&self) -> Result<(), ValidationError>;

    /// Returns the references of the definition.
    fn uses(&self) -> References;

    /// Whether everybody may refer to it, if the definition sets it.
    fn shared(&self) -> Option<bool> {
        None
    }

    /// Returns the storage that it is written to.
    fn storage(&self) -> Option<&ObjectStorage> {
        None
    }

    /// Returns an error if the definition would send a secret over plain http.
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
    /// Stored string: JSON with the name, or a sealed secret.
    pub(crate) text: String,
    /// References to other definitions.
    pub(crate) uses: References,
    /// Whether everybody may refer to it, if set.
    pub(crate) shared: Option<bool>,
    /// Storage that it is written to; only bundles have one.
    pub(crate) storage: Option<ObjectStorage>,
    /// All spellings of that location; empty until it is resolved.
    pub(crate) places: Places,
    /// Error if the definition would send a secret over plain http.
    pub(crate) sends_in_clear: Option<ValidationError>,
}

impl Entry {
    /// Creates an entry for a sealed secret.
    pub(crate) fn secret(name: &str, sealed: String, shared: Option<bool>) -> Self {
        Self {
            kind: Kind::Secret,
            name: name.to_owned(),
            text: sealed,
            uses: References::default(),
            shared,
            storage: None,
            places: Places::default(),
            sends_in_clear: None,
        }
    }
}

/// Parses a definition from a request body, named by the path.
///
/// # Errors
/// When the body is not a JSON object, has values of the wrong type, or another name.
pub(crate) fn read<D: Definition>(name: &str, body: &[u8]) -> Result<Entry, ValidationError> {
    let value = deserialize::json(body)?;
    entry::<D>(name, deserialize::read(&value)?)
}

/// Validates a definition and gives it a name.
///
/// # Errors
/// When it contains another name, or violates a constraint beyond the types of its fields.
pub(crate) fn entry<D: Definition>(
    name: &str,
    mut definition: D,
) -> Result<Entry, ValidationError> {
    check_name(name)?;
    let own = definition.name_mut();
    name::check_same(D::KIND, name, own.as_deref())?;
    *own = Some(name.to_owned());
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
        places: Places::default(),
        sends_in_clear: definition.sends_in_clear(),
    })
}

/// Returns an error if credentials would be sent to the address in the clear.
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
