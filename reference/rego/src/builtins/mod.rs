//! Built-in functions, one file per group.

use std::collections::HashMap;
use std::sync::LazyLock;

mod aws;
mod call;
mod digests;
mod hosts;
mod net;
mod operand;
mod requests;
mod signatures;
mod uri;
mod url;

#[cfg(test)]
mod tables;

pub(crate) use call::{Call, Failure, Session};
pub(crate) use signatures::{Signature, signature, signatures};

/// Computes a call from its operands: a value, or undefined.
pub(crate) type Function = fn(&mut Call<'_>, &[Value]) -> Result<Option<Value>, Failure>;

use crate::Value;

/// The functions of one group, by name.
type Group = &'static [(&'static str, Function)];

/// Every group, in the order of their files' names.
const GROUPS: &[Group] = &[
    aws::BUILTINS,
    digests::BUILTINS,
    net::BUILTINS,
    uri::BUILTINS,
];

static FUNCTIONS: LazyLock<HashMap<&'static str, Function>> =
    LazyLock::new(|| GROUPS.iter().copied().flatten().copied().collect());

/// The function of this name.
pub(crate) fn function(name: &str) -> Option<Function> {
    FUNCTIONS.get(name).copied()
}
