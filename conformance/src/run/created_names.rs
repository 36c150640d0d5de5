//! Names that a scenario created and has to remove.

use std::io;
use std::sync::Mutex;

use crate::catalogue::Document;
use crate::run::ledger::Ledger;
use crate::run::side_effects::Resource;
use crate::sync::lock;
use crate::target::server::Server;

/// Resources that a scenario may have created and not yet removed, oldest first.
#[derive(Debug, Default)]
pub(crate) struct CreatedNames<'a> {
    list: Mutex<Vec<Resource>>,
    /// Ledger that records the resources before they are created; only on servers not started here.
    ledger: Option<&'a Ledger>,
}

impl<'a> CreatedNames<'a> {
    pub(crate) fn new(ledger: Option<&'a Ledger>) -> Self {
        Self {
            list: Mutex::default(),
            ledger,
        }
    }

    /// Returns the names of these resources, without a ledger.
    pub(super) fn of(resources: Vec<Resource>) -> Self {
        Self {
            list: Mutex::new(resources),
            ledger: None,
        }
    }

    /// Returns all that are left, oldest first.
    pub(super) fn all(&self) -> Vec<Resource> {
        lock(&self.list).clone()
    }

    /// Records the resources that a request is about to create.
    ///
    /// # Errors
    /// The ledger cannot be written, so the request must not be sent.
    pub(crate) fn note(
        &self,
        server: &Server,
        document: Document,
        mut resources: Vec<Resource>,
    ) -> io::Result<()> {
        let mut list = lock(&self.list);
        resources.retain(|resource| !list.contains(resource));
        if let Some(ledger) = self.ledger {
            ledger.note(&server.base.url, document, &resources)?;
        }
        list.extend(resources);
        Ok(())
    }

    /// Drops a resource from the list after a request removed it.
    pub(crate) fn removed(&self, path: &str) {
        lock(&self.list).retain(|resource| resource.path != path);
    }
}

impl Drop for CreatedNames<'_> {
    /// Records in the ledger what was not removed, as the cleanup may have been interrupted.
    fn drop(&mut self) {
        if let Some(ledger) = self.ledger {
            let remaining = std::mem::take(&mut *lock(&self.list));
            ledger.unfinished(remaining.into_iter().map(|resource| resource.path));
        }
    }
}
