//! Rules that apply to several endpoints. Each is written once, for a table of resource kinds.

use crate::rules::control::definitions;
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

/// A kind of resource, with the properties that the common rules need.
#[derive(Debug, Clone, Copy)]
struct Resource {
    /// Path of the list.
    list: &'static str,
    /// Returns a definition with these fields and all others that a server may require, for a name
    /// with this suffix.
    complete: fn(&str, Value) -> Value,
    /// The field of the first definition.
    first: fn() -> Value,
    /// The field of the second definition: the same one with another value.
    second: fn() -> Value,
    /// Pointer to the name in a GET response.
    name: &'static str,
    /// Pointer to the field of both definitions in a GET response.
    field: &'static str,
}

impl Resource {
    /// The path of the scenario's own resource whose name has this (encoded) suffix.
    fn item(self, suffix: &str) -> String {
        format!("{}/{{ns}}{suffix}", self.list)
    }

    /// A PUT of the first definition.
    fn create(self) -> Step {
        self.create_as("")
    }

    /// A PUT of the first definition under a name with this suffix.
    fn create_as(self, suffix: &str) -> Step {
        self.define(suffix, json!({}))
    }

    /// A PUT of the first definition with these fields added or replaced.
    fn define(self, suffix: &str, more: Value) -> Step {
        put(self.item(suffix)).json(self.definition(suffix, more))
    }

    /// The first definition with these fields added or replaced.
    fn definition(self, suffix: &str, more: Value) -> Value {
        (self.complete)(suffix, definitions::with((self.first)(), more))
    }

    /// A PUT of the second definition.
    fn change(self) -> Step {
        self.define("", (self.second)())
    }

    /// A GET of the first page of the list, with one item.
    fn first_page(self) -> Step {
        get(format!("{}?limit=1", self.list))
    }

    /// Checks by GET that the resource has the field of this definition.
    fn matches(self, definition: fn() -> Value) -> Step {
        let field = match self.field.strip_prefix("/result/") {
            Some(field) => definition()
                .pointer(&format!("/{field}"))
                .cloned()
                .unwrap_or_default(),
            None => json!("{ns}"),
        };
        get(self.item("")).shows([Check::Equals(self.field.to_owned(), field)])
    }

    /// Checks by GET that the resource does not exist.
    fn is_absent(self) -> Step {
        get(self.item("")).shows([Check::StatusFrom(400, 499)])
    }

    /// PUTs of several resources with numbered names.
    fn create_many(self, count: u32) -> Step {
        self.create_as("-{i}").times(count)
    }
}

const BUNDLE: Resource = Resource {
    list: "/v1/bundles",
    complete: definitions::bundle,
    first: || json!({"labels": {"team": "blue"}}),
    second: || json!({"labels": {"team": "green"}}),
    name: "/result/name",
    field: "/result/labels",
};

const SOURCE: Resource = Resource {
    list: "/v1/sources",
    complete: |_, fields| definitions::source(fields),
    first: || json!({"git": definitions::git(json!({"repo": "https://git.example/rules.git"}))}),
    second: || json!({"git": definitions::git(json!({"repo": "https://git.example/moved.git"}))}),
    name: "/result/name",
    field: "/result/git/repo",
};

const STACK: Resource = Resource {
    list: "/v1/stacks",
    complete: |_, fields| definitions::stack(fields),
    first: || json!({"selector": {"zone": ["inner"]}}),
    second: || json!({"selector": {"zone": ["outer"]}}),
    name: "/result/name",
    field: "/result/selector",
};

/// Reads of a secret show only its name.
const SECRET: Resource = Resource {
    list: "/v1/secrets",
    complete: |_, fields| definitions::secret(fields),
    first: || json!({"value": {"type": "token_auth", "token": "first-token"}}),
    second: || json!({"value": {"type": "token_auth", "token": "second-token"}}),
    name: "/result",
    field: "/result",
};

const RESOURCES: [Resource; 4] = [BUNDLE, SOURCE, STACK, SECRET];

/// Requires a server that rejects requests without a key. Other servers show nothing about keys, or
/// about health checks without them.
pub(crate) fn keys_required() -> Step {
    get(BUNDLE.list)
        .anonymous()
        .shows([Check::StatusFrom(400, 499)])
}

/// The path of a source data document of the scenario's own source.
pub(super) fn document(path: &str) -> String {
    document_of("", path)
}

/// The path of a source data document of the scenario's own source whose name has this (encoded)
/// suffix.
pub(super) fn document_of(suffix: &str, path: &str) -> String {
    format!("{}/data/{path}", SOURCE.item(suffix))
}

/// A scenario whose own source has been created.
pub(super) fn with_source() -> Scenario {
    scenario().given(SOURCE.create())
}

/// A PUT of a source under the scenario's name with this suffix.
pub(super) fn another_source(suffix: &str) -> Step {
    SOURCE.create_as(suffix)
}

/// Checks by GET that there is no document at the path; other rules define the status.
pub(super) fn no_document(path: String) -> Step {
    get(path)
        .expect(status_among(&[200, 404]))
        .expect(lacks("/result"))
}
