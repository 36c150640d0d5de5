//! Canonical text of the residuals of partial evaluation: queries and expressions in a fixed order,
//! variables replaced by the terms that they equal or by numbers.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::scenario::resource_names::canonical;

/// Maximum nesting depth that is followed in data from a server.
const MAX_DEPTH: usize = 64;

/// Formats a list of queries: `(…; …) or (…)`. `None` if it is malformed.
pub(crate) fn text(queries: &Value) -> Option<String> {
    let queries = queries.as_array()?.iter().map(query);
    let mut queries = queries.collect::<Option<Vec<_>>>()?;
    queries.sort();
    queries.dedup();
    Some(queries.join(" or "))
}

/// Formats the conditions of each query in a list, in order. `None` if it is malformed.
pub(crate) fn conditions(queries: &Value) -> Option<Vec<Vec<String>>> {
    queries.as_array()?.iter().map(conditions_of).collect()
}

/// Whether conditions and patterns match one to one; `*` matches anything.
pub(crate) fn matches(conditions: &[String], patterns: &[&str]) -> bool {
    let mut unmatched: Vec<&String> = conditions.iter().collect();
    for text in patterns {
        let (start, end) = text.split_once('*').unwrap_or((text, ""));
        let is_match = |condition: &&String| match text.contains('*') {
            false => *condition == text,
            true => condition
                .strip_prefix(start)
                .is_some_and(|rest| ends_like(rest, end)),
        };
        let Some(index) = unmatched.iter().position(is_match) else {
            return false;
        };
        unmatched.remove(index);
    }
    unmatched.is_empty()
}

/// Whether a string is anything followed by `end`, which may contain further `*`.
fn ends_like(text: &str, end: &str) -> bool {
    match end.split_once('*') {
        None => text.ends_with(end),
        Some((middle, end)) => text
            .split_once(middle)
            .is_some_and(|(_, rest)| ends_like(rest, end)),
    }
}

/// Terms that the variables of a query equal, by name.
type Definitions = BTreeMap<String, String>;

fn query(query: &Value) -> Option<String> {
    let text = conditions_of(query)?.join("; ");
    Some(format!("({})", number_variables(&text)))
}

fn conditions_of(query: &Value) -> Option<Vec<String>> {
    let exprs = query.as_array()?;
    let mut named = Definitions::new();
    let mut expressions = Vec::new();
    for expr in exprs {
        match equation(expr) {
            Some((name, other)) if !named.contains_key(name) && !mentions(other, name, 0) => {
                let text = term(other, &named, 0)?;
                named.insert(name.to_owned(), text);
            }
            _ => expressions.push(expr),
        }
    }
    let used = |name: &str| expressions.iter().any(|expr| mentions(expr, name, 0));
    let mut texts = Vec::new();
    for (name, text) in &named {
        if !used(name) {
            texts.push(format!("{text} is defined"));
        }
    }
    for expr in expressions {
        texts.push(self::expr(expr, &named)?);
    }
    texts.sort();
    texts.dedup();
    Some(texts)
}

/// Returns the variable and the term of an expression that equates them; `None` for any other.
fn equation(expr: &Value) -> Option<(&str, &Value)> {
    if expr.get("negated") == Some(&Value::Bool(true)) || expr.get("with").is_some() {
        return None;
    }
    let [operator, left, right] = expr.get("terms")?.as_array()?.as_slice() else {
        return None;
    };
    if comparison(&name(operator)?) != Some(("==", false)) {
        return None;
    }
    match (variable(left), variable(right)) {
        (Some(name), _) => Some((name, right)),
        (None, Some(name)) => Some((name, left)),
        (None, None) => None,
    }
}

fn variable(term: &Value) -> Option<&str> {
    let name = term.get("value")?.as_str()?;
    (term.get("type")? == "var" && !matches!(name, "input" | "data")).then_some(name)
}

/// Whether a variable occurs in a node.
fn mentions(node: &Value, name: &str, depth: usize) -> bool {
    if depth > MAX_DEPTH {
        return true;
    }
    match node {
        Value::Array(items) => items.iter().any(|item| mentions(item, name, depth + 1)),
        Value::Object(members) => {
            variable(node) == Some(name)
                || members.values().any(|item| mentions(item, name, depth + 1))
        }
        _ => false,
    }
}

fn expr(expr: &Value, named: &Definitions) -> Option<String> {
    let terms = expr.get("terms")?;
    let mut text = match terms.as_array() {
        Some(call) => self::call(call, named, 0)?,
        None => term(terms, named, 0)?,
    };
    if expr.get("negated") == Some(&Value::Bool(true)) {
        text = format!("not {text}");
    }
    let with = expr.get("with").and_then(Value::as_array);
    for with in with.into_iter().flatten() {
        let target = term(with.get("target")?, named, 0)?;
        let value = term(with.get("value")?, named, 0)?;
        text.push_str(&format!(" with {target} as {value}"));
    }
    Some(text)
}

/// Returns the name of a function.
fn name(operator: &Value) -> Option<String> {
    if operator.get("type")? == "var" {
        return Some(operator.get("value")?.as_str()?.to_owned());
    }
    let steps = operator.get("value")?.as_array()?.iter();
    let steps = steps.map(|step| step.get("value")?.as_str());
    Some(steps.collect::<Option<Vec<_>>>()?.join("."))
}

/// Returns the sign of a comparison, and whether its operands are swapped. No document names the
/// operators, so those known from servers are accepted, with any prefix before the last word of the
/// name.
fn comparison(operator: &str) -> Option<(&'static str, bool)> {
    let word = operator.rsplit(['.', '_']).next().unwrap_or(operator);
    Some(match word {
        "eq" | "equal" | "equals" | "assign" | "unify" | "=" | "==" => ("==", false),
        "neq" | "ne" | "!=" => ("!=", false),
        "lt" | "less" | "<" => ("<", false),
        "lte" | "le" | "<=" => ("<=", false),
        "gt" | "greater" | ">" => ("<", true),
        "gte" | "ge" | ">=" => ("<=", true),
        _ => return None,
    })
}

fn call(call: &[Value], named: &Definitions, depth: usize) -> Option<String> {
    let (operator, operands) = call.split_first()?;
    let operator = name(operator)?;
    let operands = operands
        .iter()
        .map(|operand| term(operand, named, depth + 1));
    let mut operands = operands.collect::<Option<Vec<_>>>()?;
    let Some((sign, mirrored)) = comparison(&operator) else {
        return Some(format!("{operator}({})", operands.join(", ")));
    };
    if matches!(sign, "==" | "!=") {
        operands.sort();
    }
    match operands.as_slice() {
        [left, right] if mirrored => Some(format!("{right} {sign} {left}")),
        [left, right] => Some(format!("{left} {sign} {right}")),
        _ => Some(format!("{operator}({})", operands.join(", "))),
    }
}

fn term(term: &Value, named: &Definitions, depth: usize) -> Option<String> {
    if depth > MAX_DEPTH {
        return None;
    }
    let value = term.get("value");
    let list = |items: &Value| {
        let items = items.as_array()?.iter();
        let items = items.map(|item| self::term(item, named, depth + 1));
        items.collect::<Option<Vec<_>>>()
    };
    Some(match term.get("type")?.as_str()? {
        "null" => "null".to_owned(),
        "boolean" | "number" | "string" => canonical(value?, ""),
        "var" => match variable(term) {
            Some(name) => named.get(name).cloned().unwrap_or(format!("<{name}>")),
            None => value?.as_str()?.to_owned(),
        },
        "ref" => {
            let steps = list(value?)?;
            let (head, steps) = steps.split_first()?;
            let steps = steps.iter().map(|step| format!("[{step}]"));
            format!("{head}{}", steps.collect::<String>())
        }
        "array" => format!("[{}]", list(value?)?.join(", ")),
        "set" => {
            let mut items = list(value?)?;
            items.sort();
            format!("{{{}}}", items.join(", "))
        }
        "call" => call(value?.as_array()?, named, depth + 1)?,
        kind => format!("{kind} {}", canonical(value?, "")),
    })
}

/// Replaces variable names with numbers, in the order of occurrence.
fn number_variables(text: &str) -> String {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut output = String::new();
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once('<') {
        output.push_str(before);
        match tail.split_once('>') {
            Some((name, after)) if !name.is_empty() && !name.contains([' ', '"', '=']) => {
                let next = numbers.len() + 1;
                let number = *numbers.entry(name).or_insert(next);
                output.push_str(&format!("v{number}"));
                rest = after;
            }
            _ => {
                output.push('<');
                rest = tail;
            }
        }
    }
    output.push_str(rest);
    output
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::{matches, text};

    #[rstest]
    #[case::text_and_glob(vec!["1 == a", "*helper*"], true)]
    #[case::another_order(vec!["*helper*", "1 == a"], true)]
    #[case::two_globs(vec!["1 == a", "* with b as 2"], true)]
    #[case::another_text(vec!["1 == a", "*other*"], false)]
    #[case::too_few(vec!["1 == a"], false)]
    #[case::one_twice(vec!["*helper*", "*helper*"], false)]
    #[case::too_many(vec!["1 == a", "*helper*", "*"], false)]
    fn conditions_are_like_as_many_texts(#[case] texts: Vec<&str>, #[case] expected: bool) {
        let conditions = ["1 == a".to_owned(), "data.x.helper with b as 2".to_owned()];
        assert_eq!(matches(&conditions, &texts), expected);
    }

    #[test]
    fn the_same_conditions_have_the_same_text() {
        let input = |name: &str| {
            json!({"type": "ref", "value": [
                {"type": "var", "value": "input"}, {"type": "string", "value": name}]})
        };
        let var = |name: &str| json!({"type": "var", "value": name});
        let op = |name: &str| json!({"type": "ref", "value": [{"type": "var", "value": name}]});
        let one = json!({"type": "number", "value": 1});
        let same = [
            json!([[{"index": 0, "terms": [op("gt"), input("a"), one]}]]),
            json!([[{"index": 0, "terms": [op("lt"), one, input("a")]}]]),
            json!([[
                {"index": 0, "terms": [op("eq"), var("x"), input("a")]},
                {"index": 1, "terms": [op("gt"), var("x"), one]},
            ]]),
        ];
        for queries in same {
            let canonical = text(&queries);
            assert_eq!(
                canonical.as_deref(),
                Some(r#"(1 < input["a"])"#),
                "{queries}"
            );
        }
        let defined = json!([[{"index": 0, "terms": [op("eq"), var("$0"), input("a")]}]]);
        let canonical = text(&defined);
        assert_eq!(canonical.as_deref(), Some(r#"(input["a"] is defined)"#));
        let longer = json!([[{"index": 0, "terms": [op("compare_gt"), input("a"), one]}]]);
        let canonical = text(&longer);
        assert_eq!(canonical.as_deref(), Some(r#"(1 < input["a"])"#));
        assert_eq!(text(&json!([[]])).as_deref(), Some("()"));
        assert_eq!(text(&json!({})), None);
    }
}
