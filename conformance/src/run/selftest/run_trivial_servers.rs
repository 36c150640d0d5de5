//! Runs the rules on trivial servers.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use crate::evidence::Event;
use crate::faults::{READY, TrivialServer};
use crate::http_client::Connection;
use crate::judge::verdict::Verdict;
use crate::run::{Suite, SuiteError};
use crate::target::{Launch, Target};

/// Timeout of a request or eventual effect: short, as trivial servers have no effects.
const TIME: Duration = Duration::from_millis(300);
/// Number of concurrent rules: high, as most of them wait.
const JOBS: usize = 64;

/// Results of the rules on a trivial server.
#[derive(Debug)]
pub struct TrivialServerResults {
    /// The server.
    pub server: TrivialServer,
    /// Number of rules that ran on the server.
    pub run: usize,
    /// Rules that pass on the server, so that their checks are too weak.
    pub holding: Vec<String>,
}

impl Suite {
    /// Judges a trivial server by the rules, in every setup that the target has.
    ///
    /// # Errors
    /// The run cannot be built, or no port is available.
    pub fn vacuity(
        target: &Target,
        server: TrivialServer,
    ) -> Result<TrivialServerResults, SuiteError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| SuiteError::System(error.to_string()))?;
        let started = runtime.block_on(server.start());
        let (address, task) = started.map_err(|error| SuiteError::System(error.to_string()))?;
        let suite = Self::builder(at_address(target, address))
            .connection(Connection {
                timeout: TIME,
                ..Connection::default()
            })
            .eventual_timeout(TIME)
            .jobs(JOBS)
            .build()?;
        let mut vacuity = TrivialServerResults {
            server,
            run: 0,
            holding: Vec::new(),
        };
        suite.run(|event| {
            if let Event::Judged(judged) = event {
                match judged.verdict {
                    Verdict::Pass => {
                        vacuity.run += 1;
                        vacuity.holding.push(judged.rule);
                    }
                    Verdict::Fail(_) => vacuity.run += 1,
                    Verdict::Recorded | Verdict::NotRun(_) => {}
                }
            }
        });
        task.abort();
        Ok(vacuity)
    }
}

/// Returns the target with all its servers at this address.
fn at_address(target: &Target, address: SocketAddr) -> Target {
    let mut target = target.clone();
    target.in_process = false;
    for setup in target.setups.values_mut() {
        for launch in [&mut setup.control, &mut setup.engine]
            .into_iter()
            .flatten()
        {
            let mock = launch.mock_address().is_some();
            *launch = Launch {
                url: Some(format!("http://{address}")),
                mock: mock.then_some((Ipv4Addr::LOCALHOST, 0).into()),
                ready: READY.to_owned(),
                tokens: std::mem::take(&mut launch.tokens),
                ..Launch::default()
            };
        }
    }
    target
}
