//! Rejects duplicate imports in modules of version 1, then removes all imports: references are
//! resolved by now.

use super::resolve::import_name;
use super::{CompilationUnit, Diagnostics, ModuleSet};
use crate::error::{Code, LanguageError};
use crate::hash::HashMap;
use crate::syntax::{Import, Version};

/// Checks a module.
pub(super) fn run(unit: &mut CompilationUnit, _: &ModuleSet) -> Diagnostics {
    let found = match unit.module.version {
        Version::V0 => Diagnostics::new(),
        Version::V1 => find_duplicates(&unit.module.imports),
    };
    unit.module.imports.clear();
    found
}

fn find_duplicates(imports: &[Import]) -> Diagnostics {
    let mut found = Diagnostics::new();
    let mut names = HashMap::default();
    for import in imports {
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
    found
}
