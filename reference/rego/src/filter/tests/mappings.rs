use rstest::rstest;

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

#[rstest]
#[case::nothing("input.t.c", "{}", "t.c")]
#[case::table("input.t.c", r#"{"t": {"$self": "T"}}"#, "T.c")]
#[case::column("input.t.c", r#"{"t": {"c": "C"}}"#, "t.C")]
#[case::quoted_column("input.t.c", r#"{"t": {"$self": "s.T", "c": "a.b"}}"#, "s.T.`a.b`")]
#[case::table_of_all_dialects("input.t.c", r#"{"sql": {"t": {"$self": "T"}}}"#, "T.c")]
#[case::dialect_overrules_all(
    "input.t.c",
    r#"{"sql": {"t": {"$self": "T"}}, "mysql": {"t": {"c": "C"}}}"#,
    "t.C"
)]
#[case::other_dialect("input.t.c", r#"{"sqlite": {"t": {"$self": "T"}}}"#, "t.c")]
#[case::other_table("input.t.c", r#"{"t": {"$table": "u"}}"#, "u.c")]
#[case::other_table_and_its_names(
    "input.t.c",
    r#"{"t": {"$table": "u"}, "u": {"$self": "U", "c": "C"}}"#,
    "U.C"
)]
#[case::short_name("input.short", "{}", "short")]
#[case::table_of_a_short_name("input.short", r#"{"short": {"$table": "u"}}"#, "u.short")]
#[case::names_of_the_table_of_a_short_name(
    "input.short",
    r#"{"short": {"$table": "u"}, "u": {"$self": "U", "short": "S"}}"#,
    "U.S"
)]
#[case::texts_that_are_no_tables("input.t.c", r#"{"t": "T", "u": null}"#, "t.c")]
#[case::hostile_column(
    "input.t.c",
    r#"{"t": {"c": "; DROP TABLE t; --"}}"#,
    "t.`; DROP TABLE t; --`"
)]
#[case::dialect_is_no_object("input.t.c", r#"{"mysql": 1}"#, "mysql: expected object, got number")]
#[case::all_dialects_are_no_object(
    "input.t.c",
    r#"{"sql": 1}"#,
    "sql: expected object, got number"
)]
#[case::mappings_are_no_object("input.t.c", "[]", "expected object, got array")]
#[case::column_is_no_string("input.t.c", r#"{"t": {"c": 1}}"#, "t.c: expected string, got number")]
#[case::table_is_no_string(
    "input.t.c",
    r#"{"t": {"$self": {}}}"#,
    "t.$self: expected string, got object"
)]
fn renames_tables_and_columns(
    #[case] column: &str,
    #[case] mappings: &str,
    #[case] expected: &str,
) {
    let mysql = Target::Sql(Dialect::MySql);
    check(column, mappings, mysql, expected);
}

#[test]
fn short_names_stand_under_a_target() {
    let all = from_json(br#"{"sql": {"a": {"$table": "t"}, "b": {}}, "c": {"$table": "t"}}"#);
    let names = Mappings::short_names(&all.unwrap());
    assert_eq!(names, BTreeSet::from(["a".into()]));
}
