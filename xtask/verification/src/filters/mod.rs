//! Compares filters with their policies: the rows that they select in databases and as UCAST, and
//! the rows for which the rule is true.

mod cases;
mod databases;
mod literals;
mod mariadb;
mod names;
mod postgresql;
mod random;
mod rows;
mod ucast;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;

use rego::filter::{self, Dialect, Filter, Target, Unsupported, Variant};
use rego::{
    Compiler, Evaluation, Module, PartialOptions, PartialQuery, Policy, Query, QueryOptions,
    References, Value,
};
use sqlparser::dialect::MsSqlDialect;
use sqlparser::parser::Parser;

use crate::report;
use cases::Case;
use names::Schema;

/// Ids of the rows that a query selects, or the database's error.
type Selected = Result<BTreeSet<i64>, String>;

/// Minimum percentage of filters that are conditions and do not select all or no rows.
const CONDITIONAL: usize = 70;

/// Maximum percentage of cases that may be refused, by this program or by PostgreSQL, which does
/// not compare columns with constants of another type.
const REFUSED: usize = 10;

/// Path of the rule that is translated to a filter, below `data`.
const PATH: [&str; 2] = ["filters", "include"];

/// Filter of a case, with the ids of the rows that it must select.
struct Compiled {
    case: Case,
    expected: BTreeSet<i64>,
    filter: Filter,
}

impl Compiled {
    /// Returns the query of the filter for a database; none if it selects no row.
    fn sql(&self, dialect: Dialect) -> Result<Result<Option<String>, Unsupported>, Box<dyn Error>> {
        let (target, schema) = (Target::Sql(dialect), self.case.schema);
        let (names, types) = (names::of(target, schema)?, names::types(target, schema)?);
        let clause = self.filter.to_sql(dialect, &names, &types);
        Ok(clause.map(|clause| clause.map(|clause| self.query(dialect, &clause))))
    }

    fn query(&self, dialect: Dialect, clause: &str) -> String {
        let case = &self.case;
        names::query(dialect, case.is_joined(), case.schema, clause)
    }
}

/// Runs the handwritten and random cases on all databases, or on SQLite only.
///
/// # Errors
/// When a filter selects other rows than its rule, or a database cannot be started.
pub(crate) fn run(count: usize, seed: u64, sqlite_only: bool) -> Result<(), Box<dyn Error>> {
    let mut all = cases::written();
    all.extend(random::cases(count, seed).map_err(|error| error.message().to_owned())?);
    let mut compiled = Vec::new();
    let mut refused = 0;
    let total = all.len();
    for case in all {
        let expected = truth(&case)?;
        match residual(&case)? {
            Ok(filter) => compiled.push(Compiled {
                case,
                expected,
                filter,
            }),
            Err(error) if case.written => return Err(case.failed("refused", &error).into()),
            Err(_) => refused += 1,
        }
    }
    let conditional = compiled.iter().filter(|one| is_conditional(&one.filter));
    let conditional = conditional.count();
    report(
        "filters",
        &format!("{total} cases, {conditional} conditions, {refused} refused"),
    );
    let mut wrong = check_ucast(&compiled)?;
    wrong.extend(parse_for_sqlserver(&compiled)?);
    fail_if_wrong(&wrong)?;
    let databases: &[Dialect] = match sqlite_only {
        true => &[Dialect::Sqlite],
        false => &[Dialect::Sqlite, Dialect::PostgreSql, Dialect::MySql],
    };
    for &dialect in databases {
        fail_if_wrong(&check_database(&compiled, dialect)?)?;
    }
    literals::run(sqlite_only)?;
    if conditional * 100 < CONDITIONAL * total || refused * 100 > REFUSED * total {
        return Err("too few of the cases are conditions".into());
    }
    Ok(())
}

/// Fails with the first of these errors, if there is one, and prints some of the others.
fn fail_if_wrong(wrong: &[String]) -> Result<(), Box<dyn Error>> {
    let Some(first) = wrong.first() else {
        return Ok(());
    };
    let messages = wrong.iter().take(10).cloned().collect::<Vec<_>>();
    report("wrong", &messages.join("\n\n"));
    let rest = wrong.len();
    Err(format!("{rest} filters select other rows, first {first}").into())
}

fn is_conditional(filter: &Filter) -> bool {
    !matches!(filter.condition(), filter::Condition::Constant(_))
}

/// Returns the ids of the rows for which the rule of a case is true.
fn truth(case: &Case) -> Result<BTreeSet<i64>, Box<dyn Error>> {
    let policy = compile(case)?;
    let query = Query::document(&policy, &PATH.map(Value::from))?;
    let mut ids = BTreeSet::new();
    for row in rows::all(case.is_joined()) {
        let mut input = case.input.as_object().cloned().unwrap_or_default();
        for (table, document) in row.documents() {
            input.insert(table, document);
        }
        for name in names::SHORT {
            if let Some(value) = row.column("t", name) {
                input.insert(*name, value.clone());
            }
        }
        let mut evaluation = Evaluation::new(&case.documents);
        evaluation.input = Some(Value::from(input));
        let answers = query.evaluate(&mut evaluation);
        let answers = answers.map_err(|error| case.failed("cannot be evaluated", &error))?;
        let document = answers.into_iter().next();
        let document = document.and_then(rego::Solution::into_document);
        if document.is_some_and(|document| document != Value::Bool(false)) {
            ids.insert(row.id);
        }
    }
    Ok(ids)
}

fn compile(case: &Case) -> Result<Policy, Box<dyn Error>> {
    let module = Module::parse("filters.rego", &case.module());
    let module = module.map_err(|error| case.failed("cannot be parsed", &error))?;
    let compiler = Compiler::new(&Policy::default()).put("filters.rego", module);
    let policy = compiler.compile();
    Ok(policy.map_err(|error| case.failed("cannot be compiled", &error))?)
}

/// Returns the filter of a case, or why it has none.
fn residual(case: &Case) -> Result<Result<Filter, String>, Box<dyn Error>> {
    let policy = compile(case)?;
    let body = filter::query(&PATH.map(Value::from));
    let query = PartialQuery::compile(&policy, body, &QueryOptions::default())?;
    let options = PartialOptions {
        unknowns: References::parse(["input.t", "input.u", "input.s", "input.n"])?,
        ..PartialOptions::default()
    };
    let mut evaluation = Evaluation::new(&case.documents);
    evaluation.input = Some(case.input.clone());
    let residual = query.evaluate(&mut evaluation, &options);
    let residual = residual.map_err(|error| case.failed("cannot be evaluated", &error))?;
    let short_names = names::short(case.schema);
    let filter = Filter::of(&residual.queries, &residual.support, &short_names);
    Ok(filter.map_err(|refused| {
        let messages = refused.iter().map(ToString::to_string);
        messages.collect::<Vec<_>>().join("; ")
    }))
}

/// Returns errors about filters that select other rows as UCAST.
fn check_ucast(compiled: &[Compiled]) -> Result<Vec<String>, Box<dyn Error>> {
    let mut wrong = Vec::new();
    let mut count = 0;
    for one in compiled {
        let variants = [
            Variant::All,
            Variant::Prisma,
            Variant::Linq,
            Variant::Minimal,
        ];
        let understood = |variant: &&Variant| one.filter.check(&[Target::Ucast(**variant)]).is_ok();
        if variants.iter().find(understood).is_none() {
            continue;
        }
        count += 1;
        let schema = one.case.schema;
        let names = names::of(Target::Ucast(Variant::All), schema)?;
        let query = one.filter.to_ucast(&names);
        let rows = rows::all(one.case.is_joined()).into_iter();
        let found: Result<BTreeSet<i64>, String> = rows
            .filter_map(|row| {
                let holds = query
                    .as_ref()
                    .map(|query| ucast::holds(query, &row, schema));
                match holds.unwrap_or(Ok(false)) {
                    Ok(true) => Some(Ok(row.id)),
                    Ok(false) => None,
                    Err(error) => Some(Err(error)),
                }
            })
            .collect();
        let text = query.map(|query| query.to_string()).unwrap_or_default();
        wrong.extend(judge(one, "UCAST", &text, found));
    }
    report("UCAST", &format!("{count} filters, {} wrong", wrong.len()));
    Ok(wrong)
}

/// Returns errors about filters that are not valid queries for SQL Server.
fn parse_for_sqlserver(compiled: &[Compiled]) -> Result<Vec<String>, Box<dyn Error>> {
    let mut wrong = Vec::new();
    for one in compiled {
        let dialect = Dialect::SqlServer;
        match one.sql(dialect)? {
            Ok(Some(text)) => match Parser::parse_sql(&MsSqlDialect {}, &text) {
                Ok(parsed) if parsed.len() == 1 => {}
                Ok(_) => wrong.push(one.case.failed("several statements", &text)),
                Err(error) => wrong.push(one.case.failed(&text, &error)),
            },
            Ok(None) => {}
            Err(_) => {}
        }
    }
    let count = compiled.len();
    report(
        "SQL Server",
        &format!("{count} parsed, {} wrong", wrong.len()),
    );
    Ok(wrong)
}

/// Returns errors about filters that select other rows in a database.
fn check_database(compiled: &[Compiled], dialect: Dialect) -> Result<Vec<String>, Box<dyn Error>> {
    let mut queries = Vec::new();
    for one in compiled {
        queries.push(match one.sql(dialect)? {
            Ok(Some(query)) => Some(query),
            Ok(None) => Some(one.query(dialect, "WHERE 1 = 0")),
            Err(_) => None,
        });
    }
    let flattened: Vec<String> = queries.iter().flatten().cloned().collect();
    let mut answers = databases::select(dialect, &flattened)?.into_iter();
    let mut wrong = Vec::new();
    let (mut same, mut refused) = (0, 0);
    for (one, query) in compiled.iter().zip(&queries) {
        let Some(query) = query else {
            refused += 1;
            continue;
        };
        let found = answers.next().ok_or("an answer is missing")?;
        if found.is_err() && dialect == Dialect::PostgreSql && one.case.confuses_kinds {
            refused += 1;
            continue;
        }
        match judge(one, Target::Sql(dialect).dialect(), query, found) {
            Some(reason) => wrong.push(reason),
            None => same += 1,
        }
    }
    let name = Target::Sql(dialect).dialect();
    report(
        name,
        &format!("{same} the same, {refused} refused, {} wrong", wrong.len()),
    );
    if refused * 100 > REFUSED * compiled.len() {
        return Err(format!("{name} refuses too many").into());
    }
    Ok(wrong)
}

fn judge(
    one: &Compiled,
    target: &str,
    written: &str,
    found: Result<BTreeSet<i64>, String>,
) -> Option<String> {
    let error = match found {
        Err(error) => error,
        Ok(found) if found == one.expected => return None,
        Ok(found) => {
            let rows = |rows: Vec<&i64>| format!("{rows:?}");
            let leaked = rows(found.difference(&one.expected).collect());
            let lost = rows(one.expected.difference(&found).collect());
            format!("leaked {leaked}, lost {lost}")
        }
    };
    Some(one.case.failed(&format!("{target}: {written}"), &error))
}

/// Values of a row by column name.
type Columns = BTreeMap<&'static str, Value>;
