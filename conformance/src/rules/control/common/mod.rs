//! Rules that hold for several endpoints, each told once over a table of the kinds of resources.

use crate::scenario::*;

pub(crate) mod authentication;
pub(crate) mod bundle;
pub(crate) mod datasource;
pub(crate) mod distribution;
pub(crate) mod errors;
pub(crate) mod git;
pub(crate) mod introduction;
pub(crate) mod list_envelope;
pub(crate) mod media;
pub(crate) mod names;
pub(crate) mod object_storage;
pub(crate) mod paging;
pub(crate) mod paths;
pub(crate) mod pretty;
pub(crate) mod reads;
pub(crate) mod requirement;
pub(crate) mod resources;
pub(crate) mod secret;
pub(crate) mod service;
pub(crate) mod source;
pub(crate) mod stack;
pub(crate) mod success;
pub(crate) mod updates;
pub(crate) mod usage;
pub(crate) mod versioning;

/// A kind of resource, as far as the common rules need to know it.
#[derive(Debug, Clone, Copy)]
struct Resource {
    /// The path of its list.
    list: &'static str,
    /// A definition.
    first: fn() -> Value,
    /// A definition that gives another value to the same field.
    second: fn() -> Value,
    /// Where a GET of one shows its name.
    name: &'static str,
    /// Where a GET of one shows the field of both definitions.
    field: &'static str,
}

impl Resource {
    /// The path of the scenario's own resource with this (encoded) end of its name.
    fn item(self, end: &str) -> String {
        format!("{}/{{ns}}{end}", self.list)
    }

    /// A PUT of the first definition.
    fn create(self) -> Step {
        put(self.item("")).json((self.first)())
    }

    /// A PUT of the first definition under a longer name.
    fn create_as(self, end: &str) -> Step {
        put(self.item(end)).json((self.first)())
    }

    /// The first definition with more fields.
    fn with(self, more: Value) -> Value {
        let mut definition = (self.first)();
        if let (Some(fields), Value::Object(more)) = (definition.as_object_mut(), more) {
            fields.extend(more);
        }
        definition
    }

    /// A PUT of the second definition.
    fn change(self) -> Step {
        put(self.item("")).json((self.second)())
    }

    /// A GET of its list's first item: a page that another one may follow.
    fn first_page(self) -> Step {
        get(format!("{}?limit=1", self.list))
    }

    /// It holds the definition, as a GET shows.
    fn is(self, definition: fn() -> Value) -> Step {
        let field = match self.field.strip_prefix("/result/") {
            Some(field) => definition()
                .pointer(&format!("/{field}"))
                .cloned()
                .unwrap_or_default(),
            None => json!("{ns}"),
        };
        get(self.item("")).shows([Check::Equals(self.field.to_owned(), field)])
    }

    /// There is none, as a GET shows.
    fn is_gone(self) -> Step {
        get(self.item("")).shows([Check::StatusFrom(400, 499)])
    }

    /// PUTs of several resources, numbered.
    fn create_many(self, count: u32) -> Step {
        put(self.item("-{i}")).json((self.first)()).times(count)
    }
}

const BUNDLE: Resource = Resource {
    list: "/v1/bundles",
    first: || json!({"labels": {"team": "blue"}}),
    second: || json!({"labels": {"team": "green"}}),
    name: "/result/name",
    field: "/result/labels",
};

const SOURCE: Resource = Resource {
    list: "/v1/sources",
    first: || json!({"git": {"repo": "https://git.example/rules.git"}}),
    second: || json!({"git": {"repo": "https://git.example/moved.git"}}),
    name: "/result/name",
    field: "/result/git/repo",
};

const STACK: Resource = Resource {
    list: "/v1/stacks",
    first: || json!({"selector": {"zone": ["inner"]}}),
    second: || json!({"selector": {"zone": ["outer"]}}),
    name: "/result/name",
    field: "/result/selector",
};

/// Reads show nothing of a secret but its name.
const SECRET: Resource = Resource {
    list: "/v1/secrets",
    first: || json!({"value": {"type": "token_auth", "token": "first-token"}}),
    second: || json!({"value": {"type": "token_auth", "token": "second-token"}}),
    name: "/result",
    field: "/result",
};

const RESOURCES: [Resource; 4] = [BUNDLE, SOURCE, STACK, SECRET];

/// A server that takes any key for any request would show nothing about keys, or health without
/// them.
pub(crate) fn keys_are_asked_for() -> Step {
    get(BUNDLE.list)
        .anonymous()
        .shows([Check::StatusFrom(400, 499)])
}

/// The path of a source data document of the scenario's own source.
pub(super) fn document(path: &str) -> String {
    format!("{}/data/{path}", SOURCE.item(""))
}

/// A scenario whose own source exists.
pub(super) fn with_source() -> Scenario {
    scenario().given(SOURCE.create())
}
