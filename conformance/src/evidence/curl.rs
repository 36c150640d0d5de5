//! Curl commands of stored requests.

use std::collections::BTreeMap;

use super::{Event, Exchange, Payload, SentRequest};
use crate::http_client::Base;
use crate::http_client::curl::{RAW, http, raw};
use crate::http_client::request::{Body, Request, base64};
use crate::judge::verdict::Verdict;

/// Returns the curl command line that repeats a stored request.
pub(crate) fn command(sent: &SentRequest) -> String {
    let body = match &sent.body {
        Payload::Empty => Body::Empty,
        Payload::Text(text) => Body::text(text),
        Payload::Base64(text) => Body::Encoded(text.to_string()),
        Payload::Cut(cut) => Body::Encoded(base64(&cut.start.bytes())),
    };
    if sent.method == RAW {
        let base = Base::parse(&sent.url);
        return base.map_or_else(|_| String::new(), |base| raw(&base, &body.base64()));
    }
    http(Request {
        method: &sent.method,
        base: "",
        path: &sent.url,
        headers: &sent.headers,
        body,
    })
}

/// Recreates the commands of stored failures from the exchanges: evidence may come from anybody and
/// contain any command.
pub(crate) fn restore(events: &mut [Event]) {
    let mut last: BTreeMap<(String, usize), String> = BTreeMap::new();
    for event in events {
        match event {
            Event::Exchange(exchange) => {
                let Exchange {
                    rule,
                    step,
                    request,
                    ..
                } = &**exchange;
                if *step > 0 {
                    last.insert((rule.clone(), *step), command(request));
                }
            }
            Event::Judged(judged) => {
                if let Verdict::Fail(failure) = &mut judged.verdict
                    && !failure.curl.is_empty()
                {
                    let sent = (judged.rule.clone(), 1)..=(judged.rule.clone(), failure.step);
                    failure.curl = match failure.step {
                        0 => Vec::new(),
                        _ => last
                            .range(sent)
                            .map(|(_, command)| command.clone())
                            .collect(),
                    };
                }
            }
            _ => {}
        }
    }
}
