//! Resources in use

use super::{BUNDLE, Resource, SECRET, SOURCE, STACK};
use crate::rules::control::definitions;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("source-used-by-bundle", || deletion_refused(BY_BUNDLE)),
    Rule::new("source-used-by-bundle-free-after-release", || {
        deletable_after_release(BY_BUNDLE)
    }),
    Rule::new("source-used-by-stack", || deletion_refused(BY_STACK)),
    Rule::new("source-used-by-stack-free-after-release", || {
        deletable_after_release(BY_STACK)
    }),
    Rule::new("source-used-by-source", || deletion_refused(BY_SOURCE)),
    Rule::new("source-used-by-source-free-after-release", || {
        deletable_after_release(BY_SOURCE)
    }),
    Rule::new("secret-used-by-datasource", || {
        deletion_refused(BY_DATASOURCE)
    }),
    Rule::new("secret-used-by-datasource-free-after-release", || {
        deletable_after_release(BY_DATASOURCE)
    }),
    Rule::new("secret-used-by-git", || deletion_refused(BY_GIT)),
    Rule::new("secret-used-by-git-free-after-release", || {
        deletable_after_release(BY_GIT)
    }),
    Rule::new("secret-used-by-aws", || deletion_refused(BY_AWS)),
    Rule::new("secret-used-by-aws-free-after-release", || {
        deletable_after_release(BY_AWS)
    }),
    Rule::new("secret-used-by-gcp", || deletion_refused(BY_GCP)),
    Rule::new("secret-used-by-gcp-free-after-release", || {
        deletable_after_release(BY_GCP)
    }),
    Rule::new("secret-used-by-azure", || deletion_refused(BY_AZURE)),
    Rule::new("secret-used-by-azure-free-after-release", || {
        deletable_after_release(BY_AZURE)
    }),
    Rule::new("source-error-body", || refused_with_error_body(BY_BUNDLE)),
    Rule::new("secret-error-body", || refused_with_error_body(BY_GIT)),
    Rule::new("source-status", || refused_with_status(BY_BUNDLE)),
    Rule::new("secret-status", || refused_with_status(BY_GIT)),
];

/// A resource that uses another, which is named `{ns}`.
#[derive(Debug, Clone, Copy)]
struct Relation {
    used: Resource,
    user: Resource,
    /// The fields of `user` that name the used resource.
    fields: fn() -> Value,
}

const BY_BUNDLE: Relation = Relation {
    used: SOURCE,
    user: BUNDLE,
    fields: || json!({"requirements": [{"source": "{ns}"}]}),
};
const BY_STACK: Relation = Relation {
    used: SOURCE,
    user: STACK,
    fields: || json!({"requirements": [{"source": "{ns}"}]}),
};
const BY_SOURCE: Relation = Relation {
    used: SOURCE,
    user: SOURCE,
    fields: || json!({"requirements": [{"source": "{ns}"}]}),
};
const BY_DATASOURCE: Relation = Relation {
    used: SECRET,
    user: SOURCE,
    fields: || {
        json!({"datasources": [{
            "name": "rates",
            "path": "rates",
            "type": "http",
            "config": {"url": "https://rates.example/today", "headers": {}},
            "credentials": "{ns}",
        }]})
    },
};
const BY_GIT: Relation = Relation {
    used: SECRET,
    user: SOURCE,
    fields: || {
        json!({"git": definitions::git(json!({
            "repo": "https://git.example/rules.git",
            "credentials": "{ns}",
        }))})
    },
};
const BY_AWS: Relation = Relation {
    used: SECRET,
    user: BUNDLE,
    fields: || {
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
    fields: || {
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
    fields: || {
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
            .given(self.user.define("-user", (self.fields)()))
    }

    fn user_path(self) -> String {
        self.user.item("-user")
    }

    fn delete_used(self) -> Step {
        delete(self.used.item(""))
    }
}

fn deletion_refused(relation: Relation) -> Scenario {
    relation
        .set_up()
        .when(relation.delete_used().expect(error()))
        .when(get(relation.used.item("")).expect(success()))
}

fn deletable_after_release(relation: Relation) -> Scenario {
    relation
        .set_up()
        .when(relation.delete_used().expect(error()))
        .given(delete(relation.user_path()))
        .when(relation.delete_used().expect(success()))
}

fn refused_with_error_body(relation: Relation) -> Scenario {
    relation.set_up().when(
        relation
            .delete_used()
            .expect(error())
            .expect(kind("/code", Kind::String))
            .expect(kind("/message", Kind::String)),
    )
}

fn refused_with_status(relation: Relation) -> Scenario {
    relation
        .set_up()
        .when(relation.delete_used().expect(status()).expect(at("/code")))
}
