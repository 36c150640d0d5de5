//! Rules of the section "What the service does": what all endpoints have in common.

use super::{BUNDLE, RESOURCES, Resource, SOURCE, document_of, keys_required};
use crate::rules::control::definitions;
use crate::rules::control::distribution::*;
use crate::scenario::*;

/// A secret that no response may contain.
const TOKEN: &str = "token-that-stays-inside";

pub(crate) const RULES: &[Rule] = &[
    Rule::new("definitions-stored", || {
        scenario()
            .given(BUNDLE.define("", json!({"labels": {"env": "prod"}})))
            .given(put("/v1/sources/{ns}").json(definitions::source(json!({}))))
            .given(put("/v1/stacks/{ns}").json(definitions::stack(json!({}))))
            .when(get("/v1/bundles/{ns}").expect(at("/result/labels/env")))
            .when(get("/v1/sources/{ns}").expect(at("/result/git/repo")))
            .when(get("/v1/stacks/{ns}").expect(at("/result/selector/env")))
    }),
    Rule::new("secret-value-not-in-single-read", || {
        scenario().given(secret()).when(
            get("/v1/secrets/{ns}")
                .expect(status())
                .expect(without(TOKEN)),
        )
    }),
    Rule::new("secret-value-not-in-list", || {
        scenario().given(secret()).when(
            walk("/v1/secrets")
                .expect(names("/result"))
                .expect(without(TOKEN)),
        )
    }),
    Rule::new("secret-not-leaked-elsewhere", || {
        let storage =
            json!({"bucket": "b", "key": "{ns}", "region": "eu-west-1", "credentials": "{ns}"});
        let git = definitions::git(json!({"credentials": "{ns}"}));
        let datasource = json!({
            "name": "users",
            "path": "users",
            "type": "http",
            "config": {"url": "https://data.example.com/users", "headers": {}},
            "credentials": "{ns}",
        });
        scenario()
            .given(secret())
            .given(BUNDLE.define("", json!({"object_storage": {"aws": storage}})))
            .given(SOURCE.define("", json!({"git": git, "datasources": [datasource]})))
            .when(
                get("/v1/bundles/{ns}")
                    .expect(at("/result/object_storage/aws/credentials"))
                    .expect(without(TOKEN)),
            )
            .when(
                get("/v1/sources/{ns}")
                    .expect(at("/result/git/credentials"))
                    .expect(at("/result/datasources/0/credentials"))
                    .expect(without(TOKEN)),
            )
            .when(
                walk("/v1/bundles")
                    .expect(names("/result"))
                    .expect(without(TOKEN)),
            )
            .when(
                walk("/v1/sources")
                    .expect(names("/result"))
                    .expect(without(TOKEN)),
            )
    }),
    Rule::new("versioned-paths-need-authentication", || {
        // Without a key, responses must not reveal that a resource is missing.
        let absent = |resource: Resource| get(resource.item("-absent"));
        let steps = RESOURCES
            .into_iter()
            .flat_map(|resource| [get(resource.list), absent(resource)])
            .chain([get(document_of("-absent", "limits"))]);
        scenario().each(steps, |scenario, step| {
            scenario.when(step.anonymous().expect(status()))
        })
    }),
    Rule::new("health-needs-no-authentication", || {
        scenario()
            .given(keys_required())
            .when(get("/health").anonymous().expect(status()))
    }),
    Rule::new("bundles-are-distributed", || {
        let query_allow = |amount: u32| {
            engine(post("/v1/data/shop/allow").json(json!({"input": {"amount": amount}})))
        };
        add_source(distributed(), "other")
            .given(commit(
                "shop",
                json!({"shop.rego": SHOP, "limits/data.json": {"most": 7}}),
            ))
            .given(source("shop", json!({"git": git("shop")})))
            .given(bundle(
                "first",
                json!({"requirements": requirements(&["shop"])}),
            ))
            .given(bundle(
                "second",
                json!({"requirements": requirements(&["other"])}),
            ))
            .when(
                query_allow(7)
                    .until([Check::Equals("/result".to_owned(), json!(true))])
                    .expect(at("/result")),
            )
            .when(query_allow(8).expect(at("/result")))
            .when(decides("other/name", json!("other")))
    }),
    Rule::new("sources-supply-policies", || {
        let move_source = || source("shop", json!({"git": git("outer")}));
        distributed()
            .given(commit(
                "inner",
                json!({
                    "shop.rego": policy_with_name("shop", "inner"),
                    "extra.rego": policy_with_name("extra", "extra"),
                }),
            ))
            .given(commit(
                "outer",
                json!({"shop.rego": policy_with_name("shop", "outer")}),
            ))
            .given(source("shop", json!({"git": git("inner")})))
            .given(bundle(
                "first",
                json!({"requirements": requirements(&["shop"])}),
            ))
            .when(decides("shop/name", json!("inner")))
            .when(decides("extra/name", json!("extra")))
            .given(move_source())
            .when(decides("shop/name", json!("outer")))
            .when(undefined("extra"))
            .given(commit(
                "outer",
                json!({"shop.rego": policy_with_name("shop", "changed")}),
            ))
            .given(move_source())
            .when(decides("shop/name", json!("changed")))
    }),
    Rule::new("source-data-injected-into-bundles", || {
        add_source(distributed(), "shop")
            .given(data("shop", "limits", json!({"most": 7})))
            .given(data("shop", "roles%2Fadmins", json!(["alice"])))
            .given(bundle(
                "first",
                json!({"requirements": requirements(&["shop"])}),
            ))
            .when(decides("limits", json!({"most": 7})))
            .when(decides("roles/admins", json!(["alice"])))
            .given(data("shop", "limits", json!({"least": 1})))
            .when(decides("limits", json!({"least": 1})))
            .given(delete("/v1/sources/{ns}-shop/data/limits"))
            .when(undefined("limits"))
            .when(decides("roles/admins", json!(["alice"])))
    }),
    Rule::new("stacks-distribute-by-labels", || {
        let scenario = ["shop", "guard"]
            .into_iter()
            .fold(distributed(), add_source);
        let guard_is_active = Check::Holds("/result".to_owned(), json!("guard"));
        scenario
            .given(bundle(
                "first",
                json!({"labels": {"env": "prod"}, "requirements": requirements(&["shop"])}),
            ))
            .given(stack(json!({"selector": {"env": ["prod"]}})))
            .when(
                everything()
                    .until([guard_is_active])
                    .expect(holds("/result", json!("guard"))),
            )
            .when(decides("shop/name", json!("shop")))
            .given(delete("/v1/stacks/{ns}-guard"))
            .given(data("shop", "later", json!("later")))
            .when(decides("later", json!("later")))
            .when(everything().expect(without("guard")))
    }),
];

/// A policy that decides based on data.
const SHOP: &str = "package shop\n\nimport rego.v1\n\ndefault allow := false\n\n\
                    allow if input.amount <= data.limits.most\n";

/// A stored secret whose token would be noticed in a response.
fn secret() -> Step {
    put("/v1/secrets/{ns}").json(json!({"value": {"type": "token_auth", "token": TOKEN}}))
}
