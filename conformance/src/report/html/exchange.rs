//! Requests and responses of a scenario.

use maud::{Markup, html};

use super::text::{cut, pretty_json, truncated, visible};
use crate::evidence::{self, Exchange, Payload};
use crate::http_client::curl;

/// Maximum length of a body that is stored for the page, in characters.
const BODY_KEPT: usize = 16 * 1024;
/// Maximum length of a body on the page, in characters: for failing rules, and for others.
const BODY_SHOWN: [usize; 2] = [6_000, 700];
/// Maximum number of lines of a body on the page: for failing rules, and for others.
const LINES_SHOWN: [usize; 2] = [200, 24];
/// Maximum length of an address or header, in characters.
const LINE_SHOWN: usize = 2_000;
/// Maximum length of a command, in characters.
const COMMAND_SHOWN: usize = 6_000;
/// Number of exchanges that are shown of a step that was repeated more often.
const REPEATED: usize = 3;
/// Maximum number of exchanges shown of one rule.
const EXCHANGES: usize = 40;

/// Truncates an exchange to the size that a page shows, so that all exchanges of a run fit in
/// memory.
pub fn trim(exchange: &mut Exchange) {
    let answer = exchange
        .response
        .as_mut()
        .map(|response| &mut response.body);
    for body in [Some(&mut exchange.request.body), answer]
        .into_iter()
        .flatten()
    {
        shorten(body);
    }
}

fn shorten(body: &mut Payload) {
    match body {
        Payload::Empty => {}
        Payload::Cut(whole) => shorten(&mut whole.start),
        Payload::Base64(text) => *body = Payload::up_to(BODY_KEPT, &text.decode()),
        Payload::Text(text) => {
            let (start, left_out) = cut(text, BODY_KEPT);
            if left_out > 0 {
                *text = format!("{start}… {left_out} more characters");
            }
        }
    }
}

/// Renders all exchanges of a rule except those of the cleanup; the failing one is expanded.
pub(super) fn exchanges(all: &[Exchange], failing: Option<usize>) -> Markup {
    let (chosen, left_out) = chosen(all);
    let fails = failing.and_then(|step| chosen.iter().rposition(|exchange| exchange.step == step));
    html! {
        @if !chosen.is_empty() {
            h5 { "Requests and answers" }
            ol.exchanges {
                @for (index, exchange) in chosen.iter().enumerate() {
                    li { (render_exchange(exchange, failing.is_some(), fails == Some(index))) }
                }
            }
            @if left_out > 0 { p.aside { (left_out) " further exchanges are in the evidence only." } }
            @if failing.is_none() {
                h5 { "By hand" }
                (commands(chosen.iter().map(|exchange| evidence::curl::command(&exchange.request))))
            }
        }
    }
}

/// Renders shell commands, one per line.
pub(super) fn commands(commands: impl Iterator<Item = String>) -> Markup {
    html! {
        pre.commands {
            @for command in commands { code { (visible(&curl::whole(&command, COMMAND_SHOWN))) } }
        }
    }
}

/// Selects the exchanges to show, and counts the omitted ones.
fn chosen(all: &[Exchange]) -> (Vec<&Exchange>, usize) {
    let of_steps: Vec<&Exchange> = all.iter().filter(|exchange| exchange.step > 0).collect();
    let mut chosen = Vec::new();
    for (index, exchange) in of_steps.iter().enumerate() {
        let same = |other: &&&Exchange| other.step == exchange.step;
        let before = of_steps.iter().take(index).rev().take_while(same).count();
        // The last response of a step is the one that counts.
        let last = of_steps
            .get(index + 1)
            .is_none_or(|next| next.step != exchange.step);
        if (before < REPEATED || last) && chosen.len() < EXCHANGES {
            chosen.push(*exchange);
        }
    }
    let left_out = of_steps.len() - chosen.len();
    (chosen, left_out)
}

fn render_exchange(exchange: &Exchange, long: bool, fails: bool) -> Markup {
    let Exchange {
        step,
        identity,
        request,
        response,
        error,
        milliseconds,
        ..
    } = exchange;
    let (path, _) = cut(path(&request.url), 160);
    html! {
        details.exchange open[fails] {
            summary {
                span.step { "Step " (step) }
                code { (visible(&request.method)) " " (visible(path)) }
                @if identity != "administrator" { span.who { "as " (visible(identity)) } }
                @match response {
                    Some(response) => { span.status { (response.status) } }
                    None => { span.status { "no answer" } }
                }
                @if fails { span.here { "fails here" } }
            }
            div.wire {
                div {
                    h6 { "Request" }
                    pre {
                        b { (visible(&request.method)) " " (truncated(&request.url, LINE_SHOWN)) } "\n"
                        (headers(&request.headers))
                        (body(&request.body, long))
                    }
                }
                div {
                    h6 { "Answer after " (format!("{milliseconds:.1}")) " ms" }
                    pre {
                        @if let Some(response) = response {
                            b { (response.status) } "\n"
                            (headers(&response.headers))
                            (body(&response.body, long))
                        }
                        @if let Some(error) = error { (truncated(error, LINE_SHOWN)) }
                    }
                }
            }
        }
    }
}

/// Returns the part of an address after the authority.
fn path(url: &str) -> &str {
    let start = url
        .split_once("://")
        .and_then(|(_, rest)| Some(rest.find('/')? + url.len() - rest.len()));
    start.and_then(|start| url.get(start..)).unwrap_or("/")
}

fn headers(headers: &[(String, String)]) -> Markup {
    html! {
        @for (name, value) in headers {
            span.header { (truncated(name, LINE_SHOWN)) ": " } (truncated(value, LINE_SHOWN)) "\n"
        }
    }
}

fn body(payload: &Payload, long: bool) -> Markup {
    let [most, lines] = if long {
        [BODY_SHOWN[0], LINES_SHOWN[0]]
    } else {
        [BODY_SHOWN[1], LINES_SHOWN[1]]
    };
    match payload {
        Payload::Empty => html! {},
        Payload::Cut(cut) => html! {
            (body(&cut.start, long))
            "\n" span.cut { "the start of " (cut.length) " bytes with SHA-256 " (cut.sha256) }
        },
        Payload::Base64(text) => html! { "\n" span.cut { "in base64: " } (truncated(text, most)) },
        Payload::Text(text) => {
            let text = pretty_json(text);
            let end = text.match_indices('\n').nth(lines).map(|(end, _)| end);
            let start = end.and_then(|end| text.get(..end));
            html! {
                "\n" (truncated(start.unwrap_or(&text), most))
                @if start.is_some() { "\n" span.cut { "… more lines" } }
            }
        }
    }
}
