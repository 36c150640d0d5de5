//! The only room that knows how requests arrive and answers leave.

pub mod error;
pub mod reply;
pub mod request;

pub use error::{ApiError, Code};
pub use reply::Reply;
pub use request::Request;
