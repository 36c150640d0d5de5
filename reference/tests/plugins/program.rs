//! Engine as a separate process, for tests of environment variables, signals and crashes.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::environment::{Done, Environment, HANG_LIMIT, get, quick, until};
use crate::mock_services::Fixture;

/// Engine process, killed at the end of the test.
pub(crate) struct Program(pub(crate) Child);

impl Drop for Program {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

impl Program {
    /// Starts the engine with a configuration; returns its process and address.
    pub(crate) fn start(environment: &Environment, config: Value) -> Done<(Self, SocketAddr)> {
        Self::start_by(
            environment,
            config,
            Command::new(env!("CARGO_BIN_EXE_reference")),
        )
    }

    /// Starts the engine with a configuration and further environment variables.
    pub(crate) fn start_within(
        environment: &Environment,
        config: Value,
        variables: &[(&str, String)],
    ) -> Done<(Self, SocketAddr)> {
        let mut program = Command::new(env!("CARGO_BIN_EXE_reference"));
        Self::preset(&mut program);
        let variables = variables.iter().map(|(name, value)| (name, value));
        program.envs(variables);
        Self::run(environment, config, program)
    }

    /// Starts the engine with a limit on the size of its files, in blocks of 512 bytes.
    pub(crate) fn start_with_short_files(
        environment: &Environment,
        config: Value,
        blocks: u32,
    ) -> Done<(Self, SocketAddr)> {
        let mut shell = Command::new("sh");
        let script = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
        shell.args(["-c", &script, env!("CARGO_BIN_EXE_reference")]);
        Self::start_by(environment, config, shell)
    }

    fn start_by(
        environment: &Environment,
        config: Value,
        mut program: Command,
    ) -> Done<(Self, SocketAddr)> {
        Self::preset(&mut program);
        Self::run(environment, config, program)
    }

    /// Sets an AWS key in the environment of the process.
    fn preset(program: &mut Command) {
        program
            .env("AWS_ACCESS_KEY_ID", "access")
            .env("AWS_SECRET_ACCESS_KEY", "secret")
            .env("AWS_REGION", "west");
    }

    fn run(
        environment: &Environment,
        config: Value,
        mut program: Command,
    ) -> Done<(Self, SocketAddr)> {
        let file = environment.configure(config)?;
        let child = program
            .args(["engine", "--addr", "127.0.0.1:0", "--config-file"])
            .arg(file)
            .stderr(Stdio::piped())
            .spawn()?;
        let mut program = Self(child);
        let log = program.0.stderr.take().ok_or("no log")?;
        let mut lines = BufReader::new(log).lines();
        let mut log_text = String::new();
        for line in lines.by_ref() {
            let line = line?;
            let event: Value = serde_json::from_str(&line)?;
            if let Some(address) = event["address"].as_str() {
                let address = address.parse()?;
                // The rest of the log is also read; otherwise the process would block on a full
                // pipe.
                std::thread::spawn(move || lines.for_each(drop));
                return Ok((program, address));
            }
            log_text.push_str(&line);
        }
        Err(format!("the engine does not listen: {log_text}").into())
    }

    /// Kills the process immediately, which simulates a crash.
    pub(crate) fn kill(mut self) -> Done {
        self.0.kill()?;
        self.0.wait()?;
        Ok(())
    }

    pub(crate) fn signal(&self, name: &str) -> Done {
        let pid = self.0.id().to_string();
        let sent = Command::new("sh")
            .args(["-c", "kill -s \"$0\" \"$1\"", name, &pid])
            .status()?;
        match sent.success() {
            true => Ok(()),
            false => Err("no signal sent".into()),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_signed_with_the_key_in_the_environment() -> Done {
    let environment = Environment::new().await?;
    let credentials = json!({"s3_signing": {"environment_credentials": {}}});
    let service = json!({"url": environment.url(), "credentials": credentials});
    let config =
        json!({"services": {"depot": service}, "bundles": {"rules": {"polling": quick()}}});
    let (_program, _) = Program::start(&environment, config)?;
    let seen = until("a request", || {
        environment.mock.seen("/bundles/rules").into_iter().next()
    })
    .await?;
    let proof = seen.header("authorization").unwrap_or_default();
    assert!(
        proof.starts_with("AWS4-HMAC-SHA256 Credential=access/"),
        "{proof}"
    );
    assert!(proof.contains("/west/s3/aws4_request"), "{proof}");
    assert!(seen.header("x-amz-date").is_some());
    assert_eq!(
        seen.header("host"),
        Some(environment.mock.address.to_string().as_str())
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn signals_reload_and_stop() -> Done {
    let environment = Environment::new().await?;
    environment.mock.put("/bundles/rules", Fixture::status(404));
    let logs = json!({"service": "depot"});
    let (mut program, address) = Program::start(&environment, json!({"decision_logs": logs}))?;
    assert_eq!(get(address, "/v1/status").await?.0, 500);
    let status = json!({"console": true});
    environment.configure(json!({"decision_logs": logs, "status": status}))?;
    program.signal("HUP")?;
    let started = Instant::now();
    while get(address, "/v1/status").await?.0 != 200 {
        assert!(started.elapsed() < HANG_LIMIT, "not reloaded");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let (_, answer) = get(address, "/v1/data/a").await?;
    program.signal("TERM")?;
    assert!(program.0.wait()?.success());
    let uploads = environment.mock.seen("/logs");
    assert_eq!(uploads[0].body[0]["decision_id"], answer["decision_id"]);
    Ok(())
}
