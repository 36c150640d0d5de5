//! Scripts: requests and expected responses, one pair per line.

use std::sync::Arc;

use libtest_mimic::Failed;
use reference::control::Control;
use serde_json::Value;

use crate::environment::{send, text};

/// Executes a script with lines of the form `WHO METHOD TARGET [BODY] => STATUS [EXPECTED]`.
/// EXPECTED is the whole JSON body, or the code of an error followed by a part of its message.
/// Empty lines and lines that begin with `#` are ignored.
pub(crate) async fn play(control: &Arc<Control>, script: &str) -> Result<(), Failed> {
    let lines = script.lines().map(str::trim);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (request, expected) = line.rsplit_once(" => ").ok_or("a line without ` => `")?;
        let mut words = request.trim().splitn(4, ' ');
        let mut word = || words.next().unwrap_or_default();
        let (who, method, target, body) = (word(), word(), word(), word());
        let reply = send(control, who, method, target, body.to_owned()).await?;
        let body = text(&reply);
        let (status, wanted) = expected.split_once(' ').unwrap_or((expected, ""));
        if reply.status.as_str() != status || !fits(wanted, &body) {
            let got = reply.status.as_str();
            return Err(format!("{line}\n  answered {got} {body}").into());
        }
    }
    Ok(())
}

fn fits(wanted: &str, body: &str) -> bool {
    if wanted.starts_with('{') {
        let wanted: Result<Value, _> = serde_json::from_str(wanted);
        let body: Result<Value, _> = serde_json::from_str(body);
        return matches!((wanted, body), (Ok(wanted), Ok(body)) if wanted == body);
    }
    let (code, part) = wanted.split_once(' ').unwrap_or((wanted, ""));
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
                crate::transcript::play(&control, $script).await
            }),
        )),+];
    };
}
pub(crate) use scripts;
