//! The `conformance` program.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use conformance::cli::{self, Console};

fn main() -> ExitCode {
    let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
    let colour = anstream::AutoStream::choice(&out) != anstream::ColorChoice::Never;
    let console = Console {
        colour,
        watched: err.is_terminal(),
        out: &mut out,
        err: &mut err,
    };
    cli::main(std::env::args_os(), console).into()
}
