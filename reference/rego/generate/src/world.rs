//! Documents and inputs that generated policies refer to.

use super::Choices;

/// Returns the base document `data.base` as JSON.
pub fn documents() -> &'static str {
    r#"{"base":{"list":[3,1,2,2.0,"x"],"map":{"a":1,"b":[1,2],"c":{"d":null}},"people":[{"name":"ann","age":31,"tags":["x","y"]},{"name":"bob","age":17,"tags":[]},{"name":"cy","tags":["y"]}],"flag":true,"off":false,"nothing":null,"text":"Hello, World","numbers":[3,1,2.5,2],"names":["ann","bob","a"],"sizes":{"a":1,"b":2,"k":3.5}}}"#
}

/// Input documents as JSON.
pub const INPUTS: &[&str] = &[
    r#"{"x":1,"y":"a","list":[1,2,3],"who":{"name":"ann","age":31},"deep":{"a":{"b":[{"c":5}]}},"ok":true}"#,
    r#"{"x":"1","y":null,"list":[],"who":{}}"#,
    "[1,2]",
    "null",
    r#"{"x":-2.5,"y":"bob","list":["a","b",["c"]],"who":{"name":"bob"}}"#,
];

/// Returns one of the input documents.
pub fn input(choices: &mut Choices<'_>) -> &'static str {
    choices.of(INPUTS)
}
