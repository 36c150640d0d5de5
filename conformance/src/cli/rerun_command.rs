//! Command line that reruns single rules with the options of a run.

use super::options::RunOptions;
use crate::http_client::curl::argument;

/// Returns the command line without the rule, with every option that affects requests, targets or
/// connections. Headers may contain credentials, so only their names are included.
pub(super) fn command(options: &RunOptions) -> String {
    let mut words = vec!["conformance".to_owned(), "run".to_owned()];
    let mut add = |flag: &str, value: Option<String>| {
        if let Some(value) = value {
            words.extend([format!("--{flag}"), argument(&value)]);
        }
    };
    add("control-url", options.control_url.clone());
    add("engine-url", options.engine_url.clone());
    for target in options.target.iter().filter(|name| *name != "reference") {
        add("target", Some(target.clone()));
    }
    let path = |path: &std::path::PathBuf| path.display().to_string();
    add("program", options.program.as_ref().map(path));
    add("vendor", options.vendor.clone());
    let capabilities = Some(options.capabilities.join(","));
    add("capabilities", capabilities.filter(|all| !all.is_empty()));
    add("token-env", options.token_env.clone());
    for header in &options.header {
        let name = header.split(':').next().unwrap_or_default();
        add("header", Some(format!("{name}: …")));
    }
    add("cacert", options.cacert.as_ref().map(path));
    add("mode", options.mode.map(|mode| mode.name().to_owned()));
    let seconds = |seconds: f64| seconds.to_string();
    add("timeout", options.timeout.map(seconds));
    add("eventual-timeout", options.eventual_timeout.map(seconds));
    for (flag, value) in [
        ("insecure", options.insecure),
        ("allow-full-mode", options.allow_full_mode),
        ("run-unclaimed", options.run_unclaimed),
    ] {
        if value == Some(true) {
            words.push(format!("--{flag}"));
        }
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Mode;

    #[test]
    fn options_that_reach_the_target_are_repeated_without_credentials() {
        let options = RunOptions {
            rules: vec!["engine/health/get".to_owned()],
            engine_url: Some("http://127.0.0.1:1".to_owned()),
            target: vec!["my target.toml".to_owned()],
            program: Some("bin/opa".into()),
            vendor: Some("opa".to_owned()),
            capabilities: vec!["documents".to_owned(), "filters".to_owned()],
            token_env: Some("TOKEN".to_owned()),
            header: vec!["X-Key: secret".to_owned()],
            cacert: Some("ca.pem".into()),
            mode: Some(Mode::Additive),
            timeout: Some(1.5),
            insecure: Some(true),
            run_unclaimed: Some(false),
            ..RunOptions::default()
        };
        assert_eq!(
            command(&options),
            "conformance run --engine-url http://127.0.0.1:1 --target 'my target.toml' \
             --program bin/opa --vendor opa --capabilities documents,filters --token-env TOKEN \
             --header 'X-Key: …' --cacert ca.pem --mode additive --timeout 1.5 --insecure"
        );
        let reference = RunOptions {
            target: vec!["reference".to_owned()],
            ..RunOptions::default()
        };
        assert_eq!(command(&reference), "conformance run");
    }
}
