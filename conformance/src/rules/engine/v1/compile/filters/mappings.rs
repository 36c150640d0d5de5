//! Other names of tables and columns in filters.

use super::several::*;
use super::tables::*;
use crate::rules::engine::policy;
use crate::scenario::*;

/// Requests the filter of a rule on two columns, with other names for the table or one column: for
/// each SQL target, and for several in one response. Unmapped names must be unchanged.
pub(super) fn renamed(names: Value, table: &Table) -> Scenario {
    let rule = "include if {\n\tinput.fruits.colour == \"red\"\n\tinput.fruits.price > 10\n}";
    let is_table = names.get("$self").is_some();
    let only_renamed = |step: Step| match is_table {
        true => step.expect(mentions("goods")).expect(without("fruits")),
        false => step.expect(mentions("shade")).expect(without("colour")),
    };
    let targets = [SQLSERVER, MYSQL, POSTGRESQL];
    let mapping = |target: &Target| (target.key().to_owned(), json!({"fruits": names}));
    let for_each: Value = targets.iter().map(mapping).collect();
    scenario()
        .given(policy(rule))
        .each(SQL, |scenario, target| {
            let step = mapped(target, json!({target.key(): {"fruits": names}}));
            scenario.when(only_renamed(step).expect(target.rows(QUERY, table, &["cherry"])))
        })
        .when(all_select(
            only_renamed(together_for(
                &targets,
                "include",
                columns(),
                json!({"targetSQLTableMappings": for_each}),
            )),
            &targets,
            table,
            &["cherry"],
        ))
}

/// Maps names for one of two targets, and requests the filter for each target alone and for both in
/// one response.
pub(super) fn keyed() -> Scenario {
    let names = json!({"$self": "goods", "colour": "shade"});
    let mappings = json!({"postgresql": {"fruits": names}});
    scenario()
        .given(policy(RED))
        .when(
            mapped(POSTGRESQL, mappings.clone())
                .expect(mentions("goods"))
                .expect(mentions("shade"))
                .expect(POSTGRESQL.red_rows(&named("goods", "shade"))),
        )
        .when(
            mapped(SQLITE, mappings.clone())
                .expect(without("goods"))
                .expect(SQLITE.red_rows(&fruits())),
        )
        .when(
            together_for(
                &[MYSQL, POSTGRESQL],
                "include",
                columns(),
                json!({"targetSQLTableMappings": mappings}),
            )
            .expect(MYSQL.rows(MYSQL.condition_pointer(), &fruits(), RED_ROWS))
            .expect(POSTGRESQL.rows(
                POSTGRESQL.condition_pointer(),
                &named("goods", "shade"),
                RED_ROWS,
            )),
        )
}

/// Maps a column that the rule references without a table to a table, for each SQL target.
pub(super) fn alias() -> Scenario {
    scenario()
        .given(policy("include if input.colour == \"red\""))
        .each(SQL, |scenario, target| {
            let alias = json!({target.key(): {"colour": {"$table": "fruits"}}});
            let body = json!({
                "unknowns": ["input.colour"],
                "options": {"targetSQLTableMappings": alias},
            });
            scenario.when(
                filter_request("include", target.accept, body)
                    .expect(target.rows_or_rejection(&fruits(), RED_ROWS)),
            )
        })
}
