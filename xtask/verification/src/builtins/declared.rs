//! Declarations of the built-in functions, from the capabilities of OPA.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

/// Built-in function with the types of its operands.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) operands: Vec<Type>,
}

/// Type of an operand.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum Type {
    Null,
    Boolean,
    Number,
    String,
    Array {
        #[serde(rename = "static", default)]
        items: Vec<Type>,
        dynamic: Option<Box<Type>>,
    },
    Object {
        #[serde(rename = "static", default)]
        members: Vec<Member>,
        dynamic: Option<Box<Dynamic>>,
    },
    Set {
        of: Option<Box<Type>>,
    },
    Any {
        #[serde(default)]
        of: Vec<Type>,
    },
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) value: Type,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Dynamic {
    pub(super) key: Type,
    pub(super) value: Type,
}

#[derive(Debug, Deserialize)]
struct Capabilities {
    builtins: Vec<Builtin>,
}

#[derive(Debug, Deserialize)]
struct Builtin {
    name: String,
    #[serde(default)]
    nondeterministic: bool,
    #[serde(default)]
    deprecated: bool,
    decl: Declaration,
}

#[derive(Debug, Deserialize)]
struct Declaration {
    #[serde(default)]
    args: Vec<Type>,
    result: Option<serde_json::Value>,
}

/// Functions that cannot be called in a generated expression: `walk` is a relation, `trace` writes
/// to a tracer, and `eq` is written as `=`.
const LEFT_OUT: [&str; 3] = ["walk", "trace", "eq"];

/// Functions that OPA declares as nondeterministic, but that are deterministic for the generated
/// operands.
const DETERMINISTIC: [&str; 4] = [
    "io.jwt.decode_verify",
    "io.jwt.encode_sign",
    "json.match_schema",
    "json.verify_schema",
];

/// Returns the deterministic built-in functions of OPA, except deprecated ones.
///
/// # Errors
/// When OPA does not report its capabilities.
pub(super) fn functions(opa: &Path) -> Result<Vec<Function>, Box<dyn Error>> {
    let output = Command::new(opa)
        .args(["capabilities", "--current"])
        .output()?;
    let capabilities: Capabilities = serde_json::from_slice(&output.stdout)?;
    let is_asked = |builtin: &Builtin| {
        let name = builtin.name.as_str();
        let is_deterministic = !builtin.nondeterministic || DETERMINISTIC.contains(&name);
        is_deterministic
            && !builtin.deprecated
            && builtin.decl.result.is_some()
            && !builtin.decl.args.is_empty()
            && !name.starts_with("internal.")
            && !LEFT_OUT.contains(&name)
    };
    let functions = capabilities.builtins.into_iter().filter(is_asked);
    let function = |builtin: Builtin| Function {
        name: builtin.name,
        operands: builtin.decl.args,
    };
    Ok(functions.map(function).collect())
}
