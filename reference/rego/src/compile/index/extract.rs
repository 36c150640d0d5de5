//! Extraction of index keys from rule bodies.

use super::{Conjunction, IndexKey, Key, Root, Test, glob};
use crate::Value;
use crate::compile::rule_tree::Node;
use crate::hash::HashMap;
use crate::syntax::terms::{as_var, constant, dotted, is_equality, is_scalar, operands, operator};
use crate::syntax::visit::{self, Visit, deep};
use crate::syntax::{Connective, Expr, ExprTerms, Logic, Operand, Rule, Term, TermValue, Var};
use crate::value::Text;

/// Maximum number of alternatives for a rule; if `or` creates more, it is ignored.
const MAX_ALTERNATIVES: usize = 32;

/// Returns the alternatives for a rule (several only if it has `or`) and its key conditions.
pub(super) fn rule(rule: &Rule, root: &Node) -> (Vec<Conjunction<IndexKey>>, Vec<Key<IndexKey>>) {
    if prints(rule) {
        return (vec![Conjunction::new()], Vec::new());
    }
    let mut reader = Reader {
        root,
        args: &rule.head.args,
        constants: HashMap::default(),
        aliases: HashMap::default(),
        found: Conjunction::new(),
        choices: Vec::new(),
        keys: Vec::new(),
    };
    reader.body(&rule.body);
    (reader.take_alternatives(), reader.keys)
}

/// Returns the number of leading expressions of the body that the rule's only alternative implies:
/// equations of parts of the input with constants. If a part is compared twice, one of the values
/// suffices.
pub(super) fn implied_expressions(rule: &Rule, alternatives: &[Conjunction<IndexKey>]) -> usize {
    let [alternative] = alternatives else {
        return 0;
    };
    let is_proven = |expr: &&Expr| {
        let (sides, is_plain) = (operands(expr), expr.with.is_empty() && !expr.negated);
        is_plain
            && is_equality(expr)
            && matches!(sides, [left, right]
                if is_tested(alternative, left, right) || is_tested(alternative, right, left))
    };
    rule.body.iter().take_while(is_proven).count()
}

/// Whether the index tests for a part of the input exactly that it has this value.
fn is_tested(alternative: &Conjunction<IndexKey>, part: &Term, value: &Term) -> bool {
    let (TermValue::Ref(reference), true) = (&part.value, is_scalar(value)) else {
        return false;
    };
    let Some((head, steps)) = reference.split_first() else {
        return false;
    };
    let is_part = |subject: &IndexKey| {
        subject.root == Root::Input
            && subject.steps.len() == steps.len()
            && subject.steps.iter().zip(steps).all(|(known, step)| {
                is_scalar(step) && constant(step).is_some_and(|step| step == *known)
            })
    };
    let is_value = |test: &Test| match test {
        Test::Equals(known) => constant(value).is_some_and(|value| value == *known),
        _ => false,
    };
    as_var(head).is_some_and(|head| &*head.0 == "input")
        && alternative.iter().any(|(subject, tests)| {
            is_part(subject) && matches!(tests.as_slice(), [test] if is_value(test))
        })
}

/// Whether a rule prints, which is an observable side effect.
fn prints(rule: &Rule) -> bool {
    struct Prints(bool);
    impl<'t> Visit<'t> for Prints {
        fn expr(&mut self, expr: &'t Expr) -> bool {
            if let ExprTerms::Call(call) = &expr.terms {
                let name = operator(call).and_then(dotted);
                self.0 |= name.as_deref() == Some("internal.print");
            }
            matches!(expr.terms, ExprTerms::Every(_) | ExprTerms::Logic(_))
        }
    }
    let mut prints = Prints(false);
    visit::body(&rule.body, &mut prints);
    prints.0
}

struct Reader<'r> {
    root: &'r Node,
    args: &'r [Term],
    /// Variables with a known value.
    constants: HashMap<&'r Var, Value>,
    /// Variables that are aliases of a subject.
    aliases: HashMap<&'r Var, IndexKey>,
    found: Conjunction<IndexKey>,
    /// Further choices: one alternative of each must be satisfied, too.
    choices: Vec<Vec<Conjunction<IndexKey>>>,
    keys: Vec<Key<IndexKey>>,
}

impl<'r> Reader<'r> {
    fn body(&mut self, body: &'r [Expr]) {
        for expr in body {
            if expr.with.is_empty() && !expr.negated {
                self.expr(expr);
            }
        }
    }

    /// Extracts conditions from `and` and `or`.
    fn logic(&mut self, logic: &'r Logic) {
        let operands = logic.operands.iter();
        match logic.connective {
            Connective::Not => {}
            Connective::And => {
                let alternatives: Vec<_> = operands.map(|operand| self.operand(operand)).collect();
                alternatives
                    .into_iter()
                    .for_each(|alternatives| self.require(alternatives));
            }
            Connective::Or => {
                let alternatives: Vec<_> = operands.map(|operand| self.operand(operand)).collect();
                // An alternative that any input satisfies restricts nothing.
                if !alternatives.iter().any(Vec::is_empty) {
                    self.require(alternatives.into_iter().flatten().collect());
                }
            }
        }
    }

    /// Returns the alternative keys of an operand; empty if it is unrestricted. Constants and aliases
    /// that it binds are not visible outside of it.
    fn operand(&mut self, operand: &'r Operand) -> Vec<Conjunction<IndexKey>> {
        let (constants, aliases) = (self.constants.clone(), self.aliases.clone());
        let found = std::mem::take(&mut self.found);
        let choices = std::mem::take(&mut self.choices);
        let keys = self.keys.len();
        deep(|| self.body(&operand.body));
        let mut alternatives = self.take_alternatives();
        (self.constants, self.aliases) = (constants, aliases);
        (self.found, self.choices) = (found, choices);
        self.keys.truncate(keys);
        if matches!(alternatives.as_slice(), [only] if only.is_empty()) {
            alternatives.clear();
        }
        alternatives
    }

    fn require(&mut self, mut alternatives: Vec<Conjunction<IndexKey>>) {
        if alternatives.len() > 1 {
            self.choices.push(alternatives);
        } else if let Some(only) = alternatives.pop() {
            add_all(&mut self.found, only);
        }
    }

    /// Returns all combinations of the alternatives found.
    fn take_alternatives(&mut self) -> Vec<Conjunction<IndexKey>> {
        let found = std::mem::take(&mut self.found);
        let mut alternatives = vec![found.clone()];
        for choice in std::mem::take(&mut self.choices) {
            if alternatives.len() * choice.len() > MAX_ALTERNATIVES {
                return vec![found];
            }
            let both = alternatives.iter().flat_map(|alternative| {
                choice.iter().map(|chosen| {
                    let mut alternative = alternative.clone();
                    add_all(&mut alternative, chosen.clone());
                    alternative
                })
            });
            alternatives = both.collect();
        }
        alternatives
    }

    fn expr(&mut self, expr: &'r Expr) {
        if is_equality(expr) {
            if let [left, right] = operands(expr)
                && !self.member_of(left, right)
                && !self.member_of(right, left)
            {
                self.compare(left, right);
            }
            return;
        }
        let call = match &expr.terms {
            ExprTerms::Term(term) => {
                match self.reference(term) {
                    Some(subject) => self.add(subject, Test::Defined),
                    None => self.keys.extend(self.key(term)),
                }
                return;
            }
            ExprTerms::Call(call) => call,
            ExprTerms::Logic(logic) => return self.logic(logic),
            _ => return,
        };
        let name = operator(call).and_then(dotted);
        match (name.as_deref(), operands(expr)) {
            (Some("equal"), [left, right]) => self.compare(left, right),
            (Some("glob.match"), [pattern, delimiters, text]) => {
                self.glob(pattern, delimiters, text);
            }
            (Some("internal.member_2"), [member, collection]) => self.member(member, collection),
            (Some("startswith"), [text, base]) => self.affix(text, base, Test::Prefix),
            (Some("endswith"), [text, base]) => self.affix(text, base, Test::Suffix),
            (Some("strings.any_prefix_match"), [text, base]) => {
                self.affixes(text, base, Test::Prefix);
            }
            (Some("strings.any_suffix_match"), [text, base]) => {
                self.affixes(text, base, Test::Suffix);
            }
            _ => {}
        }
    }

    fn add(&mut self, subject: IndexKey, test: Test) {
        add(&mut self.found, subject, test);
    }

    /// Returns the value of a constant, or of a variable with a known value.
    fn value(&self, term: &Term) -> Option<Value> {
        match as_var(term) {
            Some(var) => self.constants.get(var).cloned(),
            None => constant(term),
        }
    }

    /// Returns the subject of a parameter, or of a variable that is an alias of one.
    fn variable(&self, var: &Var) -> Option<IndexKey> {
        if let Some(subject) = self.aliases.get(var) {
            return Some(subject.clone());
        }
        let place = self.args.iter().position(|arg| as_var(arg) == Some(var))?;
        Some(IndexKey {
            root: Root::Argument(place),
            steps: Vec::new(),
        })
    }

    /// Returns the subject of a reference with known steps, if no rules are on its path.
    fn reference(&self, term: &Term) -> Option<IndexKey> {
        let TermValue::Ref(reference) = &term.value else {
            return None;
        };
        self.steps(reference)
    }

    fn steps(&self, reference: &[Term]) -> Option<IndexKey> {
        let (head, steps) = reference.split_first()?;
        let var = as_var(head)?;
        let mut subject = match &*var.0 {
            "input" => IndexKey {
                root: Root::Input,
                steps: Vec::new(),
            },
            "data" => IndexKey {
                root: Root::Data,
                steps: Vec::new(),
            },
            _ => self.variable(var)?,
        };
        if subject.root != Root::Input
            && matches!(subject.root, Root::Argument(_))
            && !steps.is_empty()
        {
            return None;
        }
        for step in steps {
            let value = constant(step).or_else(|| {
                let value = self.constants.get(as_var(step)?)?;
                is_simple(value).then(|| value.clone())
            });
            subject.steps.push(value?);
        }
        (subject.root != Root::Data || !self.is_virtual(&subject.steps)).then_some(subject)
    }

    /// Returns the key condition for the last step of a reference to a base document.
    fn key(&self, term: &Term) -> Option<Key<IndexKey>> {
        let TermValue::Ref(reference) = &term.value else {
            return None;
        };
        let (last, before) = reference.split_last()?;
        let key = match as_var(last) {
            Some(var) => self.variable(var),
            None => self.reference(last),
        };
        let collection = self.steps(before)?;
        let key = key.filter(|_| collection.root == Root::Data)?;
        Some(Key { key, collection })
    }

    /// Whether rules define a document, or something above or below it.
    fn is_virtual(&self, steps: &[Value]) -> bool {
        let mut node = self.root;
        for step in steps {
            match node.child(step) {
                None => return false,
                Some(child) if child.rules.is_some() => return true,
                Some(child) => node = child,
            }
        }
        true
    }

    /// Extracts a test from an equality in either direction.
    fn compare(&mut self, left: &'r Term, right: &'r Term) {
        if !self.equal(left, right) {
            self.equal(right, left);
        }
    }

    /// Extracts a test from `left = right`, where the left side is a subject or a variable.
    fn equal(&mut self, left: &'r Term, right: &'r Term) -> bool {
        let subject = match &left.value {
            TermValue::Var(var) => {
                if let Some(value) = self.value(right) {
                    self.constants.insert(var, value);
                }
                self.variable(var)
            }
            TermValue::Ref(_) => self.reference(left),
            _ => None,
        };
        let Some(subject) = subject else {
            return false;
        };
        let test = match &right.value {
            TermValue::Var(var) => match self.constants.get(var) {
                Some(value) if matches!(left.value, TermValue::Ref(_)) => equals(value.clone()),
                _ => {
                    self.aliases.entry(var).or_insert_with(|| subject.clone());
                    Some(Test::Defined)
                }
            },
            TermValue::Array(items) => {
                let simple = items
                    .iter()
                    .all(|item| is_scalar(item) || as_var(item).is_some());
                simple.then(|| Test::Items(items.iter().map(constant).collect()))
            }
            _ if is_scalar(right) => constant(right).map(Test::Equals),
            _ => None,
        };
        match test {
            Some(test) => {
                self.add(subject, test);
                true
            }
            None => false,
        }
    }

    /// Extracts a membership test from `subject[_] = value`.
    fn member_of(&mut self, left: &'r Term, right: &'r Term) -> bool {
        let TermValue::Ref(reference) = &left.value else {
            return false;
        };
        let Some((last, before)) = reference.split_last() else {
            return false;
        };
        let open = as_var(last).is_some_and(|var| !self.constants.contains_key(var));
        let value = self.value(right).filter(is_simple);
        let subject = self.steps(before).filter(|_| open && !before.is_empty());
        match (subject, value) {
            (Some(subject), Some(value)) => {
                self.add(subject, Test::Has(value));
                true
            }
            _ => false,
        }
    }

    /// Extracts a test from `member in collection`, where one of them is a subject.
    fn member(&mut self, member: &'r Term, collection: &'r Term) {
        if let Some(subject) = as_var(member).and_then(|var| self.variable(var)) {
            let values: Option<Vec<Value>> = match self.value(collection) {
                Some(Value::Array(items)) => Some(items.to_vec()),
                Some(Value::Set(items)) => Some(items.iter().cloned().collect()),
                Some(Value::Object(members)) => Some(members.values().cloned().collect()),
                // Unknown members could be anything.
                _ => None,
            };
            let tests = values.into_iter().flatten().map(equals);
            let tests: Option<Vec<Test>> = tests.collect();
            for test in tests.into_iter().flatten() {
                self.add(subject.clone(), test);
            }
            return;
        }
        let subject = match &collection.value {
            TermValue::Var(var) => self.variable(var),
            _ => self.reference(collection),
        };
        if let Some(subject) = subject {
            match self.value(member) {
                Some(value) if is_simple(&value) => self.add(subject, Test::Has(value)),
                None if as_var(member).is_some() => self.add(subject, Test::Defined),
                _ => {}
            }
        }
    }

    fn glob(&mut self, pattern: &Term, delimiters: &Term, text: &Term) {
        if let Some(delimiters) = glob::delimiters(delimiters)
            && let TermValue::String(pattern) = &pattern.value
            && let Some(parts) = glob::parts(pattern, &delimiters)
            && let Some(subject) = as_var(text).and_then(|var| self.variable(var))
        {
            self.add(subject, Test::Parts(delimiters.into(), parts));
        }
    }

    fn text(&self, term: &Term) -> Option<IndexKey> {
        match &term.value {
            TermValue::Var(var) => self.variable(var),
            _ => self.reference(term),
        }
    }

    fn affix(&mut self, text: &Term, base: &Term, test: fn(Text) -> Test) {
        if let (Some(subject), Some(Value::String(base))) = (self.text(text), self.value(base)) {
            self.add(subject, test(base));
        }
    }

    fn affixes(&mut self, text: &Term, base: &Term, test: fn(Text) -> Test) {
        let bases: Option<Vec<_>> = match self.value(base) {
            Some(Value::String(base)) => Some(vec![base]),
            Some(Value::Array(items)) => items.iter().map(as_text).collect(),
            Some(Value::Set(items)) => items.iter().map(as_text).collect(),
            _ => None,
        };
        if let (Some(subject), Some(bases)) = (self.text(text), bases) {
            for base in bases {
                self.add(subject.clone(), test(base));
            }
        }
    }
}

/// Adds a test. A comparison of a subject implies that it is defined.
fn add(alternative: &mut Conjunction<IndexKey>, subject: IndexKey, test: Test) {
    let found = alternative.iter_mut().find(|(other, _)| *other == subject);
    match found {
        None => alternative.push((subject, vec![test])),
        Some((_, tests)) => match (tests.as_slice(), &test) {
            ([Test::Defined], _) => *tests = vec![test],
            (_, Test::Defined) => {}
            _ => tests.push(test),
        },
    }
}

fn add_all(alternative: &mut Conjunction<IndexKey>, more: Conjunction<IndexKey>) {
    for (subject, tests) in more {
        for test in tests {
            add(alternative, subject.clone(), test);
        }
    }
}

/// Returns the test for a constant; `None` for collections that are compared item by item.
fn equals(value: Value) -> Option<Test> {
    match value {
        Value::Array(items) => {
            let simple = items.iter().all(is_simple);
            simple.then(|| Test::Items(items.iter().cloned().map(Some).collect()))
        }
        Value::Object(_) | Value::Set(_) => None,
        simple => Some(Test::Equals(simple)),
    }
}

fn is_simple(value: &Value) -> bool {
    !value.is_composite()
}

fn as_text(value: &Value) -> Option<Text> {
    match value {
        Value::String(text) => Some(text.clone()),
        _ => None,
    }
}
