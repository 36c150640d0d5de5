//! Source: policies and data that bundles are built from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::requirement::{self, Requirement};
use super::{
    CredentialUse, Definition, EmbeddedFiles, Kind, References, ValidationError, in_clear, limits,
};

/// Definition of a source; its fields can be combined freely.
///
/// The server opens `directory` and `paths` only below folders that its operator configures.
/// Without this restriction, everyone who may create a source could read the server's disk.
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
    /// Files that the definition contains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) files: Option<EmbeddedFiles>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) datasources: Option<Vec<Datasource>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) builtin: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) requirements: Option<Vec<Requirement>>,
    /// True if every owner may reference the source. Stored separately from the definition, because
    /// only administrators may set it.
    #[serde(skip_serializing)]
    shared: Option<bool>,
}

impl Source {
    /// Returns true if all files and documents of the source are in the database.
    pub(crate) fn is_stored(&self) -> bool {
        let is_empty = |text: &Option<String>| text.as_deref().unwrap_or_default().is_empty();
        let repository = self.git.as_ref().is_none_or(|git| is_empty(&git.repo));
        let paths = self.paths.iter().flatten().next();
        let datasource = self.datasources.iter().flatten().next();
        repository
            && is_empty(&self.directory)
            && is_empty(&self.builtin)
            && paths.is_none()
            && datasource.is_none()
    }

    /// Returns an error for too many paths or datasources, and for a path that is too long.
    fn check_paths(&self) -> Result<(), ValidationError> {
        limits::member(self.directory.as_deref(), "directory", limits::path)?;
        limits::member(self.builtin.as_deref(), "builtin", limits::path)?;
        let paths = self.paths.as_deref().unwrap_or_default();
        limits::number(paths.len(), limits::PARTS, "paths")
            .and_then(|()| paths.iter().try_for_each(|path| limits::path(path)))
            .map_err(|invalid| invalid.under("paths"))?;
        let datasources = self.datasources.as_ref().map_or(0, Vec::len);
        limits::number(datasources, limits::PARTS, "datasources")
            .map_err(|invalid| invalid.under("datasources"))?;
        let checked = self.git.as_ref().map_or(Ok(()), Git::check);
        checked.map_err(|invalid| invalid.under("git"))
    }

    /// Returns true if a datasource has a transformation.
    pub(crate) fn transforms(&self) -> bool {
        let mut datasources = self.datasources.iter().flatten();
        datasources.any(|datasource| {
            !datasource
                .transform_query
                .as_deref()
                .unwrap_or_default()
                .is_empty()
        })
    }
}

/// Git repository.
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

/// Error message for a repository URL with a query or a fragment.
pub(crate) const NO_QUERY: &str =
    "an address of a repository has no query and no fragment; secrets belong in credentials";

/// Returns true if the URL of a repository has a query or a fragment: these may contain secrets,
/// and messages show the URL to others. Local paths may contain these characters.
pub(crate) fn has_query(repo: &str) -> bool {
    match repo.split_once("://") {
        Some((scheme, rest)) => !scheme.eq_ignore_ascii_case("file") && rest.contains(['?', '#']),
        None => false,
    }
}

impl Git {
    /// Returns an error for a value that is too long, and for too many patterns.
    fn check(&self) -> Result<(), ValidationError> {
        limits::member(self.repo.as_deref(), "repo", limits::url)?;
        limits::member(self.reference.as_deref(), "reference", limits::path)?;
        limits::member(self.commit.as_deref(), "commit", limits::name)?;
        limits::member(self.path.as_deref(), "path", limits::path)?;
        for (field, patterns) in [
            ("included_files", &self.included_files),
            ("excluded_files", &self.excluded_files),
        ] {
            limits::patterns(patterns.as_deref(), limits::PATTERNS)
                .map_err(|invalid| invalid.under(field))?;
        }
        Ok(())
    }
}

/// Service from which a build fetches data.
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

/// Documented members of the config of type `http`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct HttpConfig {
    url: Option<String>,
    headers: Option<BTreeMap<String, String>>,
}

impl Datasource {
    /// Returns the URL of the datasource and the name of the config member that contains it.
    fn address(&self) -> Option<(&'static str, &str)> {
        let config = self.config.as_ref()?;
        let text = |field: &'static str| Some((field, config.get(field)?.as_str()?));
        let fields: &[&'static str] = match self.kind.as_deref() {
            Some("http") => &["url"],
            Some("s3") => &["endpoint", "url"],
            _ => &[],
        };
        let mut addresses = fields.iter().filter_map(|field| text(field));
        addresses.find(|(_, url)| !url.is_empty())
    }

    /// Returns an error for a name, path or URL that is too long, and for a documented `http`
    /// member of the wrong type. The configs of other types are undocumented and stored unchanged.
    fn check(&self) -> Result<(), ValidationError> {
        limits::member(self.name.as_deref(), "name", limits::name)?;
        limits::member(self.path.as_deref(), "path", limits::document_path)?;
        if let Some((field, url)) = self.address() {
            let checked = limits::member(Some(url), field, limits::url);
            checked.map_err(|invalid| invalid.under("config"))?;
        }
        match (self.kind.as_deref(), &self.config) {
            (Some("http"), Some(config)) => {
                let value = Value::Object(config.clone());
                let result = super::deserialize::read::<HttpConfig>(&value);
                result.map(drop).map_err(|invalid| invalid.under("config"))
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

    fn check(&self) -> Result<(), ValidationError> {
        let repo = self.git.as_ref().and_then(|git| git.repo.as_deref());
        if repo.is_some_and(has_query) {
            let invalid = ValidationError::new(NO_QUERY);
            return Err(invalid.under("repo").under("git"));
        }
        self.check_paths()?;
        requirement::check(self.requirements.as_deref())?;
        for (index, datasource) in self.datasources.iter().flatten().enumerate() {
            let checked = datasource.check();
            checked.map_err(|invalid| invalid.under(format!("datasources[{index}]")))?;
        }
        if let Some(files) = &self.files {
            files.read().map_err(|invalid| invalid.under("files"))?;
        }
        Ok(())
    }

    fn uses(&self) -> References {
        let mut uses = requirement::uses(self.requirements.as_deref());
        let git = self.git.as_ref();
        uses.secret(
            git.and_then(|git| git.credentials.as_deref()),
            CredentialUse::Git,
        );
        for datasource in self.datasources.iter().flatten() {
            uses.secret(datasource.credentials.as_deref(), CredentialUse::Datasource);
        }
        uses
    }

    fn shared(&self) -> Option<bool> {
        self.shared
    }

    fn sends_in_clear(&self) -> Option<ValidationError> {
        if let Some(git) = &self.git
            && let Some(invalid) = in_clear(git.repo.as_deref(), git.credentials.as_deref())
        {
            return Some(invalid.under("repo").under("git"));
        }
        let datasources = self.datasources.iter().flatten().enumerate();
        let mut datasources = datasources.filter_map(|(index, datasource)| {
            let (field, url) = datasource.address()?;
            let invalid = in_clear(Some(url), datasource.credentials.as_deref())?;
            let place = format!("datasources[{index}]");
            Some(invalid.under(field).under("config").under(place))
        });
        datasources.next()
    }
}
