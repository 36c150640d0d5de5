//! Connection options of commands that query a server without judging it.

use std::path::PathBuf;

use clap::Args;

use super::Failed;
use super::run::connection_from;
use super::target::token;
use crate::http_client::Connection;
use crate::target::Token;

/// The options that say so.
#[derive(Debug, Args)]
pub(super) struct ConnectionArgs {
    /// Environment variable that holds the administrator's bearer token
    #[arg(long, value_name = "NAME", env = "CONFORMANCE_TOKEN_ENV")]
    pub(super) token_env: Option<String>,
    /// Header added to every request; the variable holds one a line
    #[arg(
        short = 'H',
        long,
        value_name = "NAME: VALUE",
        env = "CONFORMANCE_HEADER",
        value_delimiter = '\n',
        hide_env_values = true
    )]
    pub(super) header: Vec<String>,
    /// Certificate authorities in PEM, instead of the system's
    #[arg(long, value_name = "FILE", env = "CONFORMANCE_CACERT")]
    pub(super) cacert: Option<PathBuf>,
    /// Accept any server certificate
    #[arg(short = 'k', long)]
    pub(super) insecure: bool,
}

impl ConnectionArgs {
    /// # Errors
    /// An invalid header, or a file that cannot be read.
    pub(super) fn connection(&self) -> Result<Connection, Failed> {
        connection_from(&self.header, self.cacert.as_deref(), self.insecure)
    }

    /// Returns the administrator's token, if the options name its environment variable.
    ///
    /// # Errors
    /// The variable is unset or empty.
    pub(super) fn token(&self) -> Result<Option<Token>, Failed> {
        token(self.token_env.as_deref())
    }
}
