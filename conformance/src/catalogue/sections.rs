//! Sections of the two documents, in order.

use super::Document;

/// The sections of a document, in its order.
pub fn sections(document: Document) -> &'static [&'static str] {
    match document {
        Document::Control => CONTROL,
        Document::Engine => ENGINE,
    }
}

const CONTROL: &[&str] = &[
    "Title and introduction",
    "What the service does",
    "Resources and their fields",
    "Resources / Bundle",
    "Resources / Requirement",
    "Resources / Object storage kinds",
    "Resources / Source",
    "Resources / Git object",
    "Resources / Datasource",
    "Resources / Stack",
    "Resources / Secret",
    "Resources / List envelope",
    "States and transitions",
    "Endpoints / Common rules",
    "Endpoints / table",
    "Endpoints / Source data rule",
    "Endpoints / Success status",
    "Authentication",
    "Events",
    "Errors",
    "Limits",
    "Versioning",
];

const ENGINE: &[&str] = &[
    "Title and introduction",
    "What the service does",
    "What the service does / Common request headers",
    "Resources / Policy module",
    "Resources / Documents",
    "Resources / Decision response envelope",
    "Resources / Compile request fields",
    "Resources / Filter compile request fields",
    "Resources / Error object",
    "Resources / Trace event",
    "Resources / Config result",
    "Resources / Status result",
    "States and transitions",
    "Endpoints / pretty",
    "Endpoints / Policy API",
    "Endpoints / Data API",
    "Endpoints / Query API",
    "Endpoints / Compile API",
    "Endpoints / POST /v1/compile result",
    "Endpoints / POST /v1/compile/{path}",
    "Endpoints / Health API",
    "Endpoints / Config API",
    "Endpoints / Status API",
    "Authentication",
    "Events",
    "Errors",
    "Limits",
    "Limits / Performance metrics",
    "Limits / Provenance",
    "Versioning",
];
