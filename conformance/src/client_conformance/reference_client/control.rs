//! Control plane requests of the reference client.

use serde_json::{Value, json};

use super::{ClientRequest, Failed, Lookup, Model, needed, paths, reply};
use crate::http_client::pagination::{Listings, Pagination};

impl Model {
    pub(super) async fn control(
        &self,
        operation: &str,
        arguments: &Value,
    ) -> Result<Value, Failed> {
        let result = match operation {
            "list_resources" => self.list(arguments).await,
            "get_resource" => {
                self.result(ClientRequest::new("GET", resource(arguments)?))
                    .await
            }
            "put_resource" => {
                let definition = arguments.get("definition").ok_or(Failed::Unsupported)?;
                self.write(ClientRequest::new("PUT", resource(arguments)?).json(definition))
                    .await
            }
            "delete_resource" => {
                self.write(ClientRequest::new("DELETE", resource(arguments)?))
                    .await
            }
            "get_source_data" => {
                self.result(ClientRequest::new("GET", data(arguments)?))
                    .await
            }
            "put_source_data" => {
                let document = arguments.get("document").ok_or(Failed::Unsupported)?;
                self.write(ClientRequest::new("PUT", data(arguments)?).json(document))
                    .await
            }
            "delete_source_data" => {
                self.write(ClientRequest::new("DELETE", data(arguments)?))
                    .await
            }
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
        result.map(reply)
    }

    async fn result(&self, request: ClientRequest) -> Lookup {
        let answer = self.json(request).await?;
        match answer.get("result") {
            Some(result) => Ok(Some(result.clone())),
            None => Err(Failed::Other("the answer has no result".to_owned())),
        }
    }

    /// Lists all items, page by page. A list that does not end is an error.
    async fn list(&self, arguments: &Value) -> Lookup {
        let path = format!("/v1/{}", needed(arguments, "kind")?);
        let mut all = Vec::new();
        let mut cursor: Option<String> = None;
        let listings = Listings::default();
        let mut walk = Pagination::start(&listings);
        loop {
            let mut page = ClientRequest::new("GET", path.clone());
            if let Some(cursor) = &cursor {
                page = page.query("cursor", cursor.clone());
            }
            let response = self.json(page).await?;
            match response.get("result").and_then(Value::as_array) {
                Some(items) => all.extend(items.iter().cloned()),
                None => return Err(Failed::Other("invalid answer: expected a list".to_owned())),
            }
            match response.get("next_cursor") {
                // A repeated cursor would loop forever.
                Some(Value::String(next)) if cursor.as_ref() != Some(next) => {
                    let page_bytes = response.to_string().len();
                    walk.advance(next, page_bytes).map_err(Failed::Other)?;
                    cursor = Some(next.clone());
                }
                _ => return Ok(Some(json!(all))),
            }
        }
    }
}

fn resource(arguments: &Value) -> Result<String, Failed> {
    let kind = needed(arguments, "kind")?;
    let name = paths::encoded(needed(arguments, "name")?);
    Ok(format!("/v1/{kind}/{name}"))
}

/// Returns the path of a source's data. It is one parameter, so its slashes are encoded too.
fn data(arguments: &Value) -> Result<String, Failed> {
    let source = paths::encoded(needed(arguments, "source")?);
    let segments = arguments.get("path").and_then(Value::as_array);
    let segments = segments.ok_or(Failed::Unsupported)?.iter();
    let segments: Option<Vec<&str>> = segments.map(Value::as_str).collect();
    let path = segments.ok_or(Failed::Unsupported)?.join("/");
    Ok(format!(
        "/v1/sources/{source}/data/{}",
        paths::encoded(&path)
    ))
}
