//! Falsified evidence is refused: changes that cannot be the result of a run.

#![expect(
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and what it alters has a known form"
)]

use serde_json::{Value, json};

use crate::mock::running::Mock;
use crate::program::Program;

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("evidence_that_lies_is_refused", lies),
    ("shards_on_servers_of_their_own_are_judged_again", shards),
];

const RULE: &str = "engine/v1/data/put";

type Events = Vec<Value>;

/// Returns the indices of the exchanges that satisfy a predicate.
fn places(events: &Events, holds: impl Fn(&Value) -> bool) -> Vec<usize> {
    let is_exchange = |event: &Value| event["event"] == "exchange" && event["step"] != 0;
    let all = events.iter().zip(0..);
    let found = all.filter(|(event, _)| is_exchange(event) && holds(event));
    found.map(|(_, place)| place).collect()
}

fn first(events: &Events, holds: impl Fn(&Value) -> bool) -> usize {
    *places(events, holds).first().expect("an exchange")
}

fn has_body(exchange: &Value) -> bool {
    !exchange["request"]["body"]["text"].is_null()
}

fn change_all(events: &mut Events, change: impl Fn(&mut Value)) {
    for place in places(events, |_| true) {
        change(&mut events[place]);
    }
}

fn readdress(exchange: &mut Value, start: &str) {
    let url = exchange["request"]["url"].as_str().expect("an address");
    let path = url.splitn(4, '/').nth(3).expect("a path").to_owned();
    exchange["request"]["url"] = json!(format!("{start}/{path}"));
}

/// Sets the number of requests in the last event, after exchanges were added or removed.
fn count(events: &mut Events) {
    let exchanges = events.iter().filter(|event| event["event"] == "exchange");
    let requests = exchanges.count();
    events.last_mut().expect("an end")["requests"] = json!(requests);
}

fn origin(exchange: &Value) -> String {
    let url = exchange["request"]["url"].as_str().expect("an address");
    url.splitn(4, '/').take(3).collect::<Vec<_>>().join("/")
}

fn move_to(events: &mut Events, from: usize, to: usize) {
    let event = events.remove(from);
    events.insert(to, event);
}

/// Case: its name, the change of the events, and the expected error message.
type Case = (&'static str, fn(&mut Events), &'static str);

const CASES: &[Case] = &[
    (
        "all requests go elsewhere",
        |events| change_all(events, |one| readdress(one, "http://evil.example")),
        "invalid address `http://evil.example`: expected that of the target",
    ),
    (
        "a path is a query of another address",
        |events| {
            change_all(events, |one| {
                let start = origin(one);
                readdress(one, &format!("{start}/steal?u="));
            });
        },
        "/steal?u=`: expected that of a server",
    ),
    (
        "one request goes to another port",
        |events| {
            let place = first(events, has_body);
            readdress(&mut events[place], "http://127.0.0.1:1");
        },
        "invalid address `http://127.0.0.1:1`: expected that of the target",
    ),
    (
        "an address has a name and a password",
        |events| {
            let place = first(events, has_body);
            let start = origin(&events[place]).replace("://", "://a:b@");
            readdress(&mut events[place], &start);
        },
        "invalid address: expected that of a server",
    ),
    (
        "bodies are redacted",
        |events| {
            for place in places(events, has_body) {
                events[place]["request"]["body"] = json!({"text": "<redacted>"});
            }
        },
        "a body is redacted where no token was sent",
    ),
    (
        "a header is redacted",
        |events| {
            let place = first(events, has_body);
            for header in events[place]["request"]["headers"]
                .as_array_mut()
                .expect("headers")
            {
                header[1] = json!("<redacted>");
            }
        },
        "the header `content-type` is redacted where no token was sent",
    ),
    (
        "an exchange is inserted before another",
        |events| {
            let place = first(events, has_body);
            let mut better = events[place].clone();
            better["milliseconds"] = json!(0);
            events.insert(place, better);
            count(events);
        },
        "the scenario does not ask for it",
    ),
    (
        "an exchange is there twice, and not counted",
        |events| {
            let place = first(events, |_| true);
            let mut again = events[place].clone();
            again["milliseconds"] = json!(0);
            events.insert(place, again);
        },
        "exchanges are recorded",
    ),
    (
        "somebody else asks",
        |events| change_all(events, |one| one["identity"] = json!("suite")),
        "asked by `suite`, not `administrator`",
    ),
    (
        "a time is negative",
        |events| {
            let place = first(events, |_| true);
            events[place]["milliseconds"] = json!(-1);
        },
        "invalid time: expected milliseconds, 0 or more",
    ),
    (
        "a request takes longer than its rule",
        |events| {
            let place = first(events, |_| true);
            events[place]["milliseconds"] = json!(1e9);
        },
        " take 1000000",
    ),
    (
        "the run takes less than a rule of it",
        |events| events.last_mut().expect("an end")["milliseconds"] = json!(0),
        "the run takes 0.000 ms",
    ),
    (
        "a run began at no time",
        |events| events[0]["at"] = json!("now"),
        "invalid evidence",
    ),
    (
        "a step comes before an earlier one",
        |events| {
            let place = first(events, |one| one["step"] == 2);
            move_to(events, place, place - 1);
        },
        "it comes after a later step",
    ),
    (
        "an exchange follows its verdict",
        |events| {
            let place = first(events, |_| true);
            move_to(events, place, events.len() - 2);
        },
        "its rule is not judged now",
    ),
    (
        "a verdict is given twice",
        |events| {
            let judged = events.iter().find(|event| event["event"] == "judged");
            let judged = judged.expect("a verdict").clone();
            events.insert(events.len() - 1, judged);
        },
        "is not the only one",
    ),
    (
        "a verdict is left out",
        |events| {
            let place = events.iter().position(|event| event["event"] == "judged");
            events.remove(place.expect("a verdict"));
        },
        "was chosen, and has no verdict",
    ),
    (
        "a run starts in a run",
        |events| events.insert(1, events[0].clone()),
        "event 2: a run starts in a run",
    ),
    (
        "the run goes on after its end",
        |events| events.push(json!({"event": "leaked", "names": []})),
        "the run goes on after its end",
    ),
    (
        "the end is of another run",
        |events| events.last_mut().expect("an end")["run"] = json!("other"),
        "the end of the run `other`",
    ),
    (
        "cleaning up asks something else",
        |events| {
            let place = events.iter().position(|event| event["step"] == 0);
            events[place.expect("cleaning up")]["request"]["method"] = json!("GET");
        },
        "it removes nothing that the scenario makes",
    ),
];

fn lies() {
    let mock = Mock::start(&[]);
    let program = Program::new();
    let url = format!("http://{}", mock.address("engine"));
    // With a header of the user, a redacted value in the evidence is legitimate.
    let own = "--header=X-Own: secret-of-mine";
    let report_option = "--report=ndjson=told";
    let result = program.run(&["run", "--engine-url", &url, own, report_option, RULE]);
    result.expect(0, &[]);
    let text = program.read("told");
    assert!(text.contains(r#"["X-Own","<redacted>"]"#), "{text}");
    let lines = text.lines().map(serde_json::from_str);
    let events: Events = lines.collect::<Result<_, _>>().expect("JSON");
    let mut program = program;
    program.run(&["report", "judge", "told"]).expect(0, &[]);
    for (case, change, reason) in CASES {
        let mut changed = events.clone();
        change(&mut changed);
        assert_ne!(changed, events, "{case}");
        let lines = changed.iter().map(|event| format!("{event}\n"));
        program = program.file("changed", &lines.collect::<String>());
        let result = program.run(&["report", "judge", "changed", "--report=html=page.html"]);
        assert!(
            result.code == 2 && result.err.contains(reason),
            "{case}: {result:?}"
        );
        assert!(!program.folder.path().join("page.html").exists(), "{case}");
    }
    // A report that does not judge again takes the verdict from the evidence, but generates its
    // commands itself.
    let place = events.iter().position(|event| event["verdict"] == "pass");
    let mut failing = events.clone();
    failing[place.expect("a rule that holds")]["verdict"] = json!({"fail": {
        "step": 1, "request": "GET /", "differences": [], "notes": [], "curl": ["touch taken"]
    }});
    let lines = failing.iter().map(|event| format!("{event}\n"));
    program = program.file("changed", &lines.collect::<String>());
    let result = program.run(&["report", "changed"]);
    result.expect(1, &["FAIL", "curl -i "]);
    assert!(!result.out.contains("touch taken"), "{result:?}");
    // Exchanges with the id of another run do not count as evidence.
    let run = events[0]["run"].as_str().expect("a name").to_owned();
    let other = text.replace(&run, "other1").replacen("other1", &run, 1);
    let end = other.rfind("other1").expect("the end");
    let other = format!("{}{run}{}", &other[..end], &other[end + 6..]);
    let program = program.file("changed", &other);
    let result = program.run(&["report", "judge", "changed"]);
    result.expect(3, &["incomplete"]);
}

/// Changes of evidence that was joined from two shards.
const JOINED: &[Case] = &[
    (
        "one request goes to another host",
        |events| {
            let place = first(events, has_body);
            readdress(&mut events[place], "http://evil.example");
        },
        "invalid address `http://evil.example`: expected that of the target",
    ),
    (
        "one request goes to the server of the other shard",
        |events| {
            let place = first(events, has_body);
            let own = origin(&events[place]);
            let other = first(events, |one| origin(one) != own);
            let other = origin(&events[other]);
            readdress(&mut events[place], &other);
        },
        "expected that of the target",
    ),
    (
        "one shard is on another host",
        |events| {
            let own = origin(&events[first(events, has_body)]);
            for part in events[0]["parts"].as_array_mut().expect("parts") {
                if part["engine"] == json!(own) {
                    part["engine"] = json!("http://evil.example");
                }
            }
            for place in places(events, |one| origin(one) == own) {
                readdress(&mut events[place], "http://evil.example");
            }
        },
        "its parts are on two hosts",
    ),
    (
        "a shard has chosen nothing",
        |events| events[0]["parts"][1]["rules"] = json!([]),
        "was selected in none of the merged runs",
    ),
    (
        "a rule is of both shards",
        |events| {
            let rule = events[0]["parts"][0]["rules"][0].clone();
            let other = events[0]["parts"][1]["rules"].as_array_mut();
            other.expect("rules").push(rule);
        },
        "was not chosen, or by two parts",
    ),
    (
        "no shard is told of",
        |events| events[0]["parts"] = json!([]),
        "expected that of the target",
    ),
];

fn shards() {
    let program = Program::new();
    for part in ["1", "2"] {
        let mock = Mock::start(&[]);
        let url = format!("http://{}", mock.address("engine"));
        let (shard, report) = (
            format!("--shard={part}/2"),
            format!("--report=ndjson={part}"),
        );
        let result = program.run(&["run", "--engine-url", &url, &shard, &report, RULE]);
        result.expect(0, &[]);
    }
    let merge = ["report", "merge", "--output", "joined", "1", "2"];
    program.run(&merge).expect(0, &["2 runs in joined"]);
    program.run(&["report", "judge", "joined"]).expect(0, &[]);
    let lines = program.read("joined");
    let lines = lines.lines().map(serde_json::from_str);
    let events: Events = lines.collect::<Result<_, _>>().expect("JSON");
    let mut program = program;
    for (case, change, reason) in JOINED {
        let mut changed = events.clone();
        change(&mut changed);
        assert_ne!(changed, events, "{case}");
        let lines = changed.iter().map(|event| format!("{event}\n"));
        program = program.file("changed", &lines.collect::<String>());
        let result = program.run(&["report", "judge", "changed"]);
        assert!(
            result.code == 2 && result.err.contains(reason),
            "{case}: {result:?}"
        );
    }
    // Evidence of different targets cannot be joined.
    let other = program
        .read("2")
        .replacen("\"name\":\"custom\"", "\"name\":\"other\"", 1);
    let program = program.file("2", &other);
    program.run(&merge).expect(2, &["not of one target"]);
}
