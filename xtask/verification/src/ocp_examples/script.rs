//! Parser of the examples, each of which consists of commands and files.

use std::error::Error;

/// Example of OPA Control Plane.
#[derive(Debug)]
pub(super) struct Example {
    /// Name of the example.
    pub(super) name: String,
    /// Paths and contents of the files.
    pub(super) files: Vec<(String, String)>,
    /// Steps before the start of the control plane.
    pub(super) steps: Vec<Step>,
    /// Paths of configuration files and folders for the control plane.
    pub(super) config: Vec<String>,
    /// Requests while the control plane runs: the path after the API prefix, and the body.
    pub(super) puts: Vec<(String, String)>,
}

/// Step before the start of the control plane.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Changes the current folder to a relative path.
    Enter(String),
    /// Sets an environment variable.
    Set(String, String),
    /// Runs a program.
    Run(Vec<String>),
}

impl Example {
    /// Parses an example: the commands that prepare files, the first start of a control plane, and
    /// requests that write documents. Other commands compare results and are ignored.
    ///
    /// # Errors
    /// When no command starts a control plane.
    pub(super) fn read(name: &str, text: &str) -> Result<Self, Box<dyn Error>> {
        let (commands, files) = split(text);
        let mut example = Self {
            name: name.to_owned(),
            files,
            steps: Vec::new(),
            config: Vec::new(),
            puts: Vec::new(),
        };
        for line in commands {
            let words = words(line.trim_start_matches("! "));
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let started = !example.config.is_empty();
            match words.as_slice() {
                ["cd", folder] if !started => example.steps.push(Step::Enter((*folder).to_owned())),
                ["env", pair] if !started => {
                    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                    let (name, value) = (name.to_owned(), value.to_owned());
                    example.steps.push(Step::Set(name, value));
                }
                ["exec", "curl", arguments @ ..] => example.puts.extend(put(arguments)),
                ["exec", program, arguments @ ..]
                    if program.ends_with("OPACTL") || program.ends_with("OPACTL_PREV") =>
                {
                    let after = |flag: &str| {
                        let at = arguments.iter().position(|word| *word == flag)?;
                        arguments.get(at + 1).map(|word| (*word).to_owned())
                    };
                    let config = after("--config").unwrap_or_else(|| "config.d".to_owned());
                    if !started {
                        example.config.push(config);
                    }
                }
                ["exec", words @ ..] if !started => {
                    let words = words.iter().map(|word| (*word).to_owned());
                    example.steps.push(Step::Run(words.collect()));
                }
                _ => {}
            }
        }
        match example.config.is_empty() {
            true => Err(format!("{name}: no command starts a control plane").into()),
            false => Ok(example),
        }
    }

    /// Returns the path prefix of the API.
    pub(super) fn prefix(&self) -> &str {
        let mut lines = self.files.iter().flat_map(|(_, text)| text.lines());
        let prefix = lines.find_map(|line| line.trim().strip_prefix("api_prefix:"));
        prefix.map_or("", str::trim)
    }
}

/// Splits the text of an example into commands and files.
fn split(text: &str) -> (Vec<&str>, Vec<(String, String)>) {
    let mut commands = Vec::new();
    let mut files: Vec<(String, String)> = Vec::new();
    for line in text.split_inclusive('\n') {
        let marked = line.trim_end().strip_prefix("-- ");
        if let Some(name) = marked.and_then(|rest| rest.strip_suffix(" --")) {
            files.push((name.to_owned(), String::new()));
        } else if let Some((_, text)) = files.last_mut() {
            text.push_str(line);
        } else if !line.starts_with(['#', '[']) {
            commands.push(line.trim());
        }
    }
    (commands, files)
}

/// Splits a command into words at spaces outside of single quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut in_word, mut quoted) = (String::new(), false, false);
    for character in line.chars() {
        match character {
            '\'' => (quoted, in_word) = (!quoted, true),
            '#' if !quoted && !in_word => break,
            space if space.is_whitespace() && !quoted => {
                if in_word {
                    words.push(std::mem::take(&mut word));
                }
                in_word = false;
            }
            other => {
                word.push(other);
                in_word = true;
            }
        }
    }
    if in_word {
        words.push(word);
    }
    words
}

/// Returns the path and the body of a PUT request, given the arguments of `curl`.
fn put(words: &[&str]) -> Option<(String, String)> {
    let after = |flag: &str| {
        let at = words.iter().position(|word| *word == flag)?;
        words.get(at + 1).copied()
    };
    let is_put = after("-X") == Some("PUT");
    let mut addresses = words
        .iter()
        .filter_map(|word| word.strip_prefix("http://localhost"));
    let path = addresses.next().filter(|_| is_put)?;
    Some((path.to_owned(), after("-d")?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_as_far_as_they_count() -> Result<(), Box<dyn Error>> {
        let text = "# A comment\ncd repo\nenv A=b\nexec git commit -m 'a b' # why\ncd ..\n\
             [windows] stop\n! exec $OPACTL run --config c.yml --addr x &o&\n\
             exec curl --unix-socket s -X PUT http://localhost/v1/x -H 'A: b' -d '{\"c\":\"d e\"}'\n\
             exec curl http://localhost/health\nexec $OPACTL build\nexec tar tf x\n\
             -- c.yml --\nservice:\n  api_prefix: /p\n-- empty --\n";
        let example = Example::read("e", text)?;
        let run = ["git", "commit", "-m", "a b"].map(str::to_owned).to_vec();
        let steps = [
            Step::Enter("repo".to_owned()),
            Step::Set("A".to_owned(), "b".to_owned()),
            Step::Run(run),
            Step::Enter("..".to_owned()),
        ];
        assert_eq!(example.steps, steps);
        assert_eq!(example.config, ["c.yml"]);
        let put = ("/v1/x".to_owned(), r#"{"c":"d e"}"#.to_owned());
        assert_eq!(example.puts, [put]);
        assert_eq!(example.prefix(), "/p");
        let names: Vec<&str> = example
            .files
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(names, ["c.yml", "empty"]);
        assert!(Example::read("none", "exec tar tf x\n").is_err());
        Ok(())
    }
}
