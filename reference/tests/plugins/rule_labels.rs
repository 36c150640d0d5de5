//! Labels of rules in decision log events.

use serde_json::{Value, json};

use crate::environment::{Done, Environment, quick, until};

const LABELLED: &str = r#"
# METADATA
# scope: package
# labels: {package: 1, k: package}
package a.m

# METADATA
# scope: document
# labels: {document: 1, k: document}
# METADATA
# labels: {own: 1, k: own}
whole if input.x
else := 2

whole := 3 if input.y

# METADATA
# labels: {first: 1, k: [1]}
# METADATA
# labels: {second: {"nested": null}, k: [2]}
two_blocks := 1

# METADATA
# labels: {default: 1}
default d := 4

# METADATA
# labels: {s: 1}
s contains 1

# METADATA
# labels: {s: 2}
s contains 2

# METADATA
# labels: {f: 1}
f(x) := 1 if x > 1

# METADATA
# labels: {f: 2}
f(x) := 2 if x <= 1

# METADATA
# labels: {o: 1}
o[key] := 1 if some key in ["a", "b"]

# METADATA
# labels: {never: 1}
never if input.q == 1

# METADATA
# title: without labels
plain := 1
"#;

const AROUND: &str = r#"
# METADATA
# scope: subpackages
# labels: {around: 1, k: around}
package a
"#;

const ASKING: &str = r#"
package b

import data.a.m

undefined if m.whole == 100
fallback := 1 if { m.plain == 2 } else := 5
calls := [m.f(1), m.f(2), m.f(1)]
all_members := count(m.s)
one_member := m.s[2]
one_key := m.o.a
whole_object := m.o
order := [m.plain, m.d]
another_order := [m.d, m.plain]
replaced if m.never with input.q as 1
conflict := 1 if m.plain
conflict := 2 if m.plain
"#;

/// Returns the labels that every rule of the package has, with further ones.
fn labels(more: Value) -> Value {
    let mut labels = json!({"around": 1, "package": 1, "k": "package"});
    if let (Some(members), Value::Object(more)) = (labels.as_object_mut(), more) {
        members.extend(more);
    }
    labels
}

async fn put(environment: &Environment, id: &str, policy: &'static str) -> Done {
    let running = environment.running.as_ref().ok_or("no engine")?;
    let address = running.engine.ok_or("no address")?;
    let client = reqwest::Client::builder().no_proxy().build()?;
    let url = format!("http://{address}/v1/policies/{id}");
    let answer = client.put(url).body(policy).send().await?;
    assert_eq!(answer.status(), 200, "{id}");
    Ok(())
}

/// Requests a decision with rule labels; returns its decision log event.
async fn event(environment: &Environment, path: &str) -> Done<Value> {
    let before = environment.mock.seen("/logs").len();
    let separator = if path.contains('?') { '&' } else { '?' };
    let target = format!("{path}{separator}rule_labels");
    let (_, answer) = environment.get(&target).await?;
    let find = || {
        let uploads = environment.mock.seen("/logs").split_off(before);
        let mut events = uploads.into_iter().filter_map(|upload| match upload.body {
            Value::Array(events) => events.into_iter().next(),
            _ => None,
        });
        events.next()
    };
    let event = until(path, find).await?;
    assert_eq!(answer["rule_labels"], event["rule_labels"], "{path}");
    Ok(event)
}

// The expected labels are those of Open Policy Agent 1.22.
#[tokio::test]
async fn rules_that_have_an_answer_show_their_labels() -> Done {
    let logs = json!({"service": "depot", "reporting": quick()});
    let environment = Environment::start(json!({"decision_logs": logs})).await?;
    for (id, policy) in [("m", LABELLED), ("around", AROUND), ("asking", ASKING)] {
        put(&environment, id, policy).await?;
    }
    let unlabelled_rule = || labels(json!({}));
    let document = json!({"document": 1, "k": "document"});
    let own = json!({"document": 1, "own": 1, "k": "own"});
    let blocks = json!({"first": 1, "second": {"nested": null}, "k": [2]});
    let (default, member) = (json!({"default": 1}), |n: u8| labels(json!({"s": n})));
    for (path, expected) in [
        ("data/a/m/whole?input=%7B%22x%22:1%7D", vec![labels(own)]),
        ("data/a/m/whole", vec![labels(document.clone())]),
        ("data/a/m/two_blocks", vec![labels(blocks)]),
        ("data/a/m/d", vec![labels(default.clone())]),
        ("data/a/m/plain", vec![unlabelled_rule()]),
        ("data/a/m/s", vec![member(1), member(2)]),
        ("data/a/m/s/1", vec![]),
        ("data/a/m/never", vec![]),
        ("data/b/undefined", vec![]),
        ("data/b/fallback", vec![unlabelled_rule()]),
        (
            "data/b/calls",
            vec![labels(json!({"f": 2})), labels(json!({"f": 1}))],
        ),
        ("data/b/all_members", vec![member(1), member(2)]),
        ("data/b/one_member", vec![]),
        ("data/b/one_key", vec![]),
        ("data/b/whole_object", vec![labels(json!({"o": 1}))]),
        (
            "data/b/order",
            vec![unlabelled_rule(), labels(default.clone())],
        ),
        (
            "data/b/another_order",
            vec![labels(default), unlabelled_rule()],
        ),
        ("data/b/replaced", vec![labels(json!({"never": 1}))]),
        ("data/b/conflict", vec![]),
        ("query?q=data.a.m.plain", vec![unlabelled_rule()]),
        ("query?q=not%20data.a.m.plain", vec![unlabelled_rule()]),
        ("query?q=x%20:=%201", vec![]),
    ] {
        let event = event(&environment, &format!("/v1/{path}")).await?;
        let expected = match expected.is_empty() {
            true => Value::Null,
            false => Value::from(expected),
        };
        assert_eq!(event["rule_labels"], expected, "{path}: {event}");
    }
    // Labels disappear when the policy that defines them is replaced.
    put(&environment, "asking", "package b\n").await?;
    put(&environment, "m", "package a.m\n\nplain := 1\n").await?;
    let labelled = event(&environment, "/v1/data/a/m/plain").await?;
    assert_eq!(
        labelled["rule_labels"],
        json!([{"around": 1, "k": "around"}])
    );
    put(&environment, "around", "package a\n").await?;
    let unlabelled = event(&environment, "/v1/data/a/m/plain").await?;
    assert_eq!(unlabelled.get("rule_labels"), None);
    Ok(())
}
