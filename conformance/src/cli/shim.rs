//! `conformance shim`: an HTTP server in front of a library that has none.

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr};

use clap::Args;
use serde_json::json;

use super::run::limit;
use super::serve::serve;
use super::{Console, Failed};
use crate::shim::{Options, Shim};

/// The command line of `shim`.
#[derive(Debug, Args)]
#[command(after_long_help = NOTES)]
pub(super) struct Arguments {
    /// The adapter, a program that answers by the library, and its arguments
    #[arg(
        value_name = "COMMAND",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    command: Vec<OsString>,
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    host: IpAddr,
    /// Port to listen on; 0 is any free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// Time limit for one answer of the adapter, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    timeout: f64,
    /// End when standard input is closed, which happens when whoever started this ends
    #[arg(long, alias = "until-eof")]
    exit_on_stdin_close: bool,
}

const NOTES: &str = "\
The adapter reads questions from its standard input, one line of JSON each:
  {\"modules\":{\"ID\":\"TEXT\"},\"data\":{…},\"path\":[\"a\",0],\"input\":…,\"strict_builtin_errors\":true}
`input` is missing where there is none, `strict_builtin_errors` where it is not asked for. It writes
one line for each:
  {\"result\":…}                               the value of the document at the path
  {}                                         it is undefined
  {\"error\":{\"code\":\"…\",\"message\":\"…\"}}    no decision; `invalid_parameter` where the policies
                                             cannot be compiled
It ends when its standard input does. What it writes to standard error is shown.

When it answers, one line is printed: {\"engine\":\"http://127.0.0.1:PORT\"}. Then
  conformance run --target shim --engine-url http://127.0.0.1:PORT
judges the rules about what decisions come to, which the library answers; docs/guide/shim.md.

Exit codes:
  0  ended by a signal or, with --exit-on-stdin-close, by the end of standard input
  2  wrong usage, an address that is taken, or an adapter that does not answer";

/// Serves the shim until shutdown is requested.
pub(super) fn shim(arguments: Arguments, console: &mut Console<'_>) -> Result<u8, Failed> {
    let options = Options {
        host: arguments.host,
        port: arguments.port,
        command: arguments.command,
        timeout: limit(arguments.timeout)?,
    };
    serve(
        Shim::start(options),
        |shim| json!({"engine": shim.url}),
        arguments.exit_on_stdin_close,
        console,
    )
}
