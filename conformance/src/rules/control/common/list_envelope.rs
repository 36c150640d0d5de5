//! List envelope

use super::{BUNDLE, RESOURCES, Resource, SECRET, SOURCE, STACK};
use crate::rules::control::definitions;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("result-is-array", || {
        each_list(1, |list| get(list).expect(kind("/result", Kind::Array)))
    }),
    // A server may have predefined resources, so that its lists are not empty.
    Rule::new("empty-list", || {
        let empty = || {
            either([
                alternative(
                    "an empty array and no cursor",
                    [
                        Check::Equals("/result".to_owned(), json!([])),
                        Check::Equals("/next_cursor".to_owned(), Value::Null),
                    ],
                ),
                alternative("items", [Check::AtLeast("/result".to_owned(), 1)]),
            ])
        };
        scenario().fresh().each(RESOURCES, |scenario, resource| {
            scenario.when(get(resource.list).expect(status()).expect(empty()))
        })
    }),
    Rule::new("bundles-as-objects", || items_are(BUNDLE, Kind::Object)),
    Rule::new("sources-as-objects", || items_are(SOURCE, Kind::Object)),
    Rule::new("stacks-as-objects", || items_are(STACK, Kind::Object)),
    Rule::new("secrets-as-names", || items_are(SECRET, Kind::String)),
    Rule::new("next-cursor-null-at-the-end", || {
        each_list(1, |list| walk(list).expect(at("/next_cursor")))
    }),
    Rule::new("next-cursor-string-when-more", || {
        scenario().each(RESOURCES, |scenario, resource| {
            let page = format!("{}?limit=1", resource.list);
            // Two of the three resources remain for the second page, whose limit is one.
            scenario
                .given(resource.create_many(3))
                .when(
                    get(page.as_str())
                        .expect(kind("/next_cursor", Kind::String))
                        .capture("next", "/next_cursor"),
                )
                .when(get(format!("{page}&cursor={{next}}")).expect(length("/result")))
        })
    }),
    Rule::new("no-cursor-to-an-empty-page", || {
        let has_next_page = Check::Type("/next_cursor".into(), vec![Kind::String]);
        let scenario = scenario().each(RESOURCES, |scenario, resource| {
            scenario
                .given(resource.create_many(2))
                .given(resource.first_page().shows([has_next_page.clone()]))
                .when(walk(format!("{}?limit=1", resource.list)).expect(filled_pages()))
        });
        scenario.changes_global()
    }),
    Rule::new("cursor-is-opaque", || {
        // Cursors may contain names, so some names have characters with a meaning in a query.
        scenario().each(RESOURCES, |scenario, resource| {
            scenario
                .given(resource.create_many(3))
                .each(
                    ["-a%26b%3Dc", "-a%2Bb", "-a%3Fb%23c"],
                    |scenario, suffix| scenario.given(resource.create_as(suffix)),
                )
                .when(walk(format!("{}?limit=2", resource.list)).expect(names("/result")))
                .when(walk(format!("{}?limit=1", resource.list)).expect(names("/result")))
        })
    }),
];

/// Creates resources in every collection, and reads the list of each with the same expectations.
fn each_list(items: u32, read: fn(&str) -> Step) -> Scenario {
    scenario().each(RESOURCES, |scenario, resource| {
        scenario
            .given(resource.create_many(items))
            .when(read(resource.list))
    })
}

/// Checks the type of the items of a list, and that those of the scenario are among them with all
/// their fields. Names are not encoded in a list.
fn items_are(resource: Resource, form: Kind) -> Scenario {
    let list = walk(resource.list)
        .expect(each("/result/*", form))
        .expect(names("/result"));
    let list = match form {
        Kind::Object => SUFFIXES.into_iter().fold(list, |list, (suffix, decoded)| {
            let name = json!({"name": format!("{{ns}}{decoded}")});
            let item = resource.definition(suffix, every_field(resource));
            list.expect(part("/result", json!([definitions::with(item, name)])))
        }),
        _ => list,
    };
    let scenario = scenario().given(SOURCE.create_as("-lib"));
    SUFFIXES
        .into_iter()
        .fold(scenario, |scenario, (suffix, _)| {
            scenario.given(resource.define(suffix, every_field(resource)))
        })
        .when(list)
}

/// Suffixes of names, encoded and decoded.
const SUFFIXES: [(&str, &str); 3] = [
    ("-plain", "-plain"),
    ("%20spaced", " spaced"),
    ("%2Fslashed", "/slashed"),
];

/// The optional fields of a resource, in addition to those that it is created with.
fn every_field(resource: Resource) -> Value {
    let requirement = json!({"source": "{ns}-lib", "path": "data.lib", "prefix": "data.vendor"});
    match resource.list {
        "/v1/bundles" => json!({
            "requirements": [requirement],
            "excluded_files": ["*_test.rego"],
        }),
        "/v1/sources" => json!({
            "requirements": [requirement],
            "datasources": [{
                "name": "users",
                "path": "app/users",
                "type": "http",
                "config": {
                    "url": "https://data.example.com/users",
                    "headers": {"Accept": "application/json"},
                },
                "transform_query": "x := data.users.list",
            }],
        }),
        "/v1/stacks" => json!({
            "requirements": [requirement],
            "exclude_selector": {"team": ["legacy"]},
        }),
        _ => json!({}),
    }
}
