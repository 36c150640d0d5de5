//! Reading one resource

use super::{BUNDLE, Resource, SECRET, SOURCE, STACK};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("bundle-in-result", || in_result(BUNDLE)),
    Rule::new("source-in-result", || in_result(SOURCE)),
    Rule::new("stack-in-result", || in_result(STACK)),
    Rule::new("secret-name-in-result", || {
        scenario()
            .given(SECRET.create())
            .when(get(SECRET.item("")).expect(status()).expect(at("/result")))
    }),
];

fn in_result(resource: Resource) -> Scenario {
    scenario().given(resource.create()).when(
        get(resource.item(""))
            .expect(status())
            .expect(at(resource.name))
            .expect(at(resource.field)),
    )
}
