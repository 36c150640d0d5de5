//! TLS options of a request.

use std::io::{Error, ErrorKind};

use super::error::RequestError;
use super::options::{Options, Sources};
use crate::builtins::pem::next_block;
use crate::host::{Host, Identity, Tls, Trust};

/// Returns the TLS options of a request, if any are set.
pub(super) fn read(host: &dyn Host, options: &Options) -> Result<Option<Tls>, RequestError> {
    if !options.has_tls() {
        return Ok(None);
    }
    let identity = identity(host, options)?;
    let authorities = authorities(host, &options.authorities)?;
    let trust = if options.insecure {
        Trust::Any
    } else if options.authorities.is_specified() && !options.system_certificates {
        Trust::Authorities(authorities)
    } else {
        Trust::System(authorities)
    };
    Ok(Some(Tls { trust, identity }))
}

fn value_error(message: impl Into<String>) -> RequestError {
    RequestError::Value(message.into())
}

fn file(host: &dyn Host, path: &str) -> Result<String, RequestError> {
    host.file(path)
        .map_err(|failure| value_error(unread(path, &failure)))
}

/// Describes why a file cannot be read, worded as clients know it.
fn unread(path: &str, failure: &Error) -> String {
    match failure.kind() {
        ErrorKind::NotFound => format!("open {path}: no such file or directory"),
        ErrorKind::PermissionDenied => format!("open {path}: permission denied"),
        ErrorKind::IsADirectory => format!("read {path}: is a directory"),
        _ => format!("open {path}: {failure}"),
    }
}

fn variable(host: &dyn Host, name: &str) -> String {
    host.variable(name).unwrap_or_default()
}

/// Returns the contents of the blocks whose label satisfies the predicate.
fn blocks(mut pem: &str, is_wanted: impl Fn(&str) -> bool) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    while let Some((block, rest)) = next_block(pem) {
        if is_wanted(&block.label) {
            found.push(block.bytes);
        }
        pem = rest;
    }
    found
}

fn certificates(pem: &str) -> Vec<Vec<u8>> {
    blocks(pem, |label| label == "CERTIFICATE")
}

fn authorities(host: &dyn Host, sources: &Sources) -> Result<Vec<Vec<u8>>, RequestError> {
    let mut all = Vec::new();
    let mut add = |pem: &str, message: &str| {
        let found = certificates(pem);
        match found.is_empty() {
            true => Err(value_error(message)),
            false => {
                all.extend(found);
                Ok(())
            }
        }
    };
    let could_not = "could not append certificates";
    if let Some(pem) = sources.text.as_deref().filter(|pem| !pem.is_empty()) {
        add(pem, could_not)?;
    }
    if let Some(path) = &sources.file {
        let message = format!("could not append CA certificates from \"{path}\"");
        add(&file(host, path)?, &message)?;
    }
    if let Some(name) = &sources.variable {
        let message = format!("could not add CA certificates from envvar \"{name}\": {could_not}");
        add(&variable(host, name), &message)?;
    }
    Ok(all)
}

/// Returns the client certificate and its key, from the last source that gives both.
fn identity(host: &dyn Host, options: &Options) -> Result<Option<Identity>, RequestError> {
    let (certificate, key) = (&options.certificate, &options.key);
    let mut pair = None;
    if let (Some(certificate), Some(key)) = (&certificate.text, &key.text) {
        pair = Some((certificate.clone(), key.clone()));
    }
    if let (Some(certificate), Some(key)) = (&certificate.file, &key.file) {
        pair = Some((file(host, certificate)?, file(host, key)?));
    }
    if let (Some(certificate), Some(key)) = (&certificate.variable, &key.variable) {
        pair = Some((variable(host, certificate), variable(host, key)));
    }
    let Some((certificate, key)) = pair else {
        return Ok(None);
    };
    let chain = certificates(&certificate);
    if chain.is_empty() {
        return Err(value_error(
            "tls: failed to find any PEM data in certificate input",
        ));
    }
    let is_key = |label: &str| label == "PRIVATE KEY" || label.ends_with(" PRIVATE KEY");
    let key = blocks(&key, is_key).into_iter().next();
    let key = key.ok_or_else(|| value_error("tls: failed to find any PEM data in key input"))?;
    Ok(Some(Identity { chain, key }))
}
