//! Decisions in the log of the process.

use rego::Value;
use rego::value::{Object, TooLong};
use tracing::info;

use super::MAX_EVENT;
use http_server::log::{CONSOLE, Json};

/// Type that identifies the lines of decisions in the log.
const TYPE: &str = "openpolicyagent.org/decision_logs";

/// Writes an event to the log of the process; the members of the event are members of the line. The
/// error, an object in uploads, is a sentence here.
///
/// # Errors
/// When the event is too long. Then nothing is written.
pub(super) fn print(event: &Object) -> Result<(), TooLong> {
    let mut remaining = MAX_EVENT;
    let mut json = |name| {
        let member = event.get(name).map(|member| Json::new(member, remaining));
        let member = member.transpose()?;
        remaining -= member.as_ref().map_or(0, Json::byte_count);
        Ok::<_, TooLong>(member.map(tracing::field::display))
    };
    let text = |name| event.get(name).and_then(Value::as_str);
    info!(
        target: CONSOLE,
        decision_id = text("decision_id"),
        "type" = TYPE,
        trace_id = text("trace_id"),
        span_id = text("span_id"),
        path = text("path"),
        query = text("query"),
        labels = json("labels")?,
        bundles = json("bundles")?,
        input = json("input")?,
        result = json("result")?,
        nd_builtin_cache = json("nd_builtin_cache")?,
        error = event.get("error").map(sentence),
        erased = json("erased")?,
        masked = json("masked")?,
        requested_by = text("requested_by"),
        request_context = json("request_context")?,
        timestamp = text("timestamp"),
        metrics = json("metrics")?,
        req_id = json("req_id")?,
        custom = json("custom")?,
        "Decision Log"
    );
    Ok(())
}

/// Formats an error with its code, and its location if known.
fn sentence(error: &Value) -> String {
    let text = |name| error.get(name).and_then(Value::as_str).unwrap_or_default();
    let message = format!("{}: {}", text("code"), text("message"));
    let place = |name| error.get("location").and_then(|at| at.get(name));
    match (place("file").and_then(Value::as_str), place("row")) {
        (Some(file), Some(row)) if !file.is_empty() => format!("{file}:{row}: {message}"),
        (_, Some(row)) => format!("{row}: {message}"),
        _ => message,
    }
}

#[cfg(test)]
mod tests {
    use rego::value::from_json;
    use rstest::rstest;

    use super::sentence;

    #[rstest]
    #[case::with_a_file(
        r#"{"code": "c", "message": "m", "location": {"file": "p.rego", "row": 3, "col": 1}}"#,
        "p.rego:3: c: m"
    )]
    #[case::without_a_file(
        r#"{"code": "c", "message": "m", "location": {"file": "", "row": 1, "col": 1}}"#,
        "1: c: m"
    )]
    #[case::without_a_place(r#"{"code": "c", "message": "m"}"#, "c: m")]
    fn errors_are_said_with_their_places(
        #[case] error: &str,
        #[case] expected: &str,
    ) -> Result<(), Box<dyn std::error::Error>> {
        assert_eq!(sentence(&from_json(error.as_bytes())?), expected);
        Ok(())
    }
}
