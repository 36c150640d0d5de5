//! Handwritten policies that are hard to translate.

use rego::Value;

use super::names::Schema;
use super::rows::json;

/// Policy on rows of the table `t`, or on pairs of rows of `t` and `u`, with its documents and
/// input.
#[derive(Debug, Clone)]
pub(super) struct Case {
    /// Rules of the package `filters`, including one named `include`.
    pub(super) rules: String,
    pub(super) input: Value,
    pub(super) documents: Value,
    /// Whether the policy compares a column with a constant of another type.
    pub(super) confuses_kinds: bool,
    /// Whether the policy is handwritten, so that it must not be refused.
    pub(super) written: bool,
    /// Names of the tables in the databases for this case.
    pub(super) schema: Schema,
}

impl Case {
    /// Returns the policy as a module.
    pub(super) fn module(&self) -> String {
        format!(
            "package filters\n\nimport future.keywords\n\n{}\n",
            self.rules
        )
    }

    /// Whether the policy is about pairs of rows.
    pub(super) fn is_joined(&self) -> bool {
        let mut references = self.rules.split("input.u").skip(1);
        references.any(|rest| !rest.starts_with(|next: char| next.is_alphanumeric()))
    }

    /// Returns a message about a failure of the case.
    pub(super) fn failed(&self, what: &str, error: &dyn std::fmt::Display) -> String {
        let (rules, input) = (&self.rules, &self.input);
        format!("{rules}\ninput: {input}\n{what}\n{error}")
    }
}

const INPUT: &str = r#"{"user": "apple", "role": "viewer", "least": 1.5, "names": ["a", "🍎", "it''s", null], "any": "%"}"#;

const DOCUMENTS: &str = r#"{
    "owners": ["apple", "b", "O'Brien"],
    "limits": {"a": 10, "apple": 1},
    "grants": {"apple": [{"s": "a", "most": 10}, {"s": "Apple", "most": 0.5}]}
}"#;

/// Policies that compare columns with values of the same type.
const WRITTEN: &[&str] = &[
    "include if input.t.s == input.user",
    "include if input.t.s in input.names",
    "include if not input.t.s in input.names",
    "include if input.t.s in data.owners",
    "include if input.role == \"admin\"\n\ninclude if input.t.s == input.user",
    "include if input.nothing == input.t.s",
    "include if input.t.r >= input.least",
    "include if not input.t.r >= input.least",
    "include if startswith(input.t.s, input.any)",
    "include if not contains(input.t.s, input.any)",
    "include if endswith(input.t.s, \"\\\\\")",
    "include if startswith(input.t.s, \"\")",
    "include if startswith(input.t.s, \"a\") == false",
    "include if startswith(input.t.s, \"a\") != true",
    "include if (input.t.s in [\"a\", \"b\"]) == false",
    "include if input.t.n == null",
    "include if input.t.n != null",
    "include if input.t.n < null",
    "include if input.t.n >= null",
    "include if not input.t.n <= null",
    "include if input.t.s in [null]",
    "include if not input.t.s in []",
    "include if input.t.n in [1, 10.0, 1e2, 9.5]",
    "include if input.t.n < 123456789012345678901234567890",
    "include if input.t.n > 9007199254740992.5",
    "include if input.t.n == 9007199254740993",
    "include if input.t.r == 0.1",
    "include if input.t.r != 1e1",
    "include if input.t.b",
    "include if not input.t.b",
    "include if input.t.b == true",
    "include if input.t.b != true",
    "include if input.t.b < true",
    "include if input.t.b >= false",
    "include if input.t.s == input.t.s2",
    "include if input.t.s != input.t.s2",
    "include if input.t.s < input.t.s2",
    "include if not input.t.n <= input.t.n2",
    "include if input.t.n > input.t.r",
    "include if input.t.n == input.t.r",
    "include if input.t.n == input.t.n",
    "include if input.t.order == \"a\"",
    "include if {\n\tx := input.t.n\n\tx > 1\n\tx < 100\n}",
    "include if {\n\tx := input.t.n\n}",
    "include if not has\n\nhas if {\n\tx := input.t.n\n}",
    "include if [input.t.s, input.t.n] == [\"a\", 1]",
    "include if not h\n\nh if input.t.s == \"a\"\n\nh if input.t.n > 5",
    "include if h\n\ndefault h := true\n\nh := false if input.t.n > 5",
    "include if h == false\n\ndefault h := true\n\nh := false if input.t.n > 5",
    "include if h\n\nh if input.t.n > 5 else := false if input.t.b == true else := true",
    "include if not f(input.t.n)\n\nf(x) if x > 5",
    "include if f(input.t.n)\n\nf(x) if x < 0\n\nf(x) if x > 50",
    "include if every x in [\"a\", \"b\"] { input.t.s != x }",
    "include if every x in [] { input.t.s == x }",
    "include if {\n\tsome x in [\"a\", \"b\"]\n\tinput.t.s == x\n}",
    "include if input.t.s == $\"app{\"le\"}\"",
    "include if {\n\tsome g in data.grants[input.user]\n\tinput.t.s == g.s\n\tinput.t.r <= g.most\n}",
    "include if data.limits[input.t.s] >= input.t.n",
    "include := input.t.n > 1",
    "include := \"yes\" if input.t.n > 1",
    "include := false if input.t.n > 1",
    "include if true",
    "include if false",
];

/// Policies on pairs of rows.
const JOINED: &[&str] = &[
    "include if input.t.s == input.u.s",
    "include if input.t.s != input.u.s",
    "include if not input.t.s == input.u.s",
    "include if not input.t.n < input.u.n",
    "include if {\n\tinput.t.n == input.u.n\n\tinput.u.b == true\n}",
    "include if {\n\tinput.t.s == input.u.s\n\tnot input.u.b\n}",
    "include if not both\n\nboth if {\n\tinput.t.s == input.u.s\n\tinput.t.n >= input.u.n\n}",
    "include if {\n\tinput.u.s == input.user\n\tinput.t.n in [1, 10]\n}\n\ninclude if input.u.s == null",
    "include if {\n\tsome name in input.names\n\tinput.t.s == name\n\tinput.u.s != name\n}",
    "include if same(input.t, input.u)\n\nsame(x, y) if x.n == y.n",
    "include if every x in [\"a\", \"apple\"] {\n\tnot input.u.s == x\n\tinput.t.s != x\n}",
    "include if h == false\n\ndefault h := true\n\nh := false if input.t.b == input.u.b",
];

/// Policies that use columns without a table name, which mappings allow.
const SHORT: &[&str] = &[
    "include if input.s == \"a\"",
    "include if not input.n > 1",
    "include if {\n\tinput.s == input.t.s2\n\tinput.n != null\n}",
];

/// Policies with type mismatches, which PostgreSQL may refuse.
const CONFUSED: &[&str] = &[
    "include if startswith(input.t.n, \"1\")",
    "include if not startswith(input.t.n, \"1\")",
    "include if input.t.n == \"10\"",
    "include if input.t.n != \"10\"",
    "include if input.t.n > \"5\"",
    "include if input.t.n < \"a\"",
    "include if input.t.s == 10",
    "include if not input.t.s == 1",
    "include if input.t.s > 5",
    "include if input.t.s <= 5",
    "include if input.t.s in [1, \"10\", 2]",
    "include if not input.t.n in [1, \"10\"]",
    "include if input.t.b == \"true\"",
    "include if input.t.b == \"1\"",
    "include if input.t.s == true",
    "include if input.t.s",
    "include if input.t.n < input.t.s",
    "include if input.t.s == input.t.n",
];

/// Returns all handwritten cases, including every difficult string in every string comparison.
pub(super) fn written() -> Vec<Case> {
    let mut cases: Vec<Case> = WRITTEN.iter().map(|rules| case(rules, false)).collect();
    cases.extend(CONFUSED.iter().map(|rules| case(rules, true)));
    for text in super::rows::TEXTS {
        let text = Value::from(*text);
        for test in [
            "input.t.s == X",
            "input.t.s > X",
            "input.t.s2 in [X, \"a\"]",
        ] {
            cases.push(case(
                &format!("include if {}", test.replace('X', &text.to_string())),
                false,
            ));
        }
        for function in ["startswith", "endswith", "contains"] {
            cases.push(case(
                &format!("include if {function}(input.t.s, {text})"),
                false,
            ));
        }
    }
    cases.extend(JOINED.iter().map(|rules| case(rules, false)));
    let plain = cases.clone();
    for schema in [Schema::Renamed, Schema::Typed] {
        let short = SHORT.iter().map(|rules| case(rules, false));
        let others = plain.iter().cloned().chain(short);
        cases.extend(others.map(|case| Case { schema, ..case }));
    }
    for case in &mut cases {
        case.written = true;
    }
    cases
}

pub(super) fn case(rules: &str, confuses_kinds: bool) -> Case {
    Case {
        rules: rules.to_owned(),
        input: json(INPUT),
        documents: json(DOCUMENTS),
        confuses_kinds,
        written: false,
        schema: Schema::Plain,
    }
}
