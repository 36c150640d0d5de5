//! Rules of source data.

use crate::rules::control::common::{
    another_source, document, document_of, no_document, with_source,
};
use crate::rules::falsy_documents;
use crate::scenario::*;

pub(crate) mod delete;
pub(crate) mod get;
pub(crate) mod post;
pub(crate) mod put;

/// Writes every kind of JSON document by this method, and reads it back.
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
    let documents = documents.into_iter().chain(falsy_documents());
    with_source().each(documents, |scenario, (path, content)| {
        scenario
            .when(
                request(method, document(path))
                    .json(content)
                    .expect(success()),
            )
            .when(get_document(path))
    })
}

/// Replaces documents by this method, and expects to read the new one without parts of the old.
fn replaces(method: &'static str) -> Scenario {
    let documents = [
        (
            "object",
            json!({"max": 7, "of": {"gold": 1}}),
            json!({"min": 1, "of": {"blue": 2}}),
        ),
        ("array", json!([1, 2, 3]), json!([4])),
    ];
    with_source().each(documents, |scenario, (path, first, second)| {
        scenario
            .given(put(document(path)).json(first))
            .when(
                request(method, document(path))
                    .json(second)
                    .expect(success()),
            )
            .when(get_document(path))
    })
}

fn get_document(path: &str) -> Step {
    request("GET", document(path)).expect(at("/result"))
}
