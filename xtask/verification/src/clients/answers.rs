//! Output of client programs: one line of JSON per case.

use std::collections::BTreeSet;
use std::error::Error;

use serde_json::{Map, Value};

/// Cases in the order of the output, each with its result or error.
#[derive(Debug, Default)]
pub(super) struct Answers(Vec<(String, Value)>);

impl Answers {
    /// Parses the lines of the output.
    ///
    /// # Errors
    /// When there is no line, a line is not a case, a case has neither or both of result and error,
    /// or a case is repeated.
    pub(super) fn read(lines: &str) -> Result<Self, Box<dyn Error>> {
        let mut answers = Vec::new();
        let mut names = BTreeSet::new();
        for line in lines.lines() {
            let wrong = |error: &dyn std::fmt::Display| format!("{error}: {line}");
            let mut members: Map<String, Value> =
                serde_json::from_str(line).map_err(|error| wrong(&error))?;
            let Some(Value::String(name)) = members.remove("case") else {
                return Err(wrong(&"a line without a case").into());
            };
            if members.len() != 1
                || !(members.contains_key("result") || members.contains_key("error"))
            {
                return Err(wrong(&"neither a result nor an error").into());
            }
            if !names.insert(name.clone()) {
                return Err(wrong(&"a case that is there twice").into());
            }
            answers.push((name, Value::Object(members)));
        }
        match answers.is_empty() {
            true => Err("no case".into()),
            false => Ok(Self(answers)),
        }
    }

    /// Pairs the cases of one program on two servers.
    ///
    /// # Errors
    /// When the program did not run the same cases on both servers.
    pub(super) fn pair_with<'a>(
        &'a self,
        other: &'a Self,
    ) -> Result<impl Iterator<Item = (&'a str, &'a Value, &'a Value)>, String> {
        let names = |answers: &'a Self| answers.0.iter().map(|(name, _)| name.as_str());
        if let Some((one, two)) = names(self).zip(names(other)).find(|(one, two)| one != two) {
            return Err(format!("one server was asked {one}, the other {two}"));
        }
        if self.0.len() != other.0.len() {
            let (one, two) = (self.0.len(), other.0.len());
            return Err(format!("{one} cases on one server, {two} on the other"));
        }
        let both = self.0.iter().zip(&other.0);
        Ok(both.map(|((name, one), (_, two))| (name.as_str(), one, two)))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::two_cases(
        "{\"case\":\"a\",\"result\":1}\n{\"case\":\"b\",\"error\":{}}\n",
        Ok(2)
    )]
    #[case::none("", Err("no case"))]
    #[case::no_json(
        "{\"case\":\"a\",\"result\":1}\ntext",
        Err("expected ident at line 1 column 2: text")
    )]
    #[case::no_name("{\"result\":1}", Err("a line without a case: {\"result\":1}"))]
    #[case::no_answer(
        "{\"case\":\"a\"}",
        Err("neither a result nor an error: {\"case\":\"a\"}")
    )]
    #[case::twice(
        "{\"case\":\"a\",\"result\":1}\n{\"case\":\"a\",\"result\":1}",
        Err("a case that is there twice: {\"case\":\"a\",\"result\":1}")
    )]
    fn lines_are_cases(#[case] lines: &str, #[case] expected: Result<usize, &str>) {
        let found = Answers::read(lines);
        let found = found
            .map(|answers| answers.0.len())
            .map_err(|error| error.to_string());
        assert_eq!(found, expected.map_err(str::to_owned));
    }

    #[rstest]
    #[case::same("ab", "ab", true)]
    #[case::another_order("ab", "ba", false)]
    #[case::too_few("ab", "a", false)]
    fn both_are_asked_the_same(
        #[case] one: &str,
        #[case] two: &str,
        #[case] alike: bool,
    ) -> Result<(), Box<dyn Error>> {
        let answers = |names: &str| {
            let lines = names
                .chars()
                .map(|name| format!("{{\"case\":\"{name}\",\"result\":1}}\n"));
            Answers::read(&lines.collect::<String>())
        };
        let (one, two) = (answers(one)?, answers(two)?);
        assert_eq!(one.pair_with(&two).is_ok(), alike);
        Ok(())
    }
}
