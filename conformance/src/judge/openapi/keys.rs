//! Members named by a schema, as pointers; `*` stands for the items of an array.

use serde_json::Value;

/// Maximum depth of members: no documented response nests deeper, but schemas may refer to
/// themselves.
const DEPTH: usize = 5;

/// Returns pointers to every member that the schema names, also in its subschemas. `document` is
/// the root of its references.
pub(super) fn keys(document: &Value, schema: Option<&Value>) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(schema) = schema {
        collect(document, schema, "", DEPTH, &mut found);
    }
    found.sort();
    found.dedup();
    found
}

fn collect(document: &Value, schema: &Value, place: &str, depth: usize, found: &mut Vec<String>) {
    let Some(depth) = depth.checked_sub(1) else {
        return;
    };
    let referred = schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|reference| document.pointer(reference.strip_prefix('#')?));
    let parts = ["allOf", "anyOf", "oneOf"].into_iter();
    let parts = parts.filter_map(|word| schema.get(word)?.as_array());
    // Subschemas and references describe the same place, but each costs one step of the depth.
    for part in parts.flatten().chain(referred) {
        collect(document, part, place, depth, found);
    }
    if let Some(items) = schema.get("items") {
        collect(document, items, &format!("{place}/*"), depth, found);
    }
    let members = schema.get("properties").and_then(Value::as_object);
    for (name, member) in members.into_iter().flatten() {
        let name = name.replace('~', "~0").replace('/', "~1");
        let place = format!("{place}/{name}");
        collect(document, member, &place, depth, found);
        found.push(place);
    }
}
