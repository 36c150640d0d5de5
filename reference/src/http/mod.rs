//! The only room that knows how requests arrive and answers leave.

mod access;
pub mod body;
pub(crate) mod budget;
mod connection;
pub mod error;
mod head;
mod json_text;
mod listener;
pub(crate) mod metrics;
mod receive;
pub mod reply;
pub mod request;
pub mod route;
mod sending;
pub mod serve;
pub(crate) mod size;
pub(crate) mod tls;

pub use body::Body;
pub use error::{ApiError, Code};
pub use reply::Reply;
pub use request::Request;
pub use route::{Found, Route};
pub use serve::{ServeOptions, Service};
