//! Definitions that result in a bundle.

use std::error::Error;

use rstest::rstest;

use super::{TestFolders, dedent};

#[rstest]
#[case::nothing(
    "{}",
    r#"
        /data.json {}
        /.manifest {"rego_version":1,"revision":"REV","roots":["system/empty/bundle"]}
        "#
)]
#[case::folders_documents_and_what_is_left_out(
    r#"
        bundle: {requirements: [{source: app}], excluded_files: ["*_test.rego", "docs/*"]}
        sources: {app: {directory: ROOT/app}}
        data: {app: {x/data/data.json: '{"max":1.0}'}}
        files:
          app/x/a.rego: |
            package app.x # kept as it is
          app/x/a_test.rego: package broken broken
          app/docs/data.json: nonsense
          app/y/conf.yaml: "a: [1.5, true]"
          app/y/more/data.json: '{"b": null}'
          app/README.md: nothing
          app/.git/config.json: nonsense
        "#,
    r#"
        /data.json {"x":{"data":{"max":1.0}},"y":{"a":[1.5,true],"more":{"b":null}}}
        /app/x/a.rego package app.x # kept as it is
        /.manifest {"rego_version":1,"revision":"REV","roots":["app/x","x/data","y"]}
        "#
)]
#[case::paths_of_a_folder(
    r#"
        bundle: {requirements: [{source: app}]}
        sources: {app: {directory: ROOT/app, paths: ["a.rego", "x/*"]}}
        files: {app/a.rego: package a, app/b.rego: package b, app/x/y/data.json: '{}'}
        "#,
    r#"
        /data.json {"x":{"y":{}}}
        /app/a.rego package a
        /.manifest {"rego_version":1,"revision":"REV","roots":["a","x/y"]}
        "#
)]
#[case::relative_folders_and_paths_below_the_source_root(
    r#"
        bundle: {requirements: [{source: app}, {source: rest}]}
        sources:
          app: {directory: app/../app, paths: ["x/*"]}
          rest: {paths: [lib/r.rego, "data/*.json"]}
        files:
          .manifest: '{"revision": "not of a folder that a source names"}'
          app/.manifest: '{"rego_version": 0}'
          app/x/a.rego: package a
          app/y/b.rego: package b
          lib/r.rego: package r
          lib/s.rego: package s
          data/deep/data.json: '{"n":1}'
        "#,
    r#"
        /data.json {"data":{"deep":{"n":1}}}
        /app/x/a.rego package a
        /rest/lib/r.rego package r
        /.manifest {"file_rego_versions":{"/app/x/a.rego":0},"rego_version":1,"revision":"REV","roots":["a","data/deep","r"]}
        "#
)]
#[case::libraries_the_first_of_a_name_beside_other_files(
    r#"
        bundle: {requirements: [{source: app}, {source: own}, {source: deep, prefix: vendor}]}
        sources:
          app: {builtin: "acme:rules-v1", directory: ROOT/app}
          own: {builtin: own}
          deep: {builtin: acme/deep}
        files:
          library/acme:rules-v1/rules/r#1.rego: package rules
          library/acme:rules-v1/README.md: nothing
          library/own/own.rego: package shadowed
          local-library/own/own.rego: package own
          library/acme/deep/data.json: '{"deep":{"n":1}}'
          app/a.rego: package a
        "#,
    r#"
        /data.json {"vendor":{"deep":{"n":1}}}
        /app/rules/r:1.rego package rules
        /app1/a.rego package a
        /own/own.rego package own
        /.manifest {"rego_version":1,"revision":"REV","roots":["a","rules","own","vendor"]}
        "#
)]
#[case::circle_and_the_last_of_two_requirements(
    r#"
        bundle: {requirements: [{source: a, prefix: x}, {source: a}]}
        sources:
          a: {directory: ROOT/a, requirements: [{source: b}, {git: {commit: "1"}}]}
          b: {directory: ROOT/b, requirements: [{source: a}, {source: b, prefix: again}]}
          other: {directory: ROOT/nowhere}
        files: {a/a.rego: package a, b/b.rego: package b}
        "#,
    r#"
        /data.json {}
        /a/a.rego package a
        /b/b.rego package b
        /.manifest {"rego_version":1,"revision":"REV","roots":["a","b"]}
        "#
)]
#[case::mounts_along_the_chain_but_not_in_the_requiring_policy(
    r#"
        bundle: {requirements: [{source: top}]}
        sources:
          top: {directory: ROOT/top, requirements: [{source: lib, path: data.lib, prefix: data.v}]}
          lib: {directory: ROOT/lib, requirements: [{source: deep, prefix: lib.deep}]}
          deep: {directory: ROOT/deep}
        files:
          top/t.rego: |
            package top
            p := data.v.core.q + data.lib.core.q
          lib/l.rego: |
            package lib.core
            import data.lib.conf
            q := conf.n + data.lib.deep.d.r
          lib/o.rego: package other
          lib/lib/conf/data.json: '{"n":1}'
          lib/data.json: '{"left":"out"}'
          deep/d.rego: |
            package d
            r := data.d.s # "data.d.s"
            s := 1
          deep/e/data.json: '{"f":1}'
        "#,
    r#"
        /data.json {"v":{"conf":{"n":1},"deep":{"e":{"f":1}}}}
        /deep/d.rego package v.deep.d
        r := data.v.deep.d.s # "data.d.s"
        s := 1
        /lib/l.rego package v.core
        import data.v.conf
        q := conf.n + data.v.deep.d.r
        /top/t.rego package top
        p := data.v.core.q + data.lib.core.q
        /.manifest {"rego_version":1,"revision":"REV","roots":["top","v/conf","v/core","v/deep/d","v/deep/e"]}
        "#
)]
#[case::source_in_two_places(
    r#"
        bundle: {requirements: [{source: a}, {source: "n m/é"}]}
        sources:
          a: {directory: ROOT/a, requirements: [{source: "n m/é", prefix: v}]}
          "n m/é": {directory: ROOT/n}
        data: {"n m/é": {k/data.json: '[1]'}}
        files: {a/a.rego: package a, n/n.rego: package n}
        "#,
    r#"
        /data.json {"k":[1],"v":{"k":[1]}}
        /a/a.rego package a
        /n%20m%2F%C3%A9/n.rego package n
        /n%20m%2F%C3%A91/n.rego package v.n
        /.manifest {"rego_version":1,"revision":"REV","roots":["a","k","n","v/k","v/n"]}
        "#
)]
#[case::stacks_by_labels_below_their_names(
    r#"
        bundle: {labels: {env: prod}, requirements: [{source: app}]}
        stacks:
          guard: {selector: {env: [p*]}, requirements: [{source: org, prefix: x}]}
          plain-one: {selector: {env: []}, requirements: [{source: flat, automount: false}]}
          quoted name: {requirements: [{source: named}]}
          left: {selector: {env: [dev]}, requirements: [{source: missing}]}
          out: {exclude_selector: {env: [prod]}, requirements: [{source: missing}]}
        sources: {app: {directory: ROOT/app}, org: {directory: ROOT/org}, flat: {directory: ROOT/flat}, named: {}}
        data: {named: {d/data.json: "1"}}
        files: {app/a.rego: package app, org/o.rego: package org, flat/f.rego: package flat}
        "#,
    r#"
        /data.json {"stacks":{"quoted name":{"d":1}}}
        /app/a.rego package app
        /flat/f.rego package flat
        /org/o.rego package stacks.guard.x.org
        /.manifest {"rego_version":1,"revision":"REV","roots":["app","stacks/guard/x/org","flat","stacks/quoted%20name/d","stacks/quoted name/d"]}
        "#
)]
#[case::stacks_mounted_where_they_say(
    r#"
        bundle: {labels: {env: prod}, options: {no_default_stack_mount: true, optimization: {level: 1}, target: rego}}
        stacks: {guard: {requirements: [{source: org, prefix: x}, {source: flat, automount: true}]}}
        sources: {org: {directory: org}, flat: {directory: flat}}
        files: {org/o.rego: package org, flat/f.rego: package flat}
        "#,
    r#"
        /data.json {}
        /flat/f.rego package flat
        /org/o.rego package x.org
        /.manifest {"rego_version":1,"revision":"REV","roots":["x/org","flat"]}
        "#
)]
#[case::folders_that_no_other_source_has(
    r#"
        bundle: {requirements: [{source: "a:1"}, {source: "a#1", prefix: t}, {source: a, prefix: v}, {source: b}, {source: c}]}
        sources:
          "a:1": {directory: a}
          "a#1": {directory: a}
          a: {directory: a}
          a1: {directory: a}
          b: {requirements: [{source: a, prefix: w}, {source: a1, prefix: x}]}
          c: {requirements: [{source: "a:1", prefix: y}, {source: "d+e", prefix: z}]}
          "d+e": {directory: a}
        files: {a/a.rego: package a}
        "#,
    r#"
        /data.json {}
        /a#1/a.rego package a
        /a#11/a.rego package y.a
        /a%231/a.rego package t.a
        /a/a.rego package v.a
        /a1/a.rego package x.a
        /a2/a.rego package w.a
        /d+e/a.rego package z.a
        /.manifest {"rego_version":1,"revision":"REV","roots":["a","t/a","v/a","w/a","x/a","y/a","z/a"]}
        "#
)]
#[case::embedded_files(
    r#"
        bundle: {requirements: [{source: a}]}
        sources: {a: {files: {x/a.rego: cGFja2FnZSBh, d/data.json: WzFd, .manifest: eyJyZWdvX3ZlcnNpb24iOjB9}}}
        "#,
    r#"
        /data.json {"d":[1]}
        /a/x/a.rego package a
        /.manifest {"rego_version":0,"revision":"REV","roots":["a","d"]}
        "#
)]
#[case::document_at_the_root_and_empty_source_with_a_place(
    r#"
        bundle: {requirements: [{source: a}]}
        sources: {a: {}}
        data: {a: {data.json: '{"x":{"y":1}}', x/z/data.json: "2"}}
        "#,
    r#"
        /data.json {"x":{"y":1,"z":2}}
        /.manifest {"rego_version":1,"revision":"REV","roots":[""]}
        "#
)]
#[case::names_that_roots_escape_or_cannot_tell(
    r#"
        bundle: {requirements: [{source: a, prefix: 'v["b c"]'}, {source: b, prefix: 'w["d/e"]'}]}
        sources: {a: {directory: ROOT/a}, b: {}}
        data: {b: {100%/data.json: "1"}}
        files: {a/x y/data.json: '{"z":1}', a/a.rego: package a}
        "#,
    r#"
        /data.json {"v":{"b c":{"x y":{"z":1}}},"w":{"d/e":{"100%":1}}}
        /a/a.rego package v["b c"].a
        /.manifest {"rego_version":1,"revision":"REV","roots":["v/b%20c/a","v/b c/a","v/b%20c/x%20y","v/b c/x y","w"]}
        "#
)]
#[case::packages_below_the_one_that_a_root_names(
    r#"
        bundle: {requirements: [{source: a, prefix: 'v["b/../c"]'}, {source: b, prefix: 'w["d%2Fe"].f'}]}
        sources: {a: {directory: ROOT/a}, b: {directory: ROOT/b}}
        files: {a/a.rego: package a, b/b.rego: package b}
        "#,
    r#"
        /data.json {}
        /a/a.rego package v["b/../c"].a
        /b/b.rego package w["d%2Fe"].f.b
        /.manifest {"rego_version":1,"revision":"REV","roots":["v","w"]}
        "#
)]
#[case::empty_source_with_a_prefix(
    r#"
        bundle: {requirements: [{source: a}, {source: b, prefix: v.w}, {source: c, path: x, prefix: y}]}
        sources: {a: {}, b: {}, c: {}}
        "#,
    r#"
        /data.json {}
        /.manifest {"rego_version":1,"revision":"REV","roots":["v/w"]}
        "#
)]
#[case::manifest_of_a_source(
    r#"
        bundle: {requirements: [{source: a}, {source: b, prefix: v}]}
        sources: {a: {directory: ROOT/a}, b: {directory: ROOT/b}}
        files:
          a/.manifest: '{"revision":"one","roots":["v","a/b","/a/"],"rego_version":0,"metadata":{}}'
          a/.signatures.json: '{}'
          a/a.rego: package a.b
          b/.manifest: '{"revision":"ignored","roots":["z"]}'
          b/b.rego: package b
        "#,
    r#"
        /data.json {}
        /a/a.rego package a.b
        /b/b.rego package v.b
        /.manifest {"file_rego_versions":{"/a/a.rego":0},"rego_version":1,"revision":"REV","roots":["a","v"]}
        "#
)]
#[case::modules_of_version_0(
    r#"
        bundle: {requirements: [{source: a}, {source: m, prefix: v}]}
        sources: {a: {directory: ROOT/a}, m: {directory: ROOT/m}}
        files:
          a/.manifest: '{"rego_version":0}'
          a/a.rego: |
            package a
            allow { input.in == data.v.m.q[_] }
            contains = 1
          m/.manifest: '{"rego_version":0,"file_rego_versions":{"new/*":1}}'
          m/old.rego: |
            package m
            q[x] { x = data.m.r }
          m/new/r.rego: |
            package m
            r := 1 if data.m.s
        "#,
    r#"
        /data.json {}
        /a/a.rego package a
        allow { input.in == data.v.m.q[_] }
        contains = 1
        /m/new/r.rego package v.m
        r := 1 if data.v.m.s
        /m/old.rego package v.m
        q[x] { x = data.v.m.r }
        /.manifest {"file_rego_versions":{"/a/a.rego":0,"/m/old.rego":0},"rego_version":1,"revision":"REV","roots":["a","v/m"]}
        "#
)]
#[case::modules_of_both_versions_without_a_manifest(
    r#"
        bundle: {requirements: [{source: a, prefix: v}]}
        sources: {a: {directory: a}}
        files:
          a/both.rego: |
            package a
            import rego.v1
            p if data.a.q[1]
          a/new.rego: |
            package a
            q contains 1 if data.a.r
          a/old.rego: |
            package a
            r { data.a.s[_] }
          a/plain.rego: |
            package a
            s := [1]
        "#,
    r#"
        /data.json {}
        /a/both.rego package v.a
        import rego.v1
        p if data.v.a.q[1]
        /a/new.rego package v.a
        q contains 1 if data.v.a.r
        /a/old.rego package v.a
        r { data.v.a.s[_] }
        /a/plain.rego package v.a
        s := [1]
        /.manifest {"file_rego_versions":{"/a/old.rego":0},"rego_version":1,"revision":"REV","roots":["v/a"]}
        "#
)]
#[case::modules_of_version_0_with_a_manifest_that_is_left_out(
    r#"
        bundle: {excluded_files: [.manifest], requirements: [{source: a}]}
        sources: {a: {directory: ROOT/a, paths: ["*"]}}
        files:
          a/.manifest: '{"rego_version":0,"revision":"left out"}'
          a/a.rego: |
            package a
            p[1]
        "#,
    r#"
        /data.json {}
        /a/a.rego package a
        p[1]
        /.manifest {"rego_version":0,"revision":"REV","roots":["a"]}
        "#
)]
#[tokio::test]
async fn definitions_make_archives(
    #[case] job: &str,
    #[case] expected: &str,
) -> Result<(), Box<dyn Error>> {
    let fixture = TestFolders::new()?;
    let found = fixture.listing(job).await?;
    assert_eq!(found, dedent(expected));
    Ok(())
}
