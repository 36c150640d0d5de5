//! Targets: implementations under test, and how to start them.

#[cfg(feature = "embedded")]
pub(crate) mod embedded;
mod free_port;
pub(crate) mod launch;
pub(crate) mod server;
pub(crate) mod server_set;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};

use serde::Deserialize;
use toml::Table;

use crate::assets::TARGETS;
use crate::catalogue::Document;
use crate::scenario::{UNNAMED, default_vendor};

/// An implementation under test: a file `targets/NAME.toml`, or only addresses.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Its name in reports.
    pub name: String,
    /// The vendor part of its media types: `application/vnd.VENDOR.…`.
    #[serde(default = "default_vendor")]
    pub vendor: String,
    /// Its version, for lists of known deviations that depend on it.
    #[serde(default)]
    pub version: Option<String>,
    /// Product name that a target of plain addresses reports, if any.
    #[serde(skip)]
    pub product: Option<String>,
    /// Capabilities that it claims.
    pub capabilities: BTreeSet<String>,
    /// The rules of its capabilities that it claims, by id; empty if it claims all of them.
    #[serde(default)]
    pub rules: BTreeSet<String>,
    /// The program on the search path that starts it, if a launch names no other.
    #[serde(default)]
    pub program: Option<String>,
    /// Its launches, by setup.
    pub setups: BTreeMap<String, Setup>,
    /// Capabilities that it does not claim because no probe of it showed them.
    #[serde(skip)]
    pub undetected: BTreeSet<String>,
    /// Whether it runs inside this process (the embedded reference).
    #[serde(skip)]
    pub in_process: bool,
    /// Whether it is only reached by address, so that `default` is the only setup.
    #[serde(skip)]
    pub by_address: bool,
}

/// A launch configuration that scenarios require.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// Launch of the control plane, if the target has one.
    #[serde(default)]
    pub control: Option<Launch>,
    /// Launch of the engine, if the target has one.
    #[serde(default)]
    pub engine: Option<Launch>,
}

/// Launch or address of one API in one setup. In arguments, files and environment `{port}` is a
/// free port, `{dir}` the setup's own temporary folder, and `{mock}` (or `{depot}`) the address of
/// the suite's fixture server, `http://HOST:PORT`, which is started for each server that is
/// configured with it; an engine next to a control plane is configured with the control plane's.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// The address of a running server; nothing is started then.
    #[serde(default)]
    pub url: Option<String>,
    /// Listen address of the fixture server that the server at `url` is configured with,
    /// `127.0.0.1:9000`.
    #[serde(default, alias = "depot")]
    pub mock: Option<SocketAddr>,
    /// The port that the server listens on by default, if its arguments name none. Without it the
    /// suite chooses a free one.
    #[serde(default)]
    pub port: Option<u16>,
    /// The program on the search path that is started instead of the target's, such as an engine
    /// next to another's control plane.
    #[serde(default)]
    pub program: Option<String>,
    /// Arguments of the program.
    #[serde(default)]
    pub args: Vec<String>,
    /// Files written to `{dir}` before the start: name and contents.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Environment variables of the program.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// The name of a built-in source of the control plane.
    #[serde(default)]
    pub builtin: Option<String>,
    /// The path that returns 2xx once the server is ready.
    #[serde(default = "default_ready")]
    pub ready: String,
    /// Tokens by role. Without one for `administrator`, the administrator sends none.
    #[serde(default)]
    pub tokens: BTreeMap<String, Token>,
}

impl Launch {
    /// Listen address of the server's fixture server; none if the server is not configured with
    /// one.
    pub fn mock_address(&self) -> Option<SocketAddr> {
        let texts = self.args.iter().chain(self.files.values());
        let mut texts = texts.chain(self.environment.values());
        match &self.url {
            Some(_) => self.mock,
            None => texts
                .any(|text| text.contains("{mock}") || text.contains("{depot}"))
                .then_some((Ipv4Addr::LOCALHOST, 0).into()),
        }
    }
}

/// A bearer token. Never shown.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Token(String);

impl Token {
    /// Creates a token from a string.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The plain token, for the wire.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("<token>")
    }
}

/// Parses the embedded target file of this name.
fn known(name: &str) -> Option<Table> {
    let (_, text) = TARGETS.iter().find(|(known, _)| *known == name)?;
    toml::from_str(text).ok()
}

fn default_ready() -> String {
    "/health".to_owned()
}

/// An unusable target file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TargetFileError {
    /// Not TOML, an unknown key, a missing or wrong value.
    #[error("{file}: {source}")]
    Toml {
        /// The file.
        file: String,
        /// The error, with line and column.
        source: Box<toml::de::Error>,
    },
    /// Its base is an unknown target.
    #[error("{file}: there is no target `{base}` to begin with")]
    Base {
        /// The file.
        file: String,
        /// The target.
        base: String,
    },
    /// A fixture server's address for a server that the suite starts and configures itself.
    #[error(
        "{file}: setup `{setup}` names a fixture server, which goes with a url; files and arguments name it {{mock}}"
    )]
    Mock {
        /// The file.
        file: String,
        /// The setup.
        setup: String,
    },
    /// A launch without an address in a target without a program.
    #[error("{file}: setup `{setup}` starts {api}, but the target names no program")]
    NoProgram {
        /// The file.
        file: String,
        /// The setup.
        setup: String,
        /// The API.
        api: &'static str,
    },
}

impl Target {
    /// Parses a target file; `file` is its name in errors. A file with the key `base` inherits
    /// unset values from the embedded target of that name.
    ///
    /// # Errors
    /// The string is not a valid target file.
    pub fn parse(text: &str, file: &str) -> Result<Self, TargetFileError> {
        let wrong = |source| TargetFileError::Toml {
            file: file.to_owned(),
            source: Box::new(source),
        };
        let mut own: Table = toml::from_str(text).map_err(wrong)?;
        let target: Self = match own.remove("base") {
            // Only the original string has positions for errors.
            None => toml::from_str(text).map_err(wrong)?,
            Some(base) => {
                let mut merged =
                    base.as_str()
                        .and_then(known)
                        .ok_or_else(|| TargetFileError::Base {
                            file: file.to_owned(),
                            base: base
                                .as_str()
                                .map_or_else(|| base.to_string(), str::to_owned),
                        })?;
                merged.extend(own);
                merged.try_into().map_err(wrong)?
            }
        };
        for (name, setup) in &target.setups {
            for api in Document::ALL {
                let launch = setup.launch(api);
                if launch.is_some_and(|launch| launch.url.is_none() && launch.mock.is_some()) {
                    return Err(TargetFileError::Mock {
                        file: file.to_owned(),
                        setup: name.clone(),
                    });
                }
                let lacks_program =
                    |launch: &Launch| launch.url.is_none() && target.program(launch).is_none();
                if launch.is_some_and(lacks_program) {
                    return Err(TargetFileError::NoProgram {
                        file: file.to_owned(),
                        setup: name.clone(),
                        api: api.name(),
                    });
                }
            }
        }
        Ok(target)
    }

    /// Whether it claims a rule of one of its capabilities.
    pub fn claims(&self, rule: &str) -> bool {
        self.rules.is_empty() || self.rules.contains(rule)
    }

    /// The program that a launch starts.
    pub fn program<'a>(&'a self, launch: &'a Launch) -> Option<&'a str> {
        launch.program.as_deref().or(self.program.as_deref())
    }

    /// Creates a target from addresses: setup `default`, one token for the administrator, and the
    /// given claims.
    pub fn at(
        control: Option<String>,
        engine: Option<String>,
        token: Option<Token>,
        capabilities: BTreeSet<String>,
    ) -> Self {
        let launch = |url: String| Launch {
            url: Some(url.trim_end_matches('/').to_owned()),
            ready: default_ready(),
            tokens: token
                .iter()
                .map(|token| ("administrator".to_owned(), token.clone()))
                .collect(),
            ..Launch::default()
        };
        let setup = Setup {
            control: control.map(launch),
            engine: engine.map(launch),
        };
        Self {
            name: UNNAMED.to_owned(),
            vendor: default_vendor(),
            version: None,
            product: None,
            capabilities,
            undetected: BTreeSet::new(),
            rules: BTreeSet::new(),
            program: None,
            setups: BTreeMap::from([("default".to_owned(), setup)]),
            in_process: false,
            by_address: true,
        }
    }
}

impl Setup {
    /// Launch of this API.
    pub const fn launch(&self, api: Document) -> Option<&Launch> {
        match api {
            Document::Control => self.control.as_ref(),
            Document::Engine => self.engine.as_ref(),
        }
    }
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::unknown_field("nmae = 'x'", "unknown field `nmae`")]
    #[case::no_capabilities("name = 'x'", "missing field `capabilities`")]
    #[case::unknown_field_of_a_setup(
        "name = 'x'\ncapabilities = []\n[setups.default.engine]\nargz = []",
        "unknown field `argz`"
    )]
    #[case::no_program(
        "name = 'x'\ncapabilities = []\n[setups.default.engine]\nargs = []",
        "names no program"
    )]
    #[case::depot_of_a_program(
        "name = 'x'\ncapabilities = []\nprogram = 'x'\n[setups.a.engine]\ndepot = '127.0.0.1:1'",
        "goes with a url"
    )]
    #[case::depot_is_no_address(
        "name = 'x'\ncapabilities = []\n[setups.a.engine]\nurl = 'http://a'\ndepot = 'here'",
        "invalid socket address"
    )]
    #[case::unknown_base("base = 'nobody'", "there is no target `nobody`")]
    #[case::base_is_a_number("base = 1", "there is no target `1`")]
    #[case::unknown_field_with_a_base("base = 'shim'\nnmae = 'x'", "unknown field `nmae`")]
    fn bad_target_files_are_refused_with_the_place(#[case] text: &str, #[case] message: &str) {
        let error = Target::parse(text, "x.toml").expect_err(text).to_string();
        assert!(error.starts_with("x.toml: "), "{error}");
        assert!(error.contains(message), "{error}");
    }

    #[test]
    fn what_a_target_does_not_say_its_base_says() {
        let shim = Target::parse("base = 'shim'", "x.toml").expect("a target");
        let own = "base = 'shim'\nname = 'x'\n[setups.default.engine]\nargs = ['y']";
        let own = Target::parse(own, "x.toml").expect("a target");
        assert_eq!((own.name.as_str(), shim.name.as_str()), ("x", "shim"));
        assert_eq!((&own.rules, &own.program), (&shim.rules, &shim.program));
        let setup = own
            .setups
            .get("default")
            .and_then(|setup| setup.engine.as_ref());
        assert_eq!(
            setup.map(|launch| launch.args.as_slice()),
            Some(&["y".to_owned()][..])
        );
        assert!(own.rules.iter().all(|rule| own.claims(rule)) && !own.claims("engine/x"));
    }

    #[test]
    fn the_mock_server_goes_by_either_name() {
        for name in ["mock", "depot"] {
            let text = format!(
                "name = 'x'\ncapabilities = []\nprogram = 'x'\n\
                 [setups.a.engine]\nargs = ['{{{name}}}']\n\
                 [setups.b.engine]\nurl = 'http://a'\n{name} = '127.0.0.1:9'"
            );
            let target = Target::parse(&text, "x.toml").expect("a target");
            for setup in target.setups.values() {
                let launch = setup.engine.as_ref();
                assert!(launch.and_then(Launch::mock_address).is_some(), "{text}");
            }
        }
    }

    #[test]
    fn tokens_are_never_shown() {
        let target = Target::at(
            Some("http://localhost:1/".into()),
            None,
            Some(Token::new("s3cret")),
            BTreeSet::new(),
        );
        assert!(!format!("{target:?}").contains("s3cret"));
    }
}
