//! The policies that benchmarks evaluate.

use serde_json::{Value, json};

/// Policy with its documents and the input of its query.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// Name of the policy: its package, and the prefix of its documents' name.
    pub name: &'static str,
    /// Description of the policy in words.
    pub told: &'static str,
    /// Source of the module.
    pub text: &'static str,
    documents: fn() -> Value,
    input: fn() -> Value,
}

impl Policy {
    /// Returns the JSON documents, which are at `data.<name>_data`.
    pub fn documents(&self) -> String {
        (self.documents)().to_string()
    }

    /// Returns the input document as JSON.
    pub fn input(&self) -> String {
        (self.input)().to_string()
    }

    /// Returns the query.
    pub fn query(&self) -> String {
        format!("data.{}.allow", self.name)
    }

    /// Returns the body of a request for the decision of the policy.
    pub fn question(&self) -> String {
        json!({"input": (self.input)()}).to_string()
    }
}

/// Policies that are benchmarked against all other implementations.
pub const ALL: &[Policy] = &[ROLES, GRANTS, NUMBERS, EVERY];

/// Policies that are benchmarked in process, without a server: small calls, whose time a server
/// would hide, and large collections.
pub const IN_PROCESS: &[Policy] = &[
    TRIVIAL,
    MEMBERSHIP,
    STRINGS,
    NESTED,
    LOOKUP_500,
    LOOKUP_5_000,
    LOOKUP_50_000,
    LOOKUP_500_000,
];

/// Policy of the throughput benchmark.
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
            let roles = (0..10).map(|at| format!("role{}", (user + 7 * at) % 100));
            (
                format!("user{user}"),
                Value::from(roles.collect::<Vec<_>>()),
            )
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

const TRIVIAL: Policy = Policy {
    name: "trivial",
    told: "trivial policy",
    text: "package trivial

default allow := false

allow if input.role == \"admin\"
",
    documents: || json!({}),
    input: || json!({"role": "admin"}),
};

const MEMBERSHIP: Policy = Policy {
    name: "membership",
    told: "membership among 1,000 names",
    text: "package membership

default allow := false

allow if input.user in data.membership_data.admins
",
    documents: || {
        let admins = (0..1_000).map(|at| format!("user{at}"));
        json!({"admins": admins.collect::<Vec<_>>()})
    },
    input: || json!({"user": "user750"}),
};

const STRINGS: Policy = Policy {
    name: "strings",
    told: "string work on 50 rules",
    text: "package strings

default allow := false

allow if {
	parts := split(trim_prefix(input.path, \"/\"), \"/\")
	some rule in data.strings_data.rules
	startswith(input.path, rule.prefix)
	endswith(lower(input.host), rule.domain)
	contains(input.agent, rule.agent)
	sprintf(\"%s:%s\", [rule.verb, parts[1]]) == input.scope
}
",
    documents: || {
        let rules = (0..50).map(|at| {
            json!({
                "prefix": format!("/api/{}", if at % 2 == 0 { "orders" } else { "users" }),
                "domain": ".example.com",
                "agent": format!("client/{}", at % 10),
                "verb": format!("verb{at}"),
            })
        });
        json!({"rules": rules.collect::<Vec<_>>()})
    },
    input: || {
        json!({
            "path": "/api/orders/4711/lines",
            "host": "Shop.Example.COM",
            "agent": "Mozilla/5.0 (compatible; client/8; tests)",
            "scope": "verb48:orders",
        })
    },
};

const NESTED: Policy = Policy {
    name: "nested",
    told: "nested objects",
    text: "package nested

default allow := false

allow if {
	some division in data.nested_data.orgs[input.org].divisions
	some team in division.teams
	team.members[input.user].level >= input.level
	team.limits[input.resource][input.action].enabled == true
}
",
    documents: || {
        let team = |at: usize| {
            let members = (0..20).map(|member| {
                let name = format!("user{}", at * 20 + member);
                (name, json!({"level": member}))
            });
            let limits = json!({
                "orders": {"read": {"enabled": true}, "write": {"enabled": at % 2 == 1}},
                "users": {"read": {"enabled": false}},
            });
            let members: serde_json::Map<_, _> = members.collect();
            (
                format!("team{at}"),
                json!({"members": members, "limits": limits}),
            )
        };
        let divisions = (0..10).map(|at| {
            let teams: serde_json::Map<_, _> = (10 * at..10 * at + 10).map(team).collect();
            (format!("division{at}"), json!({"teams": teams}))
        });
        let divisions: serde_json::Map<_, _> = divisions.collect();
        json!({"orgs": {"acme": {"divisions": divisions}}})
    },
    input: || {
        json!({
            "org": "acme", "user": "user1515", "level": 15, "resource": "orders", "action": "write",
        })
    },
};

const LOOKUP: &str = "package lookup

default allow := false

allow if {
	some grant in data.lookup_data.grants
	grant.user == input.user
	grant.action == input.action
}
";

/// Generates `count` grants, four per user.
fn grants(count: usize) -> Value {
    let grants = (0..count).map(
        |at| json!({"user": format!("user{}", at / 4), "action": format!("action{}", at % 4)}),
    );
    json!({"grants": grants.collect::<Vec<_>>()})
}

/// Generates an input that asks for the last grant of the user at three quarters of all users.
fn grantee(count: usize) -> Value {
    json!({"user": format!("user{}", count * 3 / 16), "action": "action3"})
}

const LOOKUP_500: Policy = Policy {
    name: "lookup",
    told: "keyed lookup among 500 grants",
    text: LOOKUP,
    documents: || grants(500),
    input: || grantee(500),
};

const LOOKUP_5_000: Policy = Policy {
    told: "keyed lookup among 5,000 grants",
    documents: || grants(5_000),
    input: || grantee(5_000),
    ..LOOKUP_500
};

const LOOKUP_50_000: Policy = Policy {
    told: "keyed lookup among 50,000 grants",
    documents: || grants(50_000),
    input: || grantee(50_000),
    ..LOOKUP_500
};

const LOOKUP_500_000: Policy = Policy {
    told: "keyed lookup among 500,000 grants",
    documents: || grants(500_000),
    input: || grantee(500_000),
    ..LOOKUP_500
};
