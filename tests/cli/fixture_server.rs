//! Tests of engines that are configured with the suite's fixture server.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use conformance::catalogue::{Catalogue, Level};
use conformance::rules;

use crate::program::{Program, long_timeout};
use crate::server::{Answers, Server};

/// Interval of the status reports that the engine sends to the fixture server.
const AGAIN: Duration = Duration::from_millis(5);

pub(crate) const TESTS: &[(&str, fn())] = &[
    (
        "an_engine_that_does_nothing_breaks_every_rule",
        does_nothing,
    ),
    (
        "a_server_that_runs_already_can_be_told_of_a_mock_server",
        runs_already,
    ),
    (
        "a_server_whose_port_is_taken_is_started_on_another",
        port_is_taken,
    ),
];

/// Setups of engines that use the fixture server.
const SETUPS: [&str; 4] = ["bundles", "discovery", "decision-logs", "status"];

/// Environment variable that makes this executable act as an engine at an address.
const ENGINE: &str = "TESTS_CLI_IS_ENGINE_AT";

pub(crate) fn engine_is_wanted() -> Option<String> {
    std::env::var(ENGINE).ok()
}

fn does_nothing() {
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let judged = |id: &String| {
        let scenario = rules::scenario(id).expect("a scenario");
        let clause = catalogue.clause(id).expect("a clause");
        SETUPS.contains(&scenario.setup) && clause.level == Level::Rule
    };
    let ids: Vec<String> = rules::ids().filter(judged).collect();
    let setups: String = SETUPS
        .map(|setup| {
            format!(
                "[setups.{setup}.engine.environment]\n\
                 {ENGINE} = '127.0.0.1:{{port}}'\nDEPOT = '{{depot}}'\n"
            )
        })
        .concat();
    let program = Program::new().file("engine.toml", &target(&setups));
    let executable = std::env::current_exe().expect("this executable");
    let executable = executable.to_str().expect("a path of text");
    let mut arguments = vec!["--target", "engine.toml", "--program", executable];
    arguments.extend(["--eventual-timeout", "0.1", "--progress", "lines"]);
    arguments.extend(ids.iter().map(String::as_str));
    let result = program.run(&arguments);
    let broken: BTreeSet<&str> = result
        .expect(1, &["not conformant"])
        .out
        .lines()
        .filter_map(|line| line.strip_prefix("fail "))
        .map(str::trim)
        .collect();
    let unaffected = ids.iter().map(String::as_str);
    let unaffected: Vec<&str> = unaffected.filter(|id| !broken.contains(id)).collect();
    assert!(unaffected.is_empty(), "{unaffected:?}");
}

fn runs_already() {
    const PUSHED: &str = "engine/common/events/status-is-pushed";
    const ALONE: &str = "engine/common/states/activation-makes-healthy";
    let server = Server::start(Answers::Empty);
    let depot = Server::dead().replace("http://", "");
    let target_file = format!("url = '{}'\ndepot = '{depot}'\n", server.url);
    let setups = format!(
        "[setups.status.engine]\n{target_file}[setups.bundles.engine]\nurl = '{}'\n",
        server.url
    );
    let program = Program::new().file("engine.toml", &target(&setups));
    let timeout = long_timeout("eventual-timeout");
    let on = |rule| program.run(&["--target", "engine.toml", &timeout, rule]);
    // If the run panics, the sender is dropped, which ends the thread.
    let (end, ended) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            // The fixture server runs only during a run, so most of these reports fail.
            while ended.recv_timeout(AGAIN) == Err(RecvTimeoutError::Timeout) {
                let _ = report(&depot);
            }
        });
        let result = on(PUSHED);
        drop(end);
        result.expect(0, &["1 pass"]);
    });
    on(ALONE).expect(3, &["needs a separate server, started by the suite"]);
    on("engine/common/provenance/bundle-revision")
        .expect(3, &["is not configured with the suite's fixture server"]);
}

/// Starts an engine that finds its first ports in use, and checks the number of starts.
fn port_is_taken() {
    for (taken, code, starts, text) in [
        (2, 1, 3, "not conformant"),
        (9, 4, 3, "ddress already in use"),
    ] {
        let program = Program::new();
        let ports = program.folder.path().join("ports");
        let ports = ports.to_str().expect("a path of text");
        let executable = std::env::current_exe().expect("this executable");
        let executable = executable.to_str().expect("a path of text");
        let script = format!(
            "echo {{port}} >> {ports}; test $(wc -l < {ports}) -gt {taken} || \
             {{ echo Address already in use; exit 1; }}; exec {executable}"
        );
        let setups = format!(
            "[setups.status.engine]\nargs = ['-c', '{script}']\n\
             [setups.status.engine.environment]\n\
             {ENGINE} = '127.0.0.1:{{port}}'\nDEPOT = '{{depot}}'\n"
        );
        let program = program.file("engine.toml", &target(&setups));
        let rule = "engine/common/events/status-is-pushed";
        let arguments = ["--target", "engine.toml", "--program", "sh", rule];
        let result = program.run(&[&arguments[..], &["--eventual-timeout", "0.1"]].concat());
        result.expect(code, &[text]);
        let ports = program.read("ports");
        let ports: BTreeSet<&str> = ports.lines().collect();
        assert_eq!(ports.len(), starts, "{ports:?}");
    }
}

fn target(setups: &str) -> String {
    let capabilities = "['status', 'bundles', 'discovery', 'decision-logs', 'provenance', \
                        'evaluation', 'documents']";
    format!("name = 'engine'\ncapabilities = {capabilities}\nprogram = 'engine'\n{setups}")
}

/// Sends a status report as an engine does.
fn report(depot: &str) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(depot)?;
    write!(
        stream,
        "POST /status HTTP/1.1\r\nHost: {depot}\r\nConnection: close\r\nContent-Length: 13\r\n\r\n\
         {{\"labels\":{{}}}}"
    )?;
    stream.read_to_end(&mut Vec::new()).map(|_| ())
}
