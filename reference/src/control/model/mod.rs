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

/// The four kinds of named things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// A collection of policies and data that can be distributed.
    Bundle,
    /// Where policies and data come from.
    Source,
    /// Requirements for the bundles that a selector chooses.
    Stack,
    /// A named credential.
    Secret,
}

impl Kind {
    /// The kind as it is stored and as messages call it.
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

/// Why something that was given cannot be used: where, if it lies inside, and what is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ValidationError {
    path: String,
    message: String,
}

impl ValidationError {
    /// Something is wrong with the thing as a whole.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            path: String::new(),
            message: message.into(),
        }
    }

    /// The same, one member further out.
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

/// A secret that a definition names, and where.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SecretUse {
    /// The secret.
    pub(crate) name: String,
    /// What refers to it.
    pub(crate) place: CredentialUse,
}

/// What of a definition refers to a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CredentialUse {
    /// The repository of a source.
    Git,
    /// A datasource of a source.
    Datasource,
    /// The object storage of a bundle.
    ObjectStorage,
}

impl CredentialUse {
    /// The place as it is stored and as messages call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Git => "git",
            Self::Datasource => "datasource",
            Self::ObjectStorage => "object storage",
        }
    }

    /// Whether the secret must exist before it is named here. Repositories and datasources may
    /// name one that comes later; a storage without its credentials can never be written to.
    pub(crate) fn needs_existing(self) -> bool {
        self == Self::ObjectStorage
    }
}

/// What a definition refers to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct References {
    /// Names of sources.
    pub(crate) sources: BTreeSet<String>,
    /// Secrets and where they are named.
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

/// A definition that has a kind and a name.
pub(crate) trait Definition: Serialize + DeserializeOwned {
    /// Its kind.
    const KIND: Kind;

    /// The name, if the definition says one.
    fn name_mut(&mut self) -> &mut Option<String>;

    /// What goes beyond the types of the fields.
    fn check(&self) -> Result<(), ValidationError>;

    /// What it refers to.
    fn uses(&self) -> References;

    /// Whether everybody may refer to it, if it says so.
    fn shared(&self) -> Option<bool> {
        None
    }

    /// Where it is written to.
    fn storage(&self) -> Option<&ObjectStorage> {
        None
    }

    /// What of it would send a secret over plain http, if anything would.
    fn sends_in_clear(&self) -> Option<ValidationError> {
        None
    }
}

/// A definition that is ready to be stored.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Its kind.
    pub(crate) kind: Kind,
    /// Its name.
    pub(crate) name: String,
    /// Its text: JSON with the name, or a sealed secret.
    pub(crate) text: String,
    /// What it refers to.
    pub(crate) uses: References,
    /// Whether everybody may refer to it, if that is said.
    pub(crate) shared: Option<bool>,
    /// Where it is written to; only bundles are.
    pub(crate) storage: Option<ObjectStorage>,
    /// All forms of that place; none before it was looked for.
    pub(crate) places: Places,
    /// What of it would send a secret over plain http, if anything would.
    pub(crate) sends_in_clear: Option<ValidationError>,
}

impl Entry {
    /// A secret, sealed.
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

/// A definition from a request body, named by the path.
///
/// # Errors
/// When the body is not JSON, not an object, has values of the wrong type, or another name.
pub(crate) fn read<D: Definition>(name: &str, body: &[u8]) -> Result<Entry, ValidationError> {
    let value = deserialize::json(body)?;
    entry::<D>(name, deserialize::read(&value)?)
}

/// A definition under a name.
///
/// # Errors
/// When it says another name, or something that goes beyond the types of its fields is wrong.
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

/// The refusal of an address that credentials would be sent to in the clear.
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
