//! Distribution

use crate::rules::control::distribution::*;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    // The second request for the commit shows that the control plane has given up the first
    // attempt.
    Rule::new("failed-build", || {
        let redefine_source = || source("shop", json!({"git": git("shop")}));
        let requests_path = "/taken/git/shop?answer=references&commit={broken}";
        shop()
            .given(
                commit("shop", json!({"shop.rego": "package shop\n\nname := \n"}))
                    .capture("broken", "/commit"),
            )
            .given(redefine_source())
            .given(mock(get(requests_path)).until([Check::AtLeast(String::new(), 2)]))
            .when(engine(get("/v1/data/shop/name")).expect(at("/result")))
            .given(commit(
                "shop",
                json!({"shop.rego": policy_with_name("shop", "repaired")}),
            ))
            .given(redefine_source())
            .when(decides("shop/name", json!("repaired")))
    }),
    Rule::new("conflicting-sources", || {
        let rival = commit(
            "rival",
            json!({"rival.rego": policy_with_name("shop", "rival")}),
        );
        shop()
            .given(rival)
            .given(source("rival", json!({"git": git("rival")})))
            .given(bundle(
                "first",
                json!({"requirements": requirements(&["shop", "rival"])}),
            ))
            .given(
                mock(get("/taken/git/rival?answer=references"))
                    .until([Check::AtLeast(String::new(), 2)]),
            )
            .when(engine(get("/v1/data/shop/name")).expect(at("/result")))
    }),
    Rule::new("revision", || {
        let provenance = "/provenance/bundles/first/revision";
        shop()
            .when(
                stored("first")
                    .expect(at("/.manifest/revision"))
                    .capture("revision", "/.manifest/revision"),
            )
            .when(
                engine(get("/v1/data/shop/name?provenance=true"))
                    .until([Check::Type(provenance.to_owned(), vec![Kind::String])])
                    .expect(at(provenance)),
            )
    }),
    Rule::new("deleted-bundle", || {
        shop()
            .when(delete("/v1/bundles/{ns}-first").expect(status()))
            .given(bundle(
                "second",
                json!({"requirements": requirements(&["shop"])}),
            ))
            .given(stored("second").until([Check::Status(200)]))
            .when(stored("first").expect(status()))
    }),
];

/// A scenario in which the engine already decides by a bundle.
fn shop() -> Scenario {
    add_source(distributed(), "shop")
        .given(bundle(
            "first",
            json!({"requirements": requirements(&["shop"])}),
        ))
        .when(decides("shop/name", json!("shop")))
}
