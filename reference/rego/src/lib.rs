#![doc = include_str!("../README.md")]

pub mod value;

pub use value::Value;
