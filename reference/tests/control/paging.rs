//! Paging: complete walks through a list, limits, cursors, and the format of lists.

use std::sync::Arc;

use libtest_mimic::Failed;
use reference::control::Control;
use serde_json::Value;

use crate::environment::{Environment, send, text};
use crate::transcript::run_script;
use crate::{Case, Outcome};

pub(crate) const CASES: &[Case] = &[("walks", walks), ("pages", pages)];

const KINDS: &[&str] = &["bundles", "sources", "stacks", "secrets"];

fn pages(environment: Environment) -> Outcome {
    Box::pin(async move {
        let control = environment.open("").await?;
        for kind in KINDS {
            for name in ["a", "b", "c"] {
                let target = format!("/v1/{kind}/{name}");
                send(&control, "admin", "PUT", &target, r#"{"value":{}}"#).await?;
            }
            let script = "
                admin GET /v1/KIND?limit=abc => 400 invalid_parameter `limit`
                admin GET /v1/KIND?limit=0 => 400 invalid_parameter
                admin GET /v1/KIND?limit=-1 => 400 invalid_parameter
                admin GET /v1/KIND?limit=1.5 => 400 invalid_parameter
                admin GET /v1/KIND?limit=101 => 200
                admin GET /v1/KIND?limit=99999999999999999999 => 200
                admin GET /v1/KIND?limit= => 200
                admin GET /v1/KIND?cursor= => 200
                admin GET /v1/KIND?cursor=garbage => 400 invalid_parameter `cursor`
                nobody GET /v1/KIND?limit=abc => 401
            ";
            run_script(&control, &script.replace("KIND", kind)).await?;
            let (_, cursor) = page(&control, kind, "limit=2").await?;
            let cursor = cursor.ok_or("no cursor after two of three")?;
            for other in KINDS.iter().filter(|other| *other != kind) {
                let line =
                    format!("admin GET /v1/{other}?cursor={cursor} => 400 invalid_parameter");
                run_script(&control, &line).await?;
            }
            let exact = page(&control, kind, "limit=3").await?;
            assert_same(kind, &exact, &(3, None))?;
            let target = format!("/v1/{kind}?pretty");
            let pretty = text(&send(&control, "admin", "GET", &target, "").await?);
            if !pretty.starts_with("{\n  \"result\": [\n    ") || !pretty.ends_with("\n}\n") {
                return Err(format!("{kind}: pretty is {pretty}").into());
            }
        }
        Ok(())
    })
}

/// Despite concurrent inserts and deletes, a walk lists each permanent item exactly once.
fn walks(environment: Environment) -> Outcome {
    Box::pin(async move {
        let control = environment.open("").await?;
        for kind in KINDS {
            let mut lasting = Vec::new();
            for at in 0..24 {
                let name = format!("w{:02}", (at * 7) % 24);
                let target = format!("/v1/{kind}/{name}");
                send(&control, "admin", "PUT", &target, r#"{"value":{}}"#).await?;
                lasting.push(name);
            }
            for limit in [1, 5, 8, 24, 100] {
                let mut seen = Vec::new();
                let mut query = format!("limit={limit}");
                for round in 0.. {
                    let (names, cursor) = names(&control, kind, &query).await?;
                    if names.len() > limit {
                        return Err(format!("{kind}: {} of {limit}", names.len()).into());
                    }
                    seen.extend(names);
                    // The inserted and deleted items are both before and after the cursor.
                    if round < 12 {
                        let come = format!("/v1/{kind}/a{limit}-{round}");
                        send(&control, "admin", "PUT", &come, r#"{"value":{}}"#).await?;
                        let go = format!("/v1/{kind}/a{limit}-{}", round / 2);
                        send(&control, "admin", "DELETE", &go, "").await?;
                    }
                    match cursor {
                        Some(cursor) if round < 200 => {
                            query = format!("limit={limit}&cursor={cursor}");
                        }
                        Some(_) => return Err(format!("{kind}: the walk does not end").into()),
                        None => break,
                    }
                }
                seen.retain(|name| name.starts_with('w'));
                assert_same(kind, &seen, &lasting)?;
            }
        }
        Ok(())
    })
}

async fn page(
    control: &Arc<Control>,
    kind: &str,
    query: &str,
) -> Result<(usize, Option<String>), Failed> {
    let (names, cursor) = names(control, kind, query).await?;
    Ok((names.len(), cursor))
}

async fn names(
    control: &Arc<Control>,
    kind: &str,
    query: &str,
) -> Result<(Vec<String>, Option<String>), Failed> {
    let reply = send(control, "admin", "GET", &format!("/v1/{kind}?{query}"), "").await?;
    let body: Value = serde_json::from_slice(&reply.body.bytes())?;
    let items = body
        .get("result")
        .and_then(Value::as_array)
        .ok_or("no result")?;
    let name = |item: &Value| item.get("name").unwrap_or(item).as_str().map(str::to_owned);
    let cursor = match body.get("next_cursor") {
        Some(Value::Null) => None,
        Some(Value::String(cursor)) => Some(cursor.clone()),
        other => return Err(format!("next_cursor is {other:?}").into()),
    };
    Ok((items.iter().filter_map(name).collect(), cursor))
}

fn assert_same<T: PartialEq + std::fmt::Debug>(
    what: &str,
    actual: &T,
    expected: &T,
) -> Result<(), Failed> {
    if actual == expected {
        Ok(())
    } else {
        Err(format!("{what}: got {actual:?}, wanted {expected:?}").into())
    }
}
