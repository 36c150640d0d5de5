//! HTTP server, shared by the engine and the control plane.

mod access_log;
mod client_certificates;
mod connection;
pub mod error;
mod header_checks;
mod json_text;
mod listener;
pub(crate) mod memory_budget;
pub(crate) mod metrics;
mod offload;
mod options;
pub mod path;
pub(crate) mod process_metrics;
pub mod remote_addr;
pub mod reply;
pub mod request;
mod request_body;
mod response;
pub mod response_body;
pub mod route;
pub mod server;
mod service;
mod socket;
mod tls;

pub use error::{ApiError, Code};
pub use options::ServeOptions;
pub use remote_addr::Peer;
pub use reply::Reply;
pub use request::Request;
pub use response_body::Body;
pub use route::{Route, RouteMatch};
pub use service::Service;
