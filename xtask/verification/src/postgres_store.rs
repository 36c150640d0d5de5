//! Runs the store tests of the control plane on PostgreSQL.

use std::error::Error;

use crate::cargo::cargo;
use crate::command::complete;
use crate::postgres::Postgres;
use crate::{report, root};

/// Starts a PostgreSQL server and runs the store tests on it. They have cases on PostgreSQL only if
/// a server is configured, and a run without cases would pass, so the number of cases is checked
/// first.
///
/// # Errors
/// When no server is available, there is no case, or one fails.
pub(crate) fn run() -> Result<(), Box<dyn Error>> {
    let server = Postgres::start()?;
    let suite = |last: &str| {
        let mut command = cargo();
        command
            .current_dir(root())
            .env("CONFORMANCE_POSTGRES_URL", server.url())
            .args(["test", "--workspace", "--test", "control"])
            .args(["--", "postgres/", last]);
        command
    };
    let listed = suite("--list").output()?;
    let cases = String::from_utf8_lossy(&listed.stdout).lines().count();
    if cases == 0 {
        return Err("no case runs on PostgreSQL".into());
    }
    report("running", &format!("{cases} cases on PostgreSQL"));
    complete(&mut suite("--quiet"))
}
