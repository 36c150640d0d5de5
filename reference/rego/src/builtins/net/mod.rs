//! `net.*`: networks and host names.

use super::{BuiltinLimit, Cost, Group, Maximum};

mod lookup;
mod matches;
mod merge;
mod network;
mod ranges;

pub(super) const BUILTINS: Group = &[
    ("net.cidr_contains", Cost::Linear, ranges::contains),
    (
        "net.cidr_contains_matches",
        Cost::Stepping,
        matches::matches,
    ),
    ("net.cidr_expand", Cost::Stepping, ranges::expand),
    ("net.cidr_intersects", Cost::Linear, ranges::intersects),
    ("net.cidr_is_valid", Cost::Linear, ranges::is_valid),
    ("net.cidr_merge", Cost::Stepping, merge::merge),
    ("net.cidr_overlap", Cost::Linear, ranges::contains),
    ("net.lookup_ip_addr", Cost::BuiltinContext, lookup::lookup),
];

pub(super) const LIMITS: &[BuiltinLimit] = &[BuiltinLimit {
    functions: &["net.cidr_expand"],
    subject: "addresses of a network",
    most: Maximum::Count(1 << ranges::MAX_BITS),
}];
