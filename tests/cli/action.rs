//! Tests of `action.yml`, which execute its steps like a runner of GitHub Actions.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use serde_json::Value;

use crate::program::{Program, RunResult, WANTED};
use crate::server::{Answers, Server};

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("the_action_takes_what_a_run_takes", inputs),
    ("the_action_judges_as_its_inputs_say", played),
];

const PASSES: &str = "engine/health/get/healthy-is-empty-object";
const FAILS: &str = "engine/v1/data/get/undefined-omits-result";

/// Flags of `conformance run` that have no input of the action, with the reason.
const WITHOUT: [(&str, &str); 6] = [
    ("watch", "nobody changes a file while a job runs"),
    ("ledger", "the runner is thrown away with what it remembers"),
    ("report", "the action writes reports of its own"),
    ("token-env", "the input `token` becomes one"),
    ("color", "a log has none"),
    ("progress", "a log has lines"),
];

/// Inputs of the action that correspond to no flag of the same name, with their meaning.
const OF_ITS_OWN: [(&str, &str); 4] = [
    ("rules", "the arguments"),
    ("token", "the value of --token-env's variable"),
    ("reports", "where its reports go"),
    ("artifact", "the name under which the reports are uploaded"),
];

fn action() -> Value {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/action.yml"));
    serde_yaml::from_str(&text.expect("action.yml")).expect("YAML")
}

fn inputs() {
    let help = Program::new().run(&["run", "--help"]);
    help.expect(0, &[]);
    let flags = help.out.lines().filter_map(|line| {
        let (before, flag) = line.split_once("--")?;
        let option = before.trim().is_empty() || before.trim().ends_with(',');
        let end = flag.find(|c: char| c != '-' && !c.is_ascii_lowercase())?;
        option.then(|| flag.get(..end))?
    });
    let mut flags: Vec<&str> = flags.filter(|flag| *flag != "help").collect();
    let action = action();
    let inputs = action.pointer("/inputs").and_then(Value::as_object);
    let mut inputs: Vec<&str> = inputs.expect("inputs").keys().map(String::as_str).collect();
    for (flag, reason) in WITHOUT {
        assert!(flags.contains(&flag), "unknown flag {flag}: {reason}");
        flags.retain(|one| *one != flag);
    }
    for (input, what) in OF_ITS_OWN {
        assert!(inputs.contains(&input), "unknown input {input}: {what}");
        inputs.retain(|one| *one != input);
    }
    flags.sort_unstable();
    inputs.sort_unstable();
    assert_eq!(inputs, flags);
    let codes = action.pointer("/outputs/exit-code/description");
    let codes = codes.and_then(Value::as_str).expect("a description");
    for code in [0, 1, 2, 3, 4, 5, 130] {
        assert!(codes.contains(&format!("{code} ")), "{code}: {codes}");
    }
}

/// Runs the judging step with inputs; returns its result, its outputs and its job summary.
fn run_action(program: &Program, inputs: &[(&str, &str)]) -> (RunResult, String, String) {
    let action = action();
    let step = action.pointer("/runs/steps/1").expect("the step");
    let folder = program.folder.path();
    let bin = folder.join("conformance/bin");
    std::fs::create_dir_all(&bin).expect("a folder");
    let executable = std::env::current_exe().expect("this executable");
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$@\" >> arguments\nprintf %s \"$CONFORMANCE_HEADER\" >> headers\n{WANTED}=1 exec '{}' \"$@\"\n",
        executable.display()
    );
    let path = bin.join("conformance");
    std::fs::write(&path, script).expect("a script");
    let runs = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&path, runs).expect("a program");
    let default = |name: &str| {
        let place = format!("/inputs/{name}/default");
        action.pointer(&place).and_then(Value::as_str).expect(name)
    };
    let inputs: BTreeMap<&str, &str> = inputs.iter().copied().collect();
    let variables = step.pointer("/env").and_then(Value::as_object);
    let variables = variables.expect("variables").iter().map(|(name, value)| {
        let value = value.as_str().expect(name);
        let input = value.strip_prefix("${{ inputs.").expect(value);
        let input = input.trim_end_matches(" }}");
        let value = inputs.get(input).copied();
        (name, value.unwrap_or_else(|| default(input)))
    });
    let script = step
        .pointer("/run")
        .and_then(Value::as_str)
        .expect("a script");
    let mut command = Command::new("bash");
    command
        .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script])
        .current_dir(folder)
        .env("XDG_STATE_HOME", folder.join("state"))
        .env("RUNNER_TEMP", folder)
        .env("GITHUB_OUTPUT", folder.join("output"))
        .env("GITHUB_STEP_SUMMARY", folder.join("summary"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CONFORMANCE_")) {
        command.env_remove(name);
    }
    for (name, value) in variables {
        command.env(name, value);
    }
    let result = RunResult::of(&command.output().expect("bash"));
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    (result, read("output"), read("summary"))
}

fn played() {
    let known = format!("[[deviation]]\nrule = '{FAILS}'\nreason = 'why'\n");
    let program = Program::new().file("known.toml", &known);
    let server = Server::start(Answers::Echo);
    let url = ("engine-url", server.url.as_str());
    let dead = Server::dead();
    for (inputs, code, text) in [
        (&[url, ("rules", FAILS)][..], 1, "not conformant"),
        (
            &[
                url,
                ("rules", FAILS),
                ("known-failing", "known.toml"),
                // Values with characters that a shell would interpret must be passed unchanged.
                ("header", "X-One: $(touch taken) 1\n\nX-Two: secret-2\n"),
                ("token", "to'ken-$(touch taken)"),
                ("vendor", "opa"),
                ("insecure", "true"),
                ("eventual-timeout", "1"),
            ],
            0,
            "conformant with 1 known deviation",
        ),
        (&[url, ("mode", "all")], 2, ""),
        (
            &[("engine-url", dead.as_str()), ("rules", PASSES)],
            4,
            "cannot be reached",
        ),
    ] {
        let (result, output, summary) = run_action(&program, inputs);
        result.expect(code, &[]);
        assert!(output.ends_with(&format!("exit-code={code}\n")), "{output}");
        assert!(summary.contains(text), "{summary}");
    }
    let requests: Vec<String> = server.requests.try_iter().collect();
    assert!(!requests.is_empty());
    // Secrets must not be arguments, because every process on the machine can read these.
    let arguments = program.read("arguments");
    assert!(arguments.contains("--known-failing"), "{arguments}");
    for secret in ["taken", "secret-2", "X-One"] {
        assert!(!arguments.contains(secret), "{arguments}");
    }
    let headers = program.read("headers");
    assert_eq!(headers, "X-One: $(touch taken) 1\nX-Two: secret-2");
    let program = program.variable("CONFORMANCE_HEADER", &headers);
    let evidence = "--report=ndjson=evidence";
    let result = program.run(&["run", "--engine-url", &server.url, evidence, PASSES]);
    result.expect(1, &[]);
    let evidence = program.read("evidence");
    for name in ["X-One", "X-Two"] {
        let sent = format!("[\"{name}\",\"<redacted>\"]");
        assert!(evidence.contains(&sent), "{evidence}");
    }
    assert!(!program.folder.path().join("taken").exists());
    let page = program.read("conformance-reports/report.html");
    assert!(page.contains("Conformance report"), "{page}");
}
