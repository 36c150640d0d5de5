//! Control plane requests of the reference client.

use serde_json::{Value, json};

use super::{ClientRequest, Failed, Lookup, Model, needed, paths, reply};
use crate::http_client::pagination::{Listings, Pagination};

impl Model {
    pub(super) async fn control(&self, what: &str, ask: &Value) -> Result<Value, Failed> {
        let found = match what {
            "list_resources" => self.list(ask).await,
            "get_resource" => self.result(ClientRequest::new("GET", resource(ask)?)).await,
            "put_resource" => {
                let definition = ask.get("definition").ok_or(Failed::Unsupported)?;
                self.write(ClientRequest::new("PUT", resource(ask)?).json(definition))
                    .await
            }
            "delete_resource" => {
                self.write(ClientRequest::new("DELETE", resource(ask)?))
                    .await
            }
            "get_source_data" => self.result(ClientRequest::new("GET", data(ask)?)).await,
            "put_source_data" => {
                let document = ask.get("document").ok_or(Failed::Unsupported)?;
                self.write(ClientRequest::new("PUT", data(ask)?).json(document))
                    .await
            }
            "delete_source_data" => self.write(ClientRequest::new("DELETE", data(ask)?)).await,
            "health" => match self
                .send(ClientRequest::new("GET", "/health".to_owned()))
                .await
            {
                Ok(_) => Ok(Some(Value::Bool(true))),
                Err(Failed::Status(500, _)) => Ok(Some(Value::Bool(false))),
                Err(failed) => Err(failed),
            },
            _ => Err(Failed::Unsupported),
        };
        found.map(reply)
    }

    async fn result(&self, ask: ClientRequest) -> Lookup {
        let answer = self.json(ask).await?;
        match answer.get("result") {
            Some(result) => Ok(Some(result.clone())),
            None => Err(Failed::Other("the answer has no result".to_owned())),
        }
    }

    /// Lists all items, page by page. A list that does not end is an error.
    async fn list(&self, ask: &Value) -> Lookup {
        let path = format!("/v1/{}", needed(ask, "kind")?);
        let mut all = Vec::new();
        let mut cursor: Option<String> = None;
        let listings = Listings::default();
        let mut walk = Pagination::start(&listings);
        loop {
            let mut page = ClientRequest::new("GET", path.clone());
            if let Some(cursor) = &cursor {
                page = page.query("cursor", cursor.clone());
            }
            let found = self.json(page).await?;
            match found.get("result").and_then(Value::as_array) {
                Some(items) => all.extend(items.iter().cloned()),
                None => return Err(Failed::Other("invalid answer: expected a list".to_owned())),
            }
            match found.get("next_cursor") {
                // A repeated cursor would loop forever.
                Some(Value::String(next)) if cursor.as_ref() != Some(next) => {
                    let page_bytes = found.to_string().len();
                    walk.advance(next, page_bytes).map_err(Failed::Other)?;
                    cursor = Some(next.clone());
                }
                _ => return Ok(Some(json!(all))),
            }
        }
    }
}

fn resource(ask: &Value) -> Result<String, Failed> {
    let kind = needed(ask, "kind")?;
    let name = paths::encoded(needed(ask, "name")?);
    Ok(format!("/v1/{kind}/{name}"))
}

/// Returns the path of a source's data. It is one parameter, so its slashes are encoded too.
fn data(ask: &Value) -> Result<String, Failed> {
    let source = paths::encoded(needed(ask, "source")?);
    let segments = ask.get("path").and_then(Value::as_array);
    let segments = segments.ok_or(Failed::Unsupported)?.iter();
    let segments: Option<Vec<&str>> = segments.map(Value::as_str).collect();
    let path = segments.ok_or(Failed::Unsupported)?.join("/");
    Ok(format!(
        "/v1/sources/{source}/data/{}",
        paths::encoded(&path)
    ))
}
