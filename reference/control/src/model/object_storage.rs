//! Storages to which bundles are written.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{ValidationError, limits};

/// Storage of a bundle; exactly one kind must be given.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ObjectStorage {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) aws: Option<Aws>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) filesystem: Option<Filesystem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) gcp: Option<Gcp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) azure: Option<Azure>,
}

/// Object in a bucket of Amazon S3, or of a server with a compatible API.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Aws {
    pub(crate) bucket: String,
    pub(crate) key: String,
    pub(crate) region: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) credentials: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
}

/// File on a disk of the server, below one of its bundle folders.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Filesystem {
    pub(crate) path: String,
}

/// Object in Google Cloud Storage.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Gcp {
    pub(crate) project: String,
    pub(crate) bucket: String,
    pub(crate) object: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) credentials: Option<String>,
}

/// Blob in an Azure storage account.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Azure {
    pub(crate) account_url: String,
    pub(crate) container: String,
    pub(crate) path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) credentials: Option<String>,
}

/// Locations of a storage as digests, to detect bundles that would overwrite each other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LocationDigests {
    /// Digests of the location, one per spelling.
    pub(crate) own: BTreeSet<String>,
    /// Digests of the folders that contain the file, one per spelling; empty for objects.
    pub(crate) folders: BTreeSet<String>,
    /// True if the location is a file.
    pub(crate) is_file: bool,
}

impl ObjectStorage {
    /// Returns true if the storage has no supported kind.
    pub(crate) fn is_empty(&self) -> bool {
        self.kinds().is_empty()
    }

    /// Returns the name of the secret with the credentials of the storage.
    pub(crate) fn credentials(&self) -> Option<&str> {
        let aws = self.aws.as_ref().map(|aws| &aws.credentials);
        let gcp = self.gcp.as_ref().map(|gcp| &gcp.credentials);
        let azure = self.azure.as_ref().map(|azure| &azure.credentials);
        aws.or(gcp).or(azure)?.as_deref()
    }

    /// Returns the names of the given kinds, each with the names and values of its required fields.
    fn kinds(&self) -> Vec<(&'static str, Vec<(&'static str, &str)>)> {
        let mut kinds = Vec::new();
        if let Some(aws) = &self.aws {
            let fields = vec![
                ("bucket", aws.bucket.as_str()),
                ("key", &aws.key),
                ("region", &aws.region),
            ];
            kinds.push(("aws", fields));
        }
        if let Some(filesystem) = &self.filesystem {
            kinds.push(("filesystem", vec![("path", filesystem.path.as_str())]));
        }
        if let Some(gcp) = &self.gcp {
            let fields = vec![
                ("project", gcp.project.as_str()),
                ("bucket", &gcp.bucket),
                ("object", &gcp.object),
            ];
            kinds.push(("gcp", fields));
        }
        if let Some(azure) = &self.azure {
            let fields = vec![
                ("account_url", azure.account_url.as_str()),
                ("container", &azure.container),
                ("path", &azure.path),
            ];
            kinds.push(("azure", fields));
        }
        kinds
    }

    /// Returns an error for two kinds, a missing required field, or a value that is too long.
    pub(super) fn check(&self) -> Result<(), ValidationError> {
        let kinds = self.kinds();
        if let [(one, _), (other, _), ..] = kinds.as_slice() {
            let message = format!("holds one storage kind, not both {one} and {other}");
            return Err(ValidationError::new(message));
        }
        for (kind, fields) in kinds {
            if let Some((field, _)) = fields.iter().find(|(_, value)| value.is_empty()) {
                return Err(ValidationError::new("is required").under(field).under(kind));
            }
            for (field, value) in fields {
                let checked = match (kind, field) {
                    ("filesystem", _) => limits::storage_path(value),
                    (_, "key" | "object" | "path") => limits::key(value),
                    (_, "account_url") => limits::url(value),
                    _ => limits::name(value),
                };
                checked.map_err(|invalid| invalid.under(field).under(kind))?;
            }
        }
        let url = self.aws.as_ref().and_then(|aws| aws.url.as_deref());
        limits::member(url, "url", limits::url).map_err(|invalid| invalid.under("aws"))
    }
}
