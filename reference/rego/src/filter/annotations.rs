//! Annotations with which policies configure data filters.

use thin_vec::{ThinVec, thin_vec};

use super::Unsupported;
use crate::compile::rule_tree::{Node, RuleKind, RuleSet};
use crate::syntax::terms::{constant, term_of_value};
use crate::syntax::{
    Annotations, Body, Expr, ExprTerms, Location, Term, TermValue, Var, parse_query,
};
use crate::{Policy, Value};

/// Rule that is translated to a filter, or a document at its path.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FilterAnnotations {
    /// References that METADATA blocks of the rule list as `unknowns`.
    pub unknowns: Vec<String>,
    /// Path, below `data`, of the rule that a METADATA block of the rule names as `mask_rule`.
    pub mask_rule: Option<Vec<Value>>,
    /// Path of the rule's package.
    pub package: Vec<Value>,
}

impl Policy {
    /// Returns the annotations for the rule at a path below `data`, from the METADATA blocks of the
    /// rule, its document, its package and the enclosing packages. `None` if there is neither such
    /// a rule nor one into whose value the path could lead.
    ///
    /// # Errors
    /// If the path is that of a package, function or rule of several values, or if unknowns are
    /// below neither `input` nor `data`.
    pub fn filter_rule(
        &self,
        path: &[Value],
    ) -> Result<Option<FilterAnnotations>, Vec<Unsupported>> {
        let root = self.module_set().root();
        let whole = root.find(path);
        let above = || (1..path.len()).rev().filter_map(|end| path.get(..end));
        let rules = match whole {
            Some(Node {
                rules: Some(rules), ..
            }) => {
                if rules.kind != RuleKind::Complete {
                    return Err(vec![invalid(path)]);
                }
                rules
            }
            Some(_) => return Err(vec![invalid(path)]),
            None => {
                let mut nodes = above().filter_map(|path| root.find(path));
                match nodes.find_map(|node| node.rules.as_ref()) {
                    Some(rules) if rules.arity == 0 => rules,
                    Some(_) => return Err(vec![invalid(path)]),
                    None => return Ok(None),
                }
            }
        };
        declared(root, rules).map(Some)
    }
}

fn declared(root: &Node, rules: &RuleSet) -> Result<FilterAnnotations, Vec<Unsupported>> {
    let Some(rule) = rules.all().into_iter().next() else {
        return Ok(FilterAnnotations::default());
    };
    let package = rule.reference.get(1..rule.package).unwrap_or_default();
    let mut declared = FilterAnnotations {
        package: package.iter().filter_map(constant).collect(),
        ..FilterAnnotations::default()
    };
    let package = declared.package.clone();
    let of_rule = rule.ast().annotations.iter();
    let of_rule = of_rule.filter(|block| &*block.scope == "rule");
    let of_document = rules
        .all()
        .into_iter()
        .flat_map(|rule| &rule.ast().annotations);
    let of_document = of_document.filter(|block| &*block.scope == "document");
    let of_package = |path: &[Value], scope: &'static str| {
        let modules = root.find(path).map(|node| node.modules.as_slice());
        let blocks = modules.unwrap_or_default().iter();
        let mut blocks = blocks.flat_map(|module| &module.annotations);
        blocks.find(|block| &*block.scope == scope).cloned()
    };
    let around = (0..=package.len()).rev();
    let around = around.filter_map(|end| of_package(package.get(..end)?, "subpackages"));
    let chain = of_rule
        .chain(of_document.take(1))
        .cloned()
        .chain(of_package(&package, "package"))
        .chain(around);
    let mut refusals = Vec::new();
    for block in chain {
        add(&mut declared, &block, &mut refusals);
    }
    match refusals.is_empty() {
        true => Ok(declared),
        false => Err(refusals),
    }
}

fn add(declared: &mut FilterAnnotations, block: &Annotations, refusals: &mut Vec<Unsupported>) {
    let Some(compile) = &block.compile else {
        return;
    };
    let unknowns = compile.get("unknowns").and_then(Value::as_array);
    for unknown in unknowns.into_iter().flatten() {
        let steps: Vec<Value> = unknown.as_array().into_iter().flatten().cloned().collect();
        let text = text(&steps);
        if !matches!(
            steps.first().and_then(Value::as_str),
            Some("input" | "data")
        ) {
            let expression = parse_query(&text).ok();
            let expression = expression.and_then(|body| Some(body.first()?.to_string()));
            let expression = expression.unwrap_or(text);
            let message = format!("unknowns must be prefixed with `input` or `data`: {expression}");
            refusals.push(Unsupported {
                code: Unsupported::UNKNOWN,
                ..Unsupported::at(&block.location, message)
            });
            continue;
        }
        declared.unknowns.push(text);
    }
    if declared.mask_rule.is_none()
        && let Some(steps) = compile.get("mask_rule").and_then(Value::as_array)
    {
        declared.mask_rule = Some(below(&steps.to_vec(), &declared.package));
    }
}

/// Formats the reference with these steps.
fn text(steps: &[Value]) -> String {
    let mut text = String::new();
    for (position, step) in steps.iter().enumerate() {
        match step.as_str() {
            Some(head) if position == 0 => text.push_str(head),
            _ => text.push_str(&format!("[{step}]")),
        }
    }
    text
}

/// Returns the path of a rule that is named from the root or relative to a package.
fn below(steps: &[Value], package: &[Value]) -> Vec<Value> {
    match steps.split_first() {
        Some((head, steps)) if head.as_str() == Some("data") => steps.to_vec(),
        _ => package.iter().chain(steps).cloned().collect(),
    }
}

/// Parses the path of a rule from the root (`data.a.b`) or relative to a package (`b`); `None` if
/// the string is not a reference to a rule.
pub fn rule_path(text: &str, package: &[Value]) -> Option<Vec<Value>> {
    let body = parse_query(text).ok()?;
    let [expr] = body.as_slice() else {
        return None;
    };
    let ExprTerms::Term(term) = &expr.terms else {
        return None;
    };
    let reference = match &term.value {
        TermValue::Ref(reference) => reference.as_slice(),
        TermValue::Var(_) => std::slice::from_ref(&**term),
        _ => return None,
    };
    if expr.negated || !expr.with.is_empty() {
        return None;
    }
    let steps = reference
        .iter()
        .enumerate()
        .map(|(position, step)| match &step.value {
            TermValue::Var(name) if position == 0 => Some(Value::from(name.0.clone())),
            _ => constant(step),
        });
    Some(below(&steps.collect::<Option<Vec<_>>>()?, package))
}

/// Returns the query for the document at a path below `data`.
pub fn query(path: &[Value]) -> Body {
    let location = Location {
        file: "".into(),
        row: 1,
        col: 1,
        offset: 0,
        length: 0,
    };
    let term = |value| Term {
        value,
        location: location.clone(),
    };
    let mut reference = thin_vec![term(TermValue::Var(Var("data".into())))];
    reference.extend(path.iter().map(term_of_value));
    thin_vec![Expr {
        terms: ExprTerms::Term(Box::new(term(TermValue::Ref(reference)))),
        negated: false,
        with: ThinVec::new(),
        index: 0,
        generated: false,
        assigned: false,
        location,
    }]
}

fn invalid(path: &[Value]) -> Unsupported {
    let reference = query(path);
    let expression = reference.first().map(Expr::to_string).unwrap_or_default();
    Unsupported {
        code: Unsupported::CODE,
        message: format!("invalid data reference \"{expression}\""),
        location: None,
        advice: None,
    }
}
