//! AWS credentials of services.

use std::path::PathBuf;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::filled;

/// AWS signing of each request.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct AwsSigning {
    /// AWS service that verifies the signature; `s3` if absent.
    pub(crate) service: Option<String>,
    signature_version: Option<String>,
    environment_credentials: Option<Nothing>,
    assume_role_credentials: Option<AwsAssumedRole>,
    web_identity_credentials: Option<AwsWebIdentity>,
    profile_credentials: Option<AwsProfile>,
    metadata_credentials: Option<AwsMetadata>,
    sso_credentials: Option<IgnoredAny>,
}

/// Source of an AWS access key.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AwsKeys<'s> {
    Environment,
    AssumedRole(&'s AwsAssumedRole),
    WebIdentity(&'s AwsWebIdentity),
    Profile(&'s AwsProfile),
    Metadata(&'s AwsMetadata),
}

/// Access key in a credentials file. Missing members come from the environment, or have the default
/// value of AWS.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(crate) struct AwsProfile {
    pub(crate) path: Option<PathBuf>,
    pub(crate) profile: Option<String>,
    pub(crate) aws_region: Option<String>,
}

/// Role of the machine or container that the engine runs on.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(crate) struct AwsMetadata {
    /// Role of the machine; if absent, the role of the container is used.
    pub(crate) iam_role: Option<String>,
    pub(crate) aws_region: Option<String>,
}

/// Role that the Security Token Service grants for a token in a file. Missing members come from the
/// environment, or have the default value of AWS.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(crate) struct AwsWebIdentity {
    pub(crate) iam_role_arn: Option<String>,
    pub(crate) web_identity_token_file: Option<String>,
    pub(crate) aws_region: Option<String>,
    pub(crate) session_name: Option<String>,
    pub(crate) aws_domain: Option<String>,
}

/// Role that the Security Token Service grants for another access key. Missing members come from
/// the environment, or have the default value of AWS.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(crate) struct AwsAssumedRole {
    pub(crate) iam_role_arn: Option<String>,
    pub(crate) aws_region: Option<String>,
    pub(crate) session_name: Option<String>,
    pub(crate) aws_domain: Option<String>,
    aws_signing: Option<Box<AwsSigning>>,
}

impl AwsAssumedRole {
    /// Source of the access key that assumes the role: only the first one that is configured.
    pub(crate) fn other(&self) -> Option<AwsKeys<'_>> {
        let places = self.aws_signing.as_deref()?.places();
        let [environment, _, identity, profile, metadata] = places;
        environment.or(profile).or(identity).or(metadata)
    }
}

/// Object without members.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Nothing {}

impl AwsSigning {
    /// Configured sources of the key, in order of precedence.
    pub(crate) fn keys(&self) -> impl Iterator<Item = AwsKeys<'_>> {
        self.places().into_iter().flatten()
    }

    /// All sources of the key in order of precedence, absent if not configured.
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

    /// Validates the section; the error names the unsupported or missing member.
    pub(super) fn check(&self) -> Result<(), String> {
        let wrong = |reason: &str| Err(reason.to_owned());
        if self.sso_credentials.is_some() {
            return wrong("`sso_credentials` is not supported: configure `profile_credentials`");
        }
        if self.keys().next().is_none() {
            return wrong("`s3_signing` requires credentials, such as `environment_credentials`");
        }
        if let Some(role) = &self.assume_role_credentials
            && role.other().is_none()
        {
            return wrong(
                "`assume_role_credentials` requires `aws_signing` with another kind of credentials",
            );
        }
        if let Some(metadata) = &self.metadata_credentials
            && filled(metadata.aws_region.as_ref()).is_none()
        {
            return wrong("`metadata_credentials` requires `aws_region`");
        }
        match self.signature_version.as_deref() {
            None | Some("" | "4") => Ok(()),
            Some(_) => wrong("the only `signature_version` is `4`"),
        }
    }
}
