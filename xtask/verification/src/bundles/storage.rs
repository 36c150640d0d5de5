//! Object storage servers to which bundles are written.

use std::error::Error;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::command::complete;
use crate::real_opa::go_program;
use crate::servers::{ExternalProcess, free_address};
use crate::{apt, report, root};

/// Name of the bucket or container on each server.
pub(super) const BUCKET: &str = "bundles";

/// Content of an object after it is damaged.
pub(super) const DAMAGED: &str = "damaged";

/// Account on the S3-compatible server.
pub(super) const S3_KEY: &str = "bundle-writer";
pub(super) const S3_SECRET: &str = "bundle-writer-secret";
pub(super) const S3_REGION: &str = "us-east-1";

/// Account on the Azure server; its key in Base64 follows.
const AZURE_ACCOUNT: &str = "bundlewriter";
const AZURE_KEY: &str = "YnVuZGxlLXdyaXRlci1rZXktb2YtdGhlLWVtdWxhdG9y";

/// npm packages of the Azure server and of its client.
const AZURE_PACKAGES: &[&str] = &["azurite@3.35.0", "@azure/storage-blob@12.32.0"];

/// Debian package and path of the proxy for the Google Cloud Storage server.
const PROXY: (&str, &str) = ("lighttpd", "/usr/sbin/lighttpd");

/// Folder of a Go module that pins versions and checksums of the storage servers.
const MODULE: &str = "xtask/verification/storage";

/// Running storage server.
pub(super) struct Storage {
    pub(super) kind: Kind,
    pub(super) address: SocketAddr,
    folder: PathBuf,
    _processes: Vec<ExternalProcess>,
}

/// Protocol of a storage server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    S3,
    Gcs,
    Azure,
}

impl Kind {
    pub(super) const ALL: [Self; 3] = [Self::S3, Self::Gcs, Self::Azure];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::S3 => "s3",
            Self::Gcs => "gcs",
            Self::Azure => "azure",
        }
    }
}

impl Storage {
    /// Starts a server with an empty bucket, and with its files in a folder.
    ///
    /// # Errors
    /// When the server cannot be built, installed or started.
    pub(super) fn start(kind: Kind, folder: &Path) -> Result<Self, Box<dyn Error>> {
        let folder = folder.join(kind.name());
        fs::create_dir_all(folder.join(BUCKET))?;
        let address = free_address()?;
        let public = match kind {
            Kind::Gcs => free_address()?,
            Kind::S3 | Kind::Azure => address,
        };
        let (host, port) = (address.ip().to_string(), address.port().to_string());
        let mut command = match kind {
            Kind::S3 => {
                let program = go_server("versitygw", "github.com/versity/versitygw/cmd/versitygw")?;
                let mut command = Command::new(program);
                command.args(["--access", S3_KEY, "--secret", S3_SECRET]);
                command.args(["--region", S3_REGION, "--port", &address.to_string()]);
                command.arg("posix").arg(&folder);
                command
            }
            Kind::Gcs => {
                let program = go_server("fake-gcs-server", "github.com/fsouza/fake-gcs-server")?;
                let mut command = Command::new(program);
                command.args(["-scheme", "http", "-host", &host, "-port", &port]);
                command.args(["-public-host", &public.to_string()]);
                command.args(["-backend", "filesystem", "-filesystem-root"]);
                command.arg(&folder);
                command
            }
            Kind::Azure => {
                let mut command = Command::new(azure_packages()?.join(".bin/azurite-blob"));
                command.args(["--blobHost", &host, "--blobPort", &port, "--silent"]);
                command.args(["--disableTelemetry", "--skipApiVersionCheck"]);
                command.arg("--location").arg(&folder);
                command.env("AZURITE_ACCOUNTS", format!("{AZURE_ACCOUNT}:{AZURE_KEY}"));
                command
            }
        };
        let mut processes = vec![ExternalProcess::start(
            kind.name(),
            &mut command,
            address,
            &folder,
        )?];
        if public != address {
            processes.push(proxy(public, address, &folder)?);
        }
        let storage = Self {
            kind,
            address: public,
            folder,
            _processes: processes,
        };
        if kind == Kind::Azure {
            storage.azure("await container.create();")?;
        }
        Ok(storage)
    }

    /// Returns the `object_storage` of a bundle, given the names of an object and of a secret.
    pub(super) fn destination(&self, object: &str, secret: &str) -> Value {
        let address = self.address;
        match self.kind {
            Kind::S3 => json!({"aws": {
                "bucket": BUCKET, "key": object, "region": S3_REGION,
                "url": format!("http://{address}"), "credentials": secret,
            }}),
            Kind::Gcs => json!({"gcp": {
                "project": "conformance", "bucket": BUCKET, "object": object,
                "credentials": secret,
            }}),
            Kind::Azure => json!({"azure": {
                "account_url": format!("http://{address}/{AZURE_ACCOUNT}"),
                "container": BUCKET, "path": object, "credentials": secret,
            }}),
        }
    }

    /// Returns the value of a secret with the credentials for the storage.
    pub(super) fn secret(&self) -> Value {
        match self.kind {
            Kind::S3 => json!({
                "type": "aws_auth", "access_key_id": S3_KEY, "secret_access_key": S3_SECRET,
            }),
            Kind::Gcs => {
                // The server checks no credentials.
                let account = json!({
                    "gcs_base_url": format!("http://{}", self.address), "disable_oauth": true,
                    "client_email": "", "private_key": "", "private_key_id": "",
                });
                json!({"type": "gcp_auth", "credentials": account.to_string()})
            }
            Kind::Azure => json!({
                "type": "azure_auth", "account_name": AZURE_ACCOUNT, "account_key": AZURE_KEY,
            }),
        }
    }

    /// Returns an object from the storage; `None` if it does not exist.
    ///
    /// # Errors
    /// When the server does not respond.
    pub(super) async fn object(&self, object: &str) -> Result<Option<Vec<u8>>, Box<dyn Error>> {
        match self.kind {
            Kind::S3 => {
                let file = self.folder.join(BUCKET).join(object);
                Ok(file.is_file().then(|| fs::read(file)).transpose()?)
            }
            Kind::Gcs => {
                let name = object.replace('/', "%2F");
                let url = format!(
                    "http://{}/storage/v1/b/{BUCKET}/o/{name}?alt=media",
                    self.address
                );
                let answer = reqwest::get(url).await?;
                match answer.status() {
                    reqwest::StatusCode::NOT_FOUND => Ok(None),
                    _ => Ok(Some(answer.error_for_status()?.bytes().await?.to_vec())),
                }
            }
            Kind::Azure => {
                let file = self.folder.join("fetched");
                let quoted_path = json!(file.display().to_string());
                self.azure(&format!(
                    "const blob = container.getBlobClient({}); \
                     if (await blob.exists()) await blob.downloadToFile({quoted_path});",
                    json!(object)
                ))?;
                let found = file.is_file().then(|| fs::read(&file)).transpose()?;
                if found.is_some() {
                    fs::remove_file(file)?;
                }
                Ok(found)
            }
        }
    }

    /// Overwrites an object without the control plane.
    ///
    /// # Errors
    /// When the server does not respond.
    pub(super) async fn damage(&self, object: &str) -> Result<(), Box<dyn Error>> {
        match self.kind {
            Kind::S3 => fs::write(self.folder.join(BUCKET).join(object), DAMAGED)?,
            Kind::Gcs => {
                let url = format!(
                    "http://{}/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name={}",
                    self.address,
                    object.replace('/', "%2F")
                );
                let sent = reqwest::Client::new().post(url).body(DAMAGED).send();
                sent.await?.error_for_status()?;
            }
            Kind::Azure => self.azure(&format!(
                "await container.getBlockBlobClient({}).upload({}, {});",
                json!(object),
                json!(DAMAGED),
                DAMAGED.len()
            ))?,
        }
        Ok(())
    }

    /// Runs a JavaScript program that accesses the container with the official Azure client.
    fn azure(&self, script: &str) -> Result<(), Box<dyn Error>> {
        let url = json!(format!("http://{}/{AZURE_ACCOUNT}", self.address));
        let text = format!(
            "const {{ BlobServiceClient, StorageSharedKeyCredential }} = \
                 require(\"@azure/storage-blob\"); \
             const key = new StorageSharedKeyCredential({}, {}); \
             const container = new BlobServiceClient({url}, key).getContainerClient({}); \
             (async () => {{ {script} }})().catch(why => {{ console.error(why); process.exit(1); }});",
            json!(AZURE_ACCOUNT),
            json!(AZURE_KEY),
            json!(BUCKET),
        );
        complete(
            Command::new("node")
                .args(["-e", &text])
                .env("NODE_PATH", azure_packages()?)
                .stdin(Stdio::null()),
        )
    }
}

/// Starts a proxy that makes the Google Cloud Storage server complete: the server accepts uploads
/// only with a parameter of signed URLs, and omits the ETag in its responses.
fn proxy(at: SocketAddr, to: SocketAddr, folder: &Path) -> Result<ExternalProcess, Box<dyn Error>> {
    apt::require(&[PROXY])?;
    let config = format!(
        "server.modules = (\"mod_rewrite\", \"mod_proxy\", \"mod_setenv\")\n\
         server.document-root = \"{folder}\"\n\
         server.bind = \"127.0.0.1\"\n\
         server.port = {port}\n\
         server.http-parseopts = (\"url-normalize\" => \"disable\")\n\
         proxy.server = (\"\" => ((\"host\" => \"127.0.0.1\", \"port\" => \"{to}\")))\n\
         $HTTP[\"request-method\"] == \"PUT\" {{\n\
         url.rewrite-once = (\"^(/[^?]*)$\" => \"$1?X-Goog-Algorithm=none\")\n\
         setenv.add-response-header = (\"ETag\" => \"\\\"uploaded\\\"\")\n\
         }}\n",
        folder = folder.display(),
        port = at.port(),
        to = to.port(),
    );
    let file = folder.join("proxy.conf");
    fs::write(&file, config)?;
    let mut command = Command::new(PROXY.1);
    command.args(["-D", "-f"]).arg(file);
    ExternalProcess::start("proxy", &mut command, at, folder)
}

/// Builds a server from the pinned Go module; returns its path.
fn go_server(name: &str, package: &str) -> Result<PathBuf, Box<dyn Error>> {
    report("building", name);
    go_program(name, MODULE, package)
}

/// Installs the npm packages of the Azure server if they are missing; returns their folder.
fn azure_packages() -> Result<PathBuf, Box<dyn Error>> {
    let folder = root().join("target/peers/azure");
    let packages = folder.join("node_modules");
    if !packages.join(".bin/azurite-blob").is_file() {
        report("installing", &AZURE_PACKAGES.join(" "));
        fs::create_dir_all(&folder)?;
        complete(
            Command::new("npm")
                .args(["install", "--no-audit", "--no-fund", "--silent", "--prefix"])
                .arg(&folder)
                .args(AZURE_PACKAGES),
        )?;
    }
    Ok(packages)
}
