//! The catalogue: all clauses of the two documents and of the packs, read from `specs/**.yaml`.
//!
//! The reader is strict, because a clause that is silently dropped is a rule that nobody
//! checks: unknown keys, unknown sections and capabilities, ill-formed and repeated ids are
//! errors that name the file and the line. So is a sentence of a document that no clause states
//! and nothing explains.

mod pack;
pub mod pattern;
mod profile;
mod read;
mod sections;
mod sentences;

use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

use pattern::Pattern;
use serde::{Deserialize, Serialize};

pub use pack::Pack;
pub use profile::{Binding, Profile};
pub use sections::sections;
pub use sentences::{Explanation, Sentences};

use crate::assets::SPECS;

/// One of the two documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Document {
    /// The control plane's management API.
    Control,
    /// The policy engine's REST API.
    Engine,
}

impl Document {
    /// Both documents, in the order of the rules.
    pub const ALL: [Self; 2] = [Self::Control, Self::Engine];

    /// The document's name in rule ids and file paths.
    pub fn name(self) -> &'static str {
        match self {
            Self::Control => "control",
            Self::Engine => "engine",
        }
    }

    /// Returns the document whose API a rule id is about, by the first segment of the id.
    pub fn of(id: &str) -> Option<Self> {
        if let Some(Pack::Regressions) = Pack::of(id) {
            return Some(Self::Engine);
        }
        // Rule ids for clients have a separate prefix.
        let id = id.strip_prefix("client/").unwrap_or(id);
        let first = id.split('/').next()?;
        Self::ALL
            .into_iter()
            .find(|document| document.name() == first)
    }
}

impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The level of a clause: whether a target can fail it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Documented: a target passes or fails.
    Rule,
    /// The document is silent or leaves a choice: the behaviour is recorded.
    Open,
    /// HTTP cannot show whether a target conforms.
    Unobservable,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rule => "rule",
            Self::Open => "open",
            Self::Unobservable => "unobservable",
        })
    }
}

/// One statement of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Clause {
    /// The path of the file and the clause's own name.
    pub id: String,
    /// The document that makes the statement.
    pub document: Document,
    /// The section of the document, one of [`sections`](fn@sections).
    pub section: &'static str,
    /// The numbers of the section's sentences that the clause states, ascending; none where the
    /// document is silent.
    pub sentences: Vec<usize>,
    /// The level, which says whether a target can fail the clause.
    pub level: Level,
    /// The capability without which the clause does not apply to a target.
    pub capability: String,
    /// The statement.
    pub states: String,
    /// The reason why HTTP cannot show conformance, or why an open clause has no scenario.
    pub reason: Option<String>,
    /// Method and path, in files about one endpoint.
    pub endpoint: Option<String>,
    /// The topic, in files about several endpoints.
    pub topic: Option<String>,
}

/// An ability that not every target has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Capability {
    /// The name that clauses and targets use.
    pub name: String,
    /// The behaviour that it covers.
    pub states: String,
    /// Whether its scenarios are still to be written.
    pub pending: bool,
}

/// Every clause and every capability.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    capabilities: Vec<Capability>,
    titles: Vec<(Document, String)>,
    sentences: Vec<Sentences>,
    clauses: Vec<Clause>,
    /// The clauses of the packs.
    packed: Vec<Clause>,
    /// All profiles, the older editions first.
    profiles: Vec<Profile>,
    index: HashMap<String, usize>,
}

/// Unusable clause files or edition, with all defects.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the catalogue has {} defect(s):\n{}", .0.len(), .0.join("\n"))]
pub struct CatalogueError(pub Vec<String>);

impl Catalogue {
    /// Returns the embedded catalogue.
    ///
    /// # Errors
    /// The embedded files have a defect; `cargo test registry` names each.
    pub fn embedded() -> Result<&'static Self, &'static CatalogueError> {
        static CATALOGUE: OnceLock<Result<Catalogue, CatalogueError>> = OnceLock::new();
        CATALOGUE.get_or_init(|| Self::read(SPECS)).as_ref()
    }

    /// Reads `edition` and the clause files from pairs of path (without ending) and contents.
    ///
    /// # Errors
    /// Every defect of every file, each with file and line.
    pub fn read(files: &[(&str, &str)]) -> Result<Self, CatalogueError> {
        read::catalogue(files)
    }

    /// The sentences of every section, in the order of the documents.
    pub fn sentences(&self) -> &[Sentences] {
        &self.sentences
    }

    /// Every clause of the documents, in the order of the files.
    pub fn clauses(&self) -> &[Clause] {
        &self.clauses
    }

    /// Every clause: those of the documents, then those of the packs.
    pub fn with_packs(&self) -> impl Iterator<Item = &Clause> + Clone {
        self.clauses.iter().chain(&self.packed)
    }

    /// Selects the clauses that match a pattern of `requested` and none of `skipped`. An empty
    /// `requested` selects all clauses of the documents.
    pub fn chosen<'c, 'p>(
        &'c self,
        requested: &'p [Pattern],
        skipped: &'p [Pattern],
    ) -> impl Iterator<Item = &'c Clause> + use<'c, 'p> {
        let matches_any =
            |patterns: &[Pattern], id: &str| patterns.iter().any(|one| one.matches(id));
        self.with_packs()
            .filter(move |clause| match requested.is_empty() {
                true => Pack::of(&clause.id).is_none(),
                false => matches_any(requested, &clause.id),
            })
            .filter(move |clause| !matches_any(skipped, &clause.id))
    }

    /// The clause with this id.
    pub fn clause(&self, id: &str) -> Option<&Clause> {
        let index = *self.index.get(id)?;
        match Pack::of(id) {
            None => self.clauses.get(index),
            Some(_) => self.packed.get(index),
        }
    }

    /// The profiles of every edition, the older ones first.
    pub fn profiles(&self) -> &[Profile] {
        &self.profiles
    }

    /// The profile of this name in the newest edition that contains it.
    pub fn profile(&self, name: &str) -> Option<&Profile> {
        let mut newest_first = self.profiles.iter().rev();
        newest_first.find(|profile| profile.name == name)
    }

    /// The rules of the documents that no profile of the newest edition contains.
    pub fn in_no_profile(&self) -> impl Iterator<Item = &Clause> {
        let newest = self.profiles.last().map(|profile| &profile.edition);
        let of_newest = move |profile: &&Profile| Some(&profile.edition) == newest;
        let profiles: Vec<_> = self.profiles.iter().filter(of_newest).collect();
        let rules = self.clauses.iter();
        let rules = rules.filter(|clause| clause.level == Level::Rule);
        rules.filter(move |clause| {
            let mut profiles = profiles.iter();
            profiles.all(|profile| profile.binding(&clause.id).is_none())
        })
    }

    /// Every capability, by name.
    pub fn capabilities(&self) -> &[Capability] {
        &self.capabilities
    }

    /// The capability with this name.
    pub fn capability(&self, name: &str) -> Option<&Capability> {
        self.capabilities.iter().find(|known| known.name == name)
    }

    /// Whether a capability's scenarios are still to be written.
    pub fn pending(&self, capability: &str) -> bool {
        self.capability(capability)
            .is_some_and(|known| known.pending)
    }

    /// Returns the title of the source of a clause: its document or its pack.
    pub fn title_of(&self, id: &str) -> &str {
        match (Pack::of(id), Document::of(id)) {
            (Some(pack), _) => pack.title(),
            (None, Some(document)) => self.title(document),
            (None, None) => "",
        }
    }

    /// The title of a document.
    pub fn title(&self, document: Document) -> &str {
        self.titles
            .iter()
            .find(|(known, _)| *known == document)
            .map_or(document.name(), |(_, title)| title)
    }
}
