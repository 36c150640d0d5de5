//! POST /v1/sources/{source}/data/{path}

use super::{replaces, stores_any_json};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("stores-any-json", || stores_any_json("POST")),
    Rule::new("replaces-document", || replaces("POST")),
];
