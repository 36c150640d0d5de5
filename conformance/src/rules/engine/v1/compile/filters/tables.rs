//! The table for filters, the requests for filters, and their targets.

use crate::scenario::*;

/// The table of fruits: apple and cherry are red, all columns of durian are null.
pub(super) fn fruits() -> Table {
    named("fruits", "colour")
}

/// The rows of [`fruits`] under these names of the table and of the column of colours.
pub(super) fn named(table: &'static str, colour: &str) -> Table {
    Table::new(
        table,
        json!({
            "apple": {colour: "red", "price": 5, "owner": "alice"},
            "banana": {colour: "yellow", "price": 12, "owner": "bob"},
            "cherry": {colour: "red", "price": 30, "owner": "bob"},
            "durian": {colour: null, "price": null, "owner": null},
        }),
    )
}

/// A rule that is true for the red fruits.
pub(crate) const RED: &str = "include if input.fruits.colour == \"red\"";

/// The rows that [`RED`] includes.
pub(super) const RED_ROWS: &[&str] = &["apple", "cherry"];

/// Target of a filter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target {
    /// Media type of the target's filters.
    pub(crate) accept: &'static str,
    /// Name of the target in `targetDialects`.
    pub(super) dialect: &'static str,
    /// Language of the target's filters.
    pub(super) language: Language,
}

pub(crate) const ALL: Target = Target {
    accept: "application/vnd.engine.ucast.all+json",
    dialect: "ucast+all",
    language: Language::Ucast,
};

pub(super) const MINIMAL: Target = Target {
    accept: "application/vnd.engine.ucast.minimal+json",
    dialect: "ucast+minimal",
    language: Language::Ucast,
};

pub(super) const LINQ: Target = Target {
    accept: "application/vnd.engine.ucast.linq+json",
    dialect: "ucast+linq",
    language: Language::Ucast,
};

pub(super) const PRISMA: Target = Target {
    accept: "application/vnd.engine.ucast.prisma+json",
    dialect: "ucast+prisma",
    language: Language::Ucast,
};

pub(super) const SQLSERVER: Target = Target {
    accept: "application/vnd.engine.sql.sqlserver+json",
    dialect: "sql+sqlserver",
    language: Language::Sqlserver,
};

pub(super) const MYSQL: Target = Target {
    accept: "application/vnd.engine.sql.mysql+json",
    dialect: "sql+mysql",
    language: Language::Mysql,
};

pub(super) const POSTGRESQL: Target = Target {
    accept: "application/vnd.engine.sql.postgresql+json",
    dialect: "sql+postgresql",
    language: Language::Postgresql,
};

pub(super) const SQLITE: Target = Target {
    accept: "application/vnd.engine.sql.sqlite+json",
    dialect: "sql+sqlite",
    language: Language::Sqlite,
};

/// Targets whose filters are UCAST objects.
pub(super) const UCAST: [Target; 4] = [ALL, MINIMAL, LINQ, PRISMA];

/// Targets whose filters are WHERE clauses.
pub(super) const SQL: [Target; 4] = [SQLSERVER, MYSQL, POSTGRESQL, SQLITE];

/// The media type of a response for several targets.
pub(super) const MULTITARGET: &str = "application/vnd.engine.multitarget+json";

/// Pointer to the condition in a response for one target.
pub(super) const QUERY: &str = "/result/query";

impl Target {
    /// Key of the target in mappings of tables.
    pub(super) fn key(self) -> &'static str {
        self.dialect.trim_start_matches("sql+")
    }

    /// Expects that the condition at the pointer selects these rows of a table.
    pub(super) fn rows(
        self,
        pointer: &'static str,
        table: &Table,
        expected: &[&'static str],
    ) -> Expectation {
        let found = Rows::of(self.language, pointer, table);
        let unless: &[Unless] = match self.language {
            Language::Ucast | Language::Sqlite => &[],
            _ => &[Unless::NotPlain],
        };
        rows(found.unless(unless, expected))
    }

    /// Expects that the filter of [`RED`] selects the red rows of a table.
    pub(super) fn red_rows(self, table: &Table) -> Expectation {
        self.rows(QUERY, table, RED_ROWS)
    }

    /// Expects that the filter selects these rows, or that the target rejects the rule.
    pub(super) fn rows_or_rejection(self, table: &Table, expected: &[&'static str]) -> Expectation {
        let found = Rows::of(self.language, QUERY, table);
        let unless: &[Unless] = match self.language {
            Language::Ucast | Language::Sqlite => &[Unless::Refused],
            _ => &[Unless::Refused, Unless::NotPlain],
        };
        rows(found.unless(unless, expected))
    }
}

/// A request for the filter of a rule of the scenario's package, with its columns unknown.
pub(crate) fn filter(rule: &str, target: Target) -> Step {
    filter_request(rule, target.accept, json!({"unknowns": ["input.fruits"]}))
}

/// A request for a filter, with this body.
pub(super) fn filter_request(rule: &str, accept: &'static str, body: Value) -> Step {
    post(format!("/v1/compile/{{ns}}/{rule}"))
        .header("Accept", accept)
        .json(body)
}

/// A request for the filters of several targets in one response.
pub(super) fn several(targets: &[Target]) -> Step {
    let dialects: Vec<&str> = targets.iter().map(|target| target.dialect).collect();
    let body = json!({"unknowns": ["input.fruits"], "options": {"targetDialects": dialects}});
    filter_request("include", MULTITARGET, body)
}

/// A request for a filter with other names of tables and columns.
pub(super) fn mapped(target: Target, mappings: Value) -> Step {
    let body = json!({
        "unknowns": ["input.fruits"],
        "options": {"targetSQLTableMappings": mappings},
    });
    filter_request("include", target.accept, body)
}
