//! Shared parts of the endpoints: names in paths and response envelopes.

use http::StatusCode;

use crate::control::model::{Kind, check_name};
use crate::control::store::Row;
use crate::control::{errors, page};
use crate::http::{ApiError, Reply, Request};

/// Returns the name in the path.
///
/// # Errors
/// `not_found` for an empty name, `invalid_parameter` for an invalid one.
pub(in crate::control) fn name(request: &Request) -> Result<&str, ApiError> {
    let name = request.path.open().first().map_or("", String::as_str);
    if name.is_empty() {
        return Err(errors::nameless());
    }
    check_name(name)?;
    Ok(name)
}

/// 200 with an empty object: the response to a write.
pub(in crate::control) fn done(request: &Request) -> Reply {
    text("{}".to_owned(), request)
}

/// 200 with the JSON of one definition in `result`.
pub(in crate::control) fn one(result: &str, request: &Request) -> Reply {
    text(format!(r#"{{"result":{result}}}"#), request)
}

/// 200 with a page of a list: `result` is always an array, `next_cursor` is always present.
///
/// Serves the clauses of `control/common/paging` and of each `list`.
pub(in crate::control) fn list(kind: Kind, rows: &[Row], more: bool, request: &Request) -> Reply {
    let items: Vec<String> = match kind {
        Kind::Secret => rows.iter().map(|row| string(&row.name)).collect(),
        _ => rows.iter().map(|row| row.definition.clone()).collect(),
    };
    let next = match rows.last() {
        Some(last) if more => string(&page::cursor(kind, last.id)),
        _ => "null".to_owned(),
    };
    let result = items.join(",");
    text(
        format!(r#"{{"result":[{result}],"next_cursor":{next}}}"#),
        request,
    )
}

/// Encodes a string as JSON.
pub(in crate::control) fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn text(text: String, request: &Request) -> Reply {
    Reply::compact_json(StatusCode::OK, text, request.flag("pretty"))
}
