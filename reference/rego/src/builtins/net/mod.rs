//! `net.*`: networks and names of hosts.

use super::Group;

mod lookup;
mod matches;
mod merge;
mod network;
mod ranges;

pub(super) const BUILTINS: Group = &[
    ("net.cidr_contains", ranges::contains),
    ("net.cidr_contains_matches", matches::matches),
    ("net.cidr_expand", ranges::expand),
    ("net.cidr_intersects", ranges::intersects),
    ("net.cidr_is_valid", ranges::is_valid),
    ("net.cidr_merge", merge::merge),
    ("net.cidr_overlap", ranges::contains),
    ("net.lookup_ip_addr", lookup::lookup),
];
