//! Detection of capabilities and names of a target before the first rule.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::Failed;
use super::options::RunOptions;
use super::target::{AUTO, token};
use crate::catalogue::Document;
use crate::doctor::modules::Module;
use crate::doctor::{Diagnosis, Doctor};
use crate::http_client::{Base, Client, Connection};
use crate::judge::verdict::Reason;
use crate::known_deviations::condition;
use crate::run::{Mode, interrupt};
use crate::scenario::default_vendor;
use crate::target::Target;
use crate::target::server::Server;

/// Timeout of one response. Slow servers are detected by the run itself.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// Timeout of the whole detection.
const LOOK_WITHIN: Duration = Duration::from_secs(20);

/// The only product that identifies itself.
const PRODUCT: &str = "Open Policy Agent";

/// Result of the detection, in addition to the changed options.
#[derive(Debug, Default)]
pub(super) struct Detection {
    /// Lines that describe the findings, one per address.
    pub(super) lines: Vec<String>,
    /// Reason to run no rule; none if rules can run.
    pub(super) refusal: Option<Reason>,
    /// Policies that the target had before the run.
    pub(super) modules: Vec<Module>,
}

/// Capabilities that a run requests.
#[derive(Debug, Default)]
pub(super) struct RequestedCapabilities<'a> {
    /// Capabilities of the rules that the user has chosen. If none of these capabilities is
    /// detected, all are requested anyway, because otherwise no rule would run.
    pub(super) chosen: BTreeSet<&'a str>,
    /// Capabilities that the profile requires, whether detected or not.
    pub(super) needed: BTreeSet<&'a str>,
}

/// Inspects the addresses of the options, and completes options and target with the findings.
/// Values set by the user take precedence.
///
/// # Errors
/// Addresses or connection settings that cannot be used.
pub(super) fn detect(
    options: &mut RunOptions,
    target: &mut Target,
    connection: &Connection,
    requested: &RequestedCapabilities<'_>,
) -> Result<Detection, Failed> {
    if options.vendor.as_deref() == Some(AUTO) {
        options.vendor = None;
    }
    let mut detection = Detection::default();
    let addresses = [
        (Document::Control, options.control_url.clone()),
        (Document::Engine, options.engine_url.clone()),
    ];
    for (document, url) in addresses {
        let Some(url) = url else { continue };
        let base_url = api_base_url(&url);
        let diagnosis = match examine(&base_url, options, connection)? {
            DetectionOutcome::All(diagnosis) => *diagnosis,
            DetectionOutcome::Late => {
                detection
                    .lines
                    .push(format!("{base_url}: a look at it took too long"));
                continue;
            }
            DetectionOutcome::Interrupted => {
                detection.refusal = Some(Reason::Interrupted);
                return Ok(detection);
            }
        };
        if base_url != url.trim_end_matches('/') && diagnosis.apis.contains(&document) {
            detection
                .lines
                .push(format!("{url} is inside the API: {base_url} is asked"));
            set_url(options, target, document, &base_url);
        }
        let refusal = refusal(&diagnosis, document, &base_url, options);
        if let Some(refusal) = refusal {
            detection.refusal.get_or_insert(refusal);
            continue;
        }
        if document == Document::Engine {
            adopt(&diagnosis, options, target, requested);
        }
        detection
            .lines
            .push(line(&diagnosis, document, &base_url, target, options));
        detection.modules.extend(diagnosis.modules);
    }
    Ok(detection)
}

/// Outcome of inspecting one address.
enum DetectionOutcome {
    All(Box<Diagnosis>),
    Late,
    Interrupted,
}

fn examine(
    url: &str,
    options: &RunOptions,
    connection: &Connection,
) -> Result<DetectionOutcome, Failed> {
    let base = Base::parse(url).map_err(Failed::usage)?;
    let connection = Connection {
        timeout: connection.timeout.min(ANSWER_WITHIN),
        ..connection.clone()
    };
    let client = Client::new(&connection).map_err(Failed::usage)?;
    let token = token(options.token_env.as_deref())?;
    let tokens = token.map(|token| BTreeMap::from([("administrator".to_owned(), token)]));
    let server = Server::new(base, tokens.unwrap_or_default(), &connection.headers);
    let doctor = Doctor {
        client: &client,
        server: &server,
        insecure: connection.insecure,
        posts: options.mode != Some(Mode::ReadOnly),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    Ok(runtime.block_on(async {
        tokio::select! {
            diagnosis = tokio::time::timeout(LOOK_WITHIN, doctor.examine()) => {
                diagnosis.map_or(DetectionOutcome::Late, |diagnosis| DetectionOutcome::All(Box::new(diagnosis)))
            }
            _ = interrupt::shutdown_requested() => DetectionOutcome::Interrupted,
        }
    }))
}

/// Returns the address up to the first segment that belongs to an API, without a trailing slash.
pub(super) fn api_base_url(url: &str) -> String {
    let api = |segment: &str| matches!(segment, "v0" | "v1" | "health");
    let segments: Vec<&str> = url.split('/').collect();
    // Scheme and authority are the first three.
    let path = segments.iter().skip(3).position(|segment| api(segment));
    let base_segments = path.map_or(segments.as_slice(), |at| {
        segments.get(..at + 3).unwrap_or(&segments)
    });
    base_segments.join("/").trim_end_matches('/').to_owned()
}

/// Uses this address for the document's API from now on, also in the command that reruns a rule.
fn set_url(options: &mut RunOptions, target: &mut Target, document: Document, url: &str) {
    let option = match document {
        Document::Control => &mut options.control_url,
        Document::Engine => &mut options.engine_url,
    };
    *option = Some(url.to_owned());
    for setup in target.setups.values_mut() {
        let launch = match document {
            Document::Control => &mut setup.control,
            Document::Engine => &mut setup.engine,
        };
        if let Some(launch) = launch {
            launch.url = Some(url.to_owned());
        }
    }
}

/// Returns the reason to run no rule after the inspection; none if rules can run.
fn refusal(
    diagnosis: &Diagnosis,
    document: Document,
    url: &str,
    options: &RunOptions,
) -> Option<Reason> {
    let other = |api: &Document| *api != document;
    if let Some(api) = diagnosis.apis.iter().find(|api| other(api))
        && !diagnosis.apis.contains(&document)
    {
        let (title, flag) = match api {
            Document::Control => ("a control plane", "--control-url"),
            Document::Engine => ("an engine", "--engine-url"),
        };
        return Some(Reason::Refused(format!(
            "{url} is {title}: its address goes with {flag}"
        )));
    }
    let refusal = diagnosis.refusal.as_ref()?;
    if refusal.unreached {
        let message = format!("cannot reach {url}: {}", refusal.why);
        return Some(Reason::Unreachable(message));
    }
    // A user who lists the capabilities knows that the server is an API.
    let trusted = !diagnosis.locked && !options.capabilities.is_empty();
    (!trusted).then(|| Reason::Refused(format!("{url}: {}", refusal.why)))
}

/// Sets options from the findings where the user has not. A target from a description only gets
/// version and product.
fn adopt(
    diagnosis: &Diagnosis,
    options: &mut RunOptions,
    target: &mut Target,
    requested: &RequestedCapabilities<'_>,
) {
    let described = !options.target.is_empty();
    if options.vendor.is_none() && !described {
        options.vendor.clone_from(&diagnosis.vendor);
        target.vendor = diagnosis.vendor.clone().unwrap_or_else(default_vendor);
    }
    let version = diagnosis.version.as_ref();
    let version = version.filter(|version| condition::version(version).is_some());
    if options.target_version.is_none() && version.is_some() {
        target.version = version.cloned();
    }
    target.product = diagnosis.product.map(|_| PRODUCT.to_owned());
    let is_present = |name: &&str| !diagnosis.absent.contains(name);
    if options.capabilities.is_empty() && !described && requested.chosen.iter().any(is_present) {
        let is_claimed = |name: &str| is_present(&name) || requested.needed.contains(name);
        let (claimed, undetected) = std::mem::take(&mut target.capabilities)
            .into_iter()
            .partition(|name| is_claimed(name));
        target.capabilities = claimed;
        target.undetected = undetected;
    }
}

/// Summarizes what is known of a target before it is judged.
fn line(
    diagnosis: &Diagnosis,
    document: Document,
    url: &str,
    target: &Target,
    options: &RunOptions,
) -> String {
    let kind = match (document, diagnosis.apis.is_empty()) {
        (_, true) => "no API that shows",
        (Document::Control, _) => "a control plane",
        (Document::Engine, _) if diagnosis.product.is_some() => PRODUCT,
        (Document::Engine, _) => "an engine",
    };
    let mut words = vec![kind.to_owned()];
    if document == Document::Engine {
        if let Some(version) = &target.version {
            words.push(format!("version {version}"));
        }
        words.push(format!("vendor {}", target.vendor));
    }
    words.push(
        match options.token_env.is_some() || !options.header.is_empty() {
            true => "takes your token or headers".to_owned(),
            false => "asks for no token".to_owned(),
        },
    );
    let missing: Vec<&str> = diagnosis
        .absent
        .iter()
        .filter(|name| !target.capabilities.contains(**name))
        .copied()
        .collect();
    if !missing.is_empty() {
        words.push(format!(
            "without {} (--capabilities says otherwise)",
            missing.join(", ")
        ));
    }
    format!("{url}: {}", words.join(", "))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::address("http://a:1", "http://a:1")]
    #[case::slash("http://a:1/", "http://a:1")]
    #[case::version("http://a:1/v1", "http://a:1")]
    #[case::below_a_prefix("http://a:1/opa/v1/data/x", "http://a:1/opa")]
    #[case::health("http://a:1/health", "http://a:1")]
    #[case::host_named_like_a_version("http://v1/opa", "http://v1/opa")]
    fn an_address_ends_before_the_api(#[case] url: &str, #[case] expected: &str) {
        assert_eq!(api_base_url(url), expected);
    }
}
