//! Rules of source data.

use crate::rules::control::common::{document, with_source};
use crate::scenario::*;

pub(crate) mod delete;
pub(crate) mod get;
pub(crate) mod post;
pub(crate) mod put;

/// Every kind of JSON document is written with the method, and read back.
fn stores_any_json(method: &'static str) -> Scenario {
    let documents = [
        (
            "object",
            json!({"tiers": {"gold": [1, 2.5, {"open": null}]}}),
        ),
        ("array", json!(["one", 2, [true]])),
        ("string", json!("gold")),
        ("number", json!(42)),
        ("boolean", json!(false)),
        ("nothing", json!(null)),
    ];
    with_source().each(documents, |told, (path, content)| {
        told.when(
            request(method, document(path))
                .json(content)
                .keep(success()),
        )
        .when(get_document(path))
    })
}

fn get_document(path: &str) -> Step {
    request("GET", document(path)).keep(at("/result"))
}
