//! Source: where policies and data come from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::requirement::{self, Requirement};
use super::{Definition, Invalid, Kind, Place, Uses};

/// The definition of a source. Any combination of its fields is accepted.
///
/// The server opens the files that `directory` and `paths` name only below folders that its
/// operator names, because whoever may create a source could else read the server's disk.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Source {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) git: Option<Git>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) directory: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) paths: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) datasources: Option<Vec<Datasource>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) builtin: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) requirements: Option<Vec<Requirement>>,
}

/// A version-control repository.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Git {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) repo: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reference: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) included_files: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) excluded_files: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) credentials: Option<String>,
}

/// Data that is fetched from elsewhere.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Datasource {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) config: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) credentials: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) transform_query: Option<String>,
}

/// The documented part of the config of type `http`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct HttpConfig {
    url: Option<String>,
    headers: Option<BTreeMap<String, String>>,
}

impl Datasource {
    /// Refuses an `http` config whose documented fields have the wrong type; other types are
    /// not documented and kept as they are.
    fn check(&self) -> Result<(), Invalid> {
        match (self.kind.as_deref(), &self.config) {
            (Some("http"), Some(config)) => {
                let value = Value::Object(config.clone());
                let read = super::given::read::<HttpConfig>(&value);
                read.map(drop).map_err(|invalid| invalid.under("config"))
            }
            _ => Ok(()),
        }
    }
}

impl Definition for Source {
    const KIND: Kind = Kind::Source;

    fn name_mut(&mut self) -> &mut Option<String> {
        &mut self.name
    }

    fn check(&self) -> Result<(), Invalid> {
        for (at, datasource) in self.datasources.iter().flatten().enumerate() {
            let checked = datasource.check();
            checked.map_err(|invalid| invalid.under(format!("datasources[{at}]")))?;
        }
        Ok(())
    }

    fn uses(&self) -> Uses {
        let mut uses = requirement::uses(self.requirements.as_deref());
        let git = self.git.as_ref();
        uses.secret(git.and_then(|git| git.credentials.as_deref()), Place::Git);
        for datasource in self.datasources.iter().flatten() {
            uses.secret(datasource.credentials.as_deref(), Place::Datasource);
        }
        uses
    }
}
