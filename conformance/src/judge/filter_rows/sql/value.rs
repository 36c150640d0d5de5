//! Operands of SQL conditions.

use sqlparser::ast::{
    BinaryOperator, CaseWhen, CastKind, DataType, Expr, Ident, ObjectName, Query, SelectItem,
    SetExpr, UnaryOperator, Value,
};

use super::writer::Writer;
use super::{FilterError, Language, NOT_PLAIN, wrong};
use crate::judge::filter_rows::sqlite::{self, identifier};

/// A value as an expression of SQLite.
#[derive(Debug, Clone)]
pub(super) struct SqliteValue {
    pub(super) sql: String,
    pub(super) kind: Kind,
    /// Explicit collation of the value.
    pub(super) collation: Option<&'static str>,
}

/// Known type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Text,
    /// The result of a condition, which is not a value in SQL Server.
    Truth,
    Other,
}

impl SqliteValue {
    pub(super) fn new(sql: impl Into<String>, kind: Kind) -> Self {
        Self {
            sql: sql.into(),
            kind,
            collation: None,
        }
    }

    /// A string literal.
    pub(super) fn text(text: &str) -> Self {
        Self::new(format!("'{}'", text.replace('\'', "''")), Kind::Text)
    }

    pub(super) fn collated(mut self, collation: Option<&'static str>) -> Self {
        self.collation = collation.or(self.collation);
        self
    }

    /// Returns the value as it is compared with another. Compared with a number, a string is
    /// converted.
    pub(super) fn comparable_with(&self, other: &Self) -> String {
        match (self.kind, other.kind) {
            (Kind::Text, Kind::Number) => format!("CAST({} AS NUMERIC)", self.sql),
            _ => self.sql.clone(),
        }
    }
}

impl Writer<'_> {
    /// Translates a value that is not a condition.
    pub(super) fn operand(self, expr: &Expr) -> Result<SqliteValue, FilterError> {
        match expr {
            Expr::Identifier(name) => self.column(std::slice::from_ref(name)),
            Expr::CompoundIdentifier(names) => self.column(names),
            Expr::Value(value) => constant(&value.value),
            Expr::UnaryOp { op, expr } => self.signed(*op, expr),
            Expr::Collate { expr, collation } => {
                let collation = collation_of(collation)?;
                Ok(self.value(expr)?.collated(Some(collation)))
            }
            Expr::Cast {
                kind,
                expr,
                data_type,
                format: None,
            } => self.cast(kind, expr, data_type),
            Expr::Convert {
                is_try: false,
                expr,
                data_type,
                charset,
                styles,
                ..
            } if styles.is_empty() => match (data_type, charset) {
                (Some(data_type), None) => self.cast(&CastKind::Cast, expr, data_type),
                (None, Some(_)) => self.cast(&CastKind::Cast, expr, &DataType::Text),
                _ => Err(NOT_PLAIN),
            },
            Expr::TypedString(typed) if matches!(typed.data_type, DataType::Binary(_)) => {
                Ok(constant(&typed.value.value)?.collated(Some("BINARY")))
            }
            Expr::Prefixed { prefix, value } => {
                let is_binary = prefix.value.eq_ignore_ascii_case("_binary");
                Ok(self.value(value)?.collated(is_binary.then_some("BINARY")))
            }
            Expr::Case {
                operand,
                conditions,
                else_result,
                ..
            } => self.case(operand.as_deref(), conditions, else_result.as_deref()),
            Expr::Function(call) => self.call(call),
            Expr::Position { expr, r#in } => self.position(expr, r#in),
            Expr::Substring {
                expr,
                substring_from,
                substring_for,
                ..
            } => self.substring(expr, substring_from.as_deref(), substring_for.as_deref()),
            Expr::Subquery(query) => self.json_of_column(query),
            Expr::QualifiedWildcard(..) | Expr::Wildcard(_) => Err(wrong("invalid value `*`")),
            _ => Err(NOT_PLAIN),
        }
    }

    fn column(self, names: &[Ident]) -> Result<SqliteValue, FilterError> {
        let no_such = || {
            let parts: Vec<String> = names.iter().map(ToString::to_string).collect();
            wrong(format!("no such column: {}", parts.join(".")))
        };
        let name = match names {
            [name] => name,
            [table, name] if self.is_named(table, self.table.name) => name,
            _ => return Err(no_such()),
        };
        let columns = self.table.columns();
        let found = columns.iter().find(|known| self.is_named(name, known));
        let found = found.ok_or_else(no_such)?;
        let kind = match sqlite::kind(self.table, found) {
            "TEXT" => Kind::Text,
            "BOOLEAN" => Kind::Other,
            _ => Kind::Number,
        };
        let sql = format!("{}.{}", identifier(self.table.name), identifier(found));
        Ok(SqliteValue::new(sql, kind))
    }

    /// Whether a name in the condition is that of this table or column.
    fn is_named(self, name: &Ident, known: &str) -> bool {
        match (self.language, name.quote_style) {
            (Language::Postgresql, Some(_)) => name.value == known,
            (Language::Postgresql, None) => name.value.to_lowercase() == known,
            _ => name.value.eq_ignore_ascii_case(known),
        }
    }

    fn signed(self, op: UnaryOperator, value: &Expr) -> Result<SqliteValue, FilterError> {
        let sign = match op {
            UnaryOperator::Minus => '-',
            UnaryOperator::Plus => '+',
            _ => return Err(NOT_PLAIN),
        };
        let value = self.value(value)?.sql;
        Ok(SqliteValue::new(format!("({sign} {value})"), Kind::Number))
    }

    pub(super) fn arithmetic(
        self,
        left: &Expr,
        op: &BinaryOperator,
        right: &Expr,
    ) -> Result<SqliteValue, FilterError> {
        use BinaryOperator as Op;
        let (left, right) = (self.value(left)?, self.value(right)?);
        let has_text = left.kind == Kind::Text || right.kind == Kind::Text;
        let sign = match op {
            Op::StringConcat if self.is_for(Language::Mysql) => {
                return Err(wrong("`||` does not concatenate strings in MySQL"));
            }
            Op::Plus if has_text && self.is_for(Language::Postgresql) => {
                return Err(wrong("`+` does not concatenate strings in PostgreSQL"));
            }
            Op::StringConcat => "||",
            Op::Plus if has_text && self.is_for(Language::Sqlserver) => "||",
            Op::Plus => "+",
            Op::Minus => "-",
            Op::Multiply => "*",
            Op::Divide if self.is_for(Language::Mysql) => "* 1.0 /",
            Op::Divide => "/",
            Op::Modulo => "%",
            _ => return Err(NOT_PLAIN),
        };
        let kind = if sign == "||" {
            Kind::Text
        } else {
            Kind::Number
        };
        let sql = format!("({} {sign} {})", left.sql, right.sql);
        Ok(SqliteValue::new(sql, kind).collated(left.collation.or(right.collation)))
    }

    fn case(
        self,
        operand: Option<&Expr>,
        branches: &[CaseWhen],
        otherwise: Option<&Expr>,
    ) -> Result<SqliteValue, FilterError> {
        let mut results = Vec::new();
        let mut sql = "(CASE".to_owned();
        if let Some(operand) = operand {
            let operand = self.value(operand)?;
            let collation = self.collation(&[&operand]);
            sql = format!("{sql} {} COLLATE {collation}", operand.sql);
        }
        for branch in branches {
            let condition = match operand {
                Some(_) => self.value(&branch.condition)?.sql,
                None => self.condition(&branch.condition)?,
            };
            let result = self.value(&branch.result)?;
            sql = format!("{sql} WHEN {condition} THEN {}", result.sql);
            results.push(result);
        }
        if let Some(otherwise) = otherwise {
            let result = self.value(otherwise)?;
            sql = format!("{sql} ELSE {}", result.sql);
            results.push(result);
        }
        let kind = common_kind(&results);
        let collation = results.iter().find_map(|result| result.collation);
        Ok(SqliteValue::new(sql + " END)", kind).collated(collation))
    }

    fn cast(
        self,
        kind: &CastKind,
        value: &Expr,
        data_type: &DataType,
    ) -> Result<SqliteValue, FilterError> {
        match (kind, self.language) {
            (CastKind::Cast, _) | (CastKind::DoubleColon, Language::Postgresql) => {}
            (CastKind::DoubleColon, _) => return Err(wrong("only PostgreSQL has `::`")),
            _ => return Err(NOT_PLAIN),
        }
        let value = self.value(value)?;
        let data_type = data_type.to_string().to_lowercase();
        let (name, length) = data_type.split_once('(').unwrap_or((&data_type, ")"));
        let (to, kind) = match name {
            _ if !length.ends_with(')') => return Err(NOT_PLAIN),
            "text" | "char" | "character" | "char varying" | "character varying" | "varchar"
            | "nvarchar" | "nchar" | "binary" | "varbinary" => ("TEXT", Kind::Text),
            "signed" | "signed integer" | "unsigned" | "unsigned integer" | "smallint" | "int"
            | "int4" | "int8" | "integer" | "bigint" => ("INTEGER", Kind::Number),
            "numeric" | "decimal" | "float" | "float8" | "real" | "double" | "double precision" => {
                ("NUMERIC", Kind::Number)
            }
            _ => return Err(NOT_PLAIN),
        };
        let mut sql = format!("CAST({} AS {to})", value.sql);
        let digits = length.split(|c: char| !c.is_ascii_digit()).next();
        let is_binary = name.ends_with("binary");
        if let Some(length) = digits.and_then(|digits| digits.parse::<u64>().ok())
            && kind == Kind::Text
            && !is_binary
        {
            sql = format!("substr({sql}, 1, {length})");
        }
        let collation = if is_binary {
            Some("BINARY")
        } else {
            value.collation
        };
        Ok(SqliteValue::new(sql, kind).collated(collation))
    }

    /// Translates SQL Server's JSON of a single column, which shows its type: `(SELECT column AS
    /// name FOR JSON PATH, WITHOUT_ARRAY_WRAPPER)`.
    fn json_of_column(self, query: &Query) -> Result<SqliteValue, FilterError> {
        let SetExpr::Select(select) = query.body.as_ref() else {
            return Err(NOT_PLAIN);
        };
        let [SelectItem::ExprWithAlias { expr, alias }] = select.projection.as_slice() else {
            return Err(NOT_PLAIN);
        };
        let form = format!("SELECT {expr} AS {alias} FOR JSON PATH, WITHOUT_ARRAY_WRAPPER");
        if !self.is_for(Language::Sqlserver) || query.to_string() != form {
            return Err(NOT_PLAIN);
        }
        let (value, name) = (self.value(expr)?.sql, SqliteValue::text(&alias.value).sql);
        let sql = format!(
            "(CASE WHEN {value} IS NULL THEN '{{}}' ELSE json_object({name}, {value}) END)"
        );
        Ok(SqliteValue::new(sql, Kind::Text))
    }
}

/// Returns `Text` or `Number` if all values are of that kind, otherwise `Other`.
pub(super) fn common_kind(values: &[SqliteValue]) -> Kind {
    let is_all = |kind| values.iter().all(|value| value.kind == kind);
    let kinds = [Kind::Text, Kind::Number];
    kinds
        .into_iter()
        .find(|kind| is_all(*kind))
        .unwrap_or(Kind::Other)
}

fn constant(value: &Value) -> Result<SqliteValue, FilterError> {
    match value {
        Value::Number(text, false) => Ok(SqliteValue::new(text.clone(), Kind::Number)),
        Value::Boolean(is_true) => {
            let word = if *is_true { "TRUE" } else { "FALSE" };
            Ok(SqliteValue::new(word, Kind::Other))
        }
        Value::Null => Ok(SqliteValue::new("NULL", Kind::Other)),
        Value::Placeholder(name) => Err(wrong(format!("the placeholder `{name}` has no value"))),
        Value::SingleQuotedString(text)
        | Value::DoubleQuotedString(text)
        | Value::EscapedStringLiteral(text)
        | Value::UnicodeStringLiteral(text)
        | Value::NationalStringLiteral(text) => Ok(SqliteValue::text(text)),
        Value::DollarQuotedString(quoted) => Ok(SqliteValue::text(&quoted.value)),
        _ => Err(NOT_PLAIN),
    }
}

/// Returns the SQLite collation for a collation name, which says whether it is case-sensitive.
fn collation_of(name: &ObjectName) -> Result<&'static str, FilterError> {
    let name = name.to_string().to_lowercase();
    let name = name.trim_matches('"');
    if name.contains("_ci") {
        Ok("NOCASE")
    } else if name.contains("bin") || name.contains("_cs") || name == "c" || name == "posix" {
        Ok("BINARY")
    } else {
        Err(NOT_PLAIN)
    }
}
