//! Overrides on the command line: `a.b=c,d={x,y},e[0].f=g`. A backslash escapes a character.

use std::fs;

use rego::Value;
use rego::value::{Number, Object};

/// Maximum index of an array item.
const MAX_INDEX: usize = 65_536;

/// Step of an override's key: `a.b[0]` has three.
#[derive(Debug)]
enum Step {
    /// Member of an object.
    Name(String),
    /// Item of an array.
    Item(usize),
}

/// Applies an override to the configuration; with `from_file` each value is the name of a file,
/// whose content without surrounding whitespace is the value.
pub(super) fn apply(config: &mut Value, text: &str, from_file: bool) -> Result<(), String> {
    for assignment in split(text, ',') {
        let sides = split(&assignment, '=');
        let (Some(key), true) = (sides.first(), sides.len() > 1) else {
            return Err(format!("`{assignment}` has no `=`"));
        };
        let operand = assignment.get(key.len() + 1..).unwrap_or_default();
        let value = if from_file {
            let content = fs::read_to_string(operand);
            let content = content.map_err(|source| format!("`{operand}`: {source}"))?;
            Value::from(content.trim())
        } else {
            value(operand)
        };
        place(config, &steps(key)?, value)?;
    }
    Ok(())
}

/// Splits a string at unescaped separators outside of braces. The parts stay escaped.
fn split(text: &str, separator: char) -> Vec<String> {
    let mut parts = vec![String::new()];
    let (mut depth, mut escaped) = (0_usize, false);
    for char in text.chars() {
        if char == separator && depth == 0 && !escaped {
            parts.push(String::new());
            continue;
        }
        match char {
            '{' if !escaped => depth += 1,
            '}' if !escaped => depth = depth.saturating_sub(1),
            _ => {}
        }
        escaped = char == '\\' && !escaped;
        if let Some(part) = parts.last_mut() {
            part.push(char);
        }
    }
    parts
}

/// Removes the backslashes that escape characters of a string.
fn unescape(text: &str) -> String {
    let mut chars = text.chars();
    let mut unescaped = String::new();
    while let Some(char) = chars.next() {
        unescaped.extend(if char == '\\' {
            chars.next()
        } else {
            Some(char)
        });
    }
    unescaped
}

/// Parses an array in braces, a boolean, `null`, an integer, or else a string.
fn value(text: &str) -> Value {
    let list = text
        .strip_prefix('{')
        .and_then(|text| text.strip_suffix('}'));
    if let Some(items) = list {
        let items = split(items, ',');
        let items = items.iter().filter(|item| !item.is_empty());
        return Value::from(items.map(|item| value(item)).collect::<Vec<_>>());
    }
    match text {
        "true" => Value::from(true),
        "false" => Value::from(false),
        "null" => Value::Null,
        number if number == "0" || !number.starts_with('0') => match number.parse::<i64>() {
            Ok(number) => Value::Number(Number::from(number)),
            Err(_) => Value::from(unescape(text)),
        },
        _ => Value::from(unescape(text)),
    }
}

/// Parses a key into steps.
fn steps(key: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    for part in split(key, '.') {
        let mut pieces = split(&part, '[').into_iter();
        let name = pieces.next().unwrap_or_default();
        if name.is_empty() {
            return Err("a key is empty".to_owned());
        }
        steps.push(Step::Name(unescape(&name)));
        for piece in pieces {
            let index = piece.strip_suffix(']').and_then(|index| index.parse().ok());
            match index.filter(|index| *index <= MAX_INDEX) {
                Some(index) => steps.push(Step::Item(index)),
                None => return Err(format!("invalid index `[{piece}`")),
            }
        }
    }
    Ok(steps)
}

fn place(config: &mut Value, steps: &[Step], value: Value) -> Result<(), String> {
    let Some((step, below)) = steps.split_first() else {
        *config = value;
        return Ok(());
    };
    let member = match (step, config) {
        (Step::Name(name), Value::Object(members)) => {
            members.insert_if_missing(name.as_str(), || Value::Null);
            members.get_mut(name)
        }
        (Step::Item(index), Value::Array(items)) => {
            while items.len() <= *index {
                items.push(Value::Null);
            }
            items.get_mut(*index)
        }
        (Step::Name(name), _) => {
            return Err(format!("`{name}` is below a value that is not an object"));
        }
        (Step::Item(index), _) => {
            return Err(format!("`[{index}]` is below a value that is not a list"));
        }
    };
    let Some(member) = member else {
        return Ok(());
    };
    if *member == Value::Null {
        match below.first() {
            Some(Step::Name(_)) => *member = Value::from(Object::new()),
            Some(Step::Item(_)) => *member = Value::from(Vec::<Value>::new()),
            None => {}
        }
    }
    place(member, below, value)
}

#[cfg(test)]
mod tests {
    use rego::value::from_json;
    use rstest::rstest;

    use super::apply;

    #[rstest]
    #[case::types(&["a=1,b=x,c=true,d=null"], r#"{"a":1,"b":"x","c":true,"d":null}"#)]
    #[case::nested_members(&["a.b.c=1", "a.b.d=2"], r#"{"a":{"b":{"c":1,"d":2}}}"#)]
    #[case::escapes(&[r"a\.b=c\,d\=e"], r#"{"a.b":"c,d=e"}"#)]
    #[case::lists(&["a={1,two,{x,y}},b={}"], r#"{"a":[1,"two",["x","y"]],"b":[]}"#)]
    #[case::items_out_of_order(&["a[1]=x", "a[0].b=y"], r#"{"a":[{"b":"y"},"x"]}"#)]
    #[case::nested_items(&["a[0][1].b[0]=z"], r#"{"a":[[null,{"b":["z"]}]]}"#)]
    #[case::replaced_values(&["a=1", "a={x}", "a[0]=y"], r#"{"a":["y"]}"#)]
    #[case::odd_scalars(&["a=007,b=-3,c=1.5,d="], r#"{"a":"007","b":-3,"c":"1.5","d":""}"#)]
    fn keys_name_members_and_items(
        #[case] overrides: &[&str],
        #[case] expected: &str,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let mut config = from_json(b"{}")?;
        for text in overrides {
            apply(&mut config, text, false)?;
        }
        assert_eq!(config.to_string(), expected);
        Ok(())
    }
}
