//! Refuses imports of the same name, then forgets all imports: references are resolved by now.

use std::collections::HashMap;

use super::resolve::import_name;
use super::{Found, Unit, World};
use crate::error::{Code, LanguageError};

/// Looks at a module.
pub(super) fn run(unit: &mut Unit, _: &World) -> Found {
    let mut found = Found::new();
    let mut names = HashMap::new();
    for import in &unit.module.imports {
        let Some(name) = import_name(import) else {
            continue;
        };
        if let Some(first) = names.get(&name) {
            let message = format!("import must not shadow {first}");
            found.push(LanguageError::at(Code::Compile, &import.location, message));
        } else {
            names.insert(name, import);
        }
    }
    unit.module.imports.clear();
    found
}
