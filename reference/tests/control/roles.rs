//! Roles: permissions to read and write definitions.

use crate::transcript::scripts;

scripts! {
    "viewer" => r#"
        admin PUT /v1/bundles/b {} => 200 {}
        admin PUT /v1/sources/s {} => 200 {}
        admin PUT /v1/sources/s/data/a 1 => 200 {}
        admin PUT /v1/secrets/k {"value":{}} => 200 {}
        viewer GET /v1/bundles => 200 {"result":[{"name":"b"}],"next_cursor":null}
        viewer GET /v1/bundles/b => 200 {"result":{"name":"b"}}
        viewer GET /v1/secrets => 200 {"result":["k"],"next_cursor":null}
        viewer GET /v1/sources/s/data/a => 200 {"result":1}
        viewer GET /v1/sources/none/data/a => 404 not_found
        viewer PUT /v1/bundles/b {} => 403 not_authorized
        viewer PUT /v1/bundles/new {} => 403 not_authorized
        viewer DELETE /v1/bundles/b => 403 not_authorized
        viewer DELETE /v1/bundles/none => 403 not_authorized
        viewer PUT /v1/secrets/k {"value":{}} => 403 not_authorized
        viewer PUT /v1/sources/s/data/a 2 => 403 not_authorized
        viewer DELETE /v1/sources/s/data/a => 403 not_authorized
        # The body is judged before the permission, the permission before the references.
        viewer PUT /v1/bundles/b { => 400 invalid_parameter
        viewer PUT /v1/bundles/b {"name":"x"} => 400 invalid_parameter
        viewer PUT /v1/sources/s/data/a { => 400 invalid_parameter
        viewer PUT /v1/bundles/b {"requirements":[{"source":"none"}]} => 403 not_authorized
        admin GET /v1/sources/s/data/a => 200 {"result":1}
    "#,
    "owner" => r#"
        admin PUT /v1/bundles/adm {} => 200 {}
        owner PUT /v1/bundles/b {} => 200 {}
        owner PUT /v1/sources/s {} => 200 {}
        owner PUT /v1/secrets/k {"value":{}} => 200 {}
        owner PUT /v1/stacks/t {} => 403 not_authorized
        owner GET /v1/bundles => 200 {"result":[{"name":"b"}],"next_cursor":null}
        owner GET /v1/bundles/adm => 404 not_found
        owner2 GET /v1/bundles => 200 {"result":[],"next_cursor":null}
        owner2 GET /v1/bundles/b => 404 not_found
        owner2 GET /v1/secrets/k => 404 not_found
        owner2 PUT /v1/bundles/b {} => 403 not_authorized
        owner2 DELETE /v1/bundles/b => 403 not_authorized
        owner2 DELETE /v1/bundles/none => 403 not_authorized
        owner PUT /v1/sources/s/data/a 1 => 200 {}
        owner GET /v1/sources/s/data/a => 200 {"result":1}
        owner GET /v1/sources/s/data/none => 404 not_found
        # Whose source it is does not show, nor whether there is one.
        owner2 GET /v1/sources/s/data/a => 403 not_authorized
        owner2 GET /v1/sources/none/data/a => 403 not_authorized
        owner2 PUT /v1/sources/s/data/a 2 => 403 not_authorized
        owner2 POST /v1/sources/s/data/a 2 => 403 not_authorized
        owner2 DELETE /v1/sources/s/data/a => 403 not_authorized
        owner GET /v1/sources/s/data/a => 200 {"result":1}
        # A change by the administrator does not change the owner.
        admin PUT /v1/bundles/b {"labels":{"a":"1"}} => 200 {}
        owner GET /v1/bundles/b => 200 {"result":{"name":"b","labels":{"a":"1"}}}
        owner DELETE /v1/bundles/b => 200 {}
        owner2 PUT /v1/bundles/b {} => 200 {}
        owner GET /v1/bundles/b => 404 not_found
        owner PUT /v1/bundles/b {} => 403 not_authorized
        # Things of others can be used when they are shared, and keep what they use; who they are
        # does not show.
        owner2 PUT /v1/bundles/b {"requirements":[{"source":"s"}]} => 422 invalid_reference source `s`
        admin PUT /v1/sources/s {"shared":true} => 200 {}
        owner2 PUT /v1/bundles/b {"requirements":[{"source":"s"}]} => 200 {}
        owner DELETE /v1/sources/s => 409 conflict something that you may not see
        admin DELETE /v1/sources/s => 409 conflict bundle `b`
    "#,
    "stack-owner" => r#"
        admin PUT /v1/sources/s {"shared":true} => 200 {}
        admin PUT /v1/sources/p {} => 200 {}
        stacker PUT /v1/stacks/t {"requirements":[{"source":"p"}]} => 422 invalid_reference
        stacker PUT /v1/stacks/t {"requirements":[{"source":"s"}]} => 200 {}
        stacker GET /v1/stacks/t => 200 {"result":{"name":"t","selector":{},"requirements":[{"source":"s"}]}}
        stacker PUT /v1/bundles/b {} => 403 not_authorized
        stacker PUT /v1/sources/new {} => 403 not_authorized
        stacker PUT /v1/secrets/k {"value":{}} => 403 not_authorized
        stacker GET /v1/sources => 200 {"result":[],"next_cursor":null}
        stacker2 GET /v1/stacks/t => 404 not_found
        stacker2 PUT /v1/stacks/t {} => 403 not_authorized
        owner DELETE /v1/stacks/t => 403 not_authorized
        stacker DELETE /v1/stacks/t => 200 {}
    "#,
}
