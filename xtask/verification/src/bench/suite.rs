//! Overhead of the suite: a run compared with a plain client that sends the same requests in the
//! same order.

use std::{error::Error, fs, path::Path, time::Instant};

use conformance::{
    Suite,
    catalogue::Catalogue,
    evidence::{Event, Payload, SentRequest},
    target::{Target, Token},
};
use reqwest::{Client, Method};
use serde_json::json;

use super::{median, scratch};
use crate::report;

const KEY: &str = "bench-administrator-key";
/// Maximum ratio of the suite's time per request to the client's.
const BOUND: f64 = 1.5;
/// Number of runs of the suite and of the client, in turns, after a warm-up run of each.
const ROUNDS: usize = 5;

/// Compares the medians of the time per request of the suite and of the client.
///
/// # Errors
/// When the ratio exceeds the bound, or the server cannot be started.
pub(crate) fn run() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let folder = scratch()?;
    let config = folder.path().join("config.json");
    let tokens =
        json!({"tokens": {"bench": {"api_key": KEY, "scopes": [{"role": "administrator"}]}}});
    fs::write(&config, tokens.to_string())?;
    let database = format!("sqlite://{}", folder.path().join("control.db").display());
    let arguments = ["all", "--addr=127.0.0.1:0", "--control-addr=127.0.0.1:0"].map(str::to_owned);
    let arguments = arguments.into_iter().chain([
        format!("--config={}", config.display()),
        format!("--database={database}"),
    ]);
    let server = runtime.block_on(reference::start(arguments))?;
    let address = |address: Option<std::net::SocketAddr>| address.map(|at| format!("http://{at}"));
    let (control, engine) = (address(server.control), address(server.engine));

    let client = Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .build()?;
    let (mut ours, mut baseline) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let suite = suite(control.clone(), engine.clone(), folder.path())?;
        let mut sent = Vec::new();
        let start = Instant::now();
        suite.run(|event| {
            if let Event::Exchange(exchange) = event {
                sent.push(exchange.request);
            }
        });
        let taken = start.elapsed().as_secs_f64();
        let requests = sendable(sent)?;
        let start = Instant::now();
        runtime.block_on(send(&client, &requests))?;
        if round > 0 {
            let count = requests.len() as f64;
            ours.push(taken * 1e6 / count);
            baseline.push(start.elapsed().as_secs_f64() * 1e6 / count);
        }
    }
    runtime.block_on(server.shutdown());
    let ratio = median(&mut ours) / median(&mut baseline);
    report(
        "ratio",
        &format!("suite to bare client, per request: {ratio:.2}x"),
    );
    if ratio <= BOUND {
        Ok(())
    } else {
        Err(
            format!("the suite costs {ratio:.2}x of a bare client per request, above {BOUND}x")
                .into(),
        )
    }
}

/// Returns the whole suite, set up as for a server that is already running, with one scenario at a
/// time, a fixed order, and a ledger.
fn suite(
    control: Option<String>,
    engine: Option<String>,
    ledger: &Path,
) -> Result<Suite, Box<dyn Error>> {
    let claims = Catalogue::embedded()?.capabilities();
    let claims = claims
        .iter()
        .map(|capability| capability.name.clone())
        .collect();
    let target = Target::at(control, engine, Some(Token::new(KEY.to_owned())), claims);
    let suite = Suite::builder(target).jobs(1).seed(Some(1));
    Ok(suite.ledger(Some(ledger.to_owned())).build()?)
}

/// Converts the suite's requests for the client. Skips those that the client cannot send (raw
/// bytes), and restores credentials, which the evidence does not contain.
fn sendable(sent: Vec<SentRequest>) -> Result<Vec<reqwest::Request>, Box<dyn Error>> {
    let mut requests = Vec::with_capacity(sent.len());
    for one in sent {
        let Ok(method) = Method::from_bytes(one.method.as_bytes()) else {
            continue;
        };
        let Ok(url) = one.url.parse() else {
            continue;
        };
        let mut request = reqwest::Request::new(method, url);
        for (name, value) in &one.headers {
            let value = match name.as_str() {
                "authorization" => format!("Bearer {KEY}"),
                _ => value.clone(),
            };
            let name = reqwest::header::HeaderName::from_bytes(name.as_bytes())?;
            request.headers_mut().append(name, value.parse()?);
        }
        if let Payload::Text(text) = one.body {
            *request.body_mut() = Some(text.into());
        }
        requests.push(request);
    }
    Ok(requests)
}

async fn send(client: &Client, requests: &[reqwest::Request]) -> Result<(), Box<dyn Error>> {
    for request in requests {
        let request = request
            .try_clone()
            .ok_or("a body that cannot be sent twice")?;
        client.execute(request).await?.bytes().await?;
    }
    Ok(())
}
