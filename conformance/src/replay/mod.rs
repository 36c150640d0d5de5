//! Requests of an earlier run, sent again: is each answer as it was?
//!
//! Nothing but the evidence is needed, so rules that this suite does not have can be replayed too.
//! Where it has them, their scenarios say what the evidence does not: what a request waits for,
//! and credentials that are no token of the target.

mod request;
mod story;
mod swap;

use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use tokio::time::Instant;

use crate::answer::{Answer, NoAnswer};
use crate::catalogue::Document;
use crate::cleanup::Made;
use crate::client::Client;
use crate::differ::answers::{Told, apart};
use crate::differ::steady::Steady;
use crate::evidence::{Event, Exchange, Received};
use crate::facts::View;
use crate::launch::Started;
use crate::ledger::Ledger;
use crate::names::{encode, namespace};
use crate::openapi::Contract;
use crate::reach::Reach;
use crate::runner::{Line, Player, lock};
use crate::servers::Servers;
use crate::tape;
use crate::target::Target;
use request::Teller;
use story::Asked;
pub(crate) use story::Story;
use swap::Swaps;

/// The pause before what comes about in time is asked for again.
const PAUSE: Duration = Duration::from_millis(100);

/// Where and how stories are replayed.
#[derive(Debug)]
pub(crate) struct Replay<'a> {
    pub(crate) target: &'a Target,
    pub(crate) client: &'a Client,
    pub(crate) contract: &'a Contract,
    /// What names start with now.
    pub(crate) run: &'a str,
    /// How long what comes about only in time may take.
    pub(crate) patience: Duration,
    /// Whether what others see may be touched on a server elsewhere.
    pub(crate) own_target: bool,
    /// Where what is made on servers that the suite did not start is written down.
    pub(crate) ledger: &'a Ledger,
}

/// What came of a request.
#[derive(Debug)]
pub(crate) struct Answered {
    /// Number of the step, and the request with `<ns>` for own names.
    pub(crate) step: usize,
    pub(crate) request: String,
    /// Where the answer is not as it was.
    pub(crate) differences: Vec<String>,
}

impl Answered {
    /// What a person reads of it.
    pub(crate) fn lines(&self) -> Vec<String> {
        let word = match self.differences.is_empty() {
            true => "as it was",
            false => "not as it was",
        };
        let mut lines = vec![format!("{} {}: {word}", self.step, self.request)];
        lines.extend(self.differences.iter().map(|one| format!("    {one}")));
        lines
    }
}

/// Why a story ended before its end.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// It cannot be repeated.
    NotPossible(String),
    /// The target cannot be reached, or died.
    Unreachable(String),
    /// The user stopped it.
    Interrupted,
}

impl Replay<'_> {
    /// Sends the requests of a story again; `tell` is told of each answer. What was made is
    /// removed, what was started is stopped.
    ///
    /// # Errors
    /// Why it ended early.
    pub(crate) async fn story(
        &self,
        story: &Story<'_>,
        tell: &mut dyn FnMut(Answered),
    ) -> Result<(), Stopped> {
        let impossible = |why: &str| Stopped::NotPossible(why.to_owned());
        if story.exchanges.is_empty() {
            return Err(impossible("the evidence holds no request of it"));
        }
        let document = Document::of(story.rule);
        let document = document.ok_or_else(|| impossible("its id names no API"))?;
        let (started, lasts) = self.start(story, document).await?;
        let server = &started.server;
        let ns = namespace(self.run, story.rule);
        let events = Mutex::default();
        let player = Player {
            client: self.client,
            line: Line::Network,
            contract: self.contract,
            server,
            vendor: &self.target.vendor,
            patience: self.patience,
            document,
            rule: story.rule,
            ns: &ns,
            events: &events,
            requests: &AtomicU64::new(0),
            made: Made::new(lasts.then_some(self.ledger)),
        };
        let teller = Teller {
            story,
            document,
            server,
            vendor: &self.target.vendor,
            ns: &ns,
        };
        let ended = tokio::select! {
            ended = self.tell(&teller, &player, lasts, tell) => ended,
            _ = tokio::signal::ctrl_c() => Err(Stopped::Interrupted),
        };
        player.clean().await;
        let ended = match ended {
            Ok(true) if !server.is_alive().await => {
                Err(Stopped::Unreachable("the target died".to_owned()))
            }
            Ok(_) => Ok(()),
            Err(stopped) => Err(stopped),
        };
        started.stop().await;
        ended
    }

    /// Starts or reaches the servers of a story, and says whether what is made on them lasts.
    async fn start(
        &self,
        story: &Story<'_>,
        document: Document,
    ) -> Result<(Started, bool), Stopped> {
        let impossible = |why: &str| {
            Stopped::NotPossible(format!("the target {why} in the setup `{}`", story.setup))
        };
        let [engine, asks_depot] = ["engine", "suite"].map(|who| story.asks(who));
        let servers = Servers::of(self.target, story.setup, document, engine)
            .ok_or_else(|| impossible(&format!("has no {document}")))?;
        let depot = servers.depot(asks_depot);
        if asks_depot && depot.is_none() {
            return Err(impossible("knows no depot"));
        }
        let started = servers.start(depot, self.client).await;
        let started = started.map_err(Stopped::Unreachable)?;
        Ok((started, servers.lasts()))
    }

    /// Sends the requests; whether one of them got no answer though it had one.
    async fn tell(
        &self,
        teller: &Teller<'_>,
        player: &Player<'_>,
        lasts: bool,
        tell: &mut dyn FnMut(Answered),
    ) -> Result<bool, Stopped> {
        let story = teller.story;
        let (before, now) = (
            Steady::new(story.run, story.rule),
            Steady::new(self.run, story.rule),
        );
        let mut swaps = self.swaps(teller);
        let asked = story.asked();
        let mut silent = false;
        for (index, one) in asked.iter().enumerate() {
            let (exchange, answer) = self.ask(teller, player, one, &swaps, lasts).await?;
            let was = one.exchange.response.as_ref();
            let messages = one.exchange.identity == "suite";
            let told = |received: &Received, vendor: &str, steady: &Steady<'_>| {
                Told::of(received, vendor, steady).of_messages(messages)
            };
            let differences = match (was, exchange.response.as_ref()) {
                (Some(was), Some(is)) => {
                    let was = told(was, &story.started.target.vendor, &before);
                    differences(&[was, told(is, teller.vendor, &now)])
                }
                (Some(_), None) => {
                    silent = true;
                    let why = exchange.error.unwrap_or_default();
                    vec![format!("no answer: {why}")]
                }
                (None, Some(is)) => vec![format!("was not answered, now with {}", is.status)],
                (None, None) => Vec::new(),
            };
            let Exchange { step, request, .. } = one.exchange;
            let path = request.url.splitn(4, '/').nth(3).unwrap_or_default();
            tell(Answered {
                step: *step,
                request: before.text(&format!("{} /{path}", request.method)),
                differences,
            });
            let later = asked.get(index + 1..).unwrap_or_default();
            if let (Some(was), Ok(answer)) = (was, &answer)
                && let (Some(was), Some(is)) = (tape::answer(was.clone()).json(), answer.json())
            {
                swaps.learn(was, is, &|text| repeats(later, text));
            }
        }
        Ok(silent)
    }

    /// Own names and addresses.
    fn swaps(&self, teller: &Teller<'_>) -> Swaps {
        let story = teller.story;
        let mut swaps = Swaps::default();
        swaps.add(namespace(story.run, story.rule), teller.ns);
        swaps.add(story.run, self.run);
        for exchange in &story.exchanges {
            let authority = exchange.request.url.split('/').nth(2).unwrap_or_default();
            let (_, base) = teller.goal(exchange);
            swaps.add(authority, &*base.authority);
        }
        swaps
    }

    /// Sends a request as it is now, for as long as what it waits for may take. Returns it as
    /// evidence, and the answer.
    async fn ask(
        &self,
        teller: &Teller<'_>,
        player: &Player<'_>,
        one: &Asked<'_>,
        swaps: &Swaps,
        lasts: bool,
    ) -> Result<(Exchange, Result<Answer, NoAnswer>), Stopped> {
        let Exchange { step, identity, .. } = one.exchange;
        let (document, base) = teller.goal(one.exchange);
        let start = Instant::now();
        loop {
            let not_possible = |why| Stopped::NotPossible(format!("step {step}: {why}"));
            let wire = teller.wire(one.exchange, swaps).map_err(not_possible)?;
            match document.map(|document| teller.reach(document, &wire)) {
                Some(Reach::Own(made)) => {
                    let noted = player.made.note(player.server, player.document, made);
                    noted.map_err(|error| {
                        Stopped::NotPossible(format!("the cleanup ledger: {error}"))
                    })?;
                }
                Some(Reach::Foreign) if lasts && !base.is_loopback() && !self.own_target => {
                    return Err(not_possible(
                        "touches what others see; pass --i-own-this-target".to_owned(),
                    ));
                }
                Some(Reach::Foreign | Reach::Nothing) | None => {}
            }
            let (_, answer) = player.send(base, *step, identity.clone(), wire).await;
            let event = lock(player.events).pop();
            let Some(Event::Exchange(exchange)) = event else {
                return Err(not_possible("nothing was sent".to_owned()));
            };
            let enough = !one.waits || self.came_about(teller, one, &exchange, &answer);
            if enough || start.elapsed() + PAUSE > self.patience {
                return Ok((*exchange, answer));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Whether what a request waits for is there: what the scenario says, or else an answer as it
    /// was.
    fn came_about(
        &self,
        teller: &Teller<'_>,
        one: &Asked<'_>,
        exchange: &Exchange,
        answer: &Result<Answer, NoAnswer>,
    ) -> bool {
        let story = teller.story;
        if let (Some(step), Ok(answer)) = (story.step(one.exchange), answer) {
            let view = View {
                answer,
                ns: teller.ns,
                vendor: teller.vendor,
            };
            return view.meets(&step.until);
        }
        let told = |received: &Received, run: &str, vendor: &str| {
            Told::of(received, vendor, &Steady::new(run, story.rule))
        };
        let started = story.started;
        match (&one.exchange.response, &exchange.response) {
            (Some(was), Some(is)) => {
                told(was, story.run, &started.target.vendor) == told(is, self.run, teller.vendor)
            }
            (was, is) => was.is_none() && is.is_none(),
        }
    }
}

/// Whether a request that is still to come holds this text.
fn repeats(later: &[Asked<'_>], text: &str) -> bool {
    later.iter().any(|one| {
        let request = &one.exchange.request;
        let body = request.body.bytes();
        request.url.contains(&encode(text))
            || request
                .headers
                .iter()
                .any(|(_, value)| value.contains(text))
            || String::from_utf8_lossy(&body).contains(text)
    })
}

fn differences(answers: &[Told]) -> Vec<String> {
    let apart = apart(answers).into_iter();
    // Which measurements there are depends on what the server did before.
    let apart = apart.filter(|apart| !apart.place.contains("/metrics/"));
    apart
        .map(|apart| format!("{}: was {}", apart.place, apart.values.join(", is ")))
        .collect()
}
