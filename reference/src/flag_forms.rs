//! Command-line flags in the forms that programs in Go accept.

use clap::{Arg, ArgAction};

/// Extends a flag to be set by an environment variable, such as `OPA_RUN_LOG_LEVEL` for
/// `--log-level`, and to accept `=true` and `=false` if it is boolean.
pub(crate) fn of_opa(flag: Arg) -> Arg {
    let Some(name) = flag.get_long() else {
        return flag;
    };
    let variable = format!("OPA_RUN_{}", name.to_uppercase().replace('-', "_"));
    // An empty variable counts as unset.
    let is_set = std::env::var_os(&variable).is_some_and(|value| !value.is_empty());
    let flag = match flag.get_action() {
        ArgAction::SetTrue => flag
            .action(ArgAction::Set)
            .num_args(0..=1)
            .require_equals(true)
            .default_value("false")
            .default_missing_value("true")
            .hide_default_value(true)
            .value_name("BOOL")
            .value_parser(boolean),
        _ => flag,
    };
    match is_set {
        true => flag.env(variable).hide_env(true),
        false => flag,
    }
}

/// Parses a boolean as Open Policy Agent does.
fn boolean(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err("neither `true` nor `false`".to_owned()),
    }
}
