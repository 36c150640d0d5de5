//! `conformance mock`: a mock engine and control plane for tests of clients, with recorded requests
//! and injected faults.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

use clap::Args;

use super::serve::serve;
use super::{Console, Failed};
use crate::mock::{Limits, Mock, Options};

/// The command line of `mock`.
#[derive(Debug, Args)]
#[command(after_long_help = NOTES)]
pub(super) struct Arguments {
    /// Policy and data files, folders and addresses of bundles that the engine loads at its start,
    /// each in the form of `reference engine`, `[PREFIX:]PATH`
    #[arg(value_name = "FILE|DIR|URL")]
    data: Vec<String>,
    /// The paths are bundles: archives, or folders that are laid out like one
    #[arg(short, long)]
    bundle: bool,
    /// Serve a control plane, too
    #[arg(long)]
    control: bool,
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    host: IpAddr,
    /// Port of the engine; 0 is any free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// Port of the admin address
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    admin_port: u16,
    /// Port of the control plane
    #[arg(long, value_name = "PORT", default_value_t = 0, requires = "control")]
    control_port: u16,
    /// Token of the control plane's administrator
    #[arg(
        long,
        value_name = "TOKEN",
        default_value = "mock-administrator",
        requires = "control"
    )]
    control_token: String,
    /// Further argument of `reference engine`, such as --engine-arg=--authorization=basic; may be
    /// repeated
    #[arg(long, value_name = "ARGUMENT", allow_hyphen_values = true)]
    engine_arg: Vec<String>,
    /// Further argument of `reference control`; may be repeated
    #[arg(
        long,
        value_name = "ARGUMENT",
        allow_hyphen_values = true,
        requires = "control"
    )]
    control_arg: Vec<String>,
    /// File of faults that can be switched on by their names; may be repeated
    #[arg(long, value_name = "FILE")]
    faults: Vec<PathBuf>,
    /// Fault that is on from the start; may be repeated
    #[arg(long, value_name = "NAME")]
    fault: Vec<String>,
    /// Requests that are recorded; the oldest make room
    #[arg(long, alias = "keep", value_name = "COUNT", default_value_t = 10_000)]
    max_recorded: usize,
    /// Bytes that are recorded of a body
    #[arg(
        long,
        alias = "keep-body",
        value_name = "BYTES",
        default_value_t = 262_144
    )]
    max_recorded_body: usize,
    /// End when standard input is closed, which happens when the test that started this ends
    #[arg(long, alias = "until-eof")]
    exit_on_stdin_close: bool,
}

const NOTES: &str = "\
When everything is ready, one line of JSON is printed:
  {\"engine\":\"http://127.0.0.1:PORT\",\"admin\":\"http://127.0.0.1:PORT\"}
and with --control also `control` and `control_token`.

The admin address:
  GET    /requests      what was received (parameters api, method, path, after)
  DELETE /requests      forgets it
  GET    /faults        which faults are on, which are known
  PUT    /faults/NAME   switches one on (parameter times; a body defines one)
  POST   /faults        switches all faults of a file on
  DELETE /faults[/NAME] switches them off
  POST   /reset         back to the start: policies, data, faults, nothing received

The header `Conformance-Fault: NAME` breaks the answer to one request.

Exit codes:
  0  ended by a signal or, with --exit-on-stdin-close, by the end of standard input
  2  wrong usage, a file that cannot be used, or an address that is taken";

/// Serves the mock until shutdown is requested.
pub(super) fn mock(arguments: Arguments, console: &mut Console<'_>) -> Result<u8, Failed> {
    let exit_on_stdin_close = arguments.exit_on_stdin_close;
    let start = Mock::start(options(arguments));
    serve(
        start,
        |running| running.addresses.to_string(),
        exit_on_stdin_close,
        console,
    )
}

fn options(arguments: Arguments) -> Options {
    let mut engine = arguments.engine_arg;
    if arguments.bundle {
        engine.push("--bundle".to_owned());
    }
    engine.push("--".to_owned());
    engine.extend(arguments.data);
    Options {
        host: arguments.host,
        port: arguments.port,
        admin_port: arguments.admin_port,
        control_port: arguments.control.then_some(arguments.control_port),
        control_token: arguments.control_token,
        engine,
        control: arguments.control_arg,
        fault_files: arguments.faults,
        faults: arguments.fault,
        recording: Limits {
            requests: arguments.max_recorded,
            body: arguments.max_recorded_body,
            answer: 0,
        },
    }
}
