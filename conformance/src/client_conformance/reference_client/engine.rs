//! Engine requests of the reference client.

use serde_json::{Map, Value, json};

use super::{ClientRequest, Failed, FaultMode, Lookup, Model, is_true, needed, paths, reply};
use crate::http_client::answer::Answer;

/// Query parameter of each decision option, and the envelope member that the parameter adds.
const OPTIONS: [(&str, &str); 5] = [
    ("provenance", "provenance"),
    ("metrics", "metrics"),
    ("instrument", "instrument"),
    ("explain", "explain"),
    ("strict_builtin_errors", "strict-builtin-errors"),
];
/// Members of the envelope that are reported along with the decision.
const DETAILS: [&str; 4] = ["provenance", "metrics", "explanation", "decision_id"];

impl Model {
    pub(super) async fn engine(&self, operation: &str, arguments: &Value) -> Result<Value, Failed> {
        let found = match operation {
            "decide" => return self.decide(arguments).await,
            "allows" => {
                let decision = self.decision(arguments, arguments.get("input")).await?;
                let allowed = decision.get("result") == Some(&Value::Bool(true));
                Ok(Some(Value::Bool(allowed)))
            }
            "decide_many" => self.decide_many(arguments).await,
            "decide_default" => {
                let request = input_as_body(ClientRequest::new("POST", "/".to_owned()), arguments);
                self.unenveloped(request).await
            }
            "decide_v0" => {
                let path = paths::below("/v0/data", arguments, "path")?;
                self.unenveloped(input_as_body(ClientRequest::new("POST", path), arguments))
                    .await
            }
            "query" => self.query(arguments).await,
            "get_data" => {
                let path = paths::below("/v1/data", arguments, "path")?;
                let envelope = self.json(ClientRequest::new("GET", path)).await?;
                result(&envelope)
            }
            "put_data" => {
                let path = paths::below("/v1/data", arguments, "path")?;
                let document = arguments.get("document").ok_or(Failed::Unsupported)?;
                let put = ClientRequest::new("PUT", path).json(document);
                match is_true(arguments, "if_absent") {
                    true => self.write(put.header("if-none-match", "*")).await,
                    false => self.write(put).await,
                }
            }
            "patch_data" => {
                let path = paths::below("/v1/data", arguments, "path")?;
                let operations = arguments.get("operations").ok_or(Failed::Unsupported)?;
                let mut patch = ClientRequest::new("PATCH", path).header("content-type", PATCH);
                patch.body = Some(operations.to_string().into());
                self.write(patch).await
            }
            "delete_data" => {
                let path = paths::below("/v1/data", arguments, "path")?;
                self.write(ClientRequest::new("DELETE", path)).await
            }
            "put_policy" => {
                let mut put = ClientRequest::new("PUT", policy(arguments)?)
                    .header("content-type", "text/plain");
                put.body = Some(needed(arguments, "policy")?.to_owned().into());
                self.write(put).await
            }
            "get_policy" => {
                let found = self
                    .json(ClientRequest::new("GET", policy(arguments)?))
                    .await?;
                Ok(found.pointer("/result/raw").cloned())
            }
            "list_policies" => {
                let found = self
                    .json(ClientRequest::new("GET", "/v1/policies".to_owned()))
                    .await?;
                let policies = found.get("result").and_then(Value::as_array);
                let ids = policies
                    .into_iter()
                    .flatten()
                    .filter_map(|one| one.get("id"));
                Ok(Some(ids.cloned().collect()))
            }
            "delete_policy" => {
                self.write(ClientRequest::new("DELETE", policy(arguments)?))
                    .await
            }
            "partial" => {
                let body = members(arguments, &["query", "input", "unknowns"]);
                let compile = ClientRequest::new("POST", "/v1/compile".to_owned());
                result(&self.json(compile.json(&Value::Object(body))).await?)
            }
            "filter" => self.filter(arguments).await,
            "filter_many" => self.filter_many(arguments).await,
            "health" => self.health(health(arguments)).await,
            "health_rule" => {
                let path = format!("/health/{}", paths::encoded(needed(arguments, "rule")?));
                self.health(ClientRequest::new("GET", path)).await
            }
            "config" => result(
                &self
                    .json(ClientRequest::new("GET", "/v1/config".to_owned()))
                    .await?,
            ),
            "status" => result(
                &self
                    .json(ClientRequest::new("GET", "/v1/status".to_owned()))
                    .await?,
            ),
            _ => Err(Failed::Unsupported),
        };
        found.map(reply)
    }

    /// Requests the envelope of a decision.
    async fn decision(&self, arguments: &Value, input: Option<&Value>) -> Result<Value, Failed> {
        let path = paths::below("/v1/data", arguments, "path")?;
        let mut body = Map::new();
        body.extend(input.map(|input| ("input".to_owned(), input.clone())));
        let mut post = ClientRequest::new("POST", path).json(&Value::Object(body));
        let options = arguments.get("options").and_then(Value::as_object);
        for (name, value) in options.into_iter().flatten() {
            let known = OPTIONS.iter().find(|(known, _)| known == name);
            let (_, parameter) = known.ok_or(Failed::Unsupported)?;
            let value = match value {
                Value::String(value) => value.clone(),
                other => other.to_string(),
            };
            post = post.query(parameter, value);
        }
        let envelope = self.json(post).await?;
        match envelope.is_object() {
            true => Ok(envelope),
            false => Err(Failed::Other(
                "invalid answer: expected a decision".to_owned(),
            )),
        }
    }

    async fn decide(&self, arguments: &Value) -> Result<Value, Failed> {
        let envelope = self.decision(arguments, arguments.get("input")).await?;
        let mut line = reply(result(&envelope)?);
        let details = members(&envelope, &DETAILS);
        if let (Value::Object(line), false) = (&mut line, details.is_empty()) {
            line.insert("details".to_owned(), Value::Object(details));
        }
        Ok(line)
    }

    async fn decide_many(&self, arguments: &Value) -> Lookup {
        let inputs = arguments.get("inputs").and_then(Value::as_object);
        let mut all = Map::new();
        for (name, input) in inputs.ok_or(Failed::Unsupported)? {
            let first = all.values().next().cloned();
            let line = match first.filter(|_| self.has(FaultMode::FirstForAll)) {
                Some(first) => first,
                None => match self.decision(arguments, Some(input)).await {
                    Ok(envelope) => reply(result(&envelope)?),
                    Err(failed) => self.reply(&failed),
                },
            };
            all.insert(name.clone(), self.misread(line));
        }
        Ok(Some(Value::Object(all)))
    }

    /// Requests a decision without an envelope; status 404 means that the decision is undefined.
    async fn unenveloped(&self, request: ClientRequest) -> Lookup {
        match self.json(request).await {
            Ok(value) => Ok(Some(value)),
            Err(Failed::Status(404, _)) => Ok(None),
            Err(failed) => Err(failed),
        }
    }

    async fn query(&self, arguments: &Value) -> Lookup {
        let body = members(arguments, &["query", "input"]);
        let post = ClientRequest::new("POST", "/v1/query".to_owned()).json(&Value::Object(body));
        let found = self.json(post).await?;
        Ok(Some(found.get("result").cloned().unwrap_or(json!([]))))
    }

    async fn filter(&self, arguments: &Value) -> Lookup {
        let target = needed(arguments, "target")?;
        let accept = format!("application/vnd.opa.{target}+json");
        let mut options = Map::new();
        if let Some(mappings) = arguments.get("mappings") {
            options.insert("targetSQLTableMappings".to_owned(), mappings.clone());
        }
        let found = self.filtered(arguments, &accept, options).await?;
        Ok(found.pointer("/result/query").cloned())
    }

    async fn filter_many(&self, arguments: &Value) -> Lookup {
        let targets = arguments.get("targets").ok_or(Failed::Unsupported)?;
        let options = [("targetDialects".to_owned(), targets.clone())];
        let accept = "application/vnd.opa.multitarget+json";
        let found = self
            .filtered(arguments, accept, options.into_iter().collect())
            .await?;
        let found = found.get("result").and_then(Value::as_object);
        let queries = found.into_iter().flatten().filter_map(|(name, target)| {
            let query = target.get("query")?;
            Some((name.clone(), query.clone()))
        });
        Ok(Some(Value::Object(queries.collect())))
    }

    async fn filtered(
        &self,
        arguments: &Value,
        accept: &str,
        options: Map<String, Value>,
    ) -> Result<Value, Failed> {
        let path = paths::below("/v1/compile", arguments, "path")?;
        let mut body = members(arguments, &["input", "unknowns"]);
        if !options.is_empty() {
            body.insert("options".to_owned(), Value::Object(options));
        }
        let mut post = ClientRequest::new("POST", path).json(&Value::Object(body));
        post.accept = Some(accept.to_owned());
        let found = self.json(post).await?;
        match found.get("result").is_some_and(Value::is_object) {
            true => Ok(found),
            false => Err(Failed::Other(
                "invalid answer: expected a filter".to_owned(),
            )),
        }
    }

    async fn health(&self, request: ClientRequest) -> Lookup {
        match self.send(request).await {
            Ok(Answer { .. }) => Ok(Some(Value::Bool(true))),
            Err(Failed::Status(500, _)) => Ok(Some(Value::Bool(false))),
            Err(failed) => Err(failed),
        }
    }
}

/// The media type of a JSON Patch.
const PATCH: &str = "application/json-patch+json";

fn result(envelope: &Value) -> Lookup {
    match envelope {
        Value::Object(members) => Ok(members.get("result").cloned()),
        _ => Err(Failed::Other("the answer has no envelope".to_owned())),
    }
}

fn policy(arguments: &Value) -> Result<String, Failed> {
    let id = paths::encoded(needed(arguments, "id")?);
    Ok(format!("/v1/policies/{id}"))
}

/// Returns those of these members that the object has.
fn members(arguments: &Value, names: &[&str]) -> Map<String, Value> {
    let member = |name: &&str| Some(((*name).to_owned(), arguments.get(*name)?.clone()));
    names.iter().filter_map(member).collect()
}

fn input_as_body(request: ClientRequest, arguments: &Value) -> ClientRequest {
    match arguments.get("input") {
        Some(input) => request.json(input),
        None => request,
    }
}

fn health(arguments: &Value) -> ClientRequest {
    let mut get = ClientRequest::new("GET", "/health".to_owned());
    for check in ["bundles", "plugins"] {
        if is_true(arguments, check) {
            get = get.query(check, "true");
        }
    }
    let excluded = arguments.get("exclude").and_then(Value::as_array);
    for name in excluded.into_iter().flatten().filter_map(Value::as_str) {
        get = get.query("exclude-plugin", name);
    }
    get
}
