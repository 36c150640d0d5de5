//! PUT /v1/sources/{source}/data/{path}

use super::stores_any_json;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[Rule::new("stores-any-json", || stores_any_json("PUT"))];
