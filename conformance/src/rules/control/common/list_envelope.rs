//! List envelope

use super::{BUNDLE, RESOURCES, Resource, SECRET, SOURCE, STACK};
use crate::rules::control::definitions;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("result-is-array", || {
        each_list(1, |list| get(list).expect(kind("/result", Kind::Array)))
    }),
    // A server may come with definitions of its own, and then no list of it is empty.
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
        scenario().fresh().each(RESOURCES, |told, resource| {
            told.when(get(resource.list).expect(status()).expect(empty()))
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
        scenario().each(RESOURCES, |told, resource| {
            let page = format!("{}?limit=1", resource.list);
            // Two are left for the second page, which has room for one.
            told.given(resource.create_many(3))
                .when(
                    get(page.as_str())
                        .expect(kind("/next_cursor", Kind::String))
                        .capture("next", "/next_cursor"),
                )
                .when(get(format!("{page}&cursor={{next}}")).expect(length("/result")))
        })
    }),
    Rule::new("no-cursor-to-an-empty-page", || {
        let more = Check::Type("/next_cursor".into(), vec![Kind::String]);
        let told = scenario().each(RESOURCES, |told, resource| {
            told.given(resource.create_many(2))
                .given(resource.first_page().shows([more.clone()]))
                .when(walk(format!("{}?limit=1", resource.list)).expect(filled_pages()))
        });
        told.changes_global()
    }),
    Rule::new("cursor-is-opaque", || {
        // Cursors may be made of names, so some of these have signs that mean something in a query.
        scenario().each(RESOURCES, |told, resource| {
            told.given(resource.create_many(3))
                .each(["-a%26b%3Dc", "-a%2Bb", "-a%3Fb%23c"], |told, end| {
                    told.given(resource.create_as(end))
                })
                .when(walk(format!("{}?limit=2", resource.list)).expect(names("/result")))
                .when(walk(format!("{}?limit=1", resource.list)).expect(names("/result")))
        })
    }),
];

/// Something of ours in every collection, and the list of each, judged alike.
fn each_list(items: u32, read: fn(&str) -> Step) -> Scenario {
    scenario().each(RESOURCES, |told, resource| {
        told.given(resource.create_many(items))
            .when(read(resource.list))
    })
}

/// What the list of one collection holds, and that our own are among it, whole.
fn items_are(resource: Resource, form: Kind) -> Scenario {
    let list = walk(resource.list)
        .expect(each("/result/*", form))
        .expect(names("/result"));
    let list = match form {
        Kind::Object => ["{ns}-000", "{ns}-001"]
            .into_iter()
            .fold(list, |list, name| {
                let item = definitions::with((resource.first)(), json!({"name": name}));
                list.expect(part("/result", json!([item])))
            }),
        _ => list,
    };
    scenario().given(resource.create_many(2)).when(list)
}
