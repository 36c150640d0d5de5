//! Stack: requirements for the bundles that a selector chooses.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::requirement::{self, Requirement};
use super::{Definition, Invalid, Kind, Uses, check_glob};

/// Label names with the patterns of their allowed values.
type Selector = BTreeMap<String, Vec<String>>;

/// The definition of a stack. It always has a selector, if only an empty one.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Stack {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(serialize_with = "selector")]
    selector: Option<Selector>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exclude_selector: Option<Selector>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requirements: Option<Vec<Requirement>>,
}

fn selector<S: serde::Serializer>(given: &Option<Selector>, to: S) -> Result<S::Ok, S::Error> {
    match given {
        Some(selector) => selector.serialize(to),
        None => Selector::new().serialize(to),
    }
}

impl Definition for Stack {
    const KIND: Kind = Kind::Stack;

    fn name_mut(&mut self) -> &mut Option<String> {
        &mut self.name
    }

    fn check(&self) -> Result<(), Invalid> {
        let selectors = [
            ("selector", &self.selector),
            ("exclude_selector", &self.exclude_selector),
        ];
        for (field, selector) in selectors {
            for (label, patterns) in selector.iter().flatten() {
                let mut patterns = patterns.iter().map(String::as_str);
                let checked = patterns.try_for_each(check_glob);
                checked.map_err(|invalid| invalid.under(label).under(field))?;
            }
        }
        Ok(())
    }

    fn uses(&self) -> Uses {
        requirement::uses(self.requirements.as_deref())
    }
}
