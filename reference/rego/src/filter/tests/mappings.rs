use super::*;
use crate::value::from_json;

/// Checks the column of a condition for a target with these mappings.
#[track_caller]
fn check(column: &str, mappings: &str, target: Target, expected: &str) {
    let all = from_json(mappings.as_bytes()).unwrap();
    let found = match Mappings::select(&all, target) {
        Ok(mappings) => {
            let filter = filter(&format!("{column} == null")).unwrap();
            let text = written(&filter, target, &mappings);
            let text = text.trim_start_matches("WHERE ");
            text.trim_end_matches(" IS NULL").to_owned()
        }
        Err(message) => message,
    };
    assert_eq!(found, expected, "{column} of {mappings}");
}

#[test]
fn renames_tables_and_columns() {
    let mysql = Target::Sql(Dialect::MySql);
    let cases = [
        ("input.t.c", "{}", "t.c"),
        ("input.t.c", r#"{"t": {"$self": "T"}}"#, "T.c"),
        ("input.t.c", r#"{"t": {"c": "C"}}"#, "t.C"),
        (
            "input.t.c",
            r#"{"t": {"$self": "s.T", "c": "a.b"}}"#,
            "s.T.`a.b`",
        ),
        ("input.t.c", r#"{"sql": {"t": {"$self": "T"}}}"#, "T.c"),
        (
            "input.t.c",
            r#"{"sql": {"t": {"$self": "T"}}, "mysql": {"t": {"c": "C"}}}"#,
            "t.C",
        ),
        ("input.t.c", r#"{"sqlite": {"t": {"$self": "T"}}}"#, "t.c"),
        ("input.t.c", r#"{"t": {"$table": "u"}}"#, "u.c"),
        (
            "input.t.c",
            r#"{"t": {"$table": "u"}, "u": {"$self": "U", "c": "C"}}"#,
            "U.C",
        ),
        ("input.short", "{}", "short"),
        ("input.short", r#"{"short": {"$table": "u"}}"#, "u.short"),
        (
            "input.short",
            r#"{"short": {"$table": "u"}, "u": {"$self": "U", "short": "S"}}"#,
            "U.S",
        ),
        ("input.t.c", r#"{"t": "T", "u": null}"#, "t.c"),
        (
            "input.t.c",
            r#"{"t": {"c": "; DROP TABLE t; --"}}"#,
            "t.`; DROP TABLE t; --`",
        ),
        (
            "input.t.c",
            r#"{"mysql": 1}"#,
            "mysql: expected object, got number",
        ),
        (
            "input.t.c",
            r#"{"sql": 1}"#,
            "sql: expected object, got number",
        ),
        ("input.t.c", "[]", "expected object, got array"),
        (
            "input.t.c",
            r#"{"t": {"c": 1}}"#,
            "t.c: expected string, got number",
        ),
        (
            "input.t.c",
            r#"{"t": {"$self": {}}}"#,
            "t.$self: expected string, got object",
        ),
    ];
    for (column, mappings, expected) in cases {
        check(column, mappings, mysql, expected);
    }
}

#[test]
fn short_names_stand_under_a_target() {
    let all = from_json(br#"{"sql": {"a": {"$table": "t"}, "b": {}}, "c": {"$table": "t"}}"#);
    let names = Mappings::short_names(&all.unwrap());
    assert_eq!(names, BTreeSet::from(["a".into()]));
}
