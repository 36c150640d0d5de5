//! `conformance doctor URL`: inspects a server before it is judged, and recommends options.

use std::collections::BTreeMap;

use clap::Args;

use super::connection::ConnectionArgs;
use super::detect::api_base_url;
use super::run::limit;
use super::{Console, Failed};
use crate::catalogue::Document;
use crate::doctor::{Diagnosis, Doctor, Finding, Severity};
use crate::http_client::curl::argument;
use crate::http_client::{Base, Client};
use crate::report::Conclusion;
use crate::target::server::Server;

/// The command line of `doctor`.
#[derive(Debug, Args)]
#[command(after_long_help = NOTES)]
pub(super) struct Arguments {
    /// Address of an engine or a control plane, such as http://127.0.0.1:8181
    #[arg(value_name = "URL")]
    url: String,
    #[command(flatten)]
    reached: ConnectionArgs,
    /// Seconds that one request may take
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    timeout: f64,
}

const NOTES: &str = "\
GET requests are sent, and POST requests that evaluate what is not defined; nothing is written. Each line says ok, note or problem, and an
arrow what to do. The last line is the command to go on with.

Exit codes:
  0  nothing stands in the way of a run
  2  wrong usage
  3  a problem stands in the way
  4  the server cannot be reached";

/// Inspects the server, and prints the findings and the recommended command.
pub(super) fn doctor(arguments: &Arguments, console: &mut Console<'_>) -> Result<u8, Failed> {
    if arguments.url.contains('@') {
        // The string may contain a password, so the error does not repeat it.
        return Err(Failed::usage(
            "an address holds no credentials; see --token-env, --header",
        ));
    }
    let base_url = api_base_url(&arguments.url);
    let base = Base::parse(&base_url).map_err(Failed::usage)?;
    let mut connection = arguments.reached.connection()?;
    connection.timeout = limit(arguments.timeout)?;
    let tokens = arguments
        .reached
        .token()?
        .map(|token| BTreeMap::from([("administrator".to_owned(), token)]));
    let client = Client::new(&connection).map_err(Failed::usage)?;
    let server = Server::new(base, tokens.unwrap_or_default(), &connection.headers);
    let doctor = Doctor {
        client: &client,
        server: &server,
        insecure: arguments.reached.insecure,
        posts: true,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let diagnosis = runtime.block_on(doctor.examine());
    if base_url != arguments.url.trim_end_matches('/') {
        let message = format!("{} is inside the API: {base_url} is asked", arguments.url);
        writeln!(console.out, "{}", line(&Finding::note("address", message)))?;
    }
    for finding in &diagnosis.findings {
        writeln!(console.out, "{}", line(finding))?;
    }
    if let Some(next) = next(&diagnosis, &server.base.url, arguments) {
        writeln!(console.out, "\nnext: {next}")?;
    }
    let code = match (diagnosis.reached, diagnosis.is_sound()) {
        (false, _) => Conclusion::Unreachable.exit_code(),
        (true, false) => Conclusion::Incomplete.exit_code(),
        (true, true) => 0,
    };
    Ok(code)
}

fn line(finding: &Finding) -> String {
    let mark = match finding.mark {
        Severity::Ok => "ok",
        Severity::Note => "note",
        Severity::Problem => "problem",
    };
    let first = format!("{mark:7}  {:9}  {}", finding.about, finding.what);
    match &finding.advice {
        Some(advice) => format!("{first}\n{:20}→ {advice}", ""),
        None => first,
    }
}

/// Returns the recommended command: a run, or another inspection with a token. None if there is
/// nothing to recommend.
fn next(diagnosis: &Diagnosis, url: &str, arguments: &Arguments) -> Option<String> {
    let mut words = vec!["conformance".to_owned()];
    if diagnosis.locked {
        words.extend(["doctor".to_owned(), url.to_owned()]);
    } else if diagnosis.apis.is_empty() || !diagnosis.is_sound() {
        return None;
    } else {
        words.push("run".to_owned());
        words.extend(diagnosis.apis.iter().map(|api| match api {
            Document::Engine => format!("--engine-url={url}"),
            Document::Control => format!("--control-url={url}"),
        }));
        let vendor = diagnosis.vendor.as_deref().or(diagnosis.product);
        words.extend(vendor.map(|vendor| format!("--vendor={vendor}")));
        words.push("--report=html=report.html".to_owned());
    }
    let variable = arguments.reached.token_env.as_deref();
    // A variable name of the user's choice, or the placeholder TOKEN.
    let variable = variable.or(diagnosis.locked.then_some("TOKEN"));
    words.extend(variable.map(|name| format!("--token-env={name}")));
    if let Some(path) = &arguments.reached.cacert {
        words.push(format!("--cacert={}", path.display()));
    }
    if arguments.reached.insecure {
        words.push("--insecure".to_owned());
    }
    // Headers may contain credentials, so only their names are repeated.
    words.extend(arguments.reached.header.iter().map(|header| {
        let name = header.split(':').next().unwrap_or_default();
        format!("--header={name}: …")
    }));
    let words: Vec<String> = words.iter().map(|word| argument(word)).collect();
    Some(words.join(" "))
}
