//! Certificate chain verification.

use super::certificate::{Certificate, pss_number};
use super::constraints;
use super::hostname;
use super::options::{ANY, Options};
use crate::builtins::keys::hash::Hash;
use crate::builtins::keys::public_key::AlgorithmIdentifier;
use crate::builtins::keys::reader::Reader;
use crate::builtins::keys::{Algorithm, Public, identifiers};

/// Maximum number of signature checks per chain, as certificates with equal names could lead to
/// many paths.
pub(super) const MAX_CHECKS: usize = 100;

/// Builds the chain from the last certificate through intermediates to the first, the root; `None`
/// when there is no trusted chain.
pub(super) fn verify<'c, 'd>(
    certificates: &'c [Certificate<'d>],
    options: &Options,
) -> Option<Vec<&'c Certificate<'d>>> {
    let [root, between @ .., leaf] = certificates else {
        return None;
    };
    if !leaf.is_acceptable(options) {
        return None;
    }
    if !options.host.is_empty() && !hostname::matches(&leaf.extensions.names, &options.host) {
        return None;
    }
    let mut search = Search {
        root,
        between,
        options,
        checks: 0,
    };
    if leaf.fields.raw == root.fields.raw {
        let chain = vec![leaf];
        return usages_allow(&chain, &options.usages).then_some(chain);
    }
    search.extend(&mut vec![leaf])
}

struct Search<'s, 'c, 'd> {
    root: &'c Certificate<'d>,
    between: &'c [Certificate<'d>],
    options: &'s Options,
    checks: usize,
}

impl<'c, 'd> Search<'_, 'c, 'd> {
    /// Returns the first valid path from the end of a chain to the root.
    fn extend(&mut self, chain: &mut Vec<&'c Certificate<'d>>) -> Option<Vec<&'c Certificate<'d>>> {
        let child = *chain.last()?;
        if self.signs(self.root, child, chain) {
            let mut complete = chain.clone();
            complete.push(self.root);
            if usages_allow(&complete, &self.options.usages) {
                return Some(complete);
            }
        }
        for issuer in self.between {
            if chain
                .iter()
                .any(|certificate| certificate.fields.raw == issuer.fields.raw)
                || !self.signs(issuer, child, chain)
            {
                continue;
            }
            chain.push(issuer);
            let found = self.extend(chain);
            chain.pop();
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Whether a certificate has signed the last one of a chain, and was allowed to sign it.
    fn signs(
        &mut self,
        issuer: &Certificate<'_>,
        child: &Certificate<'_>,
        chain: &[&Certificate<'_>],
    ) -> bool {
        if issuer.fields.subject != child.fields.issuer {
            return false;
        }
        let key_ids = (
            &child.extensions.authority_key_id,
            &issuer.extensions.key_id,
        );
        if let (Some(expected), Some(found)) = key_ids
            && expected != found
            && issuer.fields.raw != self.root.fields.raw
        {
            return false;
        }
        self.checks += 1;
        self.checks <= MAX_CHECKS
            && issuer.may_sign(chain)
            && issuer.is_acceptable(self.options)
            && has_signed(issuer, child)
    }
}

impl Certificate<'_> {
    /// Whether the certificate is within its validity period and has no unsupported critical
    /// extension.
    fn is_acceptable(&self, options: &Options) -> bool {
        let fields = &self.fields;
        let times = fields.not_before.timestamp()..=fields.not_after.timestamp();
        self.extensions.unhandled.is_empty() && times.contains(&options.now)
    }

    /// Whether this certificate may sign the certificates of a chain.
    fn may_sign(&self, chain: &[&Certificate<'_>]) -> bool {
        let certificate_signing = 1 << 5;
        let usage = self.extensions.key_usage;
        if usage != 0 && usage & certificate_signing == 0 {
            return false;
        }
        let new = self.fields.version == 3;
        let limit = match self.extensions.basic {
            Some((true, limit)) => limit,
            Some((false, _)) => return false,
            None if new => return false,
            None => None,
        };
        let between = i64::try_from(chain.len() - 1).unwrap_or(i64::MAX);
        let short = limit.is_none_or(|limit| between <= limit);
        let mut named = chain
            .iter()
            .filter(|certificate| certificate.extensions.has_names);
        short
            && (!self.extensions.constrains_names
                || named.all(|certificate| {
                    constraints::allow(&self.extensions, &certificate.extensions.names)
                }))
    }
}

/// Whether all certificates of a chain allow one of the key usages.
fn usages_allow(chain: &[&Certificate<'_>], usages: &[usize]) -> bool {
    let any = usages.contains(&ANY);
    any || usages.iter().any(|usage| {
        chain.iter().all(|certificate| {
            let allowed = &certificate.extensions.usages;
            let free = allowed.is_empty() && certificate.extensions.other_usages.is_empty();
            free || allowed.contains(&ANY) || allowed.contains(usage)
        })
    })
}

/// Whether the issuer's key created the signature of a certificate.
fn has_signed(issuer: &Certificate<'_>, child: &Certificate<'_>) -> bool {
    let (signed, signature) = (child.fields.signed, &child.fields.signature);
    match (algorithm(&child.fields.signature_algorithm), issuer.key()) {
        (Some(Algorithm::Curve(hash)), Public::Curve(key)) => {
            curve_signature(signature).is_some_and(|(r, s)| key.verify(&hash.digest(signed), r, s))
        }
        (Some(algorithm), key) => algorithm.verify(key, signed, signature),
        (None, _) => false,
    }
}

/// Returns the two numbers of a signature by a key on a curve.
fn curve_signature(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut numbers = Reader::enter_sequence(der)?;
    let pair = (numbers.positive_integer()?, numbers.positive_integer()?);
    numbers.is_empty().then_some(pair)
}

/// Returns the algorithm of a signature; `None` for broken or unknown ones.
fn algorithm(identifier: &AlgorithmIdentifier<'_>) -> Option<Algorithm> {
    match identifier.id.as_str() {
        "1.2.840.113549.1.1.11" => Some(Algorithm::Rsa(Hash::Sha256)),
        "1.2.840.113549.1.1.12" => Some(Algorithm::Rsa(Hash::Sha384)),
        "1.2.840.113549.1.1.13" => Some(Algorithm::Rsa(Hash::Sha512)),
        "1.2.840.113549.1.1.10" => match pss_number(identifier)? {
            13 => Some(Algorithm::RsaPss(Hash::Sha256)),
            14 => Some(Algorithm::RsaPss(Hash::Sha384)),
            _ => Some(Algorithm::RsaPss(Hash::Sha512)),
        },
        "1.2.840.10045.4.3.2" => Some(Algorithm::Curve(Hash::Sha256)),
        "1.2.840.10045.4.3.3" => Some(Algorithm::Curve(Hash::Sha384)),
        "1.2.840.10045.4.3.4" => Some(Algorithm::Curve(Hash::Sha512)),
        identifiers::ED25519 => Some(Algorithm::Ed25519),
        _ => None,
    }
}
