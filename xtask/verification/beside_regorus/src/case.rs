//! Benchmark cases: our measured policies, and published ones.

use std::error::Error;
use std::path::PathBuf;

use rego_generate::measured;

use crate::published;

/// A policy with what it is asked.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) text: String,
    /// Whether it is of the language before `if` and `contains`.
    pub(crate) is_v0: bool,
    /// The root of the documents, JSON.
    pub(crate) documents: String,
    /// JSON.
    pub(crate) input: String,
    /// The package of one step, and the rule in it.
    pub(crate) rule: [String; 2],
}

/// Which cases are wanted, as arguments say.
#[derive(Debug, Default)]
pub(crate) struct Choice {
    /// Whether only ours answers them, to be watched by a profiler.
    pub(crate) is_profiled: bool,
    /// The sources of `cedar-examples`.
    cedar: Option<PathBuf>,
    /// The sources of the enterprise edition of OPA.
    eopa: Option<PathBuf>,
    /// Those whose names contain one of these; all if there are none.
    names: Vec<String>,
}

impl Choice {
    /// Reads arguments.
    ///
    /// # Errors
    /// When a folder is missing.
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

    /// The cases.
    ///
    /// # Errors
    /// When sources are not there.
    pub(crate) fn cases(&self) -> Result<Vec<Case>, Box<dyn Error>> {
        let mut cases = published::by_regorus()?;
        if let Some(folder) = &self.cedar {
            cases.extend(published::by_cedar(folder)?);
        }
        if let Some(folder) = &self.eopa {
            cases.push(published::by_eopa(folder)?);
        }
        cases.retain(|case| self.wants(&case.name));
        // Some have documents that take long to make.
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
    /// The input, as a value that nobody else has.
    pub(crate) fn own_input(&self) -> Result<rego::Value, Box<dyn Error>> {
        Ok(rego::value::from_json(self.input.as_bytes())?)
    }
}
