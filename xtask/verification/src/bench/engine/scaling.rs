//! Scaling of changes with the amount of loaded data.

use std::error::Error;
use std::fmt::Write;
use std::time::Instant;

use super::side_by_side::SideBySide;
use super::{Bound, Limit, median};
use crate::report;
use crate::servers::{Client, Server};

/// Number of timed changes at each size.
const ROUNDS: usize = 40;

/// Numbers of other loaded modules while one is written and deleted; the others are compared with
/// the first number.
const SIZES: [usize; 4] = [10, 100, 1_000, 5_300];

/// Methods that change a module, with their time goals in milliseconds, which are only reported:
/// they depend on the machine.
const CHANGES: [(&str, f64); 2] = [("PUT", 0.6), ("DELETE", 0.4)];

/// Measures the ratio of the cost of writing and deleting a module among many others to that among
/// few.
pub(super) fn policies(ours: &Server) -> Result<Vec<Bound>, Box<dyn Error>> {
    let mut client = ours.client()?;
    let mut loaded = 0;
    let mut few = None;
    let mut bounds = Vec::new();
    for size in SIZES {
        while loaded < size {
            let path = format!("/v1/policies/growth{loaded}");
            client.ok("PUT", &path, &module(&format!("growth{loaded}"), 0))?;
            loaded += 1;
        }
        let times = change(&mut client)?;
        let few = *few.get_or_insert(times);
        for ((method, goal), (time, few)) in CHANGES.into_iter().zip(times.into_iter().zip(few)) {
            let what = format!("{method} of a module beside {size}");
            let milliseconds = time * 1e3;
            let missed = if milliseconds > goal { ", missed" } else { "" };
            report(
                &what,
                &format!("{milliseconds:.2} ms (goal {goal} ms{missed})"),
            );
            let what = format!("{what}, to 10");
            bounds.push(Bound::new(what, time / few, Limit::AtMost(3.0)));
        }
    }
    Ok(bounds)
}

/// Returns the median times of writing and of deleting a module, in seconds.
fn change(client: &mut Client) -> Result<[f64; 2], Box<dyn Error>> {
    let mut times = CHANGES.map(|_| Vec::new());
    for round in 0..ROUNDS {
        let text = module("added", round);
        for (times, (method, _)) in times.iter_mut().zip(CHANGES) {
            let body = if method == "PUT" { text.as_str() } else { "" };
            let start = Instant::now();
            client.ok(method, "/v1/policies/added", body)?;
            times.push(start.elapsed().as_secs_f64());
        }
    }
    Ok(times.map(|mut times| median(&mut times)))
}

/// Returns the source of a module in this package.
pub(super) fn module(package: &str, version: usize) -> String {
    format!(
        "package {package}\n\ndefault allow := false\n\nallow if {{\n\tinput.user == \"u{version}\"\n\
         \tsome role in input.roles\n\thelper(role)\n}}\n\nhelper(role) if startswith(role, \"r{version}\")\n"
    )
}

/// Numbers of users in a document of 1 MB and in one of 100 MB.
const SMALL: usize = 10_000;
pub(super) const LARGE: usize = 1_000_000;

/// Returns a document of users as an object by name.
pub(super) fn users(count: usize) -> String {
    Kind::Object.document(count)
}

/// Representation of the users in a document.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Object of users by name.
    Object,
    /// Array of users.
    Array,
}

/// Measures the ratio of the cost of a PATCH into a document of 100 MB to that into one of 1 MB,
/// for objects and for arrays, and the ratio of our memory to the peer's with both object
/// documents.
pub(super) fn documents(pair: &SideBySide) -> Result<Vec<Bound>, Box<dyn Error>> {
    let mut client = pair.ours.client()?;
    let mut theirs = pair.theirs.client()?;
    for (name, users) in [("small", SMALL), ("large", LARGE)] {
        let document = Kind::Object.document(users);
        client.ok("PUT", &format!("/v1/data/{name}"), &document)?;
        theirs.ok("PUT", &format!("/v1/data/{name}"), &document)?;
    }
    let memory = pair.memory()?;
    let small = patch(&mut client, "small", Kind::Object)?;
    let large = patch(&mut client, "large", Kind::Object)?;
    let their_patch = patch(&mut theirs, "large", Kind::Object)?;
    for (name, users) in [("few", SMALL), ("many", LARGE)] {
        let document = Kind::Array.document(users);
        client.ok("PUT", &format!("/v1/data/{name}"), &document)?;
    }
    let few = patch(&mut client, "few", Kind::Array)?;
    let many = patch(&mut client, "many", Kind::Array)?;
    let name = pair.peer.name;
    Ok(vec![
        Bound::new(
            format!("resident memory with 100 MB of documents, ours to {name}"),
            memory,
            Limit::AtMost(0.25),
        ),
        Bound::new(
            "PATCH into 100 MB, to 1 MB",
            large / small,
            Limit::AtMost(3.0),
        ),
        Bound::new(
            "PATCH into an array of 100 MB, to 1 MB",
            many / few,
            Limit::AtMost(3.0),
        ),
        Bound::new(
            format!("PATCH into 100 MB, {name} to ours"),
            their_patch / large,
            Limit::Any,
        ),
    ])
}

impl Kind {
    /// Returns a document of users, of about 100 bytes each.
    fn document(self, users: usize) -> String {
        let (open, close) = match self {
            Self::Object => ('{', '}'),
            Self::Array => ('[', ']'),
        };
        let mut text = String::from(open);
        for at in 0..users {
            if at > 0 {
                text.push(',');
            }
            let name = match self {
                Self::Object => format!(r#""user-{at:07}":"#),
                Self::Array => String::new(),
            };
            // Writing into a string cannot fail.
            let _written = write!(
                text,
                r#"{name}{{"name":"User {at}","roles":["reader","writer-{}"],"level":{},"active":true}}"#,
                at % 97,
                at % 11
            );
        }
        text.push(close);
        text
    }

    /// Returns the path of one user in the document.
    fn user(self) -> &'static str {
        match self {
            Self::Object => "user-0005000",
            Self::Array => "5000",
        }
    }
}

fn patch(client: &mut Client, name: &str, kind: Kind) -> Result<f64, Box<dyn Error>> {
    let mut times = Vec::new();
    for round in 0..ROUNDS {
        let user = kind.user();
        let operations = format!(r#"[{{"op":"replace","path":"/{user}/level","value":{round}}}]"#);
        let start = Instant::now();
        client.ok("PATCH", &format!("/v1/data/{name}"), &operations)?;
        times.push(start.elapsed().as_secs_f64());
    }
    Ok(median(&mut times))
}
