//! How requests arrive and answers leave. Knows neither of the servers.

mod access_log;
mod aside;
mod client_certificates;
mod connection;
pub mod error;
mod header_checks;
mod json_text;
mod listener;
pub(crate) mod memory_budget;
pub(crate) mod metrics;
mod options;
pub mod path;
pub mod peer;
pub(crate) mod process_metrics;
mod receive;
pub mod reply;
pub mod request;
mod response;
pub mod response_body;
pub mod route;
pub mod serve;
mod service;
mod tls;
mod transport;

pub use error::{ApiError, Code};
pub use options::ServeOptions;
pub use peer::Peer;
pub use reply::Reply;
pub use request::Request;
pub use response_body::Body;
pub use route::{Route, RouteMatch};
pub use service::Service;
