//! Three-valued logic of SQL conditions.

use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator, Value};

use super::value::{Kind, SqliteValue};
use super::writer::Writer;
use super::{FilterError, Language, NOT_PLAIN, wrong};

impl Writer<'_> {
    /// Translates a condition.
    pub(super) fn condition(self, expr: &Expr) -> Result<String, FilterError> {
        let value = self.expression(expr)?;
        let is_condition = match self.language {
            Language::Sqlserver => value.kind == Kind::Truth,
            Language::Postgresql => matches!(value.kind, Kind::Truth | Kind::Other),
            _ => true,
        };
        match is_condition {
            true => Ok(value.sql),
            false => Err(wrong(format!("invalid condition `{expr}`"))),
        }
    }

    /// Translates a value.
    pub(super) fn value(self, expr: &Expr) -> Result<SqliteValue, FilterError> {
        let value = self.expression(expr)?;
        match value.kind {
            Kind::Truth if self.is_for(Language::Sqlserver) => {
                Err(wrong(format!("invalid value `{expr}` for SQL Server")))
            }
            _ => Ok(value),
        }
    }

    /// Translates a condition or a value.
    fn expression(self, expr: &Expr) -> Result<SqliteValue, FilterError> {
        let writer = self.inner()?;
        let sql = match expr {
            Expr::Nested(inner) => return writer.expression(inner),
            Expr::UnaryOp {
                op: UnaryOperator::Not,
                expr,
            } => format!("(NOT {})", writer.condition(expr)?),
            Expr::IsNull(value) => format!("({} IS NULL)", writer.value(value)?.sql),
            Expr::IsNotNull(value) => format!("({} IS NOT NULL)", writer.value(value)?.sql),
            Expr::IsTrue(inner) => writer.truth_test(inner, "IS TRUE")?,
            Expr::IsNotTrue(inner) => writer.truth_test(inner, "IS NOT TRUE")?,
            // `a IS DISTINCT FROM b`, which is parsed as `a <=> (b) IS FALSE`.
            Expr::IsFalse(inner) if writer.is_distinction(inner) => {
                format!("(NOT {})", writer.condition(inner)?)
            }
            Expr::IsFalse(inner) => writer.truth_test(inner, "IS FALSE")?,
            Expr::IsNotFalse(inner) => writer.truth_test(inner, "IS NOT FALSE")?,
            Expr::IsUnknown(inner) => writer.truth_test(inner, "IS NULL")?,
            Expr::IsNotUnknown(inner) => writer.truth_test(inner, "IS NOT NULL")?,
            Expr::IsDistinctFrom(..) | Expr::IsNotDistinctFrom(..) => {
                return Err(wrong("MySQL has no `IS DISTINCT FROM`"));
            }
            Expr::BinaryOp { left, op, right } => return writer.operation(left, op, right),
            Expr::InList {
                expr,
                list,
                negated,
            } => writer.in_list(expr, list, *negated)?,
            Expr::Between {
                expr,
                negated,
                low,
                high,
            } => writer.between(expr, low, high, *negated)?,
            Expr::Like { .. } | Expr::ILike { .. } => writer.like(expr)?,
            Expr::AnyOp {
                left,
                compare_op: BinaryOperator::Eq,
                right,
                ..
            } => writer.in_list(left, items(right)?, false)?,
            Expr::AllOp {
                left,
                compare_op: BinaryOperator::NotEq,
                right,
            } => writer.in_list(left, items(right)?, true)?,
            _ => return writer.operand(expr),
        };
        Ok(SqliteValue::new(sql, Kind::Truth))
    }

    /// Whether the conditions are for this database.
    pub(super) fn is_for(self, language: Language) -> bool {
        self.language == language
    }

    /// Translates a test of the truth of a condition, which SQL Server does not have.
    fn truth_test(self, inner: &Expr, test: &str) -> Result<String, FilterError> {
        if self.is_for(Language::Sqlserver) {
            return Err(wrong(format!("SQL Server has no `{test}` for conditions")));
        }
        Ok(format!("({} {test})", self.condition(inner)?))
    }

    fn is_distinction(self, expr: &Expr) -> bool {
        let op = match expr {
            Expr::BinaryOp { op, .. } => Some(op),
            _ => None,
        };
        op == Some(&BinaryOperator::Spaceship) && !self.is_for(Language::Mysql)
    }

    fn operation(
        self,
        left: &Expr,
        op: &BinaryOperator,
        right: &Expr,
    ) -> Result<SqliteValue, FilterError> {
        use BinaryOperator as Op;
        let sql = match op {
            Op::And | Op::Or => {
                let (left, right) = (self.condition(left)?, self.condition(right)?);
                format!("({left} {op} {right})")
            }
            Op::Eq | Op::NotEq | Op::Lt | Op::LtEq | Op::Gt | Op::GtEq => {
                self.compare(left, &op.to_string(), right)?
            }
            Op::Spaceship => self.compare(left, "IS", right)?,
            Op::PGStartsWith => {
                let (left, right) = (self.value(left)?.sql, self.value(right)?.sql);
                format!("(other_position({right}, {left}, 1, 0) = 1)")
            }
            _ => return self.arithmetic(left, op, right),
        };
        Ok(SqliteValue::new(sql, Kind::Truth))
    }

    fn compare(self, left: &Expr, op: &str, right: &Expr) -> Result<String, FilterError> {
        let (left, right) = (self.value(left)?, self.value(right)?);
        let collation = self.collation(&[&left, &right]);
        let (left, right) = (left.comparable_with(&right), right.comparable_with(&left));
        Ok(format!("({left} COLLATE {collation} {op} {right})"))
    }

    fn in_list(self, value: &Expr, list: &[Expr], negated: bool) -> Result<String, FilterError> {
        let value = self.value(value)?;
        let list = list.iter().map(|item| self.value(item));
        let list = list.collect::<Result<Vec<_>, _>>()?;
        let mut all = vec![&value];
        all.extend(&list);
        let collation = self.collation(&all);
        let items = list.iter().map(|item| item.comparable_with(&value));
        let items = items.collect::<Vec<_>>().join(", ");
        let not = if negated { "NOT " } else { "" };
        let value = &value.sql;
        Ok(format!("({value} COLLATE {collation} {not}IN ({items}))"))
    }

    fn between(
        self,
        value: &Expr,
        low: &Expr,
        high: &Expr,
        negated: bool,
    ) -> Result<String, FilterError> {
        let (value, low, high) = (self.value(value)?, self.value(low)?, self.value(high)?);
        let collation = self.collation(&[&value, &low, &high]);
        let (low, high) = (low.comparable_with(&value), high.comparable_with(&value));
        let not = if negated { "NOT " } else { "" };
        let value = &value.sql;
        Ok(format!(
            "({value} COLLATE {collation} {not}BETWEEN {low} AND {high})"
        ))
    }

    fn like(self, expr: &Expr) -> Result<String, FilterError> {
        let (Expr::Like {
            negated,
            any: false,
            expr: value,
            pattern,
            escape_char,
        }
        | Expr::ILike {
            negated,
            any: false,
            expr: value,
            pattern,
            escape_char,
        }) = expr
        else {
            return Err(NOT_PLAIN);
        };
        let any_case = matches!(expr, Expr::ILike { .. });
        if any_case && !self.is_for(Language::Postgresql) {
            return Err(wrong("only PostgreSQL has ILIKE"));
        }
        let (value, pattern) = (self.value(value)?, self.value(pattern)?);
        let any_case = any_case || self.collation(&[&value, &pattern]) == "NOCASE";
        let escape = self.escape(escape_char.as_ref())?;
        let not = if *negated { "NOT " } else { "" };
        let database = match self.language {
            Language::Mysql => "mysql",
            Language::Sqlserver => "sqlserver",
            _ => "postgresql",
        };
        Ok(format!(
            "({not}other_like({}, {}, {}, {}, '{database}'))",
            value.sql,
            pattern.sql,
            SqliteValue::text(&escape).sql,
            u8::from(any_case),
        ))
    }

    /// Returns the escape character of a pattern; empty if there is none.
    fn escape(self, named: Option<&Value>) -> Result<String, FilterError> {
        let Some(named) = named else {
            let default = if self.is_for(Language::Sqlserver) {
                ""
            } else {
                "\\"
            };
            return Ok(default.to_owned());
        };
        let text = named.clone().into_string().unwrap_or_default();
        let is_one_character = text.chars().count() <= 1;
        if !is_one_character || (text.is_empty() && self.is_for(Language::Sqlserver)) {
            return Err(wrong(format!(
                "invalid ESCAPE {named}: expected one character"
            )));
        }
        Ok(text)
    }

    /// Returns the SQLite collation for comparing these values.
    pub(super) fn collation(self, values: &[&SqliteValue]) -> &'static str {
        let named = values.iter().find_map(|value| value.collation);
        named.unwrap_or(match self.language {
            Language::Mysql | Language::Sqlserver => "NOCASE",
            _ => "BINARY",
        })
    }
}

/// Returns the items of an array literal.
fn items(array: &Expr) -> Result<&[Expr], FilterError> {
    match array {
        Expr::Array(array) => Ok(&array.elem),
        _ => Err(NOT_PLAIN),
    }
}
