//! Pointer globs: JSON pointers whose segments may each have one `*`.

use serde_json::Value;

/// Returns the values that a pointer matches. `*` matches every item of an array, and any substring
/// of a member's name. A name without `*` that does not exist yields one place with no value; a
/// name with `*` that matches nothing yields none.
pub(crate) fn places<'a>(value: &'a Value, pointer: &str) -> Vec<Option<&'a Value>> {
    let mut found = vec![Some(value)];
    for segment in pointer.split('/').skip(1) {
        found = found
            .into_iter()
            .flat_map(|place| below(place, segment))
            .collect();
    }
    found
}

fn below<'a>(place: Option<&'a Value>, segment: &str) -> Vec<Option<&'a Value>> {
    let Some((start, end)) = segment.split_once('*') else {
        return vec![place.and_then(|value| value.pointer(&format!("/{segment}")))];
    };
    match place {
        Some(Value::Array(items)) if segment == "*" => items.iter().map(Some).collect(),
        Some(Value::Object(members)) => members
            .iter()
            .filter(|(name, _)| {
                name.strip_prefix(start)
                    .is_some_and(|rest| rest.ends_with(end))
            })
            .map(|(_, value)| Some(value))
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case::items("/a/*/k", json!([1, null]))]
    #[case::within_a_name("/t_*_ns", json!([3]))]
    #[case::end_of_a_name("/t_*", json!([4, 3]))]
    #[case::no_members("/o/*", json!([]))]
    #[case::no_container("/t_ns/*", json!([]))]
    #[case::absent("/none", json!([null]))]
    #[case::absent_container("/none/*", json!([]))]
    fn stars_stand_for_items_and_parts_of_names(#[case] pointer: &str, #[case] expected: Value) {
        let value = json!({"a": [{"k": 1}, {"n": 2}], "t_x_ns": 3, "t_ns": 4, "o": {}});
        let found: Value = places(&value, pointer)
            .into_iter()
            .map(|place| place.cloned().unwrap_or_default())
            .collect();
        assert_eq!(found, expected);
    }
}
