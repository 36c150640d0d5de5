//! OPA, restarted whenever a request makes it panic.

use std::error::Error;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{Client, Server};
use crate::real_opa;

/// The most address space of a process: a short call can ask for a value that takes all memory of the
/// machine.
const MEMORY: &str = "--as=8589934592";

/// A process of OPA and a connection to it.
#[derive(Debug)]
pub(crate) struct RestartingOpa {
    program: PathBuf,
    arguments: &'static [&'static str],
    /// The base documents of each process.
    documents: Option<&'static str>,
    folder: TempDir,
    process: Server,
    client: Client,
}

impl RestartingOpa {
    /// Builds and starts it, with further arguments and base documents.
    ///
    /// # Errors
    /// It cannot be built or does not answer.
    pub(crate) fn start(
        arguments: &'static [&'static str],
        documents: Option<&'static str>,
    ) -> Result<Self, Box<dyn Error>> {
        let program = real_opa::build()?;
        let folder = tempfile::tempdir()?;
        let (process, client) = serve(&program, arguments, documents, &folder)?;
        Ok(Self {
            program,
            arguments,
            documents,
            folder,
            process,
            client,
        })
    }

    /// Its program.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// Sends a request and reads the whole answer; its status, or nothing if OPA panics, which closes
    /// the connection and leaves its locks closed.
    ///
    /// # Errors
    /// It cannot be started again.
    pub(crate) fn exchange(&mut self, request: &[u8]) -> Result<Option<u16>, Box<dyn Error>> {
        if let Ok(status) = self.client.exchange(request) {
            return Ok(Some(status));
        }
        let (arguments, documents) = (self.arguments, self.documents);
        (self.process, self.client) = serve(&self.program, arguments, documents, &self.folder)?;
        Ok(None)
    }

    /// The body of the last answer.
    pub(crate) fn body(&self) -> &[u8] {
        self.client.body()
    }
}

fn serve(
    program: &Path,
    arguments: &[&str],
    documents: Option<&str>,
    folder: &TempDir,
) -> Result<(Server, Client), Box<dyn Error>> {
    let bounded = [MEMORY, &program.to_string_lossy()];
    let arguments = [&bounded, real_opa::SERVE, arguments].concat();
    let process = Server::start(Path::new("prlimit"), &arguments, folder.path())?;
    let mut client = process.client()?;
    if let Some(documents) = documents {
        client.ok("PUT", "/v1/data", documents)?;
    }
    Ok((process, client))
}
