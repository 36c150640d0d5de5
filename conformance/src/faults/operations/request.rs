//! Changes of requests.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;

use super::json::{ValuesByPointer, put_all, take_at};
use super::{Replacement, drop_header, set_header, set_headers};
use crate::faults::matcher::pairs;
use crate::http_client::wire::Outgoing;

/// A change of a request. Pointers refer to its JSON body.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::faults) enum RequestChange {
    /// Removes a header.
    DropHeader(String),
    /// Sets headers.
    SetHeader(BTreeMap<String, String>),
    /// Removes a query parameter.
    DropQuery(String),
    /// Sets query parameters, in encoded form.
    SetQuery(BTreeMap<String, String>),
    /// Uses another method.
    Method(Method),
    /// Replaces a part of the path.
    Path(Replacement),
    /// Removes a value from the body.
    Drop(String),
    /// Sets values in the body.
    Set(ValuesByPointer),
    /// Replaces a substring of the body.
    Text(Replacement),
    /// Sends this string as the body.
    Body(String),
    /// Sends the request as the administrator, whatever its identity.
    AsAdministrator(bool),
}

/// The methods that a request may be changed to.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(in crate::faults) enum Method {
    Get,
    Put,
    Post,
    Patch,
    Delete,
}

/// Applies these changes to a request; `administrator` is the administrator's Authorization header.
pub(in crate::faults) fn changed<'a>(
    request: &Outgoing,
    changes: impl IntoIterator<Item = &'a RequestChange>,
    administrator: Option<&str>,
) -> Outgoing {
    let mut result = request.clone();
    for change in changes {
        change.apply(&mut result, administrator);
    }
    result
}

/// Applies these changes to a raw request; only [`RequestChange::Text`] applies to one.
pub(in crate::faults) fn changed_raw<'a>(
    bytes: &[u8],
    changes: impl IntoIterator<Item = &'a RequestChange>,
) -> Vec<u8> {
    changes
        .into_iter()
        .fold(bytes.to_vec(), |raw_request, change| {
            if let RequestChange::Text(replacement) = change {
                replacement
                    .apply(&String::from_utf8_lossy(&raw_request))
                    .into_bytes()
            } else {
                raw_request
            }
        })
}

impl RequestChange {
    fn apply(&self, request: &mut Outgoing, administrator: Option<&str>) {
        match self {
            Self::DropHeader(name) => drop_header(&mut request.headers, name),
            Self::SetHeader(headers) => set_headers(&mut request.headers, headers),
            Self::DropQuery(name) => {
                edit_query(&mut request.path, |pairs| {
                    pairs.retain(|(known, _)| known != name)
                });
            }
            Self::SetQuery(values) => edit_query(&mut request.path, |pairs| {
                pairs.retain(|(known, _)| !values.contains_key(known));
                pairs.extend(values.clone());
            }),
            Self::Method(method) => {
                request.method = match method {
                    Method::Get => "GET",
                    Method::Put => "PUT",
                    Method::Post => "POST",
                    Method::Patch => "PATCH",
                    Method::Delete => "DELETE",
                };
            }
            Self::Path(replacement) => request.path = replacement.apply(&request.path),
            Self::Drop(pointer) => {
                edit_json(&mut request.body, |body| drop(take_at(body, pointer)))
            }
            Self::Set(values) => edit_json(&mut request.body, |body| put_all(body, values)),
            Self::Text(replacement) => {
                request.body =
                    Bytes::from(replacement.apply(&String::from_utf8_lossy(&request.body)));
            }
            Self::Body(text) => request.body = Bytes::from(text.clone()),
            Self::AsAdministrator(on) => {
                if let Some(value) = administrator.filter(|_| *on) {
                    set_header(&mut request.headers, "authorization", value);
                }
            }
        }
    }
}

fn edit_json(body: &mut Bytes, edit: impl FnOnce(&mut Value)) {
    if let Ok(mut json) = serde_json::from_slice::<Value>(body) {
        edit(&mut json);
        *body = Bytes::from(json.to_string());
    }
}

fn edit_query(target: &mut String, edit: impl FnOnce(&mut Vec<(String, String)>)) {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut pairs = pairs(query);
    edit(&mut pairs);
    let parts = pairs.into_iter().map(|(name, value)| match value.as_str() {
        "" => name,
        value => format!("{name}={value}"),
    });
    let parts: Vec<String> = parts.collect();
    *target = match parts.as_slice() {
        [] => path.to_owned(),
        parts => format!("{path}?{}", parts.join("&")),
    };
}
