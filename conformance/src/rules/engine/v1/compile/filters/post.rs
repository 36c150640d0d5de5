//! POST /v1/compile/{path}

use super::mappings;
use super::masks::{self, ANNOTATION, CHEAP_AND_RED, COLUMNS, MASKS, masked_by};
use super::paths;
use super::several::*;
use super::sql;
use super::tables::*;
use super::texts;
use super::ucast;
use crate::rules::engine::policy;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("input-in-partial-evaluation", || {
        let owner = |name: &str, rows: &[&'static str]| {
            let body = json!({"input": {"user": name}, "unknowns": ["input.fruits"]});
            filter_request("include", ALL.accept, body).expect(ALL.rows(QUERY, &fruits(), rows))
        };
        scenario()
            .given(policy("include if input.fruits.owner == input.user"))
            .when(owner("alice", &["apple"]))
            .when(owner("bob", &["banana", "cherry"]))
            .when(all_select(
                together(
                    "include",
                    json!({"input": {"user": "bob"}, "unknowns": ["input.fruits"]}),
                    json!({}),
                ),
                &TOGETHER,
                &fruits(),
                &["banana", "cherry"],
            ))
    }),
    Rule::new("input-in-mask-rule", masks::by_input),
    Rule::new("input-default-undefined", || {
        scenario()
            .given(policy(BY_USER))
            .when(filter("anonymous", ALL).expect(ALL.red_rows(&fruits())))
            .when(filter("alice", ALL).expect(success()).expect(lacks(QUERY)))
            .when(all_select(
                together("anonymous", columns(), json!({})),
                &TOGETHER,
                &fruits(),
                RED_ROWS,
            ))
            .when(no_condition_for_any(
                together("alice", columns(), json!({})).expect(success()),
            ))
    }),
    Rule::new("options-optional", || {
        let empty = json!({"unknowns": ["input.fruits"], "options": {}});
        scenario()
            .given(policy(RED))
            .when(filter("include", ALL).expect(ALL.red_rows(&fruits())))
            .when(filter_request("include", ALL.accept, empty).expect(ALL.red_rows(&fruits())))
    }),
    Rule::new("disable-inlining-is-list", || {
        // The filter does not use these rules: without inlining, it might need unsupported
        // expressions.
        let options = json!({"disableInlining": ["data.{ns}.other", "data.{ns}.another"]});
        let body = json!({"unknowns": ["input.fruits"], "options": options});
        scenario()
            .given(policy(&format!("{RED}\n\nother := 1\n\nanother := 2")))
            .when(filter_request("include", ALL.accept, body).expect(ALL.red_rows(&fruits())))
            .when(all_select(
                together("include", columns(), options),
                &TOGETHER,
                &fruits(),
                RED_ROWS,
            ))
    }),
    Rule::new("mask-rule", masks::named),
    Rule::new(
        "mask-rule-overrides-annotation",
        masks::named_overriding_annotation,
    ),
    Rule::new("mask-rule-annotation", masks::annotated),
    Rule::new("target-dialects-select-targets", || {
        scenario()
            .given(policy(RED))
            .when(
                several(&[ALL, POSTGRESQL])
                    .expect(ALL.rows("/result/ucast/query", &fruits(), RED_ROWS))
                    .expect(kind("/result/postgresql/query", Kind::String)),
            )
            .when(several(&[MYSQL]).expect(kind("/result/mysql/query", Kind::String)))
            .each(
                [&TOGETHER[..], &[POSTGRESQL, MYSQL, MINIMAL]],
                |scenario, targets| {
                    scenario.when(all_select(several(targets), targets, &fruits(), RED_ROWS))
                },
            )
    }),
    Rule::new("target-dialects-required-for-multitarget", || {
        let without = |options: Value| {
            let body = json!({"unknowns": ["input.fruits"], "options": options});
            let step = filter_request("include", MULTITARGET, body)
                .off_contract("`targetDialects` is left out");
            no_condition_for_any(step.expect(error()))
        };
        scenario()
            .given(policy(RED))
            .when(several(&[POSTGRESQL]).expect(success()))
            .when(without(json!({})))
            .when(without(json!({"disableInlining": []})))
    }),
    Rule::new("target-dialects-ignored-otherwise", || {
        let body = json!({
            "unknowns": ["input.fruits"],
            "options": {"targetDialects": ["ucast+all", "sql+mysql"]},
        });
        scenario()
            .given(policy(RED))
            .when(filter_request("include", SQLITE.accept, body).expect(SQLITE.red_rows(&fruits())))
    }),
    Rule::new("dialect-ucast-all", || {
        multitarget(ALL, "/result/ucast/query")
    }),
    Rule::new("dialect-ucast-minimal", || {
        multitarget(MINIMAL, "/result/ucast/query")
    }),
    Rule::new("dialect-ucast-prisma", || {
        multitarget(PRISMA, "/result/ucast/query")
    }),
    Rule::new("dialect-ucast-linq", || {
        multitarget(LINQ, "/result/ucast/query")
    }),
    Rule::new("dialect-sql-sqlserver", || {
        multitarget(SQLSERVER, "/result/sqlserver/query")
    }),
    Rule::new("dialect-sql-mysql", || {
        multitarget(MYSQL, "/result/mysql/query")
    }),
    Rule::new("dialect-sql-postgresql", || {
        multitarget(POSTGRESQL, "/result/postgresql/query")
    }),
    Rule::new("mapping-renames-table", || {
        mappings::renamed(json!({"$self": "goods"}), &named("goods", "colour"))
    }),
    Rule::new("mapping-renames-column", || {
        mappings::renamed(json!({"colour": "shade"}), &named("fruits", "shade"))
    }),
    Rule::new("mapping-keyed-by-target", mappings::keyed),
    Rule::new("mapping-aliases-table", mappings::alias),
    Rule::new("unknowns-are-unknown", || {
        let body = |unknowns: &[&str]| {
            let input = json!({"fruits": {"colour": "yellow", "price": 1}});
            json!({"input": input, "unknowns": unknowns})
        };
        let columns = [
            "input.fruits.owner",
            "input.fruits.colour",
            "input.fruits.price",
        ];
        let cheap_and_red: &[&str] = &["apple"];
        let rule = "include if {\n\tinput.fruits.colour == \"red\"\n\tinput.fruits.price < 20\n}";
        scenario()
            .given(policy(rule))
            .each([&["input.fruits"][..], &columns], |scenario, unknowns| {
                scenario
                    .when(
                        filter_request("include", ALL.accept, body(unknowns)).expect(ALL.rows(
                            QUERY,
                            &fruits(),
                            cheap_and_red,
                        )),
                    )
                    .when(all_select(
                        together("include", body(unknowns), json!({})),
                        &TOGETHER,
                        &fruits(),
                        cheap_and_red,
                    ))
            })
            .when(
                filter_request("include", ALL.accept, body(&["input.fruits.colour"]))
                    .expect(ALL.red_rows(&fruits())),
            )
    }),
    Rule::new("unknowns-default-empty", || {
        let all = ["apple", "banana", "cherry", "durian"];
        let colour = |colour: &str, rows: &[&'static str]| {
            let body = json!({"input": {"fruits": {"colour": colour}}});
            filter_request("include", ALL.accept, body).expect(ALL.rows(QUERY, &fruits(), rows))
        };
        scenario()
            .given(policy(RED))
            .when(colour("red", &all))
            .when(colour("yellow", &[]))
            .when(
                filter_request("include", ALL.accept, json!({})).expect(ALL.rows(
                    QUERY,
                    &fruits(),
                    &[],
                )),
            )
            .when(all_select(
                together(
                    "include",
                    json!({"input": {"fruits": {"colour": "red"}}}),
                    json!({}),
                ),
                &TOGETHER,
                &fruits(),
                &all,
            ))
            .when(no_condition_for_any(
                together("include", json!({}), json!({})).expect(success()),
            ))
    }),
    Rule::new("dialect-sql-sqlite", || {
        scenario()
            .given(policy(RED))
            .when(several(&[SQLITE]).expect(status()).expect(body()))
    }),
    Rule::new("explicit-empty-unknowns", || {
        scenario()
            .given(policy(&format!("{ANNOTATION}{RED}\n\n{MASKS}")))
            .when(
                filter_request("include", ALL.accept, json!({"unknowns": []}))
                    .expect(status())
                    .expect(body()),
            )
    }),
    Rule::new("unknown-dialect", || {
        let request_body = json!({
            "unknowns": ["input.fruits"],
            "options": {"targetDialects": ["sql+oracle"]},
        });
        scenario().given(policy(RED)).when(
            filter_request("include", MULTITARGET, request_body)
                .off_contract("the dialect is not one that the document names")
                .expect(status())
                .expect(body()),
        )
    }),
    Rule::new("missing-mask-rule", || {
        scenario().given(policy(RED)).when(
            filter_request("include", ALL.accept, masked_by("data.{ns}.masks"))
                .expect(status())
                .expect(body()),
        )
    }),
    Rule::new("json-body", || {
        scenario().given(policy(RED)).when(
            filter("include", ALL)
                .header("Content-Type", "application/json")
                .expect(ALL.red_rows(&fruits())),
        )
    }),
    Rule::new("content-type-optional", || {
        scenario().given(policy(RED)).when(
            post("/v1/compile/{ns}/include")
                .header("Accept", ALL.accept)
                .text("", r#"{"unknowns": ["input.fruits"]}"#)
                .expect(ALL.red_rows(&fruits())),
        )
    }),
    Rule::new("gzip-request", || {
        scenario().given(policy(RED)).when(
            filter("include", ALL)
                .gzip()
                .expect(ALL.red_rows(&fruits())),
        )
    }),
    Rule::new("accept-required", || {
        // Raw, because an HTTP library would add the header.
        let request = |accept: &str| {
            raw(format!(
                "POST {{prefix}}/v1/compile/{{ns}}/include HTTP/1.1\r\nHost: {{host}}\r\n\
                 {{authorization}}{accept}Content-Type: application/json\r\n\
                 Content-Length: 30\r\nConnection: close\r\n\r\n\
                 {{\"unknowns\": [\"input.fruits\"]}}"
            ))
        };
        scenario()
            .given(policy(RED))
            .when(request(&format!("Accept: {}\r\n", ALL.accept)).expect(success()))
            .when(request("").expect(error()))
    }),
    Rule::new("accept-decides-body", || {
        scenario()
            .given(policy(RED))
            .when(filter("include", ALL).expect(kind(QUERY, Kind::Object)))
            .when(filter("include", SQLITE).expect(kind(QUERY, Kind::String)))
    }),
    Rule::new("statuses", || {
        scenario()
            .given(policy(&format!(
                "{RED}\n\nnever if 1 == 2\n\nodd if input.fruits.price % 2 == 1"
            )))
            .each(["include", "never", "odd"], |scenario, rule| {
                scenario.when(filter(rule, SQLITE).expect(status()))
            })
    }),
    Rule::new("several-acceptable", || {
        let known = "application/vnd.engine.ucast.all+json;q=0.5, \
                     application/vnd.engine.ucast.linq+json";
        scenario()
            .given(policy(RED))
            .each([known, "*/*"], |scenario, accept| {
                scenario.when(
                    filter_request("include", accept, json!({"unknowns": ["input.fruits"]}))
                        .off_contract("the Accept header selects no single media type")
                        .expect(status())
                        .expect(media_type()),
                )
            })
    }),
    Rule::new("not-acceptable", || {
        let columns = json!({"unknowns": ["input.fruits"]});
        scenario().given(policy(RED)).when(
            filter_request("include", "text/html", columns)
                .off_contract("the media type is not one that the document names")
                .expect(status())
                .expect(body()),
        )
    }),
    Rule::new("mistyped-column", || {
        let mistyped = policy("include if input.fruit.colour == \"red\"");
        scenario()
            .given(mistyped)
            .when(filter("include", ALL).expect(body()))
    }),
    Rule::new("path-names-rule", || {
        let other = "others if input.fruits.owner == \"bob\"";
        scenario()
            .given(policy(&format!("{RED}\n\n{other}")))
            .when(filter("include", ALL).expect(ALL.red_rows(&fruits())))
            .when(filter("others", ALL).expect(ALL.rows(QUERY, &fruits(), &["banana", "cherry"])))
    }),
    Rule::new("path-is-plain-text", paths::plain_text),
    Rule::new("follows-policy", || {
        // Repeated, so that a server that caches filters caches this one.
        let red = filter("include", ALL).expect(ALL.red_rows(&fruits()));
        let others = "include if input.fruits.owner == \"bob\"";
        scenario()
            .given(policy(RED))
            .when(red.clone())
            .when(red.clone())
            .when(red)
            .when(policy(others).expect(success()))
            .when(filter("include", ALL).expect(ALL.rows(QUERY, &fruits(), &["banana", "cherry"])))
            .when(policy("other := 1").expect(success()))
            .when(filter("include", ALL).expect(lacks(QUERY)))
    }),
    Rule::new("follows-data", || {
        let colour = |colour: &str| put("/v1/data/{ns}/colour").json(json!(colour));
        let rule = "include if input.fruits.colour == data.{ns}.colour";
        let red = filter("include", ALL).expect(ALL.red_rows(&fruits()));
        scenario()
            .given(colour("red"))
            .given(policy(rule))
            .when(red.clone())
            .when(red.clone())
            .when(red)
            .when(colour("yellow").expect(success()))
            .when(filter("include", ALL).expect(ALL.rows(QUERY, &fruits(), &["banana"])))
    }),
    Rule::new("missing-rule", || {
        scenario()
            .given(policy(RED))
            .when(filter("includes", ALL).expect(status()).expect(body()))
    }),
    Rule::new("annotation-declares-unknowns", || {
        let each_column = format!("{COLUMNS}{CHEAP_AND_RED}");
        scenario()
            .given(policy(&format!(
                "{ANNOTATION}{RED}\n\n{MASKS}\n\n{each_column}"
            )))
            .each(
                [("include", RED_ROWS), ("cheap", &["apple"])],
                |scenario, (rule, rows)| {
                    let scenario =
                        UCAST
                            .into_iter()
                            .chain(SQL)
                            .fold(scenario, |scenario, target| {
                                let step = filter_request(rule, target.accept, json!({}));
                                scenario.when(step.expect(target.rows(QUERY, &fruits(), rows)))
                            });
                    let step = together(rule, json!({}), json!({}));
                    scenario.when(all_select(step, &TOGETHER, &fruits(), rows))
                },
            )
    }),
    Rule::new("multitarget-ucast", || {
        multitarget_pair(
            (ALL, "/result/ucast/query"),
            (POSTGRESQL, "/result/postgresql/query"),
        )
    }),
    Rule::new("multitarget-sqlserver", || {
        multitarget_pair(
            (SQLSERVER, "/result/sqlserver/query"),
            (MYSQL, "/result/mysql/query"),
        )
    }),
    Rule::new("multitarget-mysql", || {
        multitarget_pair(
            (MYSQL, "/result/mysql/query"),
            (POSTGRESQL, "/result/postgresql/query"),
        )
    }),
    Rule::new("multitarget-postgresql", || {
        multitarget_pair(
            (POSTGRESQL, "/result/postgresql/query"),
            (SQLSERVER, "/result/sqlserver/query"),
        )
    }),
    Rule::new("multitarget-sqlite", || {
        // The dialect is not guaranteed to be supported.
        scenario()
            .given(policy(RED))
            .when(several(&[SQLITE]).expect(either([
                alternative("refused", [Check::StatusFrom(400, 599)]),
                alternative(
                    "left out",
                    [
                        Check::StatusFrom(200, 299),
                        Check::Equals("/result".into(), json!({})),
                    ],
                ),
                alternative(
                    "a string under `sqlite`",
                    [
                        Check::StatusFrom(200, 299),
                        Check::Type("/result/sqlite/query".into(), vec![Kind::String]),
                    ],
                ),
            ])))
    }),
    Rule::new("multitarget-only-requested", || {
        scenario().given(policy(RED)).when(
            several(&[ALL, MYSQL])
                .expect(kind("/result/ucast", Kind::Object))
                .expect(kind("/result/mysql", Kind::Object))
                .expect(lacks("/result/sqlserver"))
                .expect(lacks("/result/postgresql"))
                .expect(lacks("/result/sqlite")),
        )
    }),
    Rule::new("ucast-all-query", || ucast_query(ALL)),
    Rule::new("ucast-minimal-query", || ucast_query(MINIMAL)),
    Rule::new("ucast-linq-query", || ucast_query(LINQ)),
    Rule::new("ucast-prisma-query", || ucast_query(PRISMA)),
    Rule::new("ucast-comparisons", ucast::comparisons),
    Rule::new("ucast-comparisons-with-null", ucast::null),
    Rule::new("ucast-comparisons-with-booleans", ucast::booleans),
    Rule::new("ucast-comparisons-with-zero", ucast::zero),
    Rule::new("ucast-comparisons-with-empty-text", ucast::empty_text),
    Rule::new("ucast-joined-conditions", ucast::joined_conditions),
    Rule::new("ucast-negation", ucast::negation),
    Rule::new("ucast-lists", ucast::lists),
    Rule::new("ucast-parts-of-texts", ucast::parts_of_texts),
    Rule::new("sqlserver-query", || sql_query(SQLSERVER)),
    Rule::new("mysql-query", || sql_query(MYSQL)),
    Rule::new("postgresql-query", || sql_query(POSTGRESQL)),
    Rule::new("sqlite-query", || sql_query(SQLITE)),
    Rule::new("sql-is-one-condition", sql::one_condition),
    Rule::new("sql-comparisons", sql::comparisons),
    Rule::new("sql-comparisons-with-null", sql::null),
    Rule::new("sql-joined-conditions", sql::joined_conditions),
    Rule::new("sql-negation-includes-nulls", sql::negation),
    Rule::new("sql-numbers-in-order", sql::numbers_in_order),
    Rule::new("sql-fractions-and-exponents", sql::fractions_and_exponents),
    Rule::new("sql-comparisons-with-zero", sql::zero),
    Rule::new("sql-texts-are-no-numbers", sql::numbers_and_texts),
    Rule::new("sql-quotes-in-texts", texts::quotes),
    Rule::new("sql-backslashes-in-texts", texts::backslashes),
    Rule::new("sql-comparisons-with-empty-text", texts::empty_text),
    Rule::new("sql-percent-is-no-wildcard", texts::percent_signs),
    Rule::new("sql-underscore-is-no-wildcard", texts::underscores),
    Rule::new("sql-brackets-are-no-wildcard", texts::brackets),
    Rule::new("sql-escape-characters-are-texts", texts::escapes),
    Rule::new("sql-capitals-in-parts-of-texts", texts::capitals),
    Rule::new("content-type-multitarget", || {
        scenario().given(policy(RED)).when(
            several(&[ALL, MYSQL])
                .expect(success())
                .expect(media_type()),
        )
    }),
    Rule::new("content-type-ucast-all", || content_type(ALL)),
    Rule::new("content-type-ucast-minimal", || content_type(MINIMAL)),
    Rule::new("content-type-ucast-linq", || content_type(LINQ)),
    Rule::new("content-type-ucast-prisma", || content_type(PRISMA)),
    Rule::new("content-type-sqlserver", || content_type(SQLSERVER)),
    Rule::new("content-type-mysql", || content_type(MYSQL)),
    Rule::new("content-type-postgresql", || content_type(POSTGRESQL)),
    Rule::new("content-type-sqlite", || content_type(SQLITE)),
    Rule::new("sql-deny-has-no-query", || denied(SQL, lacks(QUERY))),
    Rule::new("ucast-deny-has-no-query", || denied(UCAST, lacks(QUERY))),
    Rule::new("deny-result-is-empty-object", || {
        denied(SQL.into_iter().chain(UCAST), at("/result"))
    }),
    Rule::new("multitarget-deny-has-no-query", || {
        let step = several(&TOGETHER).expect(success());
        scenario()
            .given(policy(NEVER))
            .when(no_condition_for_any(step))
    }),
    Rule::new("sql-include-is-empty-string", || {
        scenario()
            .given(policy(ALWAYS))
            .each(SQL, |scenario, target| {
                scenario.when(
                    filter("include", target)
                        .expect(success())
                        .expect(at(QUERY)),
                )
            })
            .when(
                several(&TOGETHER)
                    .expect(success())
                    .expect(at(SQLSERVER.condition_pointer()))
                    .expect(at(MYSQL.condition_pointer()))
                    .expect(at(POSTGRESQL.condition_pointer())),
            )
    }),
    Rule::new("ucast-include-is-empty", || {
        let empty = |pointer: &str| {
            let empty = |label, value| alternative(label, [Check::Equals(pointer.into(), value)]);
            either([
                empty("an empty string", json!("")),
                empty("an empty object", json!({})),
            ])
        };
        scenario()
            .given(policy(ALWAYS))
            .each(UCAST, |scenario, target| {
                let alone = filter("include", target).expect(success());
                let combined = several(&[target, MYSQL]).expect(success());
                scenario
                    .when(alone.expect(empty(QUERY)))
                    .when(combined.expect(empty(target.condition_pointer())))
            })
    }),
];

const NEVER: &str = "include if {\n\tinput.fruits.colour == \"red\"\n\t1 == 2\n}";

const ALWAYS: &str = "include if 1 == 1";

/// One rule for identified users, and one for anonymous ones.
const BY_USER: &str = "alice if {
	input.user == \"alice\"
	input.fruits.colour == \"red\"
}

anonymous if {
	not input.user
	input.fruits.colour == \"red\"
}";

/// Expects this of the response for a filter that is never true, for each target.
fn denied(targets: impl IntoIterator<Item = Target>, expectation: Expectation) -> Scenario {
    let scenario = scenario().given(policy(NEVER));
    scenario.each(targets, |scenario, target| {
        scenario.when(
            filter("include", target)
                .expect(success())
                .expect(expectation.clone()),
        )
    })
}

fn ucast_query(target: Target) -> Scenario {
    scenario().given(policy(RED)).when(
        filter("include", target)
            .expect(kind(QUERY, Kind::Object))
            .expect(target.red_rows(&fruits())),
    )
}

fn sql_query(target: Target) -> Scenario {
    let is_known = "known if input.fruits.colour != null";
    scenario()
        .given(policy(&format!("{RED}\n\n{is_known}")))
        .when(
            filter("include", target)
                .expect(kind(QUERY, Kind::String))
                .expect(target.red_rows(&fruits())),
        )
        .when(
            filter("known", target)
                .expect(kind(QUERY, Kind::String))
                .expect(target.rows(QUERY, &fruits(), &["apple", "banana", "cherry"])),
        )
}

fn content_type(target: Target) -> Scenario {
    scenario().given(policy(RED)).when(
        filter("include", target)
            .expect(success())
            .expect(media_type()),
    )
}
