//! Identity of the caller in the authorization input.

use http::header::AUTHORIZATION;
use rego::Value;
use rego::value::Object;

use super::Engine;
use http_server::Request;

/// Authentication scheme of callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Authentication {
    /// No authentication.
    Off,
    /// Bearer token.
    Token,
    /// Client certificate.
    Tls,
}

impl Authentication {
    /// Returns the scheme with this name: `token` or `tls`; `Off` for any other name.
    pub(super) fn named(name: &str) -> Self {
        match name {
            "token" => Self::Token,
            "tls" => Self::Tls,
            _ => Self::Off,
        }
    }
}

/// Adds the caller to the input document: `identity`, the token or the subject of the certificate,
/// and `client_certificates`, the caller's own certificate first.
pub(super) fn add(input: &mut Object, engine: &Engine, request: &Request) {
    match engine.0.authentication {
        Authentication::Off => {}
        Authentication::Token => {
            if let Some(token) = token(request) {
                input.insert("identity", Value::from(token));
            }
        }
        Authentication::Tls => {
            let Some(certificates) = rego::x509::certificates(&request.client_certificates) else {
                return;
            };
            let own = certificates.as_array().and_then(|all| all.iter().next());
            let Some(subject) = own.and_then(|own| own.as_object()?.get("Subject")) else {
                return;
            };
            input.insert("identity", Value::from(distinguished_name(subject)));
            input.insert("client_certificates", certificates);
        }
    }
}

/// Bearer token: the single word after `Bearer` in the header `Authorization`.
fn token(request: &Request) -> Option<&str> {
    let rest = request.header(AUTHORIZATION)?.strip_prefix("Bearer")?;
    let token = rest.trim_start_matches([' ', '\t']);
    let one_word = !token.is_empty() && !token.contains(char::is_whitespace);
    (one_word && token.len() < rest.len()).then_some(token)
}

/// Attribute types in the order of a distinguished name, and the members of the subject with their
/// values.
const ATTRIBUTES: [(&str, &str); 9] = [
    ("SERIALNUMBER", "SerialNumber"),
    ("CN", "CommonName"),
    ("OU", "OrganizationalUnit"),
    ("O", "Organization"),
    ("POSTALCODE", "PostalCode"),
    ("STREET", "StreetAddress"),
    ("L", "Locality"),
    ("ST", "Province"),
    ("C", "Country"),
];

/// Formats the subject of a certificate as in RFC 4514: the attributes with an entry in
/// `ATTRIBUTES`, several values of one type joined by `+`.
fn distinguished_name(subject: &Value) -> String {
    let parts = ATTRIBUTES.iter().filter_map(|(short, member)| {
        let values: Vec<_> = match subject.as_object()?.get(member)? {
            Value::Array(values) => values.iter().filter_map(|value| value.as_str()).collect(),
            value => value
                .as_str()
                .filter(|text| !text.is_empty())
                .into_iter()
                .collect(),
        };
        let values = values
            .iter()
            .map(|value| format!("{short}={}", escaped(value)));
        let joined = values.collect::<Vec<_>>().join("+");
        (!joined.is_empty()).then_some(joined)
    });
    parts.collect::<Vec<_>>().join(",")
}

/// Escapes the characters with a special meaning in distinguished names.
fn escaped(value: &str) -> String {
    let last = value.chars().count().saturating_sub(1);
    let mut text = String::with_capacity(value.len());
    for (at, character) in value.chars().enumerate() {
        let special = match character {
            ',' | '+' | '"' | '\\' | '<' | '>' | ';' => true,
            '#' => at == 0,
            ' ' => at == 0 || at == last,
            _ => false,
        };
        if special {
            text.push('\\');
        }
        text.push(character);
    }
    text
}

#[cfg(test)]
mod tests {
    use rego::value::from_json;
    use rstest::rstest;

    use super::distinguished_name;

    #[rstest]
    #[case::empty(r#"{}"#, "")]
    #[case::several_members(
        r#"{"CommonName": "ann", "Country": null, "Province": ["ZH"], "Organization": ["x"]}"#,
        "CN=ann,O=x,ST=ZH"
    )]
    #[case::escapes_and_several_values(
        r#"{"CommonName": "a,b", "Organization": ["x", " y "], "Country": ["CH"]}"#,
        r"CN=a\,b,O=x+O=\ y\ ,C=CH"
    )]
    #[case::escapes_at_the_begin(
        r##"{"CommonName": "#1 <a>", "SerialNumber": "7", "OrganizationalUnit": ["a#"]}"##,
        r"SERIALNUMBER=7,CN=\#1 \<a\>,OU=a#"
    )]
    fn subjects_are_written_as_names(
        #[case] subject: &str,
        #[case] written: &str,
    ) -> Result<(), Box<dyn std::error::Error>> {
        assert_eq!(distinguished_name(&from_json(subject.as_bytes())?), written);
        Ok(())
    }
}
