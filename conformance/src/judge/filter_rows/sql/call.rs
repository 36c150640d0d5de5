//! SQL string functions.

use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, ObjectNamePart,
};

use super::condition::Writer;
use super::value::{Kind, SqliteValue, common_kind};
use super::{FilterError, Language, NOT_PLAIN};

impl Writer<'_> {
    /// Translates a function call.
    pub(super) fn call(self, call: &Function) -> Result<SqliteValue, FilterError> {
        let name = name(call)?;
        let arguments = arguments(call)?;
        if let ("if", Language::Mysql) | ("iif", Language::Sqlserver) =
            (name.as_str(), self.language)
        {
            return self.choice(&arguments);
        }
        let values = arguments.iter().map(|argument| self.value(argument));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        let collation = values.iter().find_map(|value| value.collation);
        let written = self.compared(&name, &values).or_else(|| {
            let sql: Vec<&str> = values.iter().map(|value| value.sql.as_str()).collect();
            self.located(&name, &sql, &values)
                .or_else(|| self.taken(&name, &sql))
                .or_else(|| self.json(&name, &sql))
        });
        Ok(written.ok_or(NOT_PLAIN)?.collated(collation))
    }

    /// Translates `POSITION(part IN text)`, which SQL Server does not have.
    pub(super) fn position(self, part: &Expr, text: &Expr) -> Result<SqliteValue, FilterError> {
        if self.has(Language::Sqlserver) {
            return Err(NOT_PLAIN);
        }
        let (part, text) = (self.value(part)?, self.value(text)?);
        let collation = part.collation.or(text.collation);
        let sql = self.place(&part.sql, &text.sql, "1", &[&part, &text]);
        Ok(sql.collated(collation))
    }

    /// Translates `SUBSTRING(text FROM start FOR length)`, in any notation.
    pub(super) fn substring(
        self,
        text: &Expr,
        start: Option<&Expr>,
        length: Option<&Expr>,
    ) -> Result<SqliteValue, FilterError> {
        let text = self.value(text)?;
        let start = start.map_or(Ok("1".to_owned()), |start| {
            self.value(start).map(|start| start.sql)
        })?;
        let length = length.map_or(Ok(i32::MAX.to_string()), |length| {
            self.value(length).map(|length| length.sql)
        })?;
        let sql = self.piece(&text.sql, &start, &length);
        Ok(sql.collated(text.collation))
    }

    /// Substring. In MySQL a negative start counts from the end.
    fn piece(self, text: &str, start: &str, length: &str) -> SqliteValue {
        let from_end = u8::from(self.has(Language::Mysql));
        let sql = format!("other_piece({text}, {start}, {length}, {from_end})");
        SqliteValue::new(sql, Kind::Text)
    }

    /// Position of a substring, zero if it is absent.
    fn place(self, part: &str, text: &str, start: &str, values: &[&SqliteValue]) -> SqliteValue {
        let any_case = u8::from(self.collation(values) == "NOCASE");
        let sql = format!("other_position({part}, {text}, {start}, {any_case})");
        SqliteValue::new(sql, Kind::Number)
    }

    fn choice(self, arguments: &[&Expr]) -> Result<SqliteValue, FilterError> {
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

    /// The functions that choose among their arguments.
    fn compared(self, name: &str, values: &[SqliteValue]) -> Option<SqliteValue> {
        use Language::{Mysql, Sqlserver};
        let list = values.iter().map(|value| value.sql.as_str());
        let list = list.collect::<Vec<_>>().join(", ");
        let kind = common_kind(values);
        match (name, self.language, values) {
            ("coalesce", _, [_, _, ..]) => {
                Some(SqliteValue::new(format!("coalesce({list})"), kind))
            }
            ("ifnull", Mysql, [_, _]) | ("isnull", Sqlserver, [_, _]) => {
                Some(SqliteValue::new(format!("coalesce({list})"), kind))
            }
            ("isnull", Mysql, [_]) => {
                Some(SqliteValue::new(format!("({list} IS NULL)"), Kind::Other))
            }
            ("nullif", _, [value, other]) => {
                let collation = self.collation(&[value, other]);
                let (value, other) = (&value.sql, other.beside(value));
                let sql = format!("nullif({value} COLLATE {collation}, {other})");
                Some(SqliteValue::new(sql, kind))
            }
            _ => None,
        }
    }

    /// The functions that search for a substring.
    fn located(self, name: &str, sql: &[&str], values: &[SqliteValue]) -> Option<SqliteValue> {
        use Language::{Mysql, Postgresql, Sqlserver};
        let values: Vec<&SqliteValue> = values.iter().take(2).collect();
        let place = |part: &str, text: &str, start: &str| {
            let place = self.place(part, text, start, &values);
            // SQL Server does not find an empty substring.
            match self.language {
                Sqlserver => {
                    SqliteValue::new(format!("({} * ({part} <> ''))", place.sql), Kind::Number)
                }
                _ => place,
            }
        };
        match (name, self.language, sql) {
            ("starts_with", Postgresql, [text, part]) => {
                let place = place(part, text, "1").sql;
                Some(SqliteValue::new(format!("({place} = 1)"), Kind::Other))
            }
            ("strpos", Postgresql, [text, part]) | ("instr", Mysql, [text, part]) => {
                Some(place(part, text, "1"))
            }
            ("locate", Mysql, [part, text]) | ("charindex", Sqlserver, [part, text]) => {
                Some(place(part, text, "1"))
            }
            ("locate", Mysql, [part, text, start])
            | ("charindex", Sqlserver, [part, text, start]) => Some(place(part, text, start)),
            _ => None,
        }
    }

    /// The functions that transform strings, or count their characters.
    fn taken(self, name: &str, sql: &[&str]) -> Option<SqliteValue> {
        use Language::{Mysql, Postgresql, Sqlserver};
        let text = |sql: String| Some(SqliteValue::new(sql, Kind::Text));
        let number = |sql: String| Some(SqliteValue::new(sql, Kind::Number));
        match (name, self.language, sql) {
            ("left", _, [value, length]) => Some(self.piece(value, "1", length)),
            ("right", _, [value, length]) => text(format!("other_right({value}, {length})")),
            ("mid", Mysql, [value, start, length]) => Some(self.piece(value, start, length)),
            ("lower", _, [value]) | ("lcase", Mysql, [value]) => {
                text(format!("other_lower({value})"))
            }
            ("upper", _, [value]) | ("ucase", Mysql, [value]) => {
                text(format!("other_upper({value})"))
            }
            ("reverse", _, [value]) => text(format!("other_reverse({value})")),
            ("replace", _, [value, from, to]) => text(format!("replace({value}, {from}, {to})")),
            ("concat", _, [_, ..]) => {
                // Null counts as an empty string, but in MySQL the result is null.
                let whole = |value: &&str| match self.language {
                    Mysql => (*value).to_owned(),
                    _ => format!("coalesce({value}, '')"),
                };
                let parts: Vec<String> = sql.iter().map(whole).collect();
                text(format!("({} || '')", parts.join(" || ")))
            }
            ("char_length" | "character_length", Mysql | Postgresql, [value])
            | ("length", Postgresql, [value]) => number(format!("length({value})")),
            ("length", Mysql, [value]) | ("octet_length", Mysql | Postgresql, [value]) => {
                number(format!("length(CAST({value} AS BLOB))"))
            }
            ("len", Sqlserver, [value]) => number(format!("length(rtrim({value}, ' '))")),
            _ => None,
        }
    }

    /// The functions that show the type of a value in JSON.
    fn json(self, name: &str, sql: &[&str]) -> Option<SqliteValue> {
        use Language::{Mysql, Postgresql};
        let (sql, kind) = match (name, self.language, sql) {
            ("json_array", Mysql, values) => {
                (format!("json_array({})", values.join(", ")), Kind::Text)
            }
            ("to_jsonb", Postgresql, [value]) => (
                format!("CASE WHEN {value} IS NOT NULL THEN json_quote({value}) END"),
                Kind::Other,
            ),
            ("jsonb_typeof", Postgresql, [value]) => (
                format!(
                    "CASE json_type({value}) WHEN 'text' THEN 'string' WHEN 'integer' THEN 'number' \
                     WHEN 'real' THEN 'number' ELSE json_type({value}) END"
                ),
                Kind::Text,
            ),
            _ => return None,
        };
        Some(SqliteValue::new(format!("({sql})"), kind).collated(Some("BINARY")))
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
