//! Side effects of requests, by method and path.

use percent_encoding::percent_decode_str;
use serde_json::Value;

use crate::catalogue::Document;
use crate::scenario::resource_names::encode;

/// Side effects of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SideEffects {
    /// No lasting effect.
    Nothing,
    /// Effects only on the scenario's own resources.
    Own(Vec<Resource>),
    /// Effects on a resource without the scenario's namespace.
    Foreign,
}

/// A resource that a scenario created, and its removal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Resource {
    /// Order of removal: resources of a lower rank are removed first, as they refer to the others.
    pub(crate) rank: u8,
    /// Path of the DELETE request that removes the resource.
    pub(crate) path: String,
}

/// The collections of an API, each with the member that names an item.
pub(crate) fn collections(document: Document) -> &'static [(&'static str, &'static str)] {
    match document {
        Document::Control => &[
            ("/v1/bundles", "name"),
            ("/v1/stacks", "name"),
            ("/v1/sources", "name"),
            ("/v1/secrets", "name"),
        ],
        Document::Engine => &[("/v1/policies", "id"), ("/v1/data", "")],
    }
}

/// Returns the side effects of a request. `body` is its JSON body, if it has one.
pub(crate) fn side_effects_of(
    document: Document,
    method: &str,
    path: &str,
    body: Option<&Value>,
    ns: &str,
) -> SideEffects {
    if matches!(method, "GET" | "HEAD" | "OPTIONS") {
        return SideEffects::Nothing;
    }
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    match (document, segments.as_slice()) {
        (Document::Control, ["v1", collection, rest @ ..]) => control(collection, rest, ns),
        (Document::Engine, ["v1", "policies", rest @ ..]) => own_resources(rest, ns, |id| {
            vec![resource(0, format!("/v1/policies/{id}"))]
        }),
        // POST on data evaluates.
        (Document::Engine, ["v1", "data", ..]) if method == "POST" => SideEffects::Nothing,
        (Document::Engine, ["v1", "data", rest @ ..]) => {
            match (method, own_resources(rest, ns, data_document)) {
                ("PATCH", SideEffects::Foreign) => patch(rest, body, ns),
                (_, other) => other,
            }
        }
        _ => SideEffects::Nothing,
    }
}

fn resource(rank: u8, path: String) -> Resource {
    Resource { rank, path }
}

fn data_document(path: &str) -> Vec<Resource> {
    vec![resource(1, format!("/v1/data/{path}"))]
}

/// Returns the resources of the path up to its first segment with the namespace; foreign if none
/// has it.
fn own_resources(
    segments: &[&str],
    ns: &str,
    resources: impl Fn(&str) -> Vec<Resource>,
) -> SideEffects {
    let carries = |segment: &&str| percent_decode_str(segment).decode_utf8_lossy().contains(ns);
    segments
        .iter()
        .position(carries)
        .and_then(|last| segments.get(..=last))
        .map_or(SideEffects::Foreign, |path| {
            SideEffects::Own(resources(&path.join("/")))
        })
}

fn control(collection: &str, rest: &[&str], ns: &str) -> SideEffects {
    let rank = match collection {
        "bundles" => 1,
        "stacks" => 2,
        "sources" => 3,
        "secrets" => 4,
        _ => return SideEffects::Nothing,
    };
    let Some((name, below)) = rest.split_first() else {
        return SideEffects::Foreign;
    };
    own_resources(&[name], ns, |name| {
        let item = format!("/v1/{collection}/{name}");
        let mut resources = Vec::new();
        if !below.is_empty() {
            // Whether data prevents the removal of its source is open.
            resources.push(resource(0, format!("{item}/{}", below.join("/"))));
        }
        resources.push(resource(rank, item));
        resources
    })
}

/// Returns the side effects of a patch of a shared path: own if each operation's path contains the
/// namespace.
fn patch(shared: &[&str], body: Option<&Value>, ns: &str) -> SideEffects {
    let Some(operations) = body.and_then(Value::as_array) else {
        // Without operations it changes nothing.
        return SideEffects::Nothing;
    };
    let mut resources = Vec::new();
    for operation in operations {
        let Some(pointer) = operation.get("path").and_then(Value::as_str) else {
            continue;
        };
        let below: Vec<String> = pointer
            .split('/')
            .skip(1)
            .map(|key| encode(&key.replace("~1", "/").replace("~0", "~")))
            .collect();
        let joined: Vec<&str> = shared
            .iter()
            .copied()
            .filter(|segment| !segment.is_empty())
            .chain(below.iter().map(String::as_str))
            .collect();
        match own_resources(&joined, ns, data_document) {
            SideEffects::Own(more) => resources.extend(more),
            other => return other,
        }
    }
    SideEffects::Own(resources)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reach_follows_from_method_and_path() {
        let owned = |resources: &[(u8, &str)]| {
            SideEffects::Own(
                resources
                    .iter()
                    .map(|(rank, path)| resource(*rank, (*path).to_owned()))
                    .collect(),
            )
        };
        let (control, engine) = (Document::Control, Document::Engine);
        let cases = [
            (control, "GET", "/v1/bundles", SideEffects::Nothing),
            (
                control,
                "PUT",
                "/v1/bundles/N-a?x=1",
                owned(&[(1, "/v1/bundles/N-a")]),
            ),
            (
                control,
                "PUT",
                "/v1/secrets/N%2Fx",
                owned(&[(4, "/v1/secrets/N%2Fx")]),
            ),
            (
                control,
                "PUT",
                "/v1/stacks/%4E%20y",
                owned(&[(2, "/v1/stacks/%4E%20y")]),
            ),
            (
                control,
                "POST",
                "/v1/sources/N/data/a%2Fb",
                owned(&[(0, "/v1/sources/N/data/a%2Fb"), (3, "/v1/sources/N")]),
            ),
            (
                control,
                "PUT",
                "/v1/sources/other/data/N",
                SideEffects::Foreign,
            ),
            (control, "DELETE", "/v1/bundles/all", SideEffects::Foreign),
            (control, "DELETE", "/v1/bundles", SideEffects::Foreign),
            (control, "PUT", "/health", SideEffects::Nothing),
            (
                engine,
                "PUT",
                "/v1/policies/N.rego",
                owned(&[(0, "/v1/policies/N.rego")]),
            ),
            (engine, "PUT", "/v1/data/N/a/b", owned(&[(1, "/v1/data/N")])),
            (
                engine,
                "PUT",
                "/v1/data/x/N-1/b",
                owned(&[(1, "/v1/data/x/N-1")]),
            ),
            (engine, "PUT", "/v1/data/x", SideEffects::Foreign),
            (engine, "PUT", "/v1/data", SideEffects::Foreign),
            (engine, "POST", "/v1/data/x", SideEffects::Nothing),
            (engine, "POST", "/v1/query", SideEffects::Nothing),
        ];
        for (document, method, path, expected) in cases {
            assert_eq!(
                side_effects_of(document, method, path, None, "N"),
                expected,
                "{method} {path}"
            );
        }
        let patches = [
            (
                "/v1/data/N",
                json!([{"path": "/a"}]),
                owned(&[(1, "/v1/data/N")]),
            ),
            (
                "/v1/data",
                json!([{"path": "/N~1 a/b"}]),
                owned(&[(1, "/v1/data/N%2F%20a")]),
            ),
            (
                "/v1/data/x",
                json!([{"path": "/N"}]),
                owned(&[(1, "/v1/data/x/N")]),
            ),
            (
                "/v1/data",
                json!([{"path": "/N"}, {"path": "/x"}]),
                SideEffects::Foreign,
            ),
            (
                "/v1/data",
                json!({"no": "operations"}),
                SideEffects::Nothing,
            ),
        ];
        for (path, body, expected) in patches {
            assert_eq!(
                side_effects_of(engine, "PATCH", path, Some(&body), "N"),
                expected,
                "{path} {body}"
            );
        }
    }
}
