//! Filter targets: query languages and dialects, with the features of each.

use std::collections::BTreeSet;

use super::Unsupported;
use super::condition::{Condition, Predicate};
use crate::Value;
use crate::value::Object;

/// Output format of filters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// UCAST object for consumers with these capabilities.
    Ucast(Variant),
    /// WHERE clause of one database.
    Sql(Dialect),
}

/// Capabilities of a UCAST consumer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variant {
    /// All operators.
    All,
    /// Comparisons with scalars, `and` and `or`.
    Minimal,
    /// Those of `Minimal`, and `in`.
    Linq,
    /// All except comparisons of columns with each other.
    Prisma,
}

/// A database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// Microsoft SQL Server, 2019 or later.
    SqlServer,
    /// MySQL 8 or MariaDB, over a connection in `utf8mb4`.
    MySql,
    /// PostgreSQL.
    PostgreSql,
    /// SQLite.
    Sqlite,
}

/// Feature of conditions that some targets do not support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Feature {
    Not,
    Columns,
    Existence,
    Membership,
    Text,
}

impl Target {
    /// Every target.
    pub const ALL: [Self; 8] = [
        Self::Ucast(Variant::All),
        Self::Ucast(Variant::Minimal),
        Self::Ucast(Variant::Linq),
        Self::Ucast(Variant::Prisma),
        Self::Sql(Dialect::SqlServer),
        Self::Sql(Dialect::MySql),
        Self::Sql(Dialect::PostgreSql),
        Self::Sql(Dialect::Sqlite),
    ];

    /// Returns the language: `ucast` or `sql`.
    pub fn language(self) -> &'static str {
        match self {
            Self::Ucast(_) => "ucast",
            Self::Sql(_) => "sql",
        }
    }

    /// Returns the variant or dialect, such as `minimal` or `postgresql`.
    pub fn dialect(self) -> &'static str {
        match self {
            Self::Ucast(Variant::All) => "all",
            Self::Ucast(Variant::Minimal) => "minimal",
            Self::Ucast(Variant::Linq) => "linq",
            Self::Ucast(Variant::Prisma) => "prisma",
            Self::Sql(Dialect::SqlServer) => "sqlserver",
            Self::Sql(Dialect::MySql) => "mysql",
            Self::Sql(Dialect::PostgreSql) => "postgresql",
            Self::Sql(Dialect::Sqlite) => "sqlite",
        }
    }

    /// Returns the target of this language and dialect.
    pub fn find(language: &str, dialect: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|target| target.language() == language && target.dialect() == dialect)
    }

    /// Returns the part of a request for this target: the value under its dialect, else the value
    /// under its language, else all.
    ///
    /// # Errors
    /// A message that names the value that is not an object.
    pub(super) fn own_part(self, all: &Value) -> Result<&Object, String> {
        let Value::Object(levels) = all else {
            return Err(format!("expected object, got {}", all.kind()));
        };
        for level in [self.dialect(), self.language()] {
            match levels.get(level) {
                None | Some(Value::Null) => {}
                Some(Value::Object(tables)) => return Ok(tables),
                Some(other) => {
                    return Err(format!("{level}: expected object, got {}", other.kind()));
                }
            }
        }
        Ok(levels)
    }

    /// Returns the name of the target in messages.
    fn display_name(self) -> String {
        match self {
            Self::Ucast(Variant::Minimal) => "UCAST".to_owned(),
            Self::Ucast(Variant::Linq) => "UCAST (LINQ)".to_owned(),
            Self::Ucast(_) => format!("UCAST ({})", self.dialect()),
            Self::Sql(_) => format!("SQL ({})", self.dialect()),
        }
    }

    fn supports(self, feature: Feature) -> bool {
        match self {
            Self::Sql(_) => true,
            Self::Ucast(Variant::All) => feature != Feature::Existence,
            Self::Ucast(Variant::Minimal) => false,
            Self::Ucast(Variant::Linq) => feature == Feature::Membership,
            Self::Ucast(Variant::Prisma) => feature != Feature::Columns,
        }
    }
}

/// Returns the parts of a condition that the targets do not support, without duplicates.
pub(super) fn check(condition: &Condition, targets: &[Target]) -> Vec<Unsupported> {
    let mut tested = BTreeSet::new();
    condition.visit(&mut |part| {
        if let Condition::Test(test) = part
            && test.predicate != Predicate::Exists
        {
            tested.insert(&test.column);
        }
    });
    let mut found: Vec<Unsupported> = Vec::new();
    condition.visit(&mut |part| {
        // A test that a column exists is redundant if the column has another test.
        if let Condition::Test(test) = part
            && test.predicate == Predicate::Exists
            && tested.contains(&test.column)
        {
            return;
        }
        let refusal = refusal(part, targets);
        found.extend(refusal.filter(|refusal| !found.contains(refusal)));
    });
    found
}

fn refusal(part: &Condition, targets: &[Target]) -> Option<Unsupported> {
    let (feature, location) = match part {
        Condition::Not(_, location) => (Feature::Not, location),
        Condition::Test(test) => {
            let feature = match &test.predicate {
                Predicate::Compare(..) => return None,
                Predicate::CompareColumn(..) => Feature::Columns,
                Predicate::Among(_) => Feature::Membership,
                Predicate::Text(..) => Feature::Text,
                Predicate::Exists => Feature::Existence,
            };
            (feature, &test.location)
        }
        Condition::Constant(_) | Condition::All(_) | Condition::Any(_) => return None,
    };
    let lacking = targets
        .iter()
        .filter(|target| !target.supports(feature))
        .map(|target| match feature {
            Feature::Not => unsupported_feature("not", *target),
            Feature::Columns => unsupported_feature("field-ref", *target),
            Feature::Existence => unsupported_feature("existence-ref", *target),
            Feature::Membership | Feature::Text => {
                format!("unsupported for {}", target.display_name())
            }
        });
    let lacking: Vec<String> = lacking.collect();
    if lacking.is_empty() {
        return None;
    }
    let what = match (feature, part) {
        (Feature::Not, _) => "\"not\" not permitted".to_owned(),
        (Feature::Columns, _) => "reference to field".to_owned(),
        (Feature::Existence, _) => "existence of field".to_owned(),
        (Feature::Text, Condition::Test(test)) => match &test.predicate {
            Predicate::Text(place, _) => format!("invalid builtin `{}`", place.name()),
            _ => return None,
        },
        (Feature::Membership | Feature::Text, _) => "invalid builtin `in`".to_owned(),
    };
    Some(Unsupported::at(
        location,
        format!("{what}: {}", lacking.join("\n")),
    ))
}

fn unsupported_feature(feature: &str, target: Target) -> String {
    format!(
        "unsupported feature \"{feature}\" for {}",
        target.display_name()
    )
}
