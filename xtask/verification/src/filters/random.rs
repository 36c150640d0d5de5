//! Random policies: comparisons of all kinds, combined, negated and in helper rules.

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, Reason};
use rego::Value;
use rego_generate::Choices;

use super::cases::{Case, case};
use super::names::Schema;
use super::rows::TEXTS;
use crate::random_cases;

/// Number of random bytes from which a policy is generated.
const BYTES: usize = 200;

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "10",
    "-3",
    "1.5",
    "0.1",
    "9.5",
    "7.0",
    "1e1",
    "100",
    "0.30000000000000004",
];

/// Numbers that some float columns cannot represent.
const LONG_NUMBERS: &[&str] = &["12345678901234567890123", "9007199254740993", "1e30"];

/// Generates this many policies, which depend only on the seed.
pub(super) fn cases(count: usize, seed: u64) -> Result<Vec<Case>, Reason> {
    let mut runner = random_cases::runner(Config::default(), seed);
    let policies = (0..count).map(|_| {
        let bytes = vec(any::<u8>(), BYTES).new_tree(&mut runner)?.current();
        let mut policy = Policy {
            choices: Choices::new(&bytes),
            is_joined: false,
            confuses_kinds: false,
        };
        let is_renamed = policy.choices.rarely(4);
        let schema = match is_renamed {
            true => Schema::Renamed,
            false if policy.choices.rarely(3) => Schema::Typed,
            false => Schema::Plain,
        };
        let rules = policy.rules();
        let case = case(&rules, policy.confuses_kinds);
        Ok(Case { schema, ..case })
    });
    policies.collect()
}

struct Policy<'b> {
    choices: Choices<'b>,
    /// Whether the policy is about pairs of rows.
    is_joined: bool,
    confuses_kinds: bool,
}

impl Policy<'_> {
    fn rules(&mut self) -> String {
        self.is_joined = self.choices.rarely(12);
        let shape = self.choices.below(8);
        let test = |policy: &mut Self| policy.bodies("h");
        match shape {
            0 => format!("include if h\n\n{}", test(self)),
            1 => format!("include if not h\n\n{}", test(self)),
            2 => {
                let default = self.choices.of(&["true", "false"]);
                format!("include if h\n\ndefault h := {default}\n\n{}", test(self))
            }
            3 => {
                let (first, second) = (self.test(), self.test());
                let value = self.choices.of(&["true", "false"]);
                format!("include if h\n\nh if {first} else := {value} if {second}")
            }
            _ => self.bodies("include"),
        }
    }

    fn bodies(&mut self, name: &str) -> String {
        let bodies = 1 + self.choices.below(3);
        let rules = (0..bodies).map(|_| {
            let tests = 1 + self.choices.below(3);
            let tests: Vec<String> = (0..tests).map(|_| self.test()).collect();
            format!("{name} if {{ {} }}", tests.join("; "))
        });
        rules.collect::<Vec<_>>().join("\n\n")
    }

    fn test(&mut self) -> String {
        let not = if self.choices.below(10) < 3 {
            "not "
        } else {
            ""
        };
        let shape = self.choices.below(10);
        let test = match shape {
            0 | 6 | 7 if self.is_joined => self.pair(),
            0 => self.columns(),
            1 | 2 => self.list(),
            3..=5 => self.text(),
            6 => "input.t.b".to_owned(),
            _ => self.comparison(),
        };
        format!("{not}{test}")
    }

    fn comparison(&mut self) -> String {
        let column = self.column();
        let operator = self.choices.of(&["==", "!=", "<", "<=", ">", ">="]);
        let constant = self.constant(column);
        match self.choices.rarely(5) {
            true => format!("{constant} {operator} input.t.{column}"),
            false => format!("input.t.{column} {operator} {constant}"),
        }
    }

    fn columns(&mut self) -> String {
        let pairs = [
            ("s", "s2"),
            ("n", "n2"),
            ("n", "r"),
            ("s", "order"),
            ("b", "b"),
        ];
        let (left, right) = self.choices.of(&pairs);
        let operator = self.choices.of(&["==", "!=", "<", "<=", ">", ">="]);
        format!("input.t.{left} {operator} input.t.{right}")
    }

    /// Generates a comparison of a column of the joined row, with the same column of `t` or with a
    /// constant.
    fn pair(&mut self) -> String {
        let column = self.choices.of(&["s", "n", "b"]);
        let operator = self.choices.of(&["==", "!=", "<", "<=", ">", ">="]);
        match self.choices.rarely(3) {
            true => {
                let constant = self.constant(column);
                format!("input.u.{column} {operator} {constant}")
            }
            false => format!("input.t.{column} {operator} input.u.{column}"),
        }
    }

    fn list(&mut self) -> String {
        let column = self.column();
        let count = self.choices.below(4);
        let items: Vec<String> = (0..count).map(|_| self.constant(column)).collect();
        format!("input.t.{column} in [{}]", items.join(", "))
    }

    fn text(&mut self) -> String {
        let function = self.choices.of(&["startswith", "endswith", "contains"]);
        let column = self.choices.of(&["s", "s2", "order"]);
        let text: Vec<char> = self.choices.of(TEXTS).chars().collect();
        let start = self.choices.below(text.len() + 1);
        let part: String = text.iter().skip(start).collect();
        let test = format!("{function}(input.t.{column}, {})", Value::from(part));
        match self.choices.below(6) {
            0 => format!("({test}) == false"),
            1 => format!("({test}) != true"),
            _ => test,
        }
    }

    fn column(&mut self) -> &'static str {
        self.choices.of(&["s", "s2", "n", "n2", "r", "b", "order"])
    }

    /// Generates a constant for a comparison with a column, rarely null or of another type.
    fn constant(&mut self, column: &str) -> String {
        match self.choices.below(24) {
            0 | 1 => return "null".to_owned(),
            2 if column != "b" => {
                self.confuses_kinds = true;
                return match column {
                    "n" | "n2" | "r" => Value::from(self.choices.of(TEXTS)).to_string(),
                    _ => self.choices.of(NUMBERS).to_owned(),
                };
            }
            3 if matches!(column, "n" | "n2") => return self.choices.of(LONG_NUMBERS).to_owned(),
            _ => {}
        }
        match column {
            "n" | "n2" | "r" => self.choices.of(NUMBERS).to_owned(),
            "b" => self.choices.of(&["true", "false"]).to_owned(),
            _ => Value::from(self.choices.of(TEXTS)).to_string(),
        }
    }
}
