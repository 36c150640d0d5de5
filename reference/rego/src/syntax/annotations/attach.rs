//! Attaches METADATA blocks to their subjects.

use std::sync::Arc;

use crate::error::{Code, LanguageError};
use crate::hash::HashMap;
use crate::syntax::format::Reference;
use crate::syntax::{Annotations, Module, Rule, Term};

/// Maximum number of attachments of blocks. A block can be attached to all rules of a name.
const MAX_ATTACHED: usize = 100_000;

/// Statement that follows a block.
#[derive(Clone, Copy)]
enum FollowingStatement {
    Package,
    Import,
    Rule(usize),
}

/// Blocks of the rules of one name, by their indices in the module.
#[derive(Default)]
struct Group {
    document: Vec<usize>,
    /// Blocks with the scope `rule`, in reverse order.
    waiting: Vec<usize>,
    /// Blocks with the scope `rule` above the current rule that no earlier rule has taken.
    above: Vec<usize>,
}

/// Attaches the blocks to the module, and to the rules that they apply to. Returns errors for
/// misplaced blocks.
pub(in crate::syntax) fn attach(
    module: &mut Module,
    mut blocks: Vec<Annotations>,
) -> Vec<LanguageError> {
    if blocks.is_empty() {
        return Vec::new();
    }
    let mut errors = Vec::new();
    let mut groups: HashMap<String, Group> = HashMap::default();
    let statements = statements(module);
    for (place, block) in blocks.iter_mut().enumerate() {
        let next = statements.partition_point(|(row, _)| *row <= block.location.row);
        let below = statements.get(next).map(|(_, below)| *below);
        if block.scope.is_empty() {
            block.scope = usual_scope(below, block).into();
        }
        check(block, below, &mut errors);
        if let Some(FollowingStatement::Rule(index)) = below
            && let Some(rule) = module.rules.get(index)
        {
            let group = groups.entry(name(rule)).or_default();
            match &*block.scope {
                "document" => group.document.push(place),
                "rule" => group.waiting.push(place),
                _ => {}
            }
        }
    }
    module.annotations = blocks.into_iter().map(Arc::new).collect();
    if errors.is_empty() && !attach_to_rules(module, groups) {
        errors.push(LanguageError::at(
            Code::Parse,
            &module.package.location,
            "too many annotations of rules with the same name",
        ));
    }
    errors
}

/// Returns the sorted rows of all statements.
fn statements(module: &Module) -> Vec<(u32, FollowingStatement)> {
    let rules = module.rules.iter().enumerate();
    let mut statements = vec![(module.package.location.row, FollowingStatement::Package)];
    let imports = module.imports.iter();
    statements.extend(imports.map(|import| (import.location.row, FollowingStatement::Import)));
    statements
        .extend(rules.map(|(index, rule)| (rule.location.row, FollowingStatement::Rule(index))));
    statements.sort_by_key(|(row, _)| *row);
    statements
}

fn usual_scope(below: Option<FollowingStatement>, block: &Annotations) -> &'static str {
    match below {
        Some(FollowingStatement::Rule(_)) if is_entrypoint(block) => "document",
        Some(FollowingStatement::Rule(_)) => "rule",
        Some(FollowingStatement::Package) => "package",
        Some(FollowingStatement::Import) => "import",
        None => "",
    }
}

fn is_entrypoint(block: &Annotations) -> bool {
    block.value.get("entrypoint").is_some()
}

fn check(block: &Annotations, below: Option<FollowingStatement>, errors: &mut Vec<LanguageError>) {
    let scope = &*block.scope;
    let mut refuse =
        |message: String| errors.push(LanguageError::at(Code::Parse, &block.location, message));
    let expected = match (scope, below) {
        ("rule" | "document", Some(FollowingStatement::Rule(_)))
        | ("package" | "subpackages", Some(FollowingStatement::Package)) => None,
        ("rule" | "document", _) => Some("rule"),
        ("package" | "subpackages", _) => Some("package"),
        _ => {
            refuse(format!(
                "invalid annotation scope '{scope}'. Use one of 'rule', 'document', 'package', or 'subpackages'"
            ));
            None
        }
    };
    if let Some(expected) = expected {
        let found = match below {
            Some(FollowingStatement::Package) => " (have package)",
            Some(FollowingStatement::Import) => " (have import)",
            Some(FollowingStatement::Rule(_)) => " (have rule)",
            None => "",
        };
        refuse(format!(
            "annotation scope '{scope}' must be applied to {expected}{found}"
        ));
    }
    if is_entrypoint(block) && !matches!(scope, "document" | "package") {
        refuse(format!(
            "annotation entrypoint applied to non-document or package scope '{scope}'"
        ));
    }
}

/// Returns the name of a rule below its package, up to the first variable step.
fn name(rule: &Rule) -> String {
    let steps = rule.head.reference.iter().skip(1);
    let length = 1 + steps.take_while(|step| Term::is_ground(step)).count();
    let ground = rule.head.reference.get(..length).unwrap_or_default();
    Reference(ground).to_string()
}

/// Attaches to each rule the blocks of its document, and the blocks with the scope `rule` of its
/// name that precede it and that no rule has taken; the rule takes the last of these. Returns false
/// if there are too many.
fn attach_to_rules(module: &mut Module, mut groups: HashMap<String, Group>) -> bool {
    for group in groups.values_mut() {
        group.waiting.reverse();
    }
    let mut attached = 0;
    for rule in &mut module.rules {
        let Some(group) = groups.get_mut(&name(rule)) else {
            continue;
        };
        while let Some(place) = group.waiting.last().copied()
            && let Some(block) = module.annotations.get(place)
            && block.location.row < rule.location.row
        {
            group.waiting.pop();
            group.above.push(place);
        }
        let mut places = [group.document.as_slice(), &group.above].concat();
        places.sort_unstable();
        attached += places.len();
        if attached > MAX_ATTACHED {
            return false;
        }
        let blocks = places
            .iter()
            .filter_map(|place| module.annotations.get(*place));
        rule.annotations = blocks.cloned().collect();
        group.above.pop();
    }
    true
}
