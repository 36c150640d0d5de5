//! The description of a run.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use super::{Chosen, Inner, Suite};
use crate::catalogue::{Catalogue, CatalogueError};
use crate::client::{Client, Connection, ConnectionError};
use crate::embedded_files::SNAPSHOTS;
use crate::judge::snapshot_text;
use crate::names::run_prefix;
use crate::openapi::{Contract, ContractError};
use crate::pattern::{Pattern, PatternError};
use crate::rules::sections;
use crate::target::Target;

/// Describes a run: what is judged, and how.
#[derive(Debug)]
pub struct SuiteBuilder {
    target: Target,
    rules: Vec<String>,
    skip: Vec<String>,
    seed: Option<u64>,
    jobs: usize,
    own_target: bool,
    patience: Duration,
    connection: Connection,
}

/// A run that cannot be described so.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// The embedded clauses have a defect.
    #[error(transparent)]
    Catalogue(#[from] &'static CatalogueError),
    /// An embedded OpenAPI document has a defect.
    #[error(transparent)]
    Contract(#[from] &'static ContractError),
    /// A pattern names no rule.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// Nothing is left to judge.
    #[error("no rule is left to judge")]
    Nothing,
    /// The connection cannot be set up.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    /// The operating system refuses threads or random numbers.
    #[error("the suite cannot start: {0}")]
    System(String),
}

impl SuiteBuilder {
    pub(super) fn new(target: Target) -> Self {
        Self {
            target,
            rules: Vec::new(),
            skip: Vec::new(),
            seed: None,
            jobs: std::thread::available_parallelism().map_or(2, usize::from) * 2,
            own_target: false,
            patience: Duration::from_secs(10),
            connection: Connection::default(),
        }
    }

    /// Only rules that fit one of these ids, paths or globs; without any, all.
    #[must_use]
    pub fn rules(mut self, patterns: impl IntoIterator<Item = String>) -> Self {
        self.rules.extend(patterns);
        self
    }

    /// No rules that fit one of these.
    #[must_use]
    pub fn skip(mut self, patterns: impl IntoIterator<Item = String>) -> Self {
        self.skip.extend(patterns);
        self
    }

    /// The seed of the order; without one, a random one.
    #[must_use]
    pub fn seed(mut self, seed: Option<u64>) -> Self {
        self.seed = seed;
        self
    }

    /// How many scenarios run at once.
    #[must_use]
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.jobs = jobs.max(1);
        self
    }

    /// Whether scenarios may touch what others see although the target is not on loopback.
    #[must_use]
    pub fn own_target(mut self, own: bool) -> Self {
        self.own_target = own;
        self
    }

    /// How long what comes about only in time may take: that a bundle is activated, that a
    /// decision is sent.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// How the target is connected to.
    #[must_use]
    pub fn connection(mut self, connection: Connection) -> Self {
        self.connection = connection;
        self
    }

    /// The suite.
    ///
    /// # Errors
    /// Patterns that fit nothing, a connection that cannot be set up, defects of what the
    /// program carries.
    pub fn build(self) -> Result<Suite, SuiteError> {
        let catalogue = Catalogue::embedded()?;
        let chosen = choose(catalogue, &self.rules, &self.skip)?;
        if chosen.is_empty() {
            return Err(SuiteError::Nothing);
        }
        let random = || getrandom::u64().map_err(|error| SuiteError::System(error.to_string()));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| SuiteError::System(error.to_string()))?;
        let inner = Inner {
            client: Client::new(&self.connection)?,
            contract: Contract::embedded()?,
            run: run_prefix(random()?),
            chosen,
            seed: match self.seed {
                Some(seed) => seed,
                // Short enough to be typed again.
                None => random()? % 1_000_000,
            },
            jobs: self.jobs,
            own_target: self.own_target,
            patience: self.patience,
            target: self.target,
            stages: Mutex::default(),
            requests: AtomicU64::new(0),
        };
        Ok(Suite {
            runtime,
            inner: Arc::new(inner),
        })
    }
}

fn choose(
    catalogue: &'static Catalogue,
    rules: &[String],
    skip: &[String],
) -> Result<Vec<Chosen>, SuiteError> {
    let ids = || catalogue.clauses().iter().map(|clause| clause.id.as_str());
    let read = |texts: &[String]| {
        texts
            .iter()
            .map(|text| {
                let pattern = Pattern::parse(text)?;
                pattern.check(ids())?;
                Ok(pattern)
            })
            .collect::<Result<Vec<Pattern>, PatternError>>()
    };
    let (wanted, skipped) = (read(rules)?, read(skip)?);
    let scenarios: HashMap<String, _> = sections()
        .flat_map(|section| {
            let id = |slug| format!("{}/{slug}", section.path);
            section
                .rules
                .iter()
                .map(move |rule| (id(rule.slug), rule.scenario))
        })
        .collect();
    let snapshots: HashMap<&str, &str> = SNAPSHOTS.iter().copied().collect();
    let fits = |patterns: &[Pattern], id: &str| patterns.iter().any(|one| one.matches(id));
    Ok(catalogue
        .clauses()
        .iter()
        .filter(|clause| Chosen::is_judged(clause))
        .filter(|clause| wanted.is_empty() || fits(&wanted, &clause.id))
        .filter(|clause| !fits(&skipped, &clause.id))
        .map(|clause| Chosen {
            clause,
            scenario: scenarios.get(&clause.id).map(|build| build()),
            snapshot: snapshots
                .get(clause.id.as_str())
                .map(|text| snapshot_text(text)),
        })
        .collect())
}
