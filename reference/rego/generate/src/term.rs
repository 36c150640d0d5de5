//! Terms.

use super::Choices;
use super::body::body;

/// What may be named where a term stands.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    /// Variables that have values.
    pub(crate) variables: Vec<String>,
    /// How many rules stand before this one.
    pub(crate) rules: usize,
    /// How many functions stand before this one.
    pub(crate) functions: usize,
    /// How much deeper terms and bodies may nest.
    pub(crate) depth: usize,
    /// The number of the next variable.
    pub(crate) next: usize,
}

impl Scope {
    /// A variable that no one has used yet.
    pub(crate) fn fresh(&mut self) -> String {
        self.next += 1;
        format!("v{}", self.next)
    }

    fn deeper(&mut self, make: impl FnOnce(&mut Self) -> String) -> String {
        let (known, depth) = (self.variables.len(), self.depth);
        self.depth = depth.saturating_sub(1);
        let made = make(self);
        self.variables.truncate(known);
        self.depth = depth;
        made
    }
}

/// A term whose variables are all bound, but for rare mistakes.
pub(crate) fn term(choices: &mut Choices<'_>, scope: &mut Scope) -> String {
    let kinds = if scope.depth == 0 { 4 } else { 12 };
    match choices.below(kinds) {
        0 => scalar(choices),
        1 => base(choices),
        2 => asked(choices),
        3 => variable(choices, scope),
        4 => scope.deeper(|scope| {
            let (left, right) = (term(choices, scope), term(choices, scope));
            format!(
                "({left} {} {right})",
                choices.of(&["+", "-", "*", "/", "%", "&", "|"])
            )
        }),
        5 => scope.deeper(|scope| format!("[{}, {}]", term(choices, scope), term(choices, scope))),
        6 => {
            scope.deeper(|scope| format!("{{{}, {}}}", term(choices, scope), term(choices, scope)))
        }
        7 => scope.deeper(|scope| {
            let (key, value) = (term(choices, scope), term(choices, scope));
            format!("{{\"k\": {value}, {key}: 1}}")
        }),
        8 => call(choices, scope),
        9 => rule(choices, scope),
        10 => scope.deeper(|scope| comprehension(choices, scope)),
        _ => scope.deeper(|scope| format!("{}[{}]", base(choices), term(choices, scope))),
    }
}

fn scalar(choices: &mut Choices<'_>) -> String {
    let scalars = [
        "1",
        "0",
        "2",
        "-1",
        "1.5",
        "2.0",
        "1e2",
        "\"a\"",
        "\"\"",
        "\"ann\"",
        "true",
        "false",
        "null",
        "[]",
        "{}",
        "set()",
        "123456789012345678901",
    ];
    choices.of(&scalars).to_owned()
}

fn base(choices: &mut Choices<'_>) -> String {
    let paths = [
        "list",
        "list[0]",
        "map",
        "map.a",
        "map.b",
        "map.c.d",
        "people",
        "people[0].name",
        "people[1].tags",
        "flag",
        "off",
        "nothing",
        "text",
        "missing",
        "list[_]",
        "people[_].age",
        "map[_]",
    ];
    format!("data.base.{}", choices.of(&paths))
}

fn asked(choices: &mut Choices<'_>) -> String {
    let paths = [
        "input",
        "input.x",
        "input.y",
        "input.list",
        "input.list[_]",
        "input.who.name",
        "input.deep.a.b[0].c",
        "input[0]",
    ];
    choices.of(&paths).to_owned()
}

fn variable(choices: &mut Choices<'_>, scope: &Scope) -> String {
    if choices.rarely(40) {
        return "unbound".to_owned();
    }
    let at = choices.below(scope.variables.len().max(1));
    scope
        .variables
        .get(at)
        .cloned()
        .unwrap_or_else(|| "7".to_owned())
}

fn rule(choices: &mut Choices<'_>, scope: &Scope) -> String {
    match scope.rules {
        0 => base(choices),
        rules => format!("r{}", choices.below(rules)),
    }
}

fn call(choices: &mut Choices<'_>, scope: &mut Scope) -> String {
    scope.deeper(|scope| {
        let (first, second) = (term(choices, scope), term(choices, scope));
        if scope.functions > 0 && choices.rarely(3) {
            return format!("f{}({first})", choices.below(scope.functions));
        }
        let unary = [
            "count",
            "sum",
            "max",
            "min",
            "sort",
            "abs",
            "to_number",
            "upper",
            "type_name",
            "is_string",
            "array.reverse",
            "json.marshal",
            "object.keys",
            "union",
        ];
        let binary = [
            "concat",
            "contains",
            "startswith",
            "split",
            "object.get",
            "array.concat",
            "trim",
            "format_int",
            "indexof",
            "bits.and",
            "sprintf",
        ];
        match choices.below(4) {
            0 | 1 => format!("{}({first})", choices.of(&unary)),
            2 => match choices.of(&binary) {
                "object.get" => format!("object.get({first}, {second}, 0)"),
                name => format!("{name}({first}, {second})"),
            },
            // Too many operands, or a function that does not exist.
            _ => match choices.below(12) {
                11 => format!("count({first}, {second}, 1, 2)"),
                10 => format!("no_such_function({first})"),
                _ => format!("sprintf(\"%v %d\", [{first}, {second}])"),
            },
        }
    })
}

fn comprehension(choices: &mut Choices<'_>, scope: &mut Scope) -> String {
    let body = body(choices, scope, "; ");
    let value = term(choices, scope);
    match choices.below(3) {
        0 => format!("[{value} | {body}]"),
        1 => format!("{{{value} | {body}}}"),
        _ => format!("{{{}: {value} | {body}}}", term(choices, scope)),
    }
}
