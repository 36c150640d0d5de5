//! The policies that benchmarks evaluate.

use serde_json::{Value, json};

/// A policy with its documents and the input it is asked with.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// Its name, which is its package and the start of its documents' name.
    pub name: &'static str,
    /// What is told of it.
    pub told: &'static str,
    /// The module.
    pub text: &'static str,
    documents: fn() -> Value,
    input: fn() -> Value,
}

impl Policy {
    /// The documents, JSON, which stand at `data.<name>_data`.
    pub fn documents(&self) -> String {
        (self.documents)().to_string()
    }

    /// The input document, JSON.
    pub fn input(&self) -> String {
        (self.input)().to_string()
    }

    /// What is asked for.
    pub fn query(&self) -> String {
        format!("data.{}.allow", self.name)
    }

    /// The body of a request for its decision.
    pub fn question(&self) -> String {
        json!({"input": (self.input)()}).to_string()
    }
}

/// Every policy that is measured.
pub const ALL: &[Policy] = &[ROLES, GRANTS, NUMBERS, EVERY];

/// The policy that throughput is measured with.
pub const ROLES: Policy = Policy {
    name: "roles",
    told: "role lookup with 100 roles",
    text: "package roles

default allow := false

allow if {
	some role in data.roles_data.users[input.user]
	some grant in data.roles_data.roles[role]
	grant.action == input.action
	grant.resource == input.resource
}
",
    documents: || {
        let roles = (0..100).map(|role| {
            let grants = (0..5)
                .map(|at| json!({"action": format!("act{at}"), "resource": format!("res{role}")}));
            (
                format!("role{role}"),
                Value::from(grants.collect::<Vec<_>>()),
            )
        });
        let roles: serde_json::Map<_, _> = roles.collect();
        let users = (0..100).map(|user| {
            let held = (0..10).map(|at| format!("role{}", (user + 7 * at) % 100));
            (format!("user{user}"), Value::from(held.collect::<Vec<_>>()))
        });
        let users: serde_json::Map<_, _> = users.collect();
        json!({"roles": roles, "users": users})
    },
    input: || json!({"user": "user3", "action": "act4", "resource": "res66"}),
};

const GRANTS: Policy = Policy {
    name: "grants",
    told: "scan of 500 grants",
    text: "package grants

default allow := 0

allow := count([1 |
	some grant in data.grants_data.grants
	grant.user == input.user
	startswith(input.path, grant.prefix)
])
",
    documents: || {
        let grants = (0..500).map(
            |at| json!({"user": format!("user{}", at % 5), "prefix": format!("/files/{at}/")}),
        );
        json!({"grants": grants.collect::<Vec<_>>()})
    },
    input: || json!({"user": "user1", "path": "/files/496/report"}),
};

const NUMBERS: Policy = Policy {
    name: "numbers",
    told: "comprehension over 10,000 numbers",
    text: "package numbers

allow := sum([doubled |
	some number in data.numbers_data.numbers
	number % 3 == input.rest
	doubled := number * 2
])
",
    documents: || json!({"numbers": (0..10_000).collect::<Vec<_>>()}),
    input: || json!({"rest": 1}),
};

const EVERY: Policy = Policy {
    name: "teams",
    told: "deep every",
    text: "package teams

default allow := false

allow if {
	every team in data.teams_data.teams {
		every member in team.members {
			every badge in member.badges {
				badge.level >= input.level
			}
		}
	}
}
",
    documents: || {
        let badges: Vec<_> = (0..10).map(|at| json!({"level": 3 + at})).collect();
        let members: Vec<_> = (0..10).map(|_| json!({"badges": badges})).collect();
        let teams: Vec<_> = (0..10).map(|_| json!({"members": members})).collect();
        json!({"teams": teams})
    },
    input: || json!({"level": 3}),
};
