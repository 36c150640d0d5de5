//! Benchmark cases: policies that we measure elsewhere too, and published ones.

use std::error::Error;
use std::path::PathBuf;

use rego_generate::measured;

use crate::published;

/// Benchmark case: a policy with its query.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) text: String,
    /// Whether the policy is written in Rego v0, which lacks `if` and `contains`.
    pub(crate) is_v0: bool,
    /// Base documents (`data`), as JSON.
    pub(crate) documents: String,
    /// Input document, as JSON.
    pub(crate) input: String,
    /// Name of the package, which has one path segment, and name of the queried rule in it.
    pub(crate) rule: [String; 2],
}

/// Selection of cases by command-line arguments.
#[derive(Debug, Default)]
pub(crate) struct Choice {
    /// Whether only our evaluator runs the cases, for profiling.
    pub(crate) is_profiled: bool,
    /// Source folder of `cedar-examples`.
    cedar: Option<PathBuf>,
    /// Source folder of the enterprise edition of OPA.
    eopa: Option<PathBuf>,
    /// Substrings of the names of selected cases; all cases if empty.
    names: Vec<String>,
}

impl Choice {
    /// Parses the command-line arguments.
    ///
    /// # Errors
    /// When an option lacks its folder.
    pub(crate) fn read(arguments: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let mut choice = Self::default();
        let mut arguments = arguments;
        while let Some(argument) = arguments.next() {
            let mut folder = || {
                let folder = arguments.next().map(PathBuf::from);
                folder.ok_or_else(|| format!("{argument} needs a folder"))
            };
            match argument.as_str() {
                "--profile" => choice.is_profiled = true,
                "--cedar" => choice.cedar = Some(folder()?),
                "--eopa" => choice.eopa = Some(folder()?),
                _ => choice.names.push(argument),
            }
        }
        Ok(choice)
    }

    /// Returns the selected cases.
    ///
    /// # Errors
    /// When the sources of published cases are missing.
    pub(crate) fn cases(&self) -> Result<Vec<Case>, Box<dyn Error>> {
        let mut cases = published::by_regorus()?;
        if let Some(folder) = &self.cedar {
            cases.extend(published::by_cedar(folder)?);
        }
        if let Some(folder) = &self.eopa {
            cases.push(published::by_eopa(folder)?);
        }
        cases.retain(|case| self.wants(&case.name));
        // Filters first, because some documents take long to generate.
        let measured = measured::ALL.iter().chain(measured::IN_PROCESS);
        let measured = measured.filter(|policy| self.wants(policy.told));
        cases.extend(measured.map(|policy| Case {
            name: policy.told.to_owned(),
            text: policy.text.to_owned(),
            is_v0: false,
            documents: format!(r#"{{"{}_data":{}}}"#, policy.name, policy.documents()),
            input: policy.input(),
            rule: [policy.name, "allow"].map(str::to_owned),
        }));
        Ok(cases)
    }

    fn wants(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|part| name.contains(part))
    }
}

impl Case {
    /// Parses the input into a value that no other thread shares.
    pub(crate) fn own_input(&self) -> Result<rego::Value, Box<dyn Error>> {
        Ok(rego::value::from_json(self.input.as_bytes())?)
    }
}
