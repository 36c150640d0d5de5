//! `conformance cleanup`: removes the leftovers of a killed run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use clap::Args;

use super::connection::ConnectionArgs;
use super::target::describe;
use super::{Console, Failed};
use crate::catalogue::Document;
use crate::http_client::{Base, Client};
use crate::report::Conclusion;
use crate::run::cleanup::finish;
use crate::run::ledger::{self, Entry, LedgerError};
use crate::run::side_effects::Resource;
use crate::target::server::Server;
use crate::target::{Target, Token};

/// The command line of `cleanup`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The run; without it, the runs are listed that are not cleaned up
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// Forget the run without asking its servers, such as one that is gone for good; what it made
    /// there stays
    #[arg(long, requires = "run")]
    forget: bool,
    /// Directory of the cleanup journal of the run
    #[arg(long, value_name = "FOLDER", env = "CONFORMANCE_LEDGER")]
    ledger: Option<PathBuf>,
    /// Target file that names the tokens of its addresses
    #[arg(long, value_name = "FILE", env = "CONFORMANCE_TARGET")]
    target: Option<String>,
    #[command(flatten)]
    reached: ConnectionArgs,
}

/// Resources that a run may have created, by server address and API.
type CreatedResources = BTreeMap<(String, Document), Vec<Resource>>;

/// Removes the resources of a run, or lists the runs. Exit code 5 if a resource remains.
pub(super) fn cleanup(arguments: &Arguments, console: &mut Console<'_>) -> Result<u8, Failed> {
    let folder = arguments.ledger.clone().unwrap_or_else(ledger::folder);
    let Some(run) = &arguments.run else {
        for run in ledger::runs(&folder).map_err(Failed::usage)? {
            writeln!(console.out, "{}", listed(&folder, &run))?;
        }
        return Ok(0);
    };
    if !ledger::path(&folder, run).exists() && ledger::is_run(run) {
        return Err(Failed::usage(format!(
            "no run `{run}` is left to clean up; `conformance cleanup` lists those that are"
        )));
    }
    if arguments.forget {
        return forget(&folder, run, console);
    }
    let resources_by_server = group_by_server(ledger::read(&folder, run).map_err(Failed::usage)?);
    let connection = arguments.reached.connection()?;
    let client = Client::new(&connection).map_err(Failed::usage)?;
    let target = arguments.target.as_deref().map(describe).transpose()?;
    let token = arguments.reached.token()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (mut remaining, mut unread) = (Vec::new(), Vec::new());
    for ((url, document), resources) in resources_by_server {
        let base = Base::parse(&url).map_err(Failed::usage)?;
        let tokens = tokens(target.as_ref(), token.as_ref(), &url, document);
        let server = Server::new(base, tokens, &connection.headers);
        let count = resources.len();
        let removal = finish(&client, &server, document, run, resources);
        let leftovers = runtime.block_on(removal).map_err(Failed::usage)?;
        writeln!(
            console.out,
            "{url}: {count} names tried, {} left",
            leftovers.names.len()
        )?;
        remaining.extend(leftovers.names.iter().map(|path| format!("{url}{path}")));
        unread.extend(leftovers.unread.iter().map(|path| format!("{url}{path}")));
    }
    for path in &unread {
        writeln!(console.out, "  {path} (cannot be read)")?;
    }
    if remaining.is_empty() {
        ledger::remove(&folder, run).map_err(Failed::usage)?;
        return Ok(0);
    }
    for path in remaining {
        writeln!(console.out, "  {path}")?;
    }
    if !unread.is_empty() {
        writeln!(
            console.out,
            "if the server is gone for good: conformance cleanup --run {run} --forget"
        )?;
    }
    Ok(Conclusion::Defective.exit_code())
}

/// Deletes the journal of a run and prints the resources that it may have created. A journal that
/// cannot be parsed is deleted as well.
fn forget(folder: &Path, run: &str, console: &mut Console<'_>) -> Result<u8, Failed> {
    let entries = match ledger::read(folder, run) {
        Err(LedgerError::Line(..)) => Vec::new(),
        entries => entries.map_err(Failed::usage)?,
    };
    ledger::remove(folder, run).map_err(Failed::usage)?;
    for ((url, _), resources) in group_by_server(entries) {
        let count = resources.len();
        writeln!(console.out, "{url}: {count} names forgotten")?;
    }
    Ok(0)
}

/// Formats a run: time of its last entry, addresses that it wrote to, and number of resource names
/// that it may have created there.
fn listed(folder: &Path, run: &str) -> String {
    let resources_by_server = match ledger::read(folder, run) {
        Ok(entries) => group_by_server(entries),
        Err(error) => return format!("{run}  {error}"),
    };
    let modified = ledger::path(folder, run).metadata();
    let modified = modified.and_then(|file| file.modified()).map_or_else(
        |_| String::new(),
        |time| {
            let time = DateTime::<Utc>::from(time);
            time.format("%Y-%m-%d %H:%M UTC").to_string()
        },
    );
    let servers: Vec<String> = resources_by_server
        .iter()
        .map(|((url, _), resources)| format!("{url}, {} names", resources.len()))
        .collect();
    format!("{run}  {modified}  {}", servers.join("; "))
}

fn group_by_server(entries: Vec<Entry>) -> CreatedResources {
    let mut grouped = CreatedResources::new();
    for entry in entries {
        let resources = grouped.entry((entry.url, entry.document)).or_default();
        resources.push(Resource {
            rank: entry.rank,
            path: entry.path,
        });
    }
    grouped
}

/// Returns the tokens for an address: those of the target at that address, otherwise the given one.
fn tokens(
    target: Option<&Target>,
    token: Option<&Token>,
    url: &str,
    document: Document,
) -> BTreeMap<String, Token> {
    let setups = target.into_iter().flat_map(|target| target.setups.values());
    let mut launches = setups.filter_map(|setup| setup.launch(document));
    let described = launches.find(|launch| {
        let base = launch.url.as_deref().map(Base::parse);
        base.is_some_and(|base| base.is_ok_and(|base| base.url == url))
    });
    match (token, described) {
        (Some(token), _) => BTreeMap::from([("administrator".to_owned(), token.clone())]),
        (None, Some(launch)) => launch.tokens.clone(),
        (None, None) => BTreeMap::new(),
    }
}
