//! Replies of an adapter.

use serde_json::{Map, Value};

/// Reply of an adapter.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum AdapterReply {
    /// The client returned a value.
    Value(Value),
    /// The client reports an undefined value.
    Undefined,
    /// The client raised or returned an error, with the status if reported.
    Error(Option<u64>),
    /// The client does not support the operation.
    Unsupported,
}

/// Members of a reply, which has exactly one of them.
const KINDS: [&str; 4] = ["value", "undefined", "error", "unsupported"];

impl AdapterReply {
    /// Parses a reply.
    ///
    /// # Errors
    /// A message, if the reply is invalid.
    pub(super) fn read(answer: &Value) -> Result<Self, String> {
        let Value::Object(members) = answer else {
            return Err("expected an object".to_owned());
        };
        let kinds: Vec<&str> = KINDS
            .into_iter()
            .filter(|kind| members.contains_key(*kind))
            .collect();
        let others = members.keys().find(|name| {
            let name = name.as_str();
            !KINDS.contains(&name) && name != "details"
        });
        match (kinds.as_slice(), others) {
            ([_], Some(other)) => Err(format!("it has a member `{other}`")),
            (["value"], None) => Ok(Self::Value(member(members, "value"))),
            (["undefined"], None) => is_true(members, "undefined").map(|()| Self::Undefined),
            (["unsupported"], None) => is_true(members, "unsupported").map(|()| Self::Unsupported),
            (["error"], None) => error(members.get("error")),
            _ => Err(format!("it needs exactly one of {}", KINDS.join(", "))),
        }
    }
}

fn member(members: &Map<String, Value>, name: &str) -> Value {
    members.get(name).cloned().unwrap_or_default()
}

fn is_true(members: &Map<String, Value>, name: &str) -> Result<(), String> {
    match members.get(name) {
        Some(Value::Bool(true)) => Ok(()),
        _ => Err(format!("`{name}` is always true")),
    }
}

fn error(error: Option<&Value>) -> Result<AdapterReply, String> {
    let Some(Value::Object(error)) = error else {
        return Err("`error` is an object, which may be empty".to_owned());
    };
    match error.get("status") {
        None | Some(Value::Null) => Ok(AdapterReply::Error(None)),
        Some(status) => match status.as_u64() {
            Some(status) => Ok(AdapterReply::Error(Some(status))),
            None => Err(format!("invalid `status` {status}: expected a number")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case::value(json!({"value": null}), Ok(AdapterReply::Value(Value::Null)))]
    #[case::value_and_details(
        json!({"value": 1, "details": {"metrics": {}}}),
        Ok(AdapterReply::Value(json!(1)))
    )]
    #[case::undefined(json!({"undefined": true}), Ok(AdapterReply::Undefined))]
    #[case::error(json!({"error": {"kind": "x"}}), Ok(AdapterReply::Error(None)))]
    #[case::error_with_status(
        json!({"error": {"status": 404}}),
        Ok(AdapterReply::Error(Some(404)))
    )]
    #[case::unsupported(json!({"unsupported": true}), Ok(AdapterReply::Unsupported))]
    #[case::no_object(json!(true), Err("expected an object"))]
    #[case::none_of_them(
        json!({}),
        Err("it needs exactly one of value, undefined, error, unsupported")
    )]
    #[case::two_of_them(
        json!({"value": 1, "undefined": true}),
        Err("it needs exactly one of value, undefined, error, unsupported")
    )]
    #[case::another_member(json!({"value": 1, "result": 1}), Err("it has a member `result`"))]
    #[case::undefined_is_false(json!({"undefined": false}), Err("`undefined` is always true"))]
    #[case::error_is_no_object(
        json!({"error": "x"}),
        Err("`error` is an object, which may be empty")
    )]
    #[case::status_is_no_number(
        json!({"error": {"status": "404"}}),
        Err("invalid `status` \"404\": expected a number")
    )]
    fn an_answer_is_one_of_four(#[case] answer: Value, #[case] read: Result<AdapterReply, &str>) {
        assert_eq!(AdapterReply::read(&answer), read.map_err(str::to_owned));
    }
}
