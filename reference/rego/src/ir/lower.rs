//! Lowering of the syntax tree to the IR.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::item_conditions;
use super::{
    Body, Builtin, BuiltinCall, Callee, Collect, Comprehension, Every, Expr, FunctionCall,
    FunctionName, Head, Kind, Operand, Operator, Program, Reference, Replacement, Root, Slot, Step,
    Target, With,
};
use crate::Value;
use crate::builtins;
use crate::hash::HashMap;
use crate::syntax::terms::{constant, dotted, is_var};
use crate::syntax::visit::deep;
use crate::syntax::{self, ExprTerms, Rule, Term, TermValue, Var};
use crate::types::signature;

/// Lowered rule, followed by its `else` branches.
#[derive(Debug)]
pub(crate) struct Lowered(pub(crate) Vec<Program>);

impl Builtin {
    /// Whether a call may have several results.
    pub(crate) fn has_many(self) -> bool {
        matches!(self.operator, Operator::Walk)
    }

    /// Returns the built-in function of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let signature = signature(name)?;
        let operator = match signature.name {
            "walk" => Operator::Walk,
            "internal.print" => Operator::Print,
            "trace" => Operator::Note,
            name => match builtins::function(name) {
                Some((cost, function)) => Operator::Function(cost, function),
                None => Operator::Unsupported,
            },
        };
        Some(Self {
            name: signature.name,
            operator,
            quick: builtins::quick(signature.name),
            nondeterministic: signature.nondeterministic,
            void: signature.void,
            makes: builtins::makes(signature.name),
            arity: signature.arity,
        })
    }
}

/// Lowers a rule and its `else` chain. The root document at the start of the reference is not part
/// of the path.
pub(crate) fn rule(rule: &Rule, reference: &[Term]) -> Lowered {
    let mut chain = Vec::new();
    let mut current = Some(rule);
    while let Some(rule) = current {
        let mut lowering = Lowering::default();
        let head = &rule.head;
        let path = reference.iter().skip(1).map(|step| lowering.operand(step));
        let path = path.collect();
        let args = head.args.iter().map(|arg| lowering.operand(arg)).collect();
        let key = head.key.as_ref().map(|key| lowering.operand(key));
        let value = head.value.as_ref().map(|value| lowering.operand(value));
        let body = lowering.body(&rule.body);
        chain.push(Program {
            names: lowering.names,
            body,
            head: Head {
                path,
                args,
                key,
                value,
            },
        });
        current = rule.else_rule.as_deref();
    }
    Lowered(chain)
}

/// Lowers the body of a query.
pub(crate) fn query(body: &syntax::Body) -> Program {
    let mut lowering = Lowering::default();
    let body = lowering.body(body);
    Program {
        names: lowering.names,
        body,
        head: Head::default(),
    }
}

/// Number of the next lowered reference, over all programs.
static REFERENCES: AtomicU64 = AtomicU64::new(0);

#[derive(Default)]
struct Lowering {
    names: Vec<Var>,
    slots: HashMap<Var, Slot>,
    exprs: usize,
    bodies: usize,
}

impl Lowering {
    fn slot(&mut self, name: &Var) -> Slot {
        if let Some(slot) = self.slots.get(name) {
            return *slot;
        }
        let slot = self.names.len();
        self.names.push(name.clone());
        self.slots.insert(name.clone(), slot);
        slot
    }

    fn body(&mut self, body: &syntax::Body) -> Body {
        let node = self.bodies;
        self.bodies += 1;
        let mut exprs: Vec<_> = syntax::deep(|| body.iter().map(|expr| self.expr(expr)).collect());
        item_conditions::find(&mut exprs);
        Body { exprs, node }
    }

    fn expr(&mut self, expr: &syntax::Expr) -> Expr {
        let node = self.exprs;
        self.exprs += 1;
        let kind = match &expr.terms {
            ExprTerms::Term(term) => Kind::Holds(self.operand(term)),
            ExprTerms::Call(terms) => self.call(terms),
            ExprTerms::Every(every) => {
                let key = every.key.as_ref().and_then(|key| self.variable(key));
                let value = self.variable(&every.value);
                Kind::Every(Box::new(Every {
                    key,
                    value: value.unwrap_or_else(|| self.nowhere()),
                    domain: self.operand(&every.domain),
                    body: self.body(&every.body),
                }))
            }
            ExprTerms::Logic(logic) => {
                let operands = logic.operands.iter();
                let bodies = operands.map(|operand| deep(|| self.body(&operand.body)));
                let bodies = bodies.collect();
                Kind::Logic(logic.connective, bodies)
            }
            ExprTerms::Some(_) => Kind::Holds(Operand::Known(Value::Bool(true))),
        };
        Expr {
            kind,
            negated: expr.negated,
            with: expr
                .with
                .iter()
                .filter_map(|with| self.with(with))
                .collect(),
            keyed: Vec::new(),
            location: expr.location.clone(),
            node,
        }
    }

    fn variable(&mut self, term: &Term) -> Option<Slot> {
        match &term.value {
            TermValue::Var(name) => Some(self.slot(name)),
            _ => None,
        }
    }

    /// Allocates a slot that is never bound, so that a read of it is undefined.
    fn nowhere(&mut self) -> Slot {
        let name = Var(format!("$nowhere{}", self.names.len()).into());
        self.slot(&name)
    }

    fn call(&mut self, terms: &[Term]) -> Kind {
        let path = crate::syntax::terms::operator(terms).unwrap_or_default();
        let operands = terms.get(1..).unwrap_or_default();
        let mut args: Vec<_> = operands.iter().map(|term| self.operand(term)).collect();
        if path.first().is_some_and(|head| is_var(head, "data")) {
            let path = path.iter().skip(1).filter_map(constant).collect();
            return Kind::Function(Box::new(FunctionCall { path, args }));
        }
        let name = dotted(path).unwrap_or_default();
        if matches!(&*name, "eq" | "assign") && args.len() == 2 {
            let right = args.pop();
            if let (Some(left), Some(right)) = (args.pop(), right) {
                return Kind::Unify(left, right);
            }
        }
        match Builtin::named(&name) {
            Some(builtin) => Kind::Builtin(Box::new(BuiltinCall { builtin, args })),
            None => Kind::Holds(Operand::Var(self.nowhere())),
        }
    }

    fn operand(&mut self, term: &Term) -> Operand {
        if let Some(value) = constant(term) {
            return Operand::Known(value);
        }
        syntax::deep(|| self.unknown(term))
    }

    /// Lowers a term that is not a constant.
    fn unknown(&mut self, term: &Term) -> Operand {
        match &term.value {
            TermValue::Var(_) if is_var(term, "data") || is_var(term, "input") => {
                self.reference(std::slice::from_ref(term))
            }
            TermValue::Var(name) => Operand::Var(self.slot(name)),
            TermValue::Ref(reference) => self.reference(reference),
            TermValue::Array(items) => {
                Operand::Array(items.iter().map(|item| self.operand(item)).collect())
            }
            TermValue::Object(members) => {
                let members = members.iter();
                let members = members.map(|(key, value)| (self.operand(key), self.operand(value)));
                Operand::Object(members.collect())
            }
            TermValue::Set(members) => {
                Operand::Set(members.iter().map(|item| self.operand(item)).collect())
            }
            TermValue::ArrayComprehension(of) => {
                let collect = Collect::Array(self.operand(&of.term));
                self.comprehension(collect, &of.body, &term.location)
            }
            TermValue::SetComprehension(of) => {
                let collect = Collect::Set(self.operand(&of.term));
                self.comprehension(collect, &of.body, &term.location)
            }
            TermValue::ObjectComprehension(of) => {
                let (key, value) = (self.operand(&of.key), self.operand(&of.value));
                self.comprehension(Collect::Object(key, value), &of.body, &of.key.location)
            }
            _ => Operand::Var(self.nowhere()),
        }
    }

    fn comprehension(
        &mut self,
        collect: Collect,
        body: &syntax::Body,
        at: &syntax::Location,
    ) -> Operand {
        Operand::Comprehension(Box::new(Comprehension {
            collect,
            body: self.body(body),
            location: at.clone(),
        }))
    }

    fn reference(&mut self, reference: &[Term]) -> Operand {
        let Some((head, steps)) = reference.split_first() else {
            return Operand::Var(self.nowhere());
        };
        let root = if is_var(head, "data") {
            Root::Data
        } else if is_var(head, "input") {
            Root::Input
        } else {
            Root::Term(self.operand(head))
        };
        let steps: Vec<_> = steps.iter().map(|step| self.step(step)).collect();
        let is_fixed =
            |step: &&Step| matches!(step, Step::One(Operand::Known(key)) if !key.is_composite());
        Operand::Reference(Box::new(Reference {
            id: REFERENCES.fetch_add(1, Ordering::Relaxed),
            root,
            fixed: steps.iter().take_while(is_fixed).count(),
            steps,
        }))
    }

    fn step(&mut self, step: &Term) -> Step {
        match &step.value {
            TermValue::Var(name) if name.is_wildcard() => Step::Any(self.slot(name)),
            _ => Step::One(self.operand(step)),
        }
    }

    fn with(&mut self, with: &syntax::With) -> Option<With> {
        let target = reference_of(&with.target)?;
        let head = target.first()?;
        let steps = || target.iter().skip(1).map(constant).collect::<Option<_>>();
        let target = if is_var(head, "input") {
            Target::Input(steps()?)
        } else if is_var(head, "data") {
            Target::Data(steps()?)
        } else {
            Target::Function(builtin_name(target)?)
        };
        Some(With {
            target,
            value: self.replacement(&with.value),
        })
    }

    fn replacement(&mut self, term: &Term) -> Replacement {
        let reference = reference_of(term).unwrap_or_default();
        let name = if reference.first().is_some_and(|head| is_var(head, "data")) {
            let path = reference
                .iter()
                .skip(1)
                .map(constant)
                .collect::<Option<_>>();
            path.map(FunctionName::Policy)
        } else {
            builtin_name(reference)
        };
        let operand = self.operand(term);
        match name {
            Some(name) => Replacement::Function(Arc::new(Callee { name, operand })),
            None => Replacement::Value(operand),
        }
    }
}

fn builtin_name(reference: &[Term]) -> Option<FunctionName> {
    let signature = signature(&dotted(reference)?)?;
    Some(FunctionName::Builtin(signature.name))
}

/// Returns the terms of a reference; a lone variable counts as a reference of one term.
fn reference_of(term: &Term) -> Option<&[Term]> {
    match &term.value {
        TermValue::Ref(reference) => Some(reference),
        TermValue::Var(_) => Some(std::slice::from_ref(term)),
        _ => None,
    }
}
