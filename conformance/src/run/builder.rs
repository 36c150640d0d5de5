//! Builder of a suite run.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::{Chosen, Inner, Mode, Suite};
use crate::assets::SNAPSHOTS;
use crate::catalogue::pattern::{Pattern, PatternError};
use crate::catalogue::{Catalogue, CatalogueError, Document, Pack, Profile};
use crate::doctor::modules::Module;
use crate::http_client::{Client, Connection, ConnectionError};
use crate::judge::openapi::{Contract, ContractError};
use crate::judge::snapshot_text;
use crate::judge::verdict::Reason;
use crate::rules::sections;
use crate::run::ledger::Ledger;
use crate::scenario::resource_names::run_name;
use crate::target::Target;

/// Number of concurrent scenarios while faults are tested: some of them only wait.
const SELFTEST_JOBS: usize = 16;

/// Describes a run: target, rules and settings.
#[derive(Debug)]
pub struct SuiteBuilder {
    target: Target,
    rules: Vec<String>,
    skip: Vec<String>,
    profile: Option<&'static Profile>,
    seed: Option<u64>,
    jobs: usize,
    mode: Option<Mode>,
    own_target: bool,
    probe: bool,
    refusal: Option<Reason>,
    modules: Vec<Module>,
    namespace: String,
    ledger: Option<PathBuf>,
    eventual_timeout: Duration,
    connection: Connection,
}

/// Why a run cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SuiteError {
    /// The embedded clauses have a defect.
    #[error(transparent)]
    Catalogue(#[from] &'static CatalogueError),
    /// An embedded OpenAPI document has a defect.
    #[error(transparent)]
    Contract(#[from] &'static ContractError),
    /// A pattern matches no rule.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// No rule is selected.
    #[error("no rule is left to judge")]
    Nothing,
    /// The connection cannot be set up.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    /// An invalid prefix of names: some API does not accept it.
    #[error(
        "invalid namespace `{0}`: expected a letter, then up to 15 letters and digits, all small"
    )]
    Namespace(String),
    /// Evidence that no run can have recorded.
    #[error("{0}")]
    Evidence(String),
    /// The operating system provides no threads or random numbers.
    #[error("the suite cannot start: {0}")]
    System(String),
}

impl SuiteBuilder {
    pub(super) fn new(target: Target) -> Self {
        Self {
            target,
            rules: Vec::new(),
            skip: Vec::new(),
            profile: None,
            seed: None,
            jobs: default_jobs(),
            mode: None,
            own_target: false,
            probe: false,
            refusal: None,
            modules: Vec::new(),
            namespace: "c".to_owned(),
            ledger: None,
            eventual_timeout: Duration::from_secs(10),
            connection: Connection::default(),
        }
    }

    /// Selects rules that match one of these ids, paths or globs; by default, all of the documents.
    #[must_use]
    pub fn rules(mut self, patterns: impl IntoIterator<Item = String>) -> Self {
        self.rules.extend(patterns);
        self
    }

    /// Selects the rules of the documents and of every pack.
    #[must_use]
    pub fn with_packs(self) -> Self {
        let documents = Document::ALL.map(Document::name);
        let all = documents.into_iter().chain(Pack::ALL.map(Pack::name));
        self.rules(all.map(str::to_owned))
    }

    /// Judges by a [profile](crate::catalogue::Catalogue::profile): its rules, unless some are
    /// selected, and the target claims the capabilities that it needs.
    #[must_use]
    pub fn profile(mut self, profile: Option<&'static Profile>) -> Self {
        self.profile = profile;
        self
    }

    /// Excludes rules that match one of these ids, paths or globs.
    #[must_use]
    pub fn skip(mut self, patterns: impl IntoIterator<Item = String>) -> Self {
        self.skip.extend(patterns);
        self
    }

    /// Sets the seed of the rule order; without one, it is random.
    #[must_use]
    pub fn seed(mut self, seed: Option<u64>) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the number of concurrent scenarios.
    #[must_use]
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.jobs = jobs.max(1);
        self
    }

    /// Sets the permitted effects of scenarios on the target. By default, all on loopback, and
    /// elsewhere only those that do not affect others.
    #[must_use]
    pub fn mode(mut self, mode: Option<Mode>) -> Self {
        self.mode = mode;
        self
    }

    /// Also runs scenarios of capabilities that the target does not claim. A pass is then a
    /// [finding](crate::report::capability); they are not judged.
    #[must_use]
    pub fn probe(mut self, probe: bool) -> Self {
        self.probe = probe;
        self
    }

    /// Runs no rule, and reports this reason, found by an inspection of the target.
    #[must_use]
    pub(crate) fn refusal(mut self, refusal: Option<Reason>) -> Self {
        self.refusal = refusal;
        self
    }

    /// Sets the policies that the target already has. Rules that define the same names are not run.
    #[must_use]
    pub(crate) fn modules(mut self, modules: Vec<Module>) -> Self {
        self.modules = modules;
        self
    }

    /// Sets the prefix of every name that the run writes: a letter, then up to 15 letters and
    /// digits, all lower case.
    #[must_use]
    pub fn namespace(mut self, prefix: impl Into<String>) -> Self {
        self.namespace = prefix.into();
        self
    }

    /// Sets the folder of the ledger of resources that the run creates on servers that it did not
    /// start, so that `conformance cleanup` can remove them if the run cannot.
    #[must_use]
    pub fn ledger(mut self, folder: Option<PathBuf>) -> Self {
        self.ledger = folder;
        self
    }

    /// Allows scenarios to affect what others see although the target is not on loopback; a
    /// [mode](SuiteBuilder::mode) takes precedence.
    #[must_use]
    pub fn own_target(mut self, own: bool) -> Self {
        self.own_target = own;
        self
    }

    /// Sets the timeout of eventual effects, such as the activation of a bundle.
    #[must_use]
    pub fn eventual_timeout(mut self, eventual_timeout: Duration) -> Self {
        self.eventual_timeout = eventual_timeout;
        self
    }

    /// Configures the suite for tests with injected faults: many concurrent scenarios.
    #[must_use]
    pub fn for_selftest(self) -> Self {
        self.jobs(SELFTEST_JOBS)
    }

    /// Sets the connection settings.
    #[must_use]
    pub fn connection(mut self, connection: Connection) -> Self {
        self.connection = connection;
        self
    }

    /// Builds the suite.
    ///
    /// # Errors
    /// Patterns that match nothing, a connection that cannot be set up, defects of embedded files.
    pub fn build(mut self) -> Result<Suite, SuiteError> {
        let catalogue = Catalogue::embedded()?;
        if let Some(profile) = self.profile {
            let needed = profile.capabilities(catalogue).into_iter();
            self.target.capabilities.extend(needed.map(str::to_owned));
            if self.rules.is_empty() {
                self.rules.extend(profile.rules().cloned());
            }
        }
        let chosen = choose(catalogue, &self.rules, &self.skip)?;
        if chosen.is_empty() {
            return Err(SuiteError::Nothing);
        }
        let random = || getrandom::u64().map_err(|error| SuiteError::System(error.to_string()));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| SuiteError::System(error.to_string()))?;
        check_namespace(&self.namespace)?;
        let run = run_name(&self.namespace, random()?);
        let inner = Inner {
            client: Client::new(&self.connection)?,
            contract: Contract::embedded()?,
            ledger: self.ledger.map(|folder| Ledger::new(folder, &run)),
            run,
            chosen,
            profile: self.profile,
            seed: match self.seed {
                Some(seed) => seed,
                // Short enough to be retyped.
                None => random()? % 1_000_000,
            },
            jobs: self.jobs,
            mode: self.mode,
            own_target: self.own_target,
            probe: self.probe,
            refusal: self.refusal,
            modules: self.modules,
            stopped: AtomicBool::new(false),
            eventual_timeout: self.eventual_timeout,
            target: self.target,
            pool: Mutex::default(),
            requests: AtomicU64::new(0),
        };
        Ok(Suite {
            runtime,
            inner: Arc::new(inner),
        })
    }
}

/// Default number of concurrent scenarios; it is high because scenarios mostly wait for servers.
pub(crate) fn default_jobs() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from) * 4
}

/// Checks that this prefix is valid in names of both APIs and in package names.
///
/// # Errors
/// It is invalid.
pub(crate) fn check_namespace(text: &str) -> Result<(), SuiteError> {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_valid = text.len() <= 16
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(is_allowed);
    match is_valid {
        true => Ok(()),
        false => Err(SuiteError::Namespace(text.to_owned())),
    }
}

fn choose(
    catalogue: &'static Catalogue,
    rules: &[String],
    skip: &[String],
) -> Result<Vec<Chosen>, SuiteError> {
    let ids = || catalogue.with_packs().map(|clause| clause.id.as_str());
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
    let (requested, skipped) = (read(rules)?, read(skip)?);
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
    Ok(catalogue
        .chosen(&requested, &skipped)
        .filter(|clause| Chosen::is_judged(clause))
        .map(|clause| Chosen {
            clause,
            scenario: scenarios.get(&clause.id).map(|build| build()),
            snapshot: snapshots
                .get(clause.id.as_str())
                .map(|text| snapshot_text(text)),
        })
        .collect())
}
