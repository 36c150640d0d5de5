//! AWS credentials of services.

use std::path::PathBuf;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::filled;

/// A signature of each request.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(in crate::engine) struct AwsSigning {
    /// The AWS service that checks the signature; `s3` if it is not given.
    pub(in crate::engine) service: Option<String>,
    signature_version: Option<String>,
    environment_credentials: Option<Nothing>,
    assume_role_credentials: Option<AwsAssumedRole>,
    web_identity_credentials: Option<AwsWebIdentity>,
    profile_credentials: Option<AwsProfile>,
    metadata_credentials: Option<AwsMetadata>,
    sso_credentials: Option<IgnoredAny>,
}

/// Where a key is.
#[derive(Debug, Clone, Copy)]
pub(in crate::engine) enum AwsKeys<'s> {
    Environment,
    AssumedRole(&'s AwsAssumedRole),
    WebIdentity(&'s AwsWebIdentity),
    Profile(&'s AwsProfile),
    Metadata(&'s AwsMetadata),
}

/// Where in a file of credentials a key is. What is not given is looked for in the environment,
/// or has the usual value of AWS.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(in crate::engine) struct AwsProfile {
    pub(in crate::engine) path: Option<PathBuf>,
    pub(in crate::engine) profile: Option<String>,
    pub(in crate::engine) aws_region: Option<String>,
}

/// The role of the machine that the engine runs on, or of its container.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(in crate::engine) struct AwsMetadata {
    /// The role of a machine; that of the container if it is not given.
    pub(in crate::engine) iam_role: Option<String>,
    pub(in crate::engine) aws_region: Option<String>,
}

/// A role that the Security Token Service gives for a token in a file. What is not given is looked
/// for in the environment, or has the usual value of AWS.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(in crate::engine) struct AwsWebIdentity {
    pub(in crate::engine) iam_role_arn: Option<String>,
    pub(in crate::engine) web_identity_token_file: Option<String>,
    pub(in crate::engine) aws_region: Option<String>,
    pub(in crate::engine) session_name: Option<String>,
    pub(in crate::engine) aws_domain: Option<String>,
}

/// A role that the Security Token Service gives for another key. What is not given is looked for in
/// the environment, or has the usual value of AWS.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(in crate::engine) struct AwsAssumedRole {
    pub(in crate::engine) iam_role_arn: Option<String>,
    pub(in crate::engine) aws_region: Option<String>,
    pub(in crate::engine) session_name: Option<String>,
    pub(in crate::engine) aws_domain: Option<String>,
    aws_signing: Option<Box<AwsSigning>>,
}

impl AwsAssumedRole {
    /// Where the other key is: the first place that is configured, and no other.
    pub(in crate::engine) fn other(&self) -> Option<AwsKeys<'_>> {
        let places = self.aws_signing.as_deref()?.places();
        let [environment, _, identity, profile, metadata] = places;
        environment.or(profile).or(identity).or(metadata)
    }
}

/// An object that has no members.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Nothing {}

impl AwsSigning {
    /// Where the key may be, the first place first.
    pub(in crate::engine) fn keys(&self) -> impl Iterator<Item = AwsKeys<'_>> {
        self.places().into_iter().flatten()
    }

    /// The places in their order, where they are configured.
    fn places(&self) -> [Option<AwsKeys<'_>>; 5] {
        let environment = self.environment_credentials.as_ref();
        let role = self.assume_role_credentials.as_ref();
        let identity = self.web_identity_credentials.as_ref();
        [
            environment.map(|Nothing {}| AwsKeys::Environment),
            role.map(AwsKeys::AssumedRole),
            identity.map(AwsKeys::WebIdentity),
            self.profile_credentials.as_ref().map(AwsKeys::Profile),
            self.metadata_credentials.as_ref().map(AwsKeys::Metadata),
        ]
    }

    /// Says what of it cannot be used.
    pub(super) fn check(&self) -> Result<(), String> {
        let wrong = |why: &str| Err(why.to_owned());
        if self.sso_credentials.is_some() {
            return wrong("nobody is asked for `sso_credentials`: give `profile_credentials`");
        }
        if self.keys().next().is_none() {
            return wrong("`s3_signing` takes `environment_credentials` or other credentials");
        }
        if let Some(role) = &self.assume_role_credentials
            && role.other().is_none()
        {
            return wrong("`assume_role_credentials` takes `aws_signing` with other credentials");
        }
        if let Some(metadata) = &self.metadata_credentials
            && filled(metadata.aws_region.as_ref()).is_none()
        {
            return wrong("`metadata_credentials` takes an `aws_region`");
        }
        match self.signature_version.as_deref() {
            None | Some("" | "4") => Ok(()),
            Some(_) => wrong("the only `signature_version` is `4`"),
        }
    }
}
