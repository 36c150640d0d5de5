//! References: missing targets are refused, and resources in use cannot be deleted.

use crate::transcript::scripts;

scripts! {
    "sources-in-use" => r#"
        admin PUT /v1/sources/u {} => 200 {}
        admin PUT /v1/sources/s {"requirements":[{"source":"u"}]} => 200 {}
        admin PUT /v1/bundles/b {"requirements":[{"source":"u"},{"source":"u","prefix":"data.x"}]} => 200 {}
        admin PUT /v1/stacks/t {"requirements":[{"source":"u"}]} => 200 {}
        admin DELETE /v1/sources/u => 409 conflict source `u` is in use by source `s`, bundle `b` and stack `t`
        admin GET /v1/sources/u => 200 {"result":{"name":"u"}}
        admin DELETE /v1/sources/s => 200 {}
        admin DELETE /v1/sources/u => 409 conflict bundle `b` and stack `t`
        admin PUT /v1/bundles/b {} => 200 {}
        admin DELETE /v1/sources/u => 409 conflict in use by stack `t`
        admin DELETE /v1/stacks/t => 200 {}
        admin DELETE /v1/sources/u => 200 {}
        admin GET /v1/sources/u => 404 not_found
    "#,
    "many-users-are-cut-short" => r#"
        admin PUT /v1/sources/u {} => 200 {}
        admin PUT /v1/bundles/b0 {"requirements":[{"source":"u"}]} => 200 {}
        admin PUT /v1/bundles/b1 {"requirements":[{"source":"u"}]} => 200 {}
        admin PUT /v1/bundles/b2 {"requirements":[{"source":"u"}]} => 200 {}
        admin PUT /v1/bundles/b3 {"requirements":[{"source":"u"}]} => 200 {}
        admin PUT /v1/bundles/b4 {"requirements":[{"source":"u"}]} => 200 {}
        admin PUT /v1/bundles/b5 {"requirements":[{"source":"u"}]} => 200 {}
        admin PUT /v1/bundles/b6 {"requirements":[{"source":"u"}]} => 200 {}
        admin PUT /v1/bundles/b7 {"requirements":[{"source":"u"}]} => 200 {}
        admin PUT /v1/bundles/b8 {"requirements":[{"source":"u"}]} => 200 {}
        admin PUT /v1/bundles/b9 {"requirements":[{"source":"u"}]} => 200 {}
        admin DELETE /v1/sources/u => 409 conflict bundle `b8` and bundle `b9`
        admin PUT /v1/bundles/b10 {"requirements":[{"source":"u"}]} => 200 {}
        admin DELETE /v1/sources/u => 409 conflict bundle `b9` and others
    "#,
    "a-source-may-require-itself" => r#"
        admin PUT /v1/sources/u {} => 200 {}
        admin PUT /v1/sources/u {"requirements":[{"source":"u"}]} => 200 {}
        admin PUT /v1/sources/v {"requirements":[{"source":"v"}]} => 200 {}
        admin DELETE /v1/sources/u => 200 {}
        admin DELETE /v1/sources/v => 200 {}
    "#,
    "sources-in-a-circle" => r#"
        admin PUT /v1/sources/a {} => 200 {}
        admin PUT /v1/sources/b {"requirements":[{"source":"a"}]} => 200 {}
        admin PUT /v1/sources/a {"requirements":[{"source":"b"}]} => 200 {}
        admin DELETE /v1/sources/a => 409 conflict
        admin DELETE /v1/sources/b => 409 conflict
        admin PUT /v1/sources/a {} => 200 {}
        admin DELETE /v1/sources/b => 200 {}
        admin DELETE /v1/sources/a => 200 {}
    "#,
    "missing-sources" => r#"
        admin PUT /v1/bundles/b {"requirements":[{"source":"none"}]} => 422 invalid_reference source `none`
        admin GET /v1/bundles/b => 404 not_found
        admin PUT /v1/sources/s {"requirements":[{"source":"none"}]} => 422 invalid_reference
        admin PUT /v1/stacks/t {"requirements":[{"source":"none"}]} => 422 invalid_reference
        admin PUT /v1/sources/u {} => 200 {}
        admin PUT /v1/bundles/b {"requirements":[{"source":"u"}]} => 200 {}
        admin PUT /v1/bundles/b {"requirements":[{"source":"none"}]} => 422 invalid_reference
        # The refused definition has not loosened what the stored one uses.
        admin GET /v1/bundles/b => 200 {"result":{"name":"b","requirements":[{"source":"u"}]}}
        admin DELETE /v1/sources/u => 409 conflict
        admin PUT /v1/bundles/c {"requirements":[{"source":""},{}]} => 200 {}
        admin PUT /v1/bundles/c {"requirements":[{"source":"a\u0000b"}]} => 400 invalid_parameter NUL
    "#,
    "secrets-in-use" => r#"
        admin PUT /v1/secrets/k {"value":{}} => 200 {}
        admin PUT /v1/sources/s {"git":{"credentials":"k"},"datasources":[{"credentials":"k"},{"credentials":"k"}]} => 200 {}
        admin PUT /v1/bundles/a {"object_storage":{"aws":{"bucket":"b","key":"k","region":"r","credentials":"k"}}} => 200 {}
        admin PUT /v1/bundles/g {"object_storage":{"gcp":{"project":"p","bucket":"b","object":"o","credentials":"k"}}} => 200 {}
        admin PUT /v1/bundles/z {"object_storage":{"azure":{"account_url":"a","container":"c","path":"p","credentials":"k"}}} => 200 {}
        admin DELETE /v1/secrets/k => 409 conflict source `s` (datasource)
        admin DELETE /v1/secrets/k => 409 conflict source `s` (git)
        admin DELETE /v1/secrets/k => 409 conflict bundle `z` (object storage)
        admin GET /v1/secrets/k => 200 {"result":"k"}
        admin PUT /v1/sources/s {} => 200 {}
        admin DELETE /v1/secrets/k => 409 conflict bundle `a`
        admin DELETE /v1/bundles/a => 200 {}
        admin DELETE /v1/bundles/g => 200 {}
        admin DELETE /v1/secrets/k => 409 conflict in use by bundle `z`
        admin DELETE /v1/bundles/z => 200 {}
        admin DELETE /v1/secrets/k => 200 {}
    "#,
    "secrets-named-before-they-exist" => r#"
        admin PUT /v1/sources/s {"git":{"credentials":"k"}} => 200 {}
        admin PUT /v1/secrets/k {"value":{}} => 200 {}
        admin DELETE /v1/secrets/k => 409 conflict source `s` (git)
        admin DELETE /v1/sources/s => 200 {}
        admin DELETE /v1/secrets/k => 200 {}
    "#,
}
