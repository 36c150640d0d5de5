//! Target of a run: built-in, from a target file, or by address.

use std::fs;
use std::path::Path;

use super::Failed;
use super::options::RunOptions;
use crate::assets::TARGETS;
use crate::catalogue::{Catalogue, Document};
use crate::http_client::Base;
use crate::target::{Target, Token};

/// Default value of `--vendor`.
pub(super) const AUTO: &str = "auto";

/// Returns the path of the target's program, made absolute if it is relative, as each setup runs in
/// its own folder. A bare name is looked up in the search path.
fn located(program: &Path) -> String {
    let path = if program.components().count() > 1 {
        std::path::absolute(program).unwrap_or_else(|_| program.to_owned())
    } else {
        program.to_owned()
    };
    path.display().to_string()
}

/// Creates the target that the options describe.
///
/// # Errors
/// Unknown names, invalid target files, unknown capabilities, conflicting options.
pub(super) fn target(options: &RunOptions, catalogue: &Catalogue) -> Result<Target, Failed> {
    let token = token(options.token_env.as_deref())?;
    let addresses = options.control_url.is_some() || options.engine_url.is_some();
    let mut target = match options.target.as_slice() {
        [name] => describe(name)?,
        [_, _, ..] => return Err(Failed::usage("this command takes one --target")),
        [] if addresses => Target::at(None, None, None, every_capability(catalogue)),
        [] => embedded()?,
    };
    for url in options.control_url.iter().chain(&options.engine_url) {
        if url.contains('@') {
            // The string may contain a password, so the error does not repeat it.
            return Err(Failed::usage(
                "an address holds no credentials; see --token-env, --header",
            ));
        }
        Base::parse(url).map_err(Failed::usage)?;
    }
    if addresses {
        let [control, engine] = [&options.control_url, &options.engine_url];
        let reached = Target::at(control.clone(), engine.clone(), token, Default::default());
        target.setups = reached.setups;
        target.program = None;
        target.in_process = false;
        target.by_address = true;
    } else if token.is_some() {
        return Err(Failed::usage(
            "--token-env goes with --engine-url or --control-url; a target file names its tokens",
        ));
    }
    if let Some(program) = &options.program {
        if addresses {
            return Err(Failed::usage(
                "--program starts a target, an address needs none",
            ));
        }
        target.program = Some(located(program));
        target.in_process = false;
    }
    if let Some(vendor) = options.vendor.as_ref().filter(|vendor| *vendor != AUTO) {
        target.vendor.clone_from(vendor);
    }
    if let Some(version) = &options.target_version {
        target.version = Some(version.clone());
    }
    if !options.capabilities.is_empty() {
        target.capabilities = options.capabilities.iter().cloned().collect();
    }
    if let Some(rule) = target
        .rules
        .iter()
        .find(|rule| catalogue.clause(rule).is_none())
    {
        return Err(Failed::usage(format!(
            "the target claims the rule `{rule}`, which there is not"
        )));
    }
    for name in &target.capabilities {
        if catalogue.capability(name).is_none() {
            let known = catalogue
                .capabilities()
                .iter()
                .map(|known| known.name.as_str());
            let known: Vec<_> = known.collect();
            return Err(Failed::usage(format!(
                "no capability `{name}`; there are {}",
                known.join(", ")
            )));
        }
    }
    Ok(target)
}

/// Returns the documents whose APIs a target has, in any of its setups.
pub(super) fn documents(target: &Target) -> Vec<Document> {
    let has = |document: &Document| {
        target
            .setups
            .values()
            .any(|setup| setup.launch(*document).is_some())
    };
    Document::ALL.into_iter().filter(has).collect()
}

/// Returns the token in the environment variable that `--token-env` names.
pub(super) fn token(variable: Option<&str>) -> Result<Option<Token>, Failed> {
    let Some(name) = variable else {
        return Ok(None);
    };
    match std::env::var(name) {
        Ok(text) if !text.is_empty() => Ok(Some(Token::new(text))),
        _ => Err(Failed::usage(format!(
            "the environment variable {name} holds no token"
        ))),
    }
}

fn every_capability(catalogue: &Catalogue) -> std::collections::BTreeSet<String> {
    let capabilities = catalogue.capabilities().iter();
    capabilities
        .map(|capability| capability.name.clone())
        .collect()
}

pub(super) fn describe(name: &str) -> Result<Target, Failed> {
    if name == "reference" {
        return embedded();
    }
    if let Some((_, text)) = TARGETS.iter().find(|(known, _)| *known == name) {
        return Target::parse(text, &format!("targets/{name}.toml")).map_err(Failed::usage);
    }
    let path = Path::new(name);
    if path
        .extension()
        .is_some_and(|extension| extension == "toml")
    {
        let text = fs::read_to_string(path).map_err(|error| Failed::at(path, &error))?;
        return Target::parse(&text, name).map_err(Failed::usage);
    }
    let known: Vec<_> = TARGETS.iter().map(|(name, _)| *name).collect();
    Err(Failed::usage(format!(
        "unknown target `{name}`: expected {}, or the path of a .toml file",
        known.join(", ")
    )))
}

#[cfg(feature = "embedded")]
fn embedded() -> Result<Target, Failed> {
    Target::embedded().map_err(Failed::usage)
}

#[cfg(not(feature = "embedded"))]
fn embedded() -> Result<Target, Failed> {
    Err(Failed::usage(
        "this program has no reference inside; name --engine-url, --control-url or --target",
    ))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::name("opa", false)]
    #[case::below("bin/opa", true)]
    #[case::above("../opa", true)]
    #[case::absolute("/bin/opa", true)]
    fn a_path_is_made_whole_and_a_name_is_left_to_the_search_path(
        #[case] path: &str,
        #[case] is_absolute: bool,
    ) {
        let located = located(Path::new(path));
        assert_eq!(
            Path::new(&located).is_absolute(),
            is_absolute,
            "{path}: {located}"
        );
        assert!(located.ends_with("opa"), "{path}: {located}");
    }
}
