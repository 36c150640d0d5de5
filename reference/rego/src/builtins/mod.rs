//! Built-in functions, one file per group.

use std::sync::LazyLock;

mod aggregates;
mod allow_net;
mod arithmetic;
mod arrays;
#[cfg(feature = "crypto")]
pub(crate) mod aws;
mod bits;
mod cache_limits;
mod caches;
mod call;
mod comparison;
mod cost;
#[cfg(feature = "crypto")]
pub(crate) mod crypto;
#[cfg(feature = "crypto")]
mod digests;
mod encoding;
mod expected;
mod fast_path;
mod fifo;
mod floats;
mod format;
mod glob_intersection;
mod globs;
#[cfg(feature = "graphql")]
mod graphql;
mod graphs;
#[cfg(feature = "http")]
mod http;
mod json;
mod json_words;
#[cfg(feature = "crypto")]
pub(crate) mod jwt;
#[cfg(feature = "crypto")]
mod keys;
mod limit;
mod listing;
mod marshal;
mod modules;
mod net;
mod numbers;
mod objects;
mod operand;
mod patch;
mod paths;
mod pattern;
mod pem;
mod re2;
mod regexes;
mod requests;
mod runtime;
mod schema;
mod search;
mod semver;
mod sets;
mod sprintf;
mod stepping_search;
mod strings;
mod subset;
mod template;
mod time;
mod types;
mod units;
mod uri;
mod url;
mod uuids;
mod yaml;
mod yaml_text;

#[cfg(test)]
mod tests;

pub use cache_limits::CacheLimits;
pub use caches::Caches;
pub(crate) use call::{Answers, BuiltinContext, Call, Failure, Prepared, Session};
pub(crate) use cost::{Cost, makes};
pub(crate) use fast_path::{FastPath, SmallResult, quick};
pub use globs::Glob;
pub use limit::{BuiltinLimit, Maximum};
pub use listing::{Builtin, builtin_limits, builtins};

/// Evaluates a call from its operands: a value, or undefined.
pub(crate) type Function = fn(&mut Call<'_>, &[Value]) -> Result<Option<Value>, Failure>;

use crate::Value;
use crate::hash::HashMap;

/// Functions of one group: name, cost of a call, and implementation.
type Group = &'static [(&'static str, Cost, Function)];

/// All groups, in the order of their file names.
const GROUPS: &[Group] = &[
    aggregates::BUILTINS,
    arithmetic::BUILTINS,
    arrays::BUILTINS,
    #[cfg(feature = "crypto")]
    aws::BUILTINS,
    bits::BUILTINS,
    comparison::BUILTINS,
    #[cfg(feature = "crypto")]
    crypto::BUILTINS,
    #[cfg(feature = "crypto")]
    digests::BUILTINS,
    encoding::BUILTINS,
    glob_intersection::BUILTINS,
    globs::BUILTINS,
    #[cfg(feature = "graphql")]
    graphql::BUILTINS,
    graphs::BUILTINS,
    #[cfg(feature = "http")]
    http::BUILTINS,
    json::BUILTINS,
    #[cfg(feature = "crypto")]
    jwt::BUILTINS,
    modules::BUILTINS,
    net::BUILTINS,
    numbers::BUILTINS,
    objects::BUILTINS,
    patch::BUILTINS,
    paths::BUILTINS,
    regexes::BUILTINS,
    runtime::BUILTINS,
    schema::BUILTINS,
    search::BUILTINS,
    semver::BUILTINS,
    sets::BUILTINS,
    sprintf::BUILTINS,
    strings::BUILTINS,
    subset::BUILTINS,
    template::BUILTINS,
    time::BUILTINS,
    types::BUILTINS,
    units::BUILTINS,
    uri::BUILTINS,
    uuids::BUILTINS,
    yaml::BUILTINS,
];

static FUNCTIONS: LazyLock<HashMap<&'static str, (Cost, Function)>> = LazyLock::new(|| {
    let all = GROUPS.iter().copied().flatten();
    all.map(|(name, cost, function)| (*name, (*cost, *function)))
        .collect()
});

/// Returns the function of this name and the cost of a call.
pub(crate) fn function(name: &str) -> Option<(Cost, Function)> {
    FUNCTIONS.get(name).copied()
}
