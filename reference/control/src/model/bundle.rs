//! Bundle: policies and data that are distributed together.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::object_storage::ObjectStorage;
use super::requirement::{self, Requirement};
use super::{
    BuildOptions, CredentialUse, Definition, Kind, References, ValidationError, in_clear, limits,
};
use http_server::units::duration;

/// Definition of a bundle. Its JSON contains only the fields that were given, with their values
/// unchanged.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Bundle {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) labels: Option<BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "no_storage")]
    pub(crate) object_storage: Option<ObjectStorage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) requirements: Option<Vec<Requirement>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) excluded_files: Option<Vec<String>>,
    /// Rego expression that computes the revision of each build.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) revision: Option<String>,
    /// Interval between builds when no definition has changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    rebuild_interval: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) options: Option<BuildOptions>,
}

impl Bundle {
    /// Returns the interval between builds when no definition has changed; `None` means the
    /// server's default.
    pub(crate) fn interval(&self) -> Option<Duration> {
        let text = self.rebuild_interval.as_deref()?;
        duration(text).ok().filter(|time| !time.is_zero())
    }

    /// Refuses too many labels, and labels that are too long.
    fn check_labels(&self) -> Result<(), ValidationError> {
        let Some(labels) = &self.labels else {
            return Ok(());
        };
        limits::number(labels.len(), limits::LABELS, "labels")?;
        labels
            .iter()
            .flat_map(|(name, value)| [name, value])
            .try_for_each(|text| limits::name(text))
    }
}

fn no_storage(storage: &Option<ObjectStorage>) -> bool {
    storage.as_ref().is_none_or(ObjectStorage::is_empty)
}

impl Definition for Bundle {
    const KIND: Kind = Kind::Bundle;

    fn name_mut(&mut self) -> &mut Option<String> {
        &mut self.name
    }

    fn check(&self) -> Result<(), ValidationError> {
        if let Some(storage) = &self.object_storage {
            let checked = storage.check();
            checked.map_err(|invalid| invalid.under("object_storage"))?;
        }
        if let Some(options) = &self.options {
            let checked = options.check();
            checked.map_err(|invalid| invalid.under("options"))?;
        }
        let interval = self
            .rebuild_interval
            .as_deref()
            .filter(|text| !text.is_empty());
        if let Some(Err(why)) = interval.map(duration) {
            let invalid = ValidationError::new(format!(
                "invalid duration: expected one such as 30s or 1m30s: {why}"
            ));
            return Err(invalid.under("rebuild_interval"));
        }
        self.check_labels()
            .map_err(|invalid| invalid.under("labels"))?;
        requirement::check(self.requirements.as_deref())?;
        limits::patterns(self.excluded_files.as_deref(), limits::PATTERNS)
            .map_err(|invalid| invalid.under("excluded_files"))
    }

    fn uses(&self) -> References {
        let mut uses = requirement::uses(self.requirements.as_deref());
        let storage = self.object_storage.as_ref();
        uses.secret(
            storage.and_then(ObjectStorage::credentials),
            CredentialUse::ObjectStorage,
        );
        uses
    }

    fn storage(&self) -> Option<&ObjectStorage> {
        self.object_storage
            .as_ref()
            .filter(|storage| !storage.is_empty())
    }

    fn sends_in_clear(&self) -> Option<ValidationError> {
        let storage = self.object_storage.as_ref()?;
        let aws = storage.aws.as_ref().and_then(|aws| aws.url.as_deref());
        let azure = storage.azure.as_ref().map(|azure| &*azure.account_url);
        [(aws, "aws.url"), (azure, "azure.account_url")]
            .into_iter()
            .find_map(|(url, field)| {
                let invalid = in_clear(url, storage.credentials())?;
                Some(invalid.under(field).under("object_storage"))
            })
    }
}
