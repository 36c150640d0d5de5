//! Scripts: requests and expected responses, one pair per line.

use std::sync::Arc;

use libtest_mimic::Failed;
use reference::control::Control;
use serde_json::Value;

use crate::environment::{send, text};

/// Executes a script with lines of the form `WHO METHOD TARGET [BODY] => STATUS [EXPECTED]`.
/// EXPECTED is the whole JSON body, or the code of an error followed by a part of its message.
/// Empty lines and lines that begin with `#` are ignored.
pub(crate) async fn run_script(control: &Arc<Control>, script: &str) -> Result<(), Failed> {
    let lines = script.lines().map(str::trim);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (request, expected) = line.rsplit_once(" => ").ok_or("a line without ` => `")?;
        let mut words = request.trim().splitn(4, ' ');
        let mut word = || words.next().unwrap_or_default();
        let (who, method, target, body) = (word(), word(), word(), word());
        let reply = send(control, who, method, target, body.to_owned()).await?;
        let body = text(&reply);
        let (status, expected_body) = expected.split_once(' ').unwrap_or((expected, ""));
        if reply.status.as_str() != status || !matches_expected(expected_body, &body) {
            let got = reply.status.as_str();
            return Err(format!("{line}\n  answered {got} {body}").into());
        }
    }
    Ok(())
}

fn matches_expected(expected_body: &str, body: &str) -> bool {
    if expected_body.starts_with('{') {
        let expected_body: Result<Value, _> = serde_json::from_str(expected_body);
        let body: Result<Value, _> = serde_json::from_str(body);
        return matches!((expected_body, body), (Ok(expected_body), Ok(body)) if expected_body == body);
    }
    let (code, part) = expected_body.split_once(' ').unwrap_or((expected_body, ""));
    if code.is_empty() {
        return true;
    }
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    let message = body.get("message").and_then(Value::as_str);
    body.get("code").and_then(Value::as_str) == Some(code)
        && message.is_some_and(|message| message.contains(part))
}

/// Defines cases that each execute one script, with a token for each role.
macro_rules! scripts {
    ($($name:literal => $script:expr),+ $(,)?) => {
        pub(crate) const CASES: &[crate::Case] = &[$((
            $name,
            |environment| Box::pin(async move {
                let control = environment.open("").await?;
                crate::transcript::run_script(&control, $script).await
            }),
        )),+];
    };
}
pub(crate) use scripts;
