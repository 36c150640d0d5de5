//! Random policies with conditions on the input and documents. Unlike the policies of
//! `rego_generate`, nearly all compile, and most depend on unknowns.

use rego_generate::Choices;
use serde_json::{Map, Value, json};

/// Number of rules of a policy.
const RULES: usize = 6;

/// References that the bodies of rules use.
const FIELDS: &[&str] = &[
    "input.a",
    "input.b",
    "input.c.d",
    "input.l",
    "data.base.k",
    "input.l[0]",
];

const SCALARS: &[&str] = &[
    "1", "2", "\"a\"", "\"b\"", "true", "false", "null", "0", "1.5", "[1]",
];

/// Type of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Complete,
    Set,
    /// Sets by key.
    Sets,
    Object,
    Function,
}

struct Maker<'c, 'b> {
    choices: &'c mut Choices<'b>,
    /// Whether the policy uses the keywords `and`, `or` and `not { … }`.
    has_logic: bool,
    kinds: Vec<Kind>,
    next: usize,
}

/// Generates a module of the package `m`, and queries of it.
pub(super) fn make(choices: &mut Choices<'_>) -> (String, Vec<String>) {
    let has_logic = choices.rarely(3);
    let mut maker = Maker {
        choices,
        has_logic,
        kinds: Vec::new(),
        next: 0,
    };
    let mut text = "package m\n".to_owned();
    if has_logic {
        text.push_str("\nimport rego.v2\n");
    }
    for at in 0..RULES {
        let (kind, rule) = maker.rule(at);
        text.push_str(&rule);
        maker.kinds.push(kind);
    }
    let queries = (0..RULES).map(|at| maker.query(at)).collect();
    (text, queries)
}

/// Generates an input document.
pub(super) fn input(choices: &mut Choices<'_>) -> Value {
    let mut members = Map::new();
    for name in ["a", "b", "c", "l"] {
        let value = match (choices.below(6), name) {
            (0, _) => continue,
            (1, _) => value(choices),
            (_, "c") => json!({"d": value(choices)}),
            (_, "l") => {
                let length = choices.below(4);
                (0..length).map(|_| value(choices)).collect()
            }
            _ => value(choices),
        };
        members.insert(name.to_owned(), value);
    }
    members.into()
}

/// Generates the base documents.
pub(super) fn documents(choices: &mut Choices<'_>) -> Value {
    json!({"base": {
        "k": value(choices),
        "list": [1, "a", value(choices)],
        "map": {"a": 1, "b": value(choices), "1": {"x": 2}},
    }})
}

fn value(choices: &mut Choices<'_>) -> Value {
    let texts = [
        "1",
        "2",
        "\"a\"",
        "\"b\"",
        "true",
        "false",
        "null",
        "0",
        "[1]",
        "{\"x\":1}",
        "\"ab\"",
    ];
    serde_json::from_str(choices.of(&texts)).unwrap_or_default()
}

impl Maker<'_, '_> {
    fn field(&mut self) -> &'static str {
        self.choices.of(FIELDS)
    }

    fn scalar(&mut self) -> &'static str {
        self.choices.of(SCALARS)
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("v{}", self.next)
    }

    /// Returns the index of an earlier rule of this type, if there is one.
    fn earlier(&mut self, kind: Kind) -> Option<usize> {
        let own = self.kinds.iter().enumerate();
        let own: Vec<usize> = own
            .filter(|(_, of)| **of == kind)
            .map(|(at, _)| at)
            .collect();
        let at = self.choices.below(own.len().max(1));
        own.get(at).copied()
    }

    fn rule(&mut self, at: usize) -> (Kind, String) {
        match self.choices.below(10) {
            0 | 1 => (Kind::Complete, self.bodies(&format!("r{at} if"), 3)),
            2 => {
                let default = self.choices.of(&["false", "true", "2"]);
                let bodies = self.bodies(&format!("r{at} if"), 2);
                (
                    Kind::Complete,
                    format!("\ndefault r{at} := {default}\n{bodies}"),
                )
            }
            3 | 4 => {
                let first = self.bodies(&format!("r{at} := 1 if"), 1);
                let other = self.body();
                let mut text = format!("{} else := 2 if {{\n\t{other}\n}}", first.trim_end());
                if self.choices.rarely(2) {
                    text.push_str(" else := false");
                }
                (Kind::Complete, text + "\n")
            }
            5 => {
                let member = self.field();
                let scalar = self.scalar();
                let first = self.bodies(&format!("r{at} contains {member} if"), 1);
                let second = self.bodies(&format!("r{at} contains {scalar} if"), 1);
                (Kind::Set, first + &second)
            }
            6 => {
                let (member, key) = (self.field(), self.choices.of(&["\"a\"", "\"b\"", "1"]));
                let first = self.bodies(&format!("r{at}[{key}] := {member} if"), 1);
                let second = self.bodies(&format!("r{at}[\"z\"] := 1 if"), 1);
                (Kind::Object, first + &second)
            }
            7 => {
                let rules = (0..2).map(|_| {
                    let (key, member, body) = (self.field(), self.member(), self.body());
                    format!("\nr{at}[x] contains {member} if {{\n\tx := {key}\n\t{body}\n}}\n")
                });
                (Kind::Sets, rules.collect())
            }
            8 => {
                let first = self.bodies(
                    &format!("r{at}(x) := 1 if {{\n\tx == 1\n}}\n\nr{at}(x) := 2 if"),
                    1,
                );
                (Kind::Function, first.replace("input.b", "x"))
            }
            _ => {
                let first = self.bodies(&format!("r{at}(x) if"), 1);
                let default = match self.choices.rarely(2) {
                    true => format!("\ndefault r{at}(_) := false\n"),
                    false => String::new(),
                };
                (Kind::Function, default + &first.replace("input.a", "x"))
            }
        }
    }

    /// Generates a member of a set.
    fn member(&mut self) -> String {
        match self.choices.below(4) {
            0 => self.field().to_owned(),
            1 => self.scalar().to_owned(),
            2 => format!("{{\"a\": {}}}", self.field()),
            _ => "{\"a\": 1}".to_owned(),
        }
    }

    fn bodies(&mut self, head: &str, most: usize) -> String {
        let count = 1 + self.choices.below(most);
        let bodies = (0..count).map(|_| format!("\n{head} {{\n\t{}\n}}\n", self.body()));
        bodies.collect()
    }

    fn body(&mut self) -> String {
        let count = 1 + self.choices.below(3);
        let lines: Vec<_> = (0..count).map(|_| self.line()).collect();
        lines.join("\n\t")
    }

    fn line(&mut self) -> String {
        if self.has_logic && self.choices.rarely(3) {
            return self.logic();
        }
        match self.choices.below(10) {
            0..=3 => self.condition(),
            4 | 5 => format!("not {}", self.condition()),
            6 => {
                let (name, field, scalar) = (self.fresh(), self.field(), self.scalar());
                format!("some {name} in {field}\n\t{name} != {scalar}")
            }
            7 => {
                let (name, field) = (self.fresh(), self.field());
                let condition = self.condition().replace("input.c.d", &name);
                format!("{name} := {field}\n\t{name} != \"q\"\n\t{condition}")
            }
            8 => {
                let (key, field) = (self.fresh(), self.field());
                let base = self
                    .choices
                    .of(&["data.base.map", "data.base.list", "input.l"]);
                format!("{base}[{key}] == {field}\n\t{key} != 0")
            }
            _ => {
                let (name, condition) = (self.fresh(), self.condition());
                let domain = self
                    .choices
                    .of(&["[1, 2]", "input.l", "{\"a\"}", "data.base.list"]);
                let condition = condition.replace("input.a", &name);
                format!("every {name} in {domain} {{\n\t\t{name} != \"q\"\n\t\t{condition}\n\t}}")
            }
        }
    }

    /// Combines conditions with the logic keywords.
    fn logic(&mut self) -> String {
        let left = self.operand();
        match self.choices.below(6) {
            0 | 1 => format!("{left} or {}", self.operand()),
            2 | 3 => format!("{left} and {}", self.operand()),
            4 => format!("not {left}"),
            _ => {
                let (name, field, right) = (self.fresh(), self.field(), self.operand());
                let right = right.replace("input.b", &name);
                format!("{name} := {field}\n\t{left} or {right}")
            }
        }
    }

    /// Generates a body in braces, or an expression.
    fn operand(&mut self) -> String {
        match self.choices.below(5) {
            0 | 1 => format!("{{\n\t\t{}\n\t}}", self.body()),
            2 => format!("(not {})", self.condition()),
            _ => format!("({})", self.condition()),
        }
    }

    /// Generates an expression without variables.
    fn condition(&mut self) -> String {
        let (field, scalar) = (self.field(), self.scalar());
        match self.choices.below(21) {
            0 | 1 => format!("{field} == {scalar}"),
            2 => format!("{field} != {scalar}"),
            3 => format!("{field} < {scalar}"),
            4 => format!("{field} >= {scalar}"),
            5 => field.to_owned(),
            6 => format!("{field} in {{1, \"a\", {scalar}}}"),
            7 => format!("startswith({field}, \"a\")"),
            8 => format!("count({field}) > 1"),
            9 => format!("{field} == {}", self.field()),
            10 => format!("data.base.map[{field}] == {scalar}"),
            11 => format!("{{y | some y in {field}; y != {scalar}}} == {{1}}"),
            12 => format!("count([y | some y in {field}; y == {}]) < 2", self.field()),
            13 => self.refers(Kind::Complete, |at| format!("r{at}")),
            14 => self.refers(Kind::Complete, |at| format!("r{at} == {field}")),
            15 => self.refers(Kind::Set, |at| format!("{field} in r{at}")),
            16 => self.refers(Kind::Object, |at| format!("r{at}[{field}] == {scalar}")),
            17 => self.refers(Kind::Function, |at| format!("r{at}({field})")),
            18 => self.refers(Kind::Sets, |at| format!("r{at}[{field}] == {{{scalar}}}")),
            19 => self.refers(Kind::Sets, |at| format!("r{at}[_] == {{{{\"a\": 1}}}}")),
            _ => {
                let target = self
                    .choices
                    .of(&["input.a", "input", "data.base.k", "input.c"]);
                self.refers(Kind::Complete, |at| {
                    format!("r{at} with {target} as {scalar}")
                })
            }
        }
    }

    fn refers(&mut self, kind: Kind, make: impl Fn(usize) -> String) -> String {
        match self.earlier(kind) {
            Some(at) => make(at),
            None => format!("{} == {}", self.field(), self.scalar()),
        }
    }

    fn query(&mut self, at: usize) -> String {
        let (field, scalar) = (self.field(), self.scalar());
        let kind = self.kinds.get(at).copied().unwrap_or(Kind::Complete);
        let form = self.choices.below(5);
        match (kind, form) {
            (Kind::Function, 0) => format!("not data.m.r{at}({field})"),
            (Kind::Function, 1) => format!("data.m.r{at}({field}) == {scalar}"),
            (Kind::Function, _) => format!("data.m.r{at}({field})"),
            (Kind::Sets, 0) => format!("data.m.r{at}[x] = {{{{\"a\": 1}}}}"),
            (Kind::Sets, 1) => format!("not data.m.r{at}[{field}] = {{{scalar}}}"),
            (Kind::Sets, 2) => format!("count(data.m.r{at}[{field}]) == 1"),
            (Kind::Sets, 3) => format!("{scalar} in data.m.r{at}[{field}]"),
            (Kind::Sets, _) => format!("data.m.r{at}[{field}] == {{{{\"a\": 1}}}}"),
            (Kind::Set, 0) => format!("count(data.m.r{at}) == 1"),
            (Kind::Set, _) => format!("data.m.r{at}[{field}]"),
            (_, 0) => format!("not data.m.r{at}"),
            (_, 1) => format!("data.m.r{at} == {field}"),
            (Kind::Object, 2) => format!("data.m.r{at}[_] == {field}"),
            (Kind::Object, _) => format!("data.m.r{at}.a == {scalar}"),
            (Kind::Complete, 2) => format!("x := data.m.r{at}; x != {field}"),
            (Kind::Complete, _) => format!("data.m.r{at}"),
        }
    }
}
