//! A small engine that differs from OPA wherever the document permits, and the test that judges it:
//!
//! ```text
//! cargo run --package opa-conformance --example contrary     # serves at http://127.0.0.1:8182
//! cargo test --package opa-conformance --example contrary    # judges it
//! ```
//!
//! It has documents, health, and policies in a language of constants. Wherever the document about
//! the engine is silent, it behaves differently from OPA, so that a rule that demands more than the
//! document fails here:
//!
//! - JSON: members come in falling order, integers end in `.0`, characters are escaped that need
//!   not be, and white space stands where it may. Pretty output has tabs and leading commas.
//! - Media types: `Application/JSON;charset="UTF-8"`. A body of a type that is not listed, or of no
//!   type, is refused.
//! - Answers are chunked, in small pieces, with more headers, one on each connection. Every body is
//!   compressed for whoever takes gzip.
//! - Errors: own codes and messages, the member `errors` always, and further members.
//! - `{path}` has at least one segment: `/v1/data` itself is not found. An empty segment is a key.
//! - `/v1/policies/{id}` has one segment.
//! - HEAD and OPTIONS are answered as HTTP says, except below `/v1/data`, where the document says
//!   405.
//! - Values of parameters that are neither `true` nor `false`, and unknown values of `explain`, are
//!   refused. So are other members than `input`, and another `If-None-Match` than `*`.
//! - Decisions are numbered as a server does that logs them: `decision_id` is `decision/1`.
//! - PUT and DELETE of data with `metrics=true` answer 200 with the metrics.
//! - Without a query cache, no hit is ever counted, and the same query is parsed each time.
//! - A trace is the member `trace`. Nothing is evaluated step by step, so that it is empty.
//! - A name without a value is no parameter.
//! - PATCH has all six operations of RFC 6902. An index out of range is a mistake of the request.
//! - Provenance: a version without dots, a revision number as commit, the date as HTTP writes it.

mod answer;
mod body;
mod data;
mod documents;
mod policies;
mod routes;
mod write;

use std::net::TcpListener;
use std::sync::{Arc, Mutex, PoisonError};

use http::Request;
use http_body_util::{BodyExt as _, Limited};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;

use crate::answer::{Answer, Failure, Reply};
use crate::routes::{Call, State};

const LONGEST_BODY: usize = 8 * 1024 * 1024;

fn main() -> std::io::Result<()> {
    serve(TcpListener::bind("127.0.0.1:8182")?)
}

/// Serves until the process ends.
fn serve(listener: TcpListener) -> std::io::Result<()> {
    listener.set_nonblocking(true)?;
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build()?.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let state = Arc::new(Mutex::new(State::default()));
        loop {
            let (stream, _) = listener.accept().await?;
            let state = Arc::clone(&state);
            let service = service_fn(move |request| answer(Arc::clone(&state), request));
            let mut connection = http1::Builder::new();
            connection.keep_alive(false).title_case_headers(true);
            // A client that goes away ends nothing but its own connection.
            tokio::spawn(connection.serve_connection(TokioIo::new(stream), service));
        }
    })
}

async fn answer(
    state: Arc<Mutex<State>>,
    request: Request<Incoming>,
) -> Result<Reply, http::Error> {
    let (head, body) = request.into_parts();
    let body = match Limited::new(body, LONGEST_BODY).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(_) => Err(Failure::invalid("the body is too long or broken off")),
    };
    let answer = body.and_then(|body| {
        let call = Call::read(&head, &body)?;
        routes::route(
            &mut state.lock().unwrap_or_else(PoisonError::into_inner),
            &call,
        )
    });
    answer.unwrap_or_else(Answer::from).reply(&head)
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use conformance::Suite;
    use conformance::evidence::Event;
    use conformance::target::Target;
    use conformance::verdict::{Reason, Verdict};

    use super::*;

    /// Rules whose scenarios need policies with more than constants, or queries; and rules about
    /// the stages of a compiler.
    const BEYOND_CONSTANTS: [&str; 16] = [
        "common/errors/unsafe-variable-code",
        "common/metrics/instrument-*",
        "common/metrics/only-when-asked",
        "common/policy-module/expression-*",
        "common/policy-module/head-*",
        "common/policy-module/raw-is-source-text",
        "common/policy-module/rule*",
        "common/policy-module/term-*",
        "v0/data/post/body-is-input-document",
        "v0/data/post/gzip-body-accepted",
        "v0/data/post/yaml-body-accepted",
        "v1/policies/delete/*depend*",
        "v0/data/post/integers-kept",
        "v0/data/post/names-and-texts-kept",
        "v1/policies/put/installs-rules",
        "v1/policies/put/message-names-step",
    ];

    #[test]
    fn the_server_keeps_the_rules_of_what_it_claims() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("its address"));
        std::thread::spawn(|| serve(listener));

        let capabilities = [
            "documents",
            "v0",
            "yaml",
            "gzip",
            "metrics",
            "provenance",
            "health",
            "config",
            "policies",
        ];
        let capabilities = capabilities.map(str::to_owned).into();
        let suite = Suite::builder(Target::at(None, Some(url), None, capabilities))
            .rules(["engine".to_owned()])
            .skip(BEYOND_CONSTANTS.map(|rule| format!("engine/{rule}")))
            .build()
            .expect("a suite");
        let (mut proven, mut broken) = (0, Vec::new());
        suite.run(|event| match event {
            Event::Judged(judged) => match judged.verdict {
                Verdict::Pass => proven += 1,
                Verdict::Recorded => {}
                // Unclaimed rules, open clauses, and rules that need a server that the suite starts
                // and configures.
                Verdict::NotRun(
                    Reason::NotClaimed(_)
                    | Reason::NoScenario
                    | Reason::NoSetup(_)
                    | Reason::NotStarted,
                ) => {}
                Verdict::NotRun(reason) => broken.push(format!("{}: {reason}", judged.rule)),
                Verdict::Fail(failure) => broken.push(format!("{}: {failure}", judged.rule)),
            },
            Event::Leaked(leaked) => broken.push(format!("left behind: {:?}", leaked.names)),
            Event::Defect(defect) => broken.push(format!("the suite's own: {}", defect.what)),
            _ => {}
        });
        assert!(broken.is_empty(), "{}", broken.join("\n\n"));
        assert!(proven >= 150, "{proven} rules proven");
    }
}
