//! Resources in use

use super::{BUNDLE, Resource, SECRET, SOURCE, STACK};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("source-used-by-bundle", || kept(BY_BUNDLE)),
    Rule::new("source-used-by-bundle-free-after-release", || {
        released(BY_BUNDLE)
    }),
    Rule::new("source-used-by-stack", || kept(BY_STACK)),
    Rule::new("source-used-by-stack-free-after-release", || {
        released(BY_STACK)
    }),
    Rule::new("source-used-by-source", || kept(BY_SOURCE)),
    Rule::new("source-used-by-source-free-after-release", || {
        released(BY_SOURCE)
    }),
    Rule::new("secret-used-by-datasource", || kept(BY_DATASOURCE)),
    Rule::new("secret-used-by-datasource-free-after-release", || {
        released(BY_DATASOURCE)
    }),
    Rule::new("secret-used-by-git", || kept(BY_GIT)),
    Rule::new("secret-used-by-git-free-after-release", || released(BY_GIT)),
    Rule::new("secret-used-by-aws", || kept(BY_AWS)),
    Rule::new("secret-used-by-aws-free-after-release", || released(BY_AWS)),
    Rule::new("secret-used-by-gcp", || kept(BY_GCP)),
    Rule::new("secret-used-by-gcp-free-after-release", || released(BY_GCP)),
    Rule::new("secret-used-by-azure", || kept(BY_AZURE)),
    Rule::new("secret-used-by-azure-free-after-release", || {
        released(BY_AZURE)
    }),
    Rule::new("source-error-body", || refused_with_error_body(BY_BUNDLE)),
    Rule::new("secret-error-body", || refused_with_error_body(BY_GIT)),
    Rule::new("source-status", || refused_with_status(BY_BUNDLE)),
    Rule::new("secret-status", || refused_with_status(BY_GIT)),
];

/// How one resource uses another, which is named `{ns}`.
#[derive(Debug, Clone, Copy)]
struct Relation {
    used: Resource,
    user: Resource,
    definition: fn() -> Value,
}

const BY_BUNDLE: Relation = Relation {
    used: SOURCE,
    user: BUNDLE,
    definition: || json!({"requirements": [{"source": "{ns}"}]}),
};
const BY_STACK: Relation = Relation {
    used: SOURCE,
    user: STACK,
    definition: || {
        json!({
            "selector": {"zone": ["inner"]},
            "requirements": [{"source": "{ns}"}],
        })
    },
};
const BY_SOURCE: Relation = Relation {
    used: SOURCE,
    user: SOURCE,
    definition: || SOURCE.with(json!({"requirements": [{"source": "{ns}"}]})),
};
const BY_DATASOURCE: Relation = Relation {
    used: SECRET,
    user: SOURCE,
    definition: || {
        SOURCE.with(json!({"datasources": [{
            "name": "rates",
            "path": "rates",
            "type": "http",
            "config": {"url": "https://rates.example/today"},
            "credentials": "{ns}",
        }]}))
    },
};
const BY_GIT: Relation = Relation {
    used: SECRET,
    user: SOURCE,
    definition: || {
        json!({"git": {
            "repo": "https://git.example/rules.git",
            "reference": "refs/heads/main",
            "credentials": "{ns}",
        }})
    },
};
const BY_AWS: Relation = Relation {
    used: SECRET,
    user: BUNDLE,
    definition: || {
        json!({"object_storage": {"aws": {
            "bucket": "policies",
            "key": "{ns}.tar.gz",
            "region": "eu-north-1",
            "credentials": "{ns}",
        }}})
    },
};
const BY_GCP: Relation = Relation {
    used: SECRET,
    user: BUNDLE,
    definition: || {
        json!({"object_storage": {"gcp": {
            "project": "rules",
            "bucket": "policies",
            "object": "{ns}.tar.gz",
            "credentials": "{ns}",
        }}})
    },
};
const BY_AZURE: Relation = Relation {
    used: SECRET,
    user: BUNDLE,
    definition: || {
        json!({"object_storage": {"azure": {
            "account_url": "https://rules.blob.example",
            "container": "policies",
            "path": "{ns}.tar.gz",
            "credentials": "{ns}",
        }}})
    },
};

impl Relation {
    fn set_up(self) -> Scenario {
        scenario()
            .given(self.used.create())
            .given(put(self.user_path()).json((self.definition)()))
    }

    fn user_path(self) -> String {
        self.user.item("-user")
    }

    fn delete_used(self) -> Step {
        delete(self.used.item(""))
    }
}

fn kept(relation: Relation) -> Scenario {
    relation
        .set_up()
        .when(relation.delete_used().keep(error()))
        .when(get(relation.used.item("")).keep(success()))
}

fn released(relation: Relation) -> Scenario {
    relation
        .set_up()
        .when(relation.delete_used().keep(error()))
        .given(delete(relation.user_path()))
        .when(relation.delete_used().keep(success()))
}

fn refused_with_error_body(relation: Relation) -> Scenario {
    relation.set_up().when(
        relation
            .delete_used()
            .keep(error())
            .keep(kind("/code", Kind::String))
            .keep(kind("/message", Kind::String)),
    )
}

fn refused_with_status(relation: Relation) -> Scenario {
    relation
        .set_up()
        .when(relation.delete_used().keep(status()).keep(at("/code")))
}
