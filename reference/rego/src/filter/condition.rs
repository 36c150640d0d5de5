//! Conditions: the intermediate form between residual queries and database languages, over columns
//! and constants.

use std::sync::Arc;

use crate::Value;
use crate::syntax::Location;

/// A condition that rows meet or do not meet: never both, never neither.
///
/// A column without a value is Rego's null, and values of all kinds have Rego's one order: null,
/// booleans, numbers, strings.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// Every row, or none.
    Constant(bool),
    /// All of these.
    All(Vec<Condition>),
    /// At least one of these.
    Any(Vec<Condition>),
    /// Not this, and where it says so.
    Not(Box<Condition>, Location),
    /// What is asked of one column.
    Test(Test),
}

/// What is asked of one column.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// The column.
    pub column: Column,
    /// The question.
    pub ask: Predicate,
    /// The expression that asks.
    pub location: Location,
}

/// A question about a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Predicate {
    /// How it compares to null, a boolean, a number or a string.
    Compare(Comparison, Value),
    /// How it compares to another column.
    CompareColumn(Comparison, Column),
    /// Whether it is one of these scalars.
    Among(Vec<Value>),
    /// Whether it is a string and has this text at that place.
    Text(MatchPosition, Arc<str>),
    /// Whether there is such a column, which every row has.
    Exists,
}

/// A column, by the names that the policy uses.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Column {
    /// The table; absent for `input.name`.
    pub table: Option<Arc<str>>,
    /// The column in it.
    pub name: Arc<str>,
}

/// How two values are compared.
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

/// Where in a string a text is looked for.
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
    /// All of these.
    pub(super) fn all(conditions: impl IntoIterator<Item = Self>) -> Self {
        Self::join(conditions, true, Self::All)
    }

    /// At least one of these.
    pub(super) fn any(conditions: impl IntoIterator<Item = Self>) -> Self {
        Self::join(conditions, false, Self::Any)
    }

    /// Joins conditions of which those that are always `neutral` do not matter, and one that
    /// never is decides.
    fn join(
        conditions: impl IntoIterator<Item = Self>,
        neutral: bool,
        joined: fn(Vec<Self>) -> Self,
    ) -> Self {
        let mut kept = Vec::new();
        for condition in conditions {
            match condition {
                Self::Constant(holds) if holds == neutral => {}
                Self::Constant(holds) => return Self::Constant(holds),
                condition => kept.push(condition),
            }
        }
        match kept.len() {
            0 => Self::Constant(neutral),
            1 => kept.pop().unwrap_or(Self::Constant(neutral)),
            _ => joined(kept),
        }
    }

    /// Not this.
    pub(super) fn negated(self, location: &Location) -> Self {
        match self {
            Self::Constant(holds) => Self::Constant(!holds),
            Self::Not(inner, _) => *inner,
            condition => Self::Not(Box::new(condition), location.clone()),
        }
    }

    /// How many parts the condition has.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Constant(_) => 1,
            Self::All(parts) | Self::Any(parts) => 1 + parts.iter().map(Self::size).sum::<usize>(),
            Self::Not(inner, _) => 1 + inner.size(),
            Self::Test(test) => match &test.ask {
                Predicate::Among(values) => 1 + values.len(),
                _ => 1,
            },
        }
    }

    /// The same condition with other tests, folded.
    pub(super) fn map(&self, change: &impl Fn(&Test) -> Self) -> Self {
        match self {
            Self::Constant(holds) => Self::Constant(*holds),
            Self::All(parts) => Self::all(parts.iter().map(|part| part.map(change))),
            Self::Any(parts) => Self::any(parts.iter().map(|part| part.map(change))),
            Self::Not(inner, location) => inner.map(change).negated(location),
            Self::Test(test) => change(test),
        }
    }

    /// Visits the tests.
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
    /// The comparison that a built-in function makes.
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

    /// The comparison that says the same with the sides exchanged.
    pub(super) fn mirrored(self) -> Self {
        match self {
            Self::Equal | Self::NotEqual => self,
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
        }
    }

    /// The comparison that holds where this one does not.
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

    /// Whether it holds for two values.
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

    /// The operator in SQL.
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

    /// The operator in UCAST.
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
    /// The built-in function that looks there, whose name is the operator in UCAST too.
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

    /// Whether a text has another there.
    pub(super) fn holds(self, text: &str, part: &str) -> bool {
        match self {
            Self::Start => text.starts_with(part),
            Self::End => text.ends_with(part),
            Self::Anywhere => text.contains(part),
        }
    }
}

impl Column {
    /// The name in messages and as the field of a condition without mappings.
    pub(super) fn shown(&self) -> String {
        match &self.table {
            Some(table) => format!("{table}.{}", self.name),
            None => self.name.to_string(),
        }
    }
}
