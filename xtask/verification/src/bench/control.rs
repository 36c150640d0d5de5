//! Scaling of the control plane with the number of bundles.

use std::{error::Error, fs, path::PathBuf, time::Instant};

use clap::Args;
use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{KEY, compare_ocp, median, scratch, storage, tokens};
use crate::report;

const FIRST_PAGE: &str = "/v1/bundles?limit=100";
/// Largest ratio of a median to that at the base size that still counts as flat.
const BOUND: f64 = 2.0;
/// Number of measured requests per operation and size.
const SAMPLES: usize = 200;
/// Number of warm-up requests per operation and size.
const WARM_UP: usize = 20;

/// Default numbers of bundles; the others are compared with the first.
const SIZES: &[usize] = &[100, 10_000, 100_000];

/// Default numbers of bundles for the measurement of builds.
const BUILT: &[usize] = &[100, 10_000];

/// Default numbers of bundles for the comparison with OPA Control Plane.
const BESIDE_OCP: &[usize] = &[10_000];

/// Command-line options of `bench control`.
#[derive(Debug, Clone, Args)]
pub(crate) struct Choice {
    /// Numbers of bundles, the one that the others are compared with first.
    #[arg(long, value_delimiter = ',')]
    sizes: Vec<usize>,
    /// Measure how long a change takes until its bundle is in storage, and how many are built.
    #[arg(long, group = "started")]
    storage: bool,
    /// Also measure OPA Control Plane for comparison, whose `opactl` has to be on the search path.
    #[arg(long, group = "started")]
    ocp: bool,
    /// A program that was built before, in place of that of this checkout.
    #[arg(long, requires = "started")]
    program: Option<PathBuf>,
}

/// Measured operations.
const OPERATIONS: &[&str] = &["create", "get", "first page", "last page", "in-use delete"];

/// Running control plane with a number of bundles.
struct Store {
    bundles: usize,
    base: String,
    last_page: String,
    client: Client,
    server: reference::Running,
    _folder: TempDir,
}

/// Measures every operation on one server per number of bundles, in turns, and compares the
/// medians; or measures builds, or compares requests with OPA Control Plane.
///
/// # Errors
/// When a measurement exceeds its bound, or a server responds incorrectly.
pub(crate) fn run(choice: &Choice) -> Result<(), Box<dyn Error>> {
    let or = |usual: &[usize]| match choice.sizes.is_empty() {
        true => usual.to_vec(),
        false => choice.sizes.clone(),
    };
    if choice.ocp {
        return compare_ocp::run(&or(BESIDE_OCP), choice.program.as_deref());
    }
    if choice.storage {
        return storage::run(&or(BUILT), choice.program.as_deref());
    }
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(measure(&or(SIZES)))
}

async fn measure(sizes: &[usize]) -> Result<(), Box<dyn Error>> {
    let mut stores = Vec::new();
    for bundles in sizes {
        report("filling", &format!("{bundles} bundles"));
        stores.push(Store::filled(*bundles).await?);
    }
    let mut slow = Vec::new();
    for operation in OPERATIONS {
        let mut samples = vec![Vec::new(); stores.len()];
        for turn in 0..WARM_UP + SAMPLES {
            for (store, samples) in stores.iter().zip(&mut samples) {
                let taken = store.time(operation, turn).await?;
                if turn >= WARM_UP {
                    samples.push(taken);
                }
            }
        }
        let medians: Vec<f64> = samples.iter_mut().map(|taken| median(taken)).collect();
        let base = medians.first().copied().unwrap_or(f64::NAN);
        let mut line = format!("{operation:<14}");
        for (store, taken) in stores.iter().zip(&medians) {
            let ratio = taken / base;
            line += &format!("  {:>7} bundles {ratio:>5.2}x", store.bundles);
            if ratio > BOUND {
                slow.push(format!(
                    "{operation} at {} bundles: {ratio:.2}x",
                    store.bundles
                ));
            }
        }
        report("ratio", &line);
    }
    for store in stores {
        store.server.shutdown().await;
    }
    if slow.is_empty() {
        Ok(())
    } else {
        Err(format!("above {BOUND}x of the smallest: {}", slow.join(", ")).into())
    }
}

impl Store {
    /// Starts a server whose configuration declares the bundles, and one source that a bundle uses.
    async fn filled(bundles: usize) -> Result<Self, Box<dyn Error>> {
        let folder = scratch()?;
        let declared: serde_json::Map<String, Value> = (0..bundles)
            .map(|number| {
                (
                    name(number),
                    json!({"labels": {"number": number.to_string()}}),
                )
            })
            .collect();
        let config = json!({
            "tokens": tokens(),
            "bundles": declared,
        });
        let file = folder.path().join("config.json");
        fs::write(&file, serde_json::to_vec(&config)?)?;
        let database = format!("sqlite://{}", folder.path().join("control.db").display());
        let server = reference::start(
            [
                "control",
                "--no-builder",
                "--addr",
                "127.0.0.1:0",
                "--config",
            ]
            .map(str::to_owned)
            .into_iter()
            .chain([
                file.display().to_string(),
                "--database".to_owned(),
                database,
            ]),
        )
        .await?;
        let address = server.control.ok_or("no control plane was started")?;
        let mut store = Self {
            bundles,
            base: format!("http://{address}"),
            last_page: String::new(),
            client: Client::builder().no_proxy().build()?,
            server,
            _folder: folder,
        };
        store
            .answers(Method::PUT, "/v1/sources/used", json!({}), StatusCode::OK)
            .await?;
        let user = json!({"requirements": [{"source": "used"}]});
        store
            .answers(Method::PUT, "/v1/bundles/user", user, StatusCode::OK)
            .await?;
        store.last_page = store.last_page().await?;
        Ok(store)
    }

    /// Returns the path of the last page, found by following the cursors.
    async fn last_page(&self) -> Result<String, Box<dyn Error>> {
        let mut path = FIRST_PAGE.to_owned();
        loop {
            let page = self
                .answers(Method::GET, &path, Value::Null, StatusCode::OK)
                .await?;
            let page: Value = serde_json::from_str(&page)?;
            match page.get("next_cursor").and_then(Value::as_str) {
                Some(cursor) => path = format!("{FIRST_PAGE}&cursor={cursor}"),
                None => return Ok(path),
            }
        }
    }

    /// Measures one request of an operation, in milliseconds. The turn selects the bundle, so that
    /// turns are spread over all bundles.
    async fn time(&self, operation: &str, turn: usize) -> Result<f64, Box<dyn Error>> {
        let chosen = name(turn * self.bundles / (WARM_UP + SAMPLES));
        let (method, path, expected) = match operation {
            "create" => (
                Method::PUT,
                format!("/v1/bundles/new-{turn}"),
                StatusCode::OK,
            ),
            "get" => (Method::GET, format!("/v1/bundles/{chosen}"), StatusCode::OK),
            "first page" => (Method::GET, FIRST_PAGE.to_owned(), StatusCode::OK),
            "last page" => (Method::GET, self.last_page.clone(), StatusCode::OK),
            _ => (
                Method::DELETE,
                "/v1/sources/used".to_owned(),
                StatusCode::CONFLICT,
            ),
        };
        let start = Instant::now();
        self.answers(method, &path, json!({}), expected).await?;
        Ok(start.elapsed().as_secs_f64() * 1000.0)
    }

    async fn answers(
        &self,
        method: Method,
        path: &str,
        body: Value,
        expected: StatusCode,
    ) -> Result<String, Box<dyn Error>> {
        let mut request = self
            .client
            .request(method.clone(), format!("{}{path}", self.base))
            .bearer_auth(KEY);
        if method == Method::PUT {
            request = request
                .header("content-type", "application/json")
                .body(body.to_string());
        }
        let answer = request.send().await?;
        let status = answer.status();
        let text = answer.text().await?;
        if status == expected {
            Ok(text)
        } else {
            Err(format!("{method} {path}: {status} {text}").into())
        }
    }
}

fn name(number: usize) -> String {
    format!("bundle-{number:06}")
}
