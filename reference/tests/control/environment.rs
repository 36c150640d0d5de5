//! Test environment: an empty database, a key, configurations, and requests.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use clap::Parser;
use http::{HeaderMap, Method};
use libtest_mimic::Failed;
use reference::StartError;
use reference::control::{Control, Options, open};
use reference::http::path::RequestPath;
use reference::http::{Reply, Request, Service};
use tempfile::TempDir;

/// API tokens, one per role; the key of the token NAME is `NAME-key`.
pub(crate) const TOKENS: &str = "
tokens:
  admin: {api_key: admin-key, scopes: [{role: administrator}]}
  viewer: {api_key: viewer-key, scopes: [{role: viewer}]}
  owner: {api_key: owner-key, scopes: [{role: owner}]}
  owner2: {api_key: owner2-key, scopes: [{role: owner}]}
  stacker: {api_key: stacker-key, scopes: [{role: stack_owner}]}
  stacker2: {api_key: stacker2-key, scopes: [{role: stack_owner}]}
";

/// Encryption key for tests.
const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n";

/// Database on which the cases run.
#[derive(Debug, Clone)]
pub(crate) enum Database {
    Sqlite,
    Postgres { url: String },
}

impl Database {
    /// Returns the databases that are available on this machine.
    pub(crate) fn present() -> Vec<Self> {
        let mut present = vec![Self::Sqlite];
        if let Ok(url) = std::env::var("CONFORMANCE_POSTGRES_URL") {
            present.push(Self::Postgres { url });
        }
        present
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres { .. } => "postgres",
        }
    }
}

#[derive(Debug, Parser)]
struct CommandLine {
    #[command(flatten)]
    options: Options,
}

/// Empty database with an encryption key.
#[derive(Debug)]
pub(crate) struct Environment {
    folder: TempDir,
    url: String,
}

impl Environment {
    /// Creates the environment of a case; on PostgreSQL, with a schema named after the case.
    pub(crate) async fn create(database: &Database, case: &str) -> Result<Self, Failed> {
        let folder = TempDir::new()?;
        std::fs::write(folder.path().join("key"), KEY)?;
        let url = match database {
            Database::Sqlite => format!("sqlite:{}", folder.path().join("control.db").display()),
            Database::Postgres { url } => {
                let schema = case.replace('-', "_");
                sqlx::any::install_default_drivers();
                let pool = sqlx::AnyPool::connect(url).await?;
                let create =
                    format!("DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}");
                sqlx::raw_sql(sqlx::AssertSqlSafe(create))
                    .execute(&pool)
                    .await?;
                pool.close().await;
                let separator = if url.contains('?') { '&' } else { '?' };
                format!("{url}{separator}options=-c%20search_path%3D{schema}")
            }
        };
        Ok(Self { folder, url })
    }

    /// Writes a file to the folder of the environment and returns its path.
    pub(crate) fn file(&self, name: &str, text: &str) -> Result<PathBuf, Failed> {
        let path = self.folder.path().join(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&path, text)?;
        Ok(path)
    }

    /// Returns the folder of the environment's files, including the SQLite database.
    pub(crate) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// Returns the address of the database.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Returns true if the database is an SQLite file in the folder of the environment.
    pub(crate) fn is_sqlite(&self) -> bool {
        self.url.starts_with("sqlite:")
    }

    /// Opens a control plane on the database at a URL, with these arguments and a token for each
    /// role.
    pub(crate) async fn open_at(
        &self,
        url: &str,
        further: &[&str],
    ) -> Result<Arc<Control>, StartError> {
        let tokens = self.folder.path().join("tokens.yaml");
        if let Err(failure) = std::fs::write(&tokens, TOKENS) {
            return Err(StartError::new(failure.to_string()));
        }
        let tokens = tokens.display().to_string();
        let arguments = ["control", "--database", url, "--config", &tokens];
        let arguments = arguments.iter().chain(further).copied();
        open(&CommandLine::try_parse_from(arguments)?.options).await
    }

    /// Opens a control plane with a configuration and only these arguments.
    pub(crate) async fn open_alone(
        &self,
        config: &str,
        further: &[&str],
    ) -> Result<Arc<Control>, Failed> {
        let config = self.file("alone.yaml", config)?.display().to_string();
        let arguments = ["control", "--config", &config];
        let arguments = arguments.iter().chain(further).copied();
        let options = CommandLine::try_parse_from(arguments)?.options;
        Ok(open(&options).await?)
    }

    /// Opens a database connection that is independent of the control planes.
    pub(crate) async fn database(&self) -> Result<sqlx::AnyPool, Failed> {
        sqlx::any::install_default_drivers();
        Ok(sqlx::AnyPool::connect(&self.url).await?)
    }

    /// Opens a control plane with these configuration files or folders.
    pub(crate) async fn open_with(&self, config: &[PathBuf]) -> Result<Arc<Control>, StartError> {
        self.open_as(config, &[]).await
    }

    /// Opens a control plane with a token for each role and further arguments.
    pub(crate) async fn open_builder(&self, further: &[&str]) -> Result<Arc<Control>, Failed> {
        let tokens = self.file("tokens.yaml", TOKENS)?;
        Ok(self.open_as(&[tokens], further).await?)
    }

    async fn open_as(
        &self,
        config: &[PathBuf],
        further: &[&str],
    ) -> Result<Arc<Control>, StartError> {
        let key = self.folder.path().join("key").display().to_string();
        let mut arguments = vec!["control".to_owned()];
        arguments.extend(["--database".to_owned(), self.url.clone()]);
        arguments.extend(["--encryption-key-file".to_owned(), key]);
        for path in config {
            arguments.extend(["--config".to_owned(), path.display().to_string()]);
        }
        arguments.extend(further.iter().map(|argument| (*argument).to_owned()));
        open(&CommandLine::try_parse_from(arguments)?.options).await
    }

    /// Opens a control plane with a token for each role and a further configuration.
    pub(crate) async fn open(&self, further: &str) -> Result<Arc<Control>, Failed> {
        let tokens = self.file("tokens.yaml", TOKENS)?;
        let further = self.file("further.yaml", further)?;
        Ok(self.open_with(&[tokens, further]).await?)
    }
}

/// Sends a request with the key of a token, or without a key for `nobody`. The query of the target
/// is sent without encoding.
pub(crate) async fn send(
    control: &Arc<Control>,
    who: &str,
    method: &str,
    target: &str,
    body: impl Into<Bytes>,
) -> Result<Reply, Failed> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let query = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let mut headers = HeaderMap::new();
    if who != "nobody" {
        headers.insert("authorization", format!("Bearer {who}-key").parse()?);
    }
    let mut request = Request::from(http::Request::new(body.into()));
    request.method = method.parse::<Method>()?;
    request.path = RequestPath::parse(path);
    request.query = query
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    request.headers = headers;
    Ok(Arc::clone(control).answer(request).await)
}

/// Returns the body of a response as a string.
pub(crate) fn text(reply: &Reply) -> String {
    String::from_utf8_lossy(&reply.body.bytes()).into_owned()
}
