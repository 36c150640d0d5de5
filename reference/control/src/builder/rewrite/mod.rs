//! Rewrites the package and references of a mounted module, leaving the rest of its text unchanged.

use std::collections::{BTreeMap, HashMap};

use rego::syntax::{Import, Location, Ref, Term, TermValue};
use rego::{Module, Query, Version};

use super::mount::{self, Mount};
use super::reference_walk;

/// Rewrites a module for a mount; `None` if the mount does not select its package.
///
/// # Errors
/// When the module cannot be moved without changing its meaning.
pub(super) fn rewrite(
    module: Module,
    version: Version,
    mount: &Mount,
) -> Result<Option<Module>, String> {
    let Some(moved) = mount.mounted(&package(&module)) else {
        return Ok(None);
    };
    if mount.from == mount.to {
        return Ok(Some(module));
    }
    if !moved.first().is_some_and(|first| mount::is_name(first)) {
        let new_name = mount::package(&moved);
        return Err(format!(
            "{}: the package cannot be called `{new_name}`; a prefix that begins with a name helps",
            module.file
        ));
    }
    let mut rewriter = Rewriter::new(&module, version, mount)?;
    rewriter.package(&moved)?;
    for import in &module.imports {
        rewriter.import(import)?;
    }
    for reference in references(&module) {
        rewriter.reference(reference, 0)?;
    }
    rewriter.unbraced_branches()?;
    let text = rewriter.text()?;
    rewriter.check(&text, &moved).map(Some)
}

/// Returns the path of a module's package below `data`.
pub(super) fn package(module: &Module) -> Vec<String> {
    path(module.package.path.iter().skip(1))
}

/// Returns the leading segments that are constant strings.
fn path<'t>(steps: impl Iterator<Item = &'t Term>) -> Vec<String> {
    let names = steps.map_while(|step| match &step.value {
        TermValue::String(name) => Some(name.to_string()),
        _ => None,
    });
    names.collect()
}

/// Returns the name that a reference begins with.
fn head(reference: &Ref) -> Option<&str> {
    match &reference.first()?.value {
        TermValue::Var(name) => Some(&name.0),
        _ => None,
    }
}

fn references(module: &Module) -> Vec<&Ref> {
    let mut found = Vec::new();
    reference_walk::terms(module, |term| {
        if let TermValue::Ref(reference) = &term.value {
            found.push(reference);
        }
    });
    found
}

/// Collects edits of a module's source text.
#[derive(Debug)]
struct Rewriter<'m> {
    module: &'m Module,
    version: Version,
    mount: &'m Mount,
    /// Names and paths of imports of documents above the moved path.
    prefix_imports: HashMap<String, Vec<String>>,
    /// Replacements by the start offset of the replaced range, with its end offset.
    edits: BTreeMap<usize, (usize, String)>,
}

impl<'m> Rewriter<'m> {
    fn new(module: &'m Module, version: Version, mount: &'m Mount) -> Result<Self, String> {
        let mut prefix_imports = HashMap::new();
        for import in &module.imports {
            if let (Some(name), Some(path)) = (name(import), imported(import))
                && path.len() < mount.from.len()
                && !path.is_empty()
                && mount.from.starts_with(&path)
            {
                prefix_imports.insert(name, path);
            }
        }
        // A bare name may be a variable that shadows the import.
        let mut direct_use = None;
        reference_walk::terms(module, |term| {
            if let TermValue::Var(name) = &term.value
                && prefix_imports.contains_key(&*name.0)
            {
                direct_use = Some((name, &term.location));
            }
        });
        match direct_use {
            Some((name, location)) => Err(format!(
                "{location:?}: `{}` is imported and used by itself, so that `{}` cannot be moved; import that instead",
                name.0,
                mount::display(&mount.from)
            )),
            None => Ok(Self {
                module,
                version,
                mount,
                prefix_imports,
                edits: BTreeMap::new(),
            }),
        }
    }

    fn package(&mut self, moved: &[String]) -> Result<(), String> {
        let steps = self.module.package.path.get(1..).unwrap_or_default();
        let (Some(first), Some(last)) = (steps.first(), steps.last()) else {
            return Err(self.not_movable(&self.module.package.location));
        };
        let end = self.end(last, 0)?;
        let start = first.location.offset as usize;
        self.edits.insert(start, (end, mount::package(moved)));
        Ok(())
    }

    /// Rewrites an import. If its name would change, it gets an alias.
    fn import(&mut self, import: &Import) -> Result<(), String> {
        let (Some(path), TermValue::Ref(reference)) = (imported(import), &import.path.value) else {
            return Ok(());
        };
        let Some(moved) = self.mount.mounted(&path) else {
            return Ok(());
        };
        let last = path.last();
        let renamed = import.alias.is_none() && moved.last() != last;
        let alias = last.filter(|last| renamed && mount::is_name(last));
        if path.is_empty() {
            // `import data` introduces no new name.
            return Ok(());
        }
        let mut text = mount::display(&moved);
        if let Some(alias) = alias {
            text.push_str(" as ");
            text.push_str(alias);
        }
        let (Some(first), Some(last)) = (reference.first(), reference.last()) else {
            return Err(self.not_movable(&import.location));
        };
        let end = self.end(last, 0)?;
        let start = first.location.offset as usize;
        self.edits.insert(start, (end, text));
        Ok(())
    }

    /// Parses bodies without locations separately, to rewrite their references.
    fn unbraced_branches(&mut self) -> Result<(), String> {
        for (start, end) in reference_walk::unbraced_branches(self.module) {
            let text = self.module.text.get(start..end).unwrap_or_default();
            let body = text.trim_start().strip_prefix("if").unwrap_or_default();
            // Such bodies only exist with the keywords of version 1, whatever the module's version
            // is. A body that does not parse like this is missed, which the final check detects.
            let Ok(read) = Query::read(body) else {
                continue;
            };
            let base = start + (text.len() - body.len());
            let mut found = Vec::new();
            reference_walk::body(&read, |term| {
                if let TermValue::Ref(reference) = &term.value {
                    found.push(reference);
                }
            });
            for reference in found {
                self.reference(reference, base)?;
            }
        }
        Ok(())
    }

    /// Rewrites a reference whose locations are relative to the offset `base`.
    fn reference(&mut self, reference: &Ref, base: usize) -> Result<(), String> {
        let Some((moved, consumed)) = self.replacement(reference) else {
            return Ok(());
        };
        let Some(first) = reference.first() else {
            return Ok(());
        };
        // The parser copies some nodes and gives the copies the location of what they represent;
        // the originals have their own.
        let start = base + first.location.offset as usize;
        let source_text = self.module.text.get(start..).unwrap_or_default();
        if !head(reference).is_some_and(|head| source_text.starts_with(head)) {
            return Ok(());
        }
        let last = reference.get(consumed).unwrap_or(first);
        let end = match consumed {
            0 => start + first.location.length as usize,
            _ => self.end(last, base)?,
        };
        self.edits.insert(start, (end, mount::display(&moved)));
        Ok(())
    }

    /// Returns the replacement for the prefix of a reference, and the number of segments replaced.
    fn replacement(&self, reference: &Ref) -> Option<(Vec<String>, usize)> {
        let head = head(reference)?;
        let prefix = match head {
            "data" => &[] as &[String],
            name => self.prefix_imports.get(name)?,
        };
        let consumed = self.mount.from.len() - prefix.len();
        let steps = path(reference.iter().skip(1).take(consumed));
        let moved = self.mount.mounted(&[prefix, steps.as_slice()].concat())?;
        Some((moved, consumed))
    }

    /// Returns the offset after a segment, including its closing bracket.
    fn end(&self, step: &Term, base: usize) -> Result<usize, String> {
        let start = base + step.location.offset as usize;
        let end = start + step.location.length as usize;
        let text = &self.module.text;
        let written = text.get(start..end).unwrap_or_default();
        let is_verbatim = |name: &str| written == name;
        match &step.value {
            TermValue::String(name) if is_verbatim(name) => Ok(end),
            TermValue::Var(name) if is_verbatim(&name.0) => Ok(end),
            _ => {
                let rest = text.get(end..).unwrap_or_default();
                let trimmed = rest.trim_start();
                match trimmed.strip_prefix(']') {
                    Some(_) => Ok(end + (rest.len() - trimmed.len()) + 1),
                    None => Err(self.not_movable(&step.location)),
                }
            }
        }
    }

    /// Returns the error for source text that cannot be rewritten.
    fn not_movable(&self, location: &Location) -> String {
        format!(
            "{location:?}: what stands here cannot be moved; write it without comments and brackets"
        )
    }

    /// Applies the edits.
    fn text(&self) -> Result<String, String> {
        let old = &self.module.text;
        let mut text = String::with_capacity(old.len() + 64 * self.edits.len());
        let mut from = 0;
        for (start, (end, new)) in &self.edits {
            let unchanged = old.get(from..*start);
            text.push_str(
                unchanged.ok_or_else(|| self.not_movable(&self.module.package.location))?,
            );
            text.push_str(new);
            from = *end;
        }
        text.push_str(old.get(from..).unwrap_or_default());
        Ok(text)
    }

    /// Parses the new source, and checks that only the moved references have changed.
    fn check(&self, text: &str, package: &[String]) -> Result<Module, String> {
        let id = &self.module.file;
        let module = Module::parse_as(id, text, self.version);
        let module = module.map_err(|errors| errors.to_string())?;
        let mut expected: Vec<_> = references(self.module)
            .into_iter()
            .filter_map(|reference| {
                let steps = path(reference.iter().skip(1));
                match (self.replacement(reference), head(reference)) {
                    (Some((moved, consumed)), _) => {
                        Some([moved.as_slice(), steps.get(consumed..).unwrap_or_default()].concat())
                    }
                    (None, Some("data")) => Some(steps),
                    (None, _) => None,
                }
            })
            .collect();
        let mut found: Vec<_> = references(&module)
            .into_iter()
            .filter(|reference| head(reference) == Some("data"))
            .map(|reference| path(reference.iter().skip(1)))
            .collect();
        expected.sort_unstable();
        found.sort_unstable();
        match expected == found && self::package(&module) == package {
            true => Ok(module),
            false => Err(format!(
                "{id}: its references to `{}` cannot be moved",
                mount::display(&self.mount.from)
            )),
        }
    }
}

/// Returns the path below `data` that an import names.
fn imported(import: &Import) -> Option<Vec<String>> {
    match &import.path.value {
        TermValue::Ref(reference) if head(reference) == Some("data") => {
            Some(path(reference.iter().skip(1)))
        }
        _ => None,
    }
}

/// Returns the name that an import introduces for a document below `data`.
fn name(import: &Import) -> Option<String> {
    match &import.alias {
        Some(alias) => Some(alias.0.to_string()),
        None => imported(import)?.pop(),
    }
}

#[cfg(test)]
mod tests;
