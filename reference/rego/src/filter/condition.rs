//! Conditions: the intermediate form between residual queries and database languages, over columns
//! and constants.

use std::sync::Arc;

use crate::Value;
use crate::syntax::Location;

/// A condition that each row either satisfies or does not satisfy, with no third outcome.
///
/// A column without a value is Rego's null, and values of all types have Rego's total order: null,
/// booleans, numbers, strings.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// True for every row, or for none.
    Constant(bool),
    /// Conjunction.
    All(Vec<Condition>),
    /// Disjunction.
    Any(Vec<Condition>),
    /// Negation, with the source location of the expression that negates.
    Not(Box<Condition>, Location),
    /// Test of one column.
    Test(Test),
}

/// Test of one column.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// The column.
    pub column: Column,
    /// The predicate.
    pub predicate: Predicate,
    /// Location of the expression that the test was translated from.
    pub location: Location,
}

/// Predicate on a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Predicate {
    /// Comparison of the column to null, a boolean, a number or a string.
    Compare(Comparison, Value),
    /// Comparison of the column to another column.
    CompareColumn(Comparison, Column),
    /// Whether the column is one of these scalars.
    Among(Vec<Value>),
    /// Whether the column is a string that contains this string at this position.
    Text(MatchPosition, Arc<str>),
    /// Whether the column exists, which is true in every row.
    Exists,
}

/// Column, by its name in the policy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Column {
    /// Name of the table; absent for `input.name`.
    pub table: Option<Arc<str>>,
    /// Name of the column in the table.
    pub name: Arc<str>,
}

/// Comparison operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// Position at which a string is searched for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchPosition {
    /// `startswith`
    Start,
    /// `endswith`
    End,
    /// `contains`
    Anywhere,
}

impl Condition {
    /// Returns the conjunction of conditions.
    pub(super) fn all(conditions: impl IntoIterator<Item = Self>) -> Self {
        Self::join(conditions, true, Self::All)
    }

    /// Returns the disjunction of conditions.
    pub(super) fn any(conditions: impl IntoIterator<Item = Self>) -> Self {
        Self::join(conditions, false, Self::Any)
    }

    /// Joins conditions. Those that are constantly `neutral` are dropped; if one is constantly the
    /// opposite, it is the result.
    fn join(
        conditions: impl IntoIterator<Item = Self>,
        neutral: bool,
        joined: fn(Vec<Self>) -> Self,
    ) -> Self {
        let mut retained = Vec::new();
        for condition in conditions {
            match condition {
                Self::Constant(holds) if holds == neutral => {}
                Self::Constant(holds) => return Self::Constant(holds),
                condition => retained.push(condition),
            }
        }
        match retained.len() {
            0 => Self::Constant(neutral),
            1 => retained.pop().unwrap_or(Self::Constant(neutral)),
            _ => joined(retained),
        }
    }

    /// Returns the negation of the condition.
    pub(super) fn negated(self, location: &Location) -> Self {
        match self {
            Self::Constant(holds) => Self::Constant(!holds),
            Self::Not(inner, _) => *inner,
            condition => Self::Not(Box::new(condition), location.clone()),
        }
    }

    /// Returns the number of nodes of the condition, and of values in its lists.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Constant(_) => 1,
            Self::All(parts) | Self::Any(parts) => 1 + parts.iter().map(Self::size).sum::<usize>(),
            Self::Not(inner, _) => 1 + inner.size(),
            Self::Test(test) => match &test.predicate {
                Predicate::Among(values) => 1 + values.len(),
                _ => 1,
            },
        }
    }

    /// Returns the condition with each test replaced by a condition, simplified.
    pub(super) fn map(&self, change: &impl Fn(&Test) -> Self) -> Self {
        match self {
            Self::Constant(holds) => Self::Constant(*holds),
            Self::All(parts) => Self::all(parts.iter().map(|part| part.map(change))),
            Self::Any(parts) => Self::any(parts.iter().map(|part| part.map(change))),
            Self::Not(inner, location) => inner.map(change).negated(location),
            Self::Test(test) => change(test),
        }
    }

    /// Visits the condition and all conditions within it.
    pub(super) fn visit<'c>(&'c self, each: &mut impl FnMut(&'c Self)) {
        each(self);
        match self {
            Self::All(parts) | Self::Any(parts) => {
                parts.iter().for_each(|part| part.visit(each));
            }
            Self::Not(inner, _) => inner.visit(each),
            Self::Constant(_) | Self::Test(_) => {}
        }
    }
}

impl Comparison {
    /// Returns the comparison that the built-in function of this name performs.
    pub(super) fn of_builtin(name: &str) -> Option<Self> {
        Some(match name {
            "eq" | "equal" => Self::Equal,
            "neq" => Self::NotEqual,
            "lt" => Self::Less,
            "lte" => Self::LessOrEqual,
            "gt" => Self::Greater,
            "gte" => Self::GreaterOrEqual,
            _ => return None,
        })
    }

    /// Returns the equivalent comparison with the sides exchanged.
    pub(super) fn mirrored(self) -> Self {
        match self {
            Self::Equal | Self::NotEqual => self,
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
        }
    }

    /// Returns the comparison that holds exactly if this one does not.
    pub(super) fn opposite(self) -> Self {
        match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Less => Self::GreaterOrEqual,
            Self::LessOrEqual => Self::Greater,
            Self::Greater => Self::LessOrEqual,
            Self::GreaterOrEqual => Self::Less,
        }
    }

    /// Whether the comparison holds for two values.
    pub(super) fn holds(self, left: &Value, right: &Value) -> bool {
        let order = left.cmp(right);
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }

    /// Returns the operator in SQL.
    pub(super) fn sql(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "<>",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }

    /// Returns the operator in UCAST.
    pub(super) fn ucast(self) -> &'static str {
        match self {
            Self::Equal => "eq",
            Self::NotEqual => "ne",
            Self::Less => "lt",
            Self::LessOrEqual => "lte",
            Self::Greater => "gt",
            Self::GreaterOrEqual => "gte",
        }
    }
}

impl MatchPosition {
    /// Returns the name of the built-in function and UCAST operator that search at this position.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Start => "startswith",
            Self::End => "endswith",
            Self::Anywhere => "contains",
        }
    }

    pub(super) fn of_builtin(name: &str) -> Option<Self> {
        [Self::Start, Self::End, Self::Anywhere]
            .into_iter()
            .find(|place| place.name() == name)
    }

    /// Whether a string contains another at this position.
    pub(super) fn holds(self, text: &str, part: &str) -> bool {
        match self {
            Self::Start => text.starts_with(part),
            Self::End => text.ends_with(part),
            Self::Anywhere => text.contains(part),
        }
    }
}

impl Column {
    /// Returns the column's name in messages and in conditions without mappings.
    pub(super) fn qualified_name(&self) -> String {
        match &self.table {
            Some(table) => format!("{table}.{}", self.name),
            None => self.name.to_string(),
        }
    }
}
