//! Definitions that are stored, and definitions that are refused.

use crate::transcript::scripts;

scripts! {
    "bundles" => r#"
        admin GET /v1/bundles => 200 {"result":[],"next_cursor":null}
        admin GET /v1/bundles/b => 404 not_found bundle `b`
        admin DELETE /v1/bundles/b => 404 not_found
        admin PUT /v1/sources/s {} => 200 {}
        admin PUT /v1/bundles/b {"name":"b","labels":{"a":"1"},"requirements":[{"source":"s","path":"data.x","prefix":"data.y"},{"git":{"commit":"c0"}}],"excluded_files":["*.md"],"object_storage":{"filesystem":{"path":"p"}}} => 200 {}
        admin GET /v1/bundles/b => 200 {"result":{"name":"b","labels":{"a":"1"},"requirements":[{"source":"s","path":"data.x","prefix":"data.y"},{"git":{"commit":"c0"}}],"excluded_files":["*.md"],"object_storage":{"filesystem":{"path":"p"}}}}
        # A PUT replaces the whole definition.
        admin PUT /v1/bundles/b {"labels":{"b":"2"}} => 200 {}
        admin GET /v1/bundles => 200 {"result":[{"name":"b","labels":{"b":"2"}}],"next_cursor":null}
        admin DELETE /v1/bundles/b => 200 {}
        admin GET /v1/bundles/b => 404 not_found
        # Paths that take long to look at are refused.
        admin PUT /v1/bundles/b {"object_storage":{"filesystem":{"path":"a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/x"}}} => 400 invalid_parameter object_storage.filesystem.path: at most 32 segments, not 33
        admin PUT /v1/bundles/b {"requirements":[{},{"path":"a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.x"}]} => 400 invalid_parameter requirements[1].path: at most 64 segments, not 65
        admin PUT /v1/bundles/b {"excluded_files":["*a*a*a*a*a*a*a*a*"]} => 400 invalid_parameter excluded_files: at most 8 wildcards, not 9
    "#,
    "members-of-opa-control-plane" => r#"
        admin PUT /v1/bundles/b {"revision":"input.bundle.hash","rebuild_interval":"1m30s","options":{"no_default_stack_mount":true,"optimization":{"level":2},"target":"wasm"}} => 200 {}
        admin GET /v1/bundles/b => 200 {"result":{"name":"b","revision":"input.bundle.hash","rebuild_interval":"1m30s","options":{"no_default_stack_mount":true,"optimization":{"level":2},"target":"wasm"}}}
        admin PUT /v1/bundles/b {"options":{"unknown":1},"rebuild_interval":""} => 200 {}
        admin GET /v1/bundles/b => 200 {"result":{"name":"b","rebuild_interval":"","options":{}}}
        admin PUT /v1/bundles/b {"rebuild_interval":"soon"} => 400 invalid_parameter rebuild_interval: invalid duration: expected one such as 30s
        admin PUT /v1/bundles/b {"rebuild_interval":"-5s"} => 400 invalid_parameter rebuild_interval
        admin PUT /v1/bundles/b {"rebuild_interval":5} => 400 invalid_parameter rebuild_interval: must be a string
        admin PUT /v1/bundles/b {"revision":1} => 400 invalid_parameter revision: must be a string
        admin PUT /v1/bundles/b {"options":{"target":"java"}} => 400 invalid_parameter options.target: invalid target `java`: expected one of rego
        admin PUT /v1/bundles/b {"options":{"optimization":{"level":3}}} => 400 invalid_parameter options.optimization.level
        admin PUT /v1/bundles/b {"options":[]} => 400 invalid_parameter options: must be an object
        admin PUT /v1/sources/s {"files":{"a/b.rego":"cGFja2FnZSBh"}} => 200 {}
        admin GET /v1/sources/s => 200 {"result":{"name":"s","files":{"a/b.rego":"cGFja2FnZSBh"}}}
        admin PUT /v1/sources/s {"files":{"../b.rego":""}} => 400 invalid_parameter files.../b.rego: a path is relative
        admin PUT /v1/sources/s {"files":{"a.rego":"*"}} => 400 invalid_parameter files.a.rego: no base64
    "#,
    "sources" => r#"
        admin PUT /v1/sources/s {"git":{"repo":"r","reference":"refs/heads/main","commit":"c","path":"p","included_files":["*"],"excluded_files":["x"],"credentials":"later"},"directory":"/d","paths":["a.rego"],"builtin":"lib","datasources":[{"name":"d","path":"p","type":"http","config":{"url":"u","headers":{"h":"v"},"other":1.50},"credentials":"later","transform_query":"q"}]} => 200 {}
        admin GET /v1/sources/s => 200 {"result":{"name":"s","git":{"repo":"r","reference":"refs/heads/main","commit":"c","path":"p","included_files":["*"],"excluded_files":["x"],"credentials":"later"},"directory":"/d","paths":["a.rego"],"builtin":"lib","datasources":[{"name":"d","path":"p","type":"http","config":{"url":"u","headers":{"h":"v"},"other":1.50},"credentials":"later","transform_query":"q"}]}}
        admin PUT /v1/sources/s {"git":{"repo":"https://h/x.git?private_token=t"}} => 400 invalid_parameter git.repo: an address of a repository has no query
        admin PUT /v1/sources/s {"datasources":[]} => 200 {}
        admin GET /v1/sources/s => 200 {"result":{"name":"s","datasources":[]}}
        # Types of datasources that are not documented keep whatever they say.
        admin PUT /v1/sources/s {"datasources":[{"type":"s3","config":{"url":5}}]} => 200 {}
        admin PUT /v1/sources/s {"datasources":[{},{"type":"http","config":{"url":5}}]} => 400 invalid_parameter datasources[1].config.url: must be a string
        admin PUT /v1/sources/s {"datasources":[{"type":"http","config":{"headers":{"h":1}}}]} => 400 invalid_parameter headers.h
    "#,
    "stacks" => r#"
        admin PUT /v1/stacks/t {} => 200 {}
        admin GET /v1/stacks/t => 200 {"result":{"name":"t","selector":{}}}
        admin PUT /v1/stacks/t {"selector":{"env":["prod","st*"]},"exclude_selector":{"team":["x"]}} => 200 {}
        admin GET /v1/stacks => 200 {"result":[{"name":"t","selector":{"env":["prod","st*"]},"exclude_selector":{"team":["x"]}}],"next_cursor":null}
        admin PUT /v1/stacks/t {"selector":{"env":["["]}} => 400 invalid_parameter selector.env: pattern `[`
        admin PUT /v1/stacks/t {"exclude_selector":{"env":["["]}} => 400 invalid_parameter
        admin DELETE /v1/stacks/t => 200 {}
    "#,
    "secrets" => r#"
        admin PUT /v1/secrets/k {"value":{"type":"token_auth","token":"hush"}} => 200 {}
        admin GET /v1/secrets/k => 200 {"result":"k"}
        admin GET /v1/secrets => 200 {"result":["k"],"next_cursor":null}
        admin PUT /v1/secrets/k {"name":"k","value":{"type":"token_auth","token":"new"}} => 200 {}
        admin PUT /v1/secrets/k {"value":5} => 400 invalid_parameter value: must be an object
        admin PUT /v1/secrets/k [] => 400 invalid_parameter
        admin DELETE /v1/secrets/k => 200 {}
        admin DELETE /v1/secrets/k => 404 not_found
        admin GET /v1/secrets => 200 {"result":[],"next_cursor":null}
    "#,
    "names" => r#"
        admin PUT /v1/bundles/a {"name":"b"} => 400 invalid_parameter names the bundle `b`
        admin PUT /v1/sources/a {"name":"b"} => 400 invalid_parameter
        admin PUT /v1/stacks/a {"name":"b"} => 400 invalid_parameter
        admin PUT /v1/secrets/a {"name":"b","value":{}} => 400 invalid_parameter
        admin PUT /v1/secrets/a {"name":"b"} => 400 invalid_parameter
        admin PUT /v1/bundles/a {"name":""} => 200 {}
        admin PUT /v1/bundles/a {"name":null} => 200 {}
        admin PUT /v1/bundles/a%2Fb%20c {"name":"a/b c"} => 200 {}
        admin GET /v1/bundles/a%2Fb%20c => 200 {"result":{"name":"a/b c"}}
        # Escapes are decoded once.
        admin PUT /v1/bundles/100%25 {"name":"100%"} => 200 {}
        admin PUT /v1/bundles/100%2525 {"name":"100%25"} => 200 {}
        admin GET /v1/bundles/100%25 => 200 {"result":{"name":"100%"}}
        admin GET /v1/bundles/%zz => 400 invalid_parameter
        admin GET /v1/bundles/%ff => 400 invalid_parameter
        nobody GET /v1/bundles/%zz => 401
        admin PUT /v1/bundles/a%00b {} => 400 invalid_parameter NUL
        admin GET /v1/bundles/a%00b => 400 invalid_parameter NUL
        admin GET /v1/bundles/ => 404 not_found
    "#,
    "object-storage" => r#"
        admin PUT /v1/secrets/k {"value":{}} => 200 {}
        admin PUT /v1/bundles/b {"object_storage":{"aws":{"bucket":"b","key":"k","region":"r","credentials":"k","url":"u"}}} => 200 {}
        admin GET /v1/bundles/b => 200 {"result":{"name":"b","object_storage":{"aws":{"bucket":"b","key":"k","region":"r","credentials":"k","url":"u"}}}}
        admin PUT /v1/bundles/b {"object_storage":{"gcp":{"project":"p","bucket":"b","object":"o","credentials":"k"}}} => 200 {}
        admin GET /v1/bundles/b => 200 {"result":{"name":"b","object_storage":{"gcp":{"project":"p","bucket":"b","object":"o","credentials":"k"}}}}
        admin PUT /v1/bundles/b {"object_storage":{"azure":{"account_url":"a","container":"c","path":"p","credentials":"k"}}} => 200 {}
        admin GET /v1/bundles/b => 200 {"result":{"name":"b","object_storage":{"azure":{"account_url":"a","container":"c","path":"p","credentials":"k"}}}}
        admin PUT /v1/bundles/b {"object_storage":{"aws":{"bucket":"b","region":"r"}}} => 400 invalid_parameter object_storage.aws.key: is required
        admin PUT /v1/bundles/b {"object_storage":{"gcp":{"project":"p"}}} => 400 invalid_parameter
        admin PUT /v1/bundles/b {"object_storage":{"azure":{}}} => 400 invalid_parameter
        admin PUT /v1/bundles/b {"object_storage":{"filesystem":{}}} => 400 invalid_parameter
        admin PUT /v1/bundles/b {"object_storage":{"filesystem":{"path":"p"},"azure":{"account_url":"a","container":"c","path":"p"}}} => 400 invalid_parameter not both
        admin PUT /v1/bundles/b {"object_storage":{"tape":{}}} => 200 {}
        admin GET /v1/bundles/b => 200 {"result":{"name":"b"}}
        admin PUT /v1/bundles/b {"object_storage":{"aws":{"bucket":"b","key":"k","region":"r","credentials":"none"}}} => 422 invalid_reference secret `none`
    "#,
    "wrong-types" => r#"
        admin PUT /v1/bundles/b {"labels":{"v":"1"}} => 200 {}
        admin PUT /v1/bundles/b {"labels":{"v":1}} => 400 invalid_parameter labels.v: must be a string, not a number
        admin PUT /v1/bundles/b {"labels":[]} => 400 invalid_parameter labels: must be an object, not an array
        admin PUT /v1/bundles/b {"name":1} => 400 invalid_parameter
        admin PUT /v1/bundles/b {"requirements":{}} => 400 invalid_parameter
        admin PUT /v1/bundles/b {"requirements":["s"]} => 400 invalid_parameter requirements[0]: must be an object
        admin PUT /v1/bundles/b {"requirements":[[]]} => 400 invalid_parameter
        admin PUT /v1/bundles/b {"requirements":[{"git":[]}]} => 400 invalid_parameter requirements[0].git
        admin PUT /v1/bundles/b {"requirements":[{"source":1}]} => 400 invalid_parameter requirements[0].source
        admin PUT /v1/bundles/b {"object_storage":{"aws":{"bucket":1}}} => 400 invalid_parameter object_storage.aws.bucket
        admin PUT /v1/bundles/b {"excluded_files":"*"} => 400 invalid_parameter
        admin PUT /v1/bundles/b {"excluded_files":["["]} => 400 invalid_parameter
        admin PUT /v1/sources/b {"git":"r"} => 400 invalid_parameter
        admin PUT /v1/sources/b {"datasources":[{"config":"c"}]} => 400 invalid_parameter
        admin PUT /v1/stacks/b {"selector":{"a":"b"}} => 400 invalid_parameter
        admin PUT /v1/bundles/b [] => 400 invalid_parameter
        admin PUT /v1/bundles/b null => 400 invalid_parameter
        admin PUT /v1/bundles/b => 400 invalid_parameter
        admin PUT /v1/bundles/b {} {} => 400 invalid_parameter
        admin PUT /v1/bundles/b {"a":1,} => 400 invalid_parameter
        # What was refused has changed nothing; null and unknown members say nothing.
        admin GET /v1/bundles/b => 200 {"result":{"name":"b","labels":{"v":"1"}}}
        admin PUT /v1/bundles/b {"labels":null,"unknown":[1],"name":"b"} => 200 {}
        admin GET /v1/bundles/b => 200 {"result":{"name":"b"}}
    "#,
    "routes" => r#"
        nobody GET /health => 200 {}
        nobody HEAD /health => 200
        nobody POST /health => 405
        nobody GET /v1/nope => 404
        nobody GET / => 404
        nobody POST /v1/bundles => 405
        nobody PATCH /v1/sources/s/data/a => 405
        nobody GET /v1/bundles => 401
        nobody PUT /v1/bundles/b {} => 401
        unknown GET /v1/bundles => 401
        nobody DELETE /v1/sources/s/data/a => 401
        admin HEAD /v1/bundles => 200
    "#,
}
