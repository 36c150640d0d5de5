//! OPA as a process that is restarted after every panic.

use std::error::Error;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{Client, Server};
use crate::real_opa;

/// Option of `prlimit` for the address space of OPA in bytes: the value of a short call can use all
/// memory of the machine.
const MEMORY: &str = "--as=8589934592";

/// Running OPA, with a connection to it.
#[derive(Debug)]
pub(crate) struct RestartingOpa {
    program: PathBuf,
    arguments: &'static [&'static str],
    /// Base documents, which are loaded at each start.
    documents: Option<&'static str>,
    folder: TempDir,
    process: Server,
    client: Client,
}

impl RestartingOpa {
    /// Builds OPA, and starts it with arguments and base documents.
    ///
    /// # Errors
    /// When OPA cannot be built or does not respond.
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

    /// Returns the path of the OPA executable.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// Sends a request and returns the status of the response. If OPA panics, it closes the
    /// connection and its locks remain locked, so it is restarted and `None` is returned.
    ///
    /// # Errors
    /// When OPA cannot be restarted.
    pub(crate) fn exchange(&mut self, request: &[u8]) -> Result<Option<u16>, Box<dyn Error>> {
        if let Ok(status) = self.client.exchange(request) {
            return Ok(Some(status));
        }
        let (arguments, documents) = (self.arguments, self.documents);
        (self.process, self.client) = serve(&self.program, arguments, documents, &self.folder)?;
        Ok(None)
    }

    /// Returns the body of the last response.
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
