//! Commands in addition to `run`: detection of the server, completions, the manual page, and
//! `--watch`.

use std::io::{BufRead as _, BufReader, Read};
use std::sync::mpsc::{Receiver, channel};

use crate::program::{HANG_LIMIT, Program, signal};
use crate::server::{Answers, Server};

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("a_server_is_looked_at_before_a_run", doctor),
    ("shells_and_man_learn_the_command_line", shells_and_man),
    ("help_shows_no_header_of_the_environment", help),
    ("a_changed_file_begins_a_run", watched_file),
];

fn doctor() {
    let program = Program::new().variable("TOKEN_OF_MINE", "s3cret-of-mine");
    let server = Server::start(Answers::Empty);
    let next = format!(
        "next: conformance run --engine-url={} --report=html=report.html",
        server.url
    );
    program
        .run(&["doctor", &server.url])
        .expect(0, &["ok       api", "as an engine does", &next]);
    assert!(
        server
            .requests
            .try_iter()
            .all(|line| line.starts_with("GET "))
    );
    program
        .run(&["doctor", &format!("{}/v1/data", server.url)])
        .expect(0, &["note     address", "is inside the API: ", &next]);
    program
        .run(&["doctor", &Server::dead()])
        .expect(4, &["problem  reach", "nothing listens there"]);
    let result = program.run(&[
        "doctor",
        &server.url,
        "--token-env=TOKEN_OF_MINE",
        "-H",
        "X-Key: s3cret-too",
    ]);
    result.expect(0, &["--token-env=TOKEN_OF_MINE", "'--header=X-Key: …'"]);
    assert!(!result.out.contains("s3cret"), "{result:?}");
    for (arguments, message) in [
        (&["doctor"][..], "<URL>"),
        (&["doctor", "127.0.0.1:8181"], "127.0.0.1:8181"),
        (
            &["doctor", "http://me:s3cret@127.0.0.1"],
            "holds no credentials",
        ),
        (
            &["doctor", &server.url, "--timeout=0"],
            "invalid time limit 0",
        ),
        (
            &["doctor", &server.url, "--token-env=NOTHING_HERE"],
            "NOTHING_HERE holds no token",
        ),
    ] {
        let result = program.run(arguments);
        result.expect(2, &[message]);
        assert!(!result.err.contains("s3cret"), "{result:?}");
    }
}

fn shells_and_man() {
    let program = Program::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        program
            .run(&["completions", shell])
            .expect(0, &["engine-url", "doctor"]);
    }
    program
        .run(&["man"])
        .expect(0, &[".TH conformance 1", "doctor"]);
    program
        .run(&["man", "run"])
        .expect(0, &[".TH conformance-run 1", "engine\\-url", "Exit codes"]);
    program
        .run(&["man", "dance"])
        .expect(2, &["no command `dance`"]);
    program.run(&["completions", "dance"]).expect(2, &["dance"]);
}

fn help() {
    let secret = "Authorization: Bearer s3cret-of-mine";
    let program = Program::new().variable("CONFORMANCE_HEADER", secret);
    for arguments in [
        &["run", "--help"][..],
        &["doctor", "--help"],
        &["cleanup", "--help"],
        &["man", "run"],
    ] {
        let result = program.run(arguments);
        result.expect(0, &["header"]);
        assert!(!result.out.contains("s3cret"), "{result:?}");
    }
}

fn watched_file() {
    let program = Program::new().file("server", "1");
    let server = Server::start(Answers::Empty);
    let rule = "engine/health/get/healthy-is-empty-object";
    let arguments = ["--watch=server", "--engine-url", &server.url, rule];
    program
        .run(&["--watch=absent", "--engine-url", &server.url, rule])
        .expect(2, &["absent: no such file to watch"]);
    let mut child = program
        .command(&arguments)
        .spawn()
        .expect("the program starts");
    let out = forward(child.stdout.take().expect("its output"));
    let err = forward(child.stderr.take().expect("its errors"));
    let read = |lines: &Receiver<String>, text: &str| {
        let next = || lines.recv_timeout(HANG_LIMIT).ok();
        std::iter::from_fn(next).any(|line| line.contains(text))
    };
    let appears = |text: &str| read(&out, text);
    let first = appears("proven 1 of 1");
    std::fs::write(program.folder.path().join("server"), "22").expect("a changed file");
    let second = appears("proven 1 of 1") && appears("0 better, 0 worse, 0 still to mend");
    // The program waits for a change after each of both runs.
    let waits = [(); 2].map(|()| read(&err, "waiting for server to change"));
    // A signal during the wait ends the program, with the exit code of the last run.
    let signalled = signal(child.id(), "-TERM");
    let ended = child.wait().expect("it has ended");
    assert!(first, "no first run");
    assert!(second, "no second run");
    assert_eq!(waits, [true; 2], "it does not wait");
    assert!(signalled, "it runs on");
    assert_eq!(ended.code(), Some(0), "{ended:?}");
}

/// Returns a channel that receives the lines of a stream in order of arrival.
fn forward(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            // The receiver may be gone at the end of the test.
            let _ = sender.send(line);
        }
    });
    lines
}
