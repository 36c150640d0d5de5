//! Curl commands of stored requests.

use std::collections::BTreeMap;

use super::{Event, Exchange, Payload, Sent};
use crate::http_client::Base;
use crate::http_client::curl::{Body, RAW, encoded, http, raw};
use crate::judge::verdict::Verdict;

/// Returns the curl command line that repeats a stored request.
pub(crate) fn command(sent: &Sent) -> String {
    let body = match &sent.body {
        Payload::Empty => Body::Empty,
        Payload::Text(text) => Body::Text(text),
        Payload::Base64(text) => Body::Encoded(text.to_string()),
        Payload::Cut(cut) => Body::Encoded(encoded(&cut.start.bytes())),
    };
    if sent.method != RAW {
        return http(&sent.method, &sent.url, &sent.headers, &body);
    }
    let bytes = match body {
        Body::Encoded(text) => text,
        Body::Text(text) => encoded(text.as_bytes()),
        Body::Empty => String::new(),
    };
    Base::parse(&sent.url).map_or_else(|_| String::new(), |base| raw(&base, &bytes))
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
