//! SQL string functions.

use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, ObjectNamePart,
};

use super::value::{Kind, SqliteValue, common_kind};
use super::writer::Writer;
use super::{FilterError, Language, NOT_PLAIN};

impl Writer<'_> {
    /// Translates a function call.
    pub(super) fn call(self, call: &Function) -> Result<SqliteValue, FilterError> {
        let name = name(call)?;
        let arguments = arguments(call)?;
        if let ("if", Language::Mysql) | ("iif", Language::Sqlserver) =
            (name.as_str(), self.language)
        {
            return self.if_function(&arguments);
        }
        let values = arguments.iter().map(|argument| self.value(argument));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        let collation = values.iter().find_map(|value| value.collation);
        let sql: Vec<&str> = values.iter().map(|value| value.sql.as_str()).collect();
        let (sql, kind) = self
            .conditional_function(&name, &values, &sql)
            .or_else(|| self.search_function(&name, &values, &sql))
            .or_else(|| self.text_function(&name, &sql))
            .ok_or(NOT_PLAIN)?;
        let is_json = name.contains("json");
        Ok(SqliteValue::new(sql, kind).collated(collation.or(is_json.then_some("BINARY"))))
    }

    /// Translates `POSITION(part IN text)`, which SQL Server does not have.
    pub(super) fn position(self, part: &Expr, text: &Expr) -> Result<SqliteValue, FilterError> {
        if self.is_for(Language::Sqlserver) {
            return Err(NOT_PLAIN);
        }
        let (part, text) = (self.value(part)?, self.value(text)?);
        let collation = part.collation.or(text.collation);
        let sql = self.position_of(&part.sql, &text.sql, "1", &[&part, &text]);
        Ok(SqliteValue::new(sql, Kind::Number).collated(collation))
    }

    /// Translates `SUBSTRING(text FROM start FOR length)`, in any notation.
    pub(super) fn substring(
        self,
        text: &Expr,
        start: Option<&Expr>,
        length: Option<&Expr>,
    ) -> Result<SqliteValue, FilterError> {
        let text = self.value(text)?;
        let or = |value: Option<&Expr>, default: &str| match value {
            Some(value) => Ok(self.value(value)?.sql),
            None => Ok(default.to_owned()),
        };
        let (start, length) = (or(start, "1")?, or(length, "2147483647")?);
        let sql = self.substring_of(&text.sql, &start, &length);
        Ok(SqliteValue::new(sql, Kind::Text).collated(text.collation))
    }

    /// Translates a substring. In MySQL a negative start counts from the end.
    fn substring_of(self, text: &str, start: &str, length: &str) -> String {
        let from_end = u8::from(self.is_for(Language::Mysql));
        format!("other_substring({text}, {start}, {length}, {from_end})")
    }

    /// Translates the position of a substring, zero if it is absent.
    fn position_of(self, part: &str, text: &str, start: &str, values: &[&SqliteValue]) -> String {
        let any_case = u8::from(self.collation(values) == "NOCASE");
        format!("other_position({part}, {text}, {start}, {any_case})")
    }

    fn if_function(self, arguments: &[&Expr]) -> Result<SqliteValue, FilterError> {
        let [condition, yes, no] = arguments else {
            return Err(NOT_PLAIN);
        };
        let condition = self.condition(condition)?;
        let results = [self.value(yes)?, self.value(no)?];
        let kind = common_kind(&results);
        let collation = results.iter().find_map(|result| result.collation);
        let [yes, no] = results.map(|result| result.sql);
        let sql = format!("(CASE WHEN {condition} THEN {yes} ELSE {no} END)");
        Ok(SqliteValue::new(sql, kind).collated(collation))
    }

    /// Translates functions that choose among their arguments; `None` for others.
    fn conditional_function(
        self,
        name: &str,
        values: &[SqliteValue],
        sql: &[&str],
    ) -> Option<(String, Kind)> {
        use Language::{Mysql, Sqlserver};
        let kind = common_kind(values);
        match (name, self.language, values) {
            ("coalesce", _, [_, _, ..])
            | ("ifnull", Mysql, [_, _])
            | ("isnull", Sqlserver, [_, _]) => {
                Some((format!("coalesce({})", sql.join(", ")), kind))
            }
            ("isnull", Mysql, [value]) => Some((format!("({} IS NULL)", value.sql), Kind::Other)),
            ("nullif", _, [value, other]) => {
                let collation = self.collation(&[value, other]);
                let (value, other) = (&value.sql, other.comparable_with(value));
                Some((
                    format!("nullif({value} COLLATE {collation}, {other})"),
                    kind,
                ))
            }
            _ => None,
        }
    }

    /// Translates functions that search for a substring; `None` for others.
    fn search_function(
        self,
        name: &str,
        values: &[SqliteValue],
        sql: &[&str],
    ) -> Option<(String, Kind)> {
        use Language::{Mysql, Postgresql, Sqlserver};
        let (part, text, start) = match (name, self.language, sql) {
            ("starts_with" | "strpos", Postgresql, [text, part])
            | ("instr", Mysql, [text, part]) => (part, text, "1"),
            ("locate", Mysql, [part, text]) | ("charindex", Sqlserver, [part, text]) => {
                (part, text, "1")
            }
            ("locate", Mysql, [part, text, start])
            | ("charindex", Sqlserver, [part, text, start]) => (part, text, *start),
            _ => return None,
        };
        let values: Vec<&SqliteValue> = values.iter().take(2).collect();
        let position = self.position_of(part, text, start, &values);
        Some(match (name, self.language) {
            ("starts_with", _) => (format!("({position} = 1)"), Kind::Other),
            // SQL Server does not find an empty substring.
            (_, Sqlserver) => (format!("({position} * ({part} <> ''))"), Kind::Number),
            _ => (position, Kind::Number),
        })
    }

    /// Translates functions that transform strings, count their characters, or return the JSON type
    /// of a value; `None` for others.
    fn text_function(self, name: &str, sql: &[&str]) -> Option<(String, Kind)> {
        use Language::{Mysql, Postgresql, Sqlserver};
        let kind = match name {
            name if name.ends_with("len") || name.ends_with("length") => Kind::Number,
            "to_jsonb" => Kind::Other,
            _ => Kind::Text,
        };
        let sql = match (name, self.language, sql) {
            ("left", _, [value, length]) => self.substring_of(value, "1", length),
            ("right", _, [value, length]) => format!("other_right({value}, {length})"),
            ("mid", Mysql, [value, start, length]) => self.substring_of(value, start, length),
            ("lower", _, [value]) | ("lcase", Mysql, [value]) => format!("other_lower({value})"),
            ("upper", _, [value]) | ("ucase", Mysql, [value]) => format!("other_upper({value})"),
            ("reverse", _, [value]) => format!("other_reverse({value})"),
            ("replace", _, [value, from, to]) => format!("replace({value}, {from}, {to})"),
            // Null counts as an empty string, but in MySQL the result is null.
            ("concat", Mysql, [_, ..]) => format!("({} || '')", sql.join(" || ")),
            ("concat", _, [_, ..]) => {
                format!("(coalesce({}, '') || '')", sql.join(", '') || coalesce("))
            }
            ("char_length" | "character_length", Mysql | Postgresql, [value])
            | ("length", Postgresql, [value]) => format!("length({value})"),
            ("length", Mysql, [value]) | ("octet_length", Mysql | Postgresql, [value]) => {
                format!("length(CAST({value} AS BLOB))")
            }
            ("len", Sqlserver, [value]) => format!("length(rtrim({value}, ' '))"),
            ("json_array", Mysql, values) => format!("json_array({})", values.join(", ")),
            ("to_jsonb", Postgresql, [value]) => {
                format!("(CASE WHEN {value} IS NOT NULL THEN json_quote({value}) END)")
            }
            ("jsonb_typeof", Postgresql, [value]) => format!(
                "(CASE json_type({value}) WHEN 'text' THEN 'string' WHEN 'integer' THEN 'number' \
                 WHEN 'real' THEN 'number' ELSE json_type({value}) END)"
            ),
            _ => return None,
        };
        Some((sql, kind))
    }
}

/// Returns the name of a function; a qualified name is not supported.
fn name(call: &Function) -> Result<String, FilterError> {
    match call.name.0.as_slice() {
        [ObjectNamePart::Identifier(name)] => Ok(name.value.to_lowercase()),
        _ => Err(NOT_PLAIN),
    }
}

/// Returns the arguments of a call that has no other clauses.
fn arguments(call: &Function) -> Result<Vec<&Expr>, FilterError> {
    let is_plain = !call.uses_odbc_syntax
        && call.parameters == FunctionArguments::None
        && call.filter.is_none()
        && call.null_treatment.is_none()
        && call.over.is_none()
        && call.within_group.is_empty();
    let FunctionArguments::List(list) = &call.args else {
        return Err(NOT_PLAIN);
    };
    if !is_plain || list.duplicate_treatment.is_some() || !list.clauses.is_empty() {
        return Err(NOT_PLAIN);
    }
    let arguments = list.args.iter().map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)) => Ok(argument),
        _ => Err(NOT_PLAIN),
    });
    arguments.collect()
}
