//! A server under test: address and credentials.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::sync::RwLock;

use crate::http_client::Base;
use crate::http_client::redact::Redactor;
use crate::scenario::{Identity, Recipient, Step};
use crate::target::Token;

/// One API of the target in one setup.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) base: Base,
    /// Address of the fixture server that it is configured with.
    pub(crate) mock: Option<Base>,
    /// A built-in source that it has.
    pub(crate) builtin: Option<String>,
    /// Its address for other machines.
    elsewhere: Option<Base>,
    /// The engine that is configured with the same fixture server.
    engine: Option<Box<Server>>,
    tokens: BTreeMap<String, Token>,
    /// The user's Authorization header for the administrator.
    administrator_authorization: Option<String>,
    /// Redacts the tokens, and the user's own headers, in all output.
    pub(crate) redactor: Redactor,
    /// Scenarios that change what others see acquire it for writing.
    pub(crate) gate: RwLock<()>,
    /// Why it no longer responds, once known.
    pub(crate) died: OnceLock<String>,
    /// Number of consecutive scenarios without a response.
    silent: AtomicU32,
}

/// Number of consecutive scenarios without a response after which the others do not wait.
const SILENT: u32 = 10;

impl Server {
    pub(crate) fn new(
        base: Base,
        tokens: BTreeMap<String, Token>,
        headers: &[(String, String)],
    ) -> Self {
        let redactor = redactor(&tokens, headers);
        Self {
            base,
            mock: None,
            builtin: None,
            elsewhere: None,
            engine: None,
            tokens,
            administrator_authorization: headers
                .iter()
                .find(|(name, _)| name.eq_ignore_ascii_case("authorization"))
                .map(|(_, value)| value.clone()),
            redactor,
            gate: RwLock::new(()),
            died: OnceLock::new(),
            silent: AtomicU32::new(0),
        }
    }

    /// Sets the fixture server that it is configured with.
    pub(crate) fn with_mock(self, mock: Option<Base>) -> Self {
        Self { mock, ..self }
    }

    /// Sets a built-in source that it has.
    pub(crate) fn with_builtin(self, builtin: Option<String>) -> Self {
        Self { builtin, ..self }
    }

    /// Sets its address for other machines.
    pub(crate) fn with_elsewhere(self, elsewhere: Option<Base>) -> Self {
        Self { elsewhere, ..self }
    }

    /// Sets the engine next to it.
    pub(crate) fn with_engine(mut self, engine: Option<Self>) -> Self {
        if let Some(engine) = engine {
            let tokens = engine.tokens.values();
            self.redactor = tokens.fold(self.redactor, |known, token| known.secret(token.reveal()));
            self.engine = Some(Box::new(engine));
        }
        self
    }

    /// The engine next to it, or if there is none, this server.
    pub(crate) fn engine(&self) -> &Self {
        self.engine.as_deref().unwrap_or(self)
    }

    /// The recipient of a step: this server, or the engine next to it.
    pub(crate) fn server_for(&self, step: &Step) -> &Self {
        match step.recipient {
            Recipient::Engine => self.engine(),
            _ => self,
        }
    }

    /// Base address of a step's request.
    pub(crate) fn base_for(&self, step: &Step) -> &Base {
        match (step.recipient, &self.mock, &self.elsewhere) {
            (Recipient::Mock, Some(mock), _) => mock,
            (Recipient::Elsewhere, _, Some(elsewhere)) => elsewhere,
            _ => &self.server_for(step).base,
        }
    }

    /// Whether this is the address of the fixture server.
    pub(crate) fn is_mock(&self, base: &Base) -> bool {
        let mock = self.mock.as_ref();
        mock.is_some_and(|mock| mock.url == base.url)
    }

    /// The key of the administrator; empty if the setup needs none.
    pub(crate) fn administrator_key(&self) -> &str {
        match (
            self.tokens.get("administrator"),
            &self.administrator_authorization,
        ) {
            (Some(token), _) => token.reveal(),
            (None, Some(authorization)) => authorization.split_once(' ').map_or("", |(_, key)| key),
            (None, None) => "",
        }
    }

    /// The Authorization header of an identity; none for no header.
    ///
    /// # Errors
    /// The role for which the target has no token.
    pub(crate) fn authorization(&self, identity: &Identity) -> Result<Option<String>, String> {
        match identity {
            Identity::Administrator => Ok(self
                .tokens
                .get("administrator")
                .map(bearer)
                .or_else(|| self.administrator_authorization.clone())),
            Identity::Role(role) => self
                .tokens
                .get(*role)
                .map(|token| Some(bearer(token)))
                .ok_or_else(|| (*role).to_owned()),
            Identity::Anonymous => Ok(None),
            Identity::Authorization(value) => Ok(Some(value.clone())),
        }
    }

    /// The Authorization header of a role, if there is a token for it.
    pub(crate) fn bearer(&self, role: &str) -> Option<String> {
        self.tokens.get(role).map(bearer)
    }

    /// Records whether a scenario timed out; a server without any response counts as dead.
    pub(crate) fn record_timeout(&self, slow: bool) {
        if !slow {
            self.silent.store(0, Ordering::Relaxed);
        } else if self.silent.fetch_add(1, Ordering::Relaxed) + 1 >= SILENT {
            let why = || format!("the target let {SILENT} rules in a row wait for an answer");
            self.died.get_or_init(why);
        }
    }

    /// Whether the server, and the engine next to it, still accept connections.
    pub(crate) async fn is_alive(&self) -> bool {
        match &self.engine {
            Some(engine) if !engine.takes_connections().await => false,
            _ => self.takes_connections().await,
        }
    }

    /// It may be busy, so there are two attempts.
    async fn takes_connections(&self) -> bool {
        let host = self.base.host.trim_matches(['[', ']']);
        for pause in [0, 300] {
            tokio::time::sleep(Duration::from_millis(pause)).await;
            let connect = tokio::net::TcpStream::connect((host, self.base.port));
            if let Ok(Ok(_)) = tokio::time::timeout(Duration::from_secs(2), connect).await {
                return true;
            }
        }
        false
    }
}

/// Creates a redactor for the tokens and the user's own headers.
pub(crate) fn redactor(tokens: &BTreeMap<String, Token>, headers: &[(String, String)]) -> Redactor {
    let redactor = tokens.values().fold(Redactor::default(), |known, token| {
        known.secret(token.reveal())
    });
    headers
        .iter()
        .fold(redactor, |known, (name, value)| known.header(name, value))
}

fn bearer(token: &Token) -> String {
    format!("Bearer {}", token.reveal())
}
