//! Servers of a scenario.

use std::net::{Ipv4Addr, SocketAddr};

use crate::catalogue::Document;
use crate::http_client::Client;
use crate::target::free_port;
use crate::target::launch::{self, Started};
use crate::target::server::redactor;
use crate::target::{Launch, Target};

/// Launches of a target's servers in one setup.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Servers<'a> {
    target: &'a Target,
    document: Document,
    launch: &'a Launch,
    /// The engine that is queried along with the server.
    engine: Option<&'a Launch>,
}

impl<'a> Servers<'a> {
    /// Selects the server with this API, and an engine if one is queried; none if the target's
    /// setup does not have them.
    pub(crate) fn of(
        target: &'a Target,
        setup: &str,
        document: Document,
        asks_engine: bool,
    ) -> Option<Self> {
        let setup = target.setups.get(setup)?;
        let engine = match asks_engine {
            true => Some(setup.launch(Document::Engine)?),
            false => None,
        };
        Some(Self {
            target,
            document,
            launch: setup.launch(document)?,
            engine,
        })
    }

    /// Whether resources on the server outlast the run.
    pub(crate) const fn is_persistent(&self) -> bool {
        self.launch.url.is_some()
    }

    /// Whether the suite starts all of them.
    pub(crate) fn are_started(&self) -> bool {
        self.launches().all(|launch| launch.url.is_none())
    }

    /// Listen address of their fixture server; none if none is needed, or they are not configured
    /// with it.
    pub(crate) fn mock(&self, asks_mock: bool) -> Option<SocketAddr> {
        match (self.document, self.engine) {
            // A control plane gets it from definitions; its engine must be configured with it.
            (Document::Control, Some(engine)) => engine.mock_address(),
            (Document::Control, None) if asks_mock => Some((Ipv4Addr::LOCALHOST, 0).into()),
            _ => self.launch.mock_address(),
        }
    }

    /// Starts or reaches them, and their fixture server at this address.
    ///
    /// # Errors
    /// A message why there is no server.
    pub(crate) async fn start(
        &self,
        mock: Option<SocketAddr>,
        client: &Client,
    ) -> Result<Started, String> {
        let started = launch::start(self.target, self.launch, self.engine, mock, client).await;
        // A server may have logged its configuration before it failed.
        started.map_err(|error| {
            self.launches().fold(error, |error, launch| {
                redactor(&launch.tokens, &client.headers).text(&error)
            })
        })
    }

    /// Why the server cannot be reached at a non-loopback address, if so.
    pub(crate) fn elsewhere_unavailable(&self) -> Option<String> {
        match self.launch.port {
            None => Some("the target does not say where it listens by default".to_owned()),
            Some(port) if !free_port::is_free(port) => Some(format!(
                "port {port}, on which the target listens by default, is taken"
            )),
            Some(_) if free_port::own_address().is_none() => {
                Some("this machine has no address but loopback".to_owned())
            }
            Some(_) => None,
        }
    }

    fn launches(&self) -> impl Iterator<Item = &'a Launch> {
        std::iter::once(self.launch).chain(self.engine)
    }
}
