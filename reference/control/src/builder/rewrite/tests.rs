//! Modules before and after they are moved.

use rstest::rstest;

use super::*;

fn moved(from: &str, to: &str, text: &str) -> Result<Option<String>, String> {
    let mount = Mount {
        from: mount::parse(from)?,
        to: mount::parse(to)?,
    };
    let module = Module::parse_as("m.rego", text, Version::V1);
    let module = module.map_err(|errors| errors.to_string())?;
    let moved = rewrite(module, Version::V1, &mount)?;
    Ok(moved.map(|module| module.text.to_string()))
}

#[test]
fn modules_are_moved() {
    for (from, to, old, new) in [
        // Everything, below a prefix.
        ("", "v", "package a", "package v.a"),
        ("", "data.v.w", "package a.b\n", "package v.w.a.b\n"),
        (
            "",
            "v[\"w-x\"].in",
            "package a",
            "package v[\"w-x\"][\"in\"].a",
        ),
        // A part, to another path or to the root.
        ("a", "v", "package a.b", "package v.b"),
        ("a", "", "package a.b", "package b"),
        ("data.a.b", "data.v", "package a.b # why", "package v # why"),
        ("a[\"b-c\"]", "v", "package a[\"b-c\"].d", "package v.d"),
        // References in every position; other references stay.
        (
            "a",
            "v.w",
            "package a\n\n# data.a.x\nx := \"data.a.x\"\np if {\n\tdata.a.q # data.a\n\tdata.b.q\n\tdata.ab\n}\n",
            "package v.w\n\n# data.a.x\nx := \"data.a.x\"\np if {\n\tdata.v.w.q # data.a\n\tdata.b.q\n\tdata.ab\n}\n",
        ),
        (
            "a.b",
            "v",
            "package a.b\np contains x if some x in data[\"a\"][ `b` ].q[data.a.b.k].z\n",
            "package v\np contains x if some x in data.v.q[data.v.k].z\n",
        ),
        (
            "a",
            "v",
            "package a\np := data.a.f(1) if not data.a.g with data.a.x as data.a.y with input.data.a as 1\n",
            "package v\np := data.v.f(1) if not data.v.g with data.v.x as data.v.y with input.data.a as 1\n",
        ),
        (
            "a",
            "v",
            "package a\np[data.a.k] := [data.a.v]\n",
            "package v\np[data.v.k] := [data.v.v]\n",
        ),
        (
            "a",
            "v",
            "package a\np := {data.a.s, data.a.m}\n",
            "package v\np := {data.v.s, data.v.m}\n",
        ),
        (
            "a",
            "v",
            "package a\np := {data.a.s: 1, \"k\": data.a.m}\n",
            "package v\np := {data.v.s: 1, \"k\": data.v.m}\n",
        ),
        (
            "a",
            "v",
            "package a\np := 1 if { data.a.x } else := data.a.z if data.a.w\n",
            "package v\np := 1 if { data.v.x } else := data.v.z if data.v.w\n",
        ),
        (
            "a",
            "v",
            "package a\np := 1 if { false } else if data.b with input as data.a.y\nelse := 3\n",
            "package v\np := 1 if { false } else if data.b with input as data.v.y\nelse := 3\n",
        ),
        (
            "a",
            "v",
            "package a\np := 1 if data.a.q else := data.a.z if $\"{data.a.w}\" == \"data.a.w\" # data.a\n\nelse if not data.a.y\n",
            "package v\np := 1 if data.v.q else := data.v.z if $\"{data.v.w}\" == \"data.a.w\" # data.a\n\nelse if not data.v.y\n",
        ),
        (
            "a",
            "v",
            "package a\nf(x) := {y | y := data.a.l[x]}\n",
            "package v\nf(x) := {y | y := data.v.l[x]}\n",
        ),
        (
            "a",
            "v",
            "package a\nf(data.a.x, 1) := 1\n",
            "package v\nf(data.v.x, 1) := 1\n",
        ),
        (
            "a",
            "v",
            "package a\np if every z in data.a.r { z > data.a.min }\n",
            "package v\np if every z in data.v.r { z > data.v.min }\n",
        ),
        (
            "a",
            "v",
            "package a\ndefault p := 1\np := data.a.x\n",
            "package v\ndefault p := 1\np := data.v.x\n",
        ),
        (
            "a",
            "v",
            "package a\np := {data.a.x: data.a.y | data.a.z}\n",
            "package v\np := {data.v.x: data.v.y | data.v.z}\n",
        ),
        (
            "a",
            "v",
            "package a\np contains data.a.x\n",
            "package v\np contains data.v.x\n",
        ),
        (
            "a",
            "v",
            "package a\np := data.a\n",
            "package v\np := data.v\n",
        ),
        (
            "a",
            "v",
            "package a\np if { not { data.a.x } }\n",
            "package v\np if { not { data.v.x } }\n",
        ),
        (
            "a",
            "v",
            "package a\np if (data.a.x) == [data.a][0]\n",
            "package v\np if (data.v.x) == [data.v][0]\n",
        ),
        (
            "a",
            "v",
            "package a\np := -data.a.x\n",
            "package v\np := -data.v.x\n",
        ),
        (
            "a",
            "v",
            "package a\np if 1 < data.a.x + data.a.y\n",
            "package v\np if 1 < data.v.x + data.v.y\n",
        ),
        (
            "a",
            "v",
            "package a\np if data.a.x in data.a.y\n",
            "package v\np if data.v.x in data.v.y\n",
        ),
        (
            "a",
            "v",
            "package a\np.q[data.a.x].r[data.a.y] contains 1\n",
            "package v\np.q[data.v.x].r[data.v.y] contains 1\n",
        ),
        // The parser copies chained bodies and heads.
        (
            "a",
            "v",
            "package a\np := data.a.k if { data.a.x } { data.a.y }\nq.r[data.a.z].s if true\n",
            "package v\np := data.v.k if { data.v.x } { data.v.y }\nq.r[data.v.z].s if true\n",
        ),
        (
            "a",
            "v",
            "package a\np := $\"x {data.a.t} {1} {data.b}\"\n",
            "package v\np := $\"x {data.v.t} {1} {data.b}\"\n",
        ),
        // Non-constant segments move if everything is moved, and stay otherwise.
        (
            "",
            "v",
            "package a\np := data[x] if some x in [1]\n",
            "package v.a\np := data.v[x] if some x in [1]\n",
        ),
        (
            "a",
            "v",
            "package a\np := data[input.x]\n",
            "package v\np := data[input.x]\n",
        ),
        (
            "",
            "v",
            "package a\np := data\n",
            "package v.a\np := data.v\n",
        ),
        // Imports, and the names that they introduce.
        (
            "",
            "v",
            "package a\nimport rego.v1\nimport data.b.c\nimport data.d as e\nimport input.data.b\np if c.x == e.y\n",
            "package v.a\nimport rego.v1\nimport data.v.b.c\nimport data.v.d as e\nimport input.data.b\np if c.x == e.y\n",
        ),
        (
            "lib.util",
            "v",
            "package lib.util\nimport data.lib.util\nimport data.lib.util.x\nimport data.lib.util as u\np if util.y == x\n",
            "package v\nimport data.v as util\nimport data.v.x\nimport data.v as u\np if util.y == x\n",
        ),
        (
            "lib.util",
            "v",
            "package lib.util.a\nimport data.lib\np if lib.util.x == lib.other.y\nq := lib[\"util\"].f(1)\n",
            "package v.a\nimport data.lib\np if data.v.x == lib.other.y\nq := data.v.f(1)\n",
        ),
    ] {
        let found = moved(from, to, old);
        assert_eq!(found, Ok(Some(new.to_owned())), "{from} to {to}: {old}");
    }
}

#[rstest]
#[case::package_above("a.b", "v", "package a", None)]
#[case::package_with_a_longer_name("a", "v", "package ab", None)]
#[case::package_without_a_name("a", "", "package a", Some("cannot be called `data`"))]
#[case::package_with_no_plain_name("a", "", "package a[\"b-c\"]", Some("cannot be called"))]
#[case::prefix_with_no_plain_name("", "data[\"v-w\"]", "package a", Some("cannot be called"))]
#[case::no_package("", "v", "package", Some("m.rego:1"))]
#[case::no_body("", "v", "package a\np if", Some("m.rego:2"))]
#[case::import_used_by_itself(
    "lib.util",
    "v",
    "package lib.util\nimport data.lib\np if { some lib in [1]; lib.util }",
    Some("m.rego:3:13: `lib` is imported and used by itself")
)]
fn what_cannot_be_moved_is_left_out_or_refused(
    #[case] from: &str,
    #[case] to: &str,
    #[case] text: &str,
    #[case] expected: Option<&str>,
) {
    let found = moved(from, to, text);
    match expected {
        None => assert_eq!(found, Ok(None)),
        Some(part) => {
            let message = found.err().unwrap_or_default();
            assert!(message.contains(part), "{message}");
        }
    }
}
