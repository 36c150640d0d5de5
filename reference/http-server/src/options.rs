//! Command line options of listeners.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use crate::log::LogLevel;
use crate::units::{duration, seconds, size};

/// How both servers listen.
#[derive(Debug, Clone, clap::Args)]
pub struct ServeOptions {
    /// Certificate chain of the server, PEM; reloaded when the file changes
    #[arg(long, value_name = "FILE", requires = "tls_private_key_file")]
    pub tls_cert_file: Option<PathBuf>,
    /// Private key of the certificate, PEM; reloaded when the file changes
    #[arg(long, value_name = "FILE", requires = "tls_cert_file")]
    pub tls_private_key_file: Option<PathBuf>,
    /// Certificate authorities of clients, PEM: clients must have a certificate that one of them
    /// signed
    #[arg(long, value_name = "FILE", requires = "tls_cert_file")]
    pub tls_ca_cert_file: Option<PathBuf>,
    /// Interval at which the certificate files are checked for changes, such as 500ms, 5s or 1m
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = duration)]
    pub tls_cert_refresh_period: Duration,
    /// Log level of requests and responses
    #[arg(long, value_name = "LOG_LEVEL", value_enum, default_value = "info")]
    pub log_level_request: LogLevel,
    /// Minimum TLS version; 1.0 and 1.1 mean 1.2, because older versions are not supported
    #[arg(long, value_name = "VERSION", default_value = "1.2")]
    #[arg(value_parser = ["1.0", "1.1", "1.2", "1.3"])]
    pub min_tls_version: String,
    /// Cipher suites of TLS 1.2 by their IANA names, such as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256;
    /// may be repeated
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub tls_cipher_suites: Vec<String>,
    /// Permissions of Unix sockets, octal
    #[arg(long, value_name = "MODE", default_value = "755", value_parser = permissions)]
    pub unix_socket_perm: u32,
    /// Seconds that open requests have to finish when the server shuts down
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub shutdown_grace_period: Duration,
    /// Seconds for which the server continues to accept requests before it shuts down
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    pub shutdown_wait_period: Duration,
    /// Time limit for receiving the request line and headers, such as 500ms, 5s or 1m
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration)]
    pub header_timeout: Duration,
    /// Time limit for receiving the body of a request, such as 500ms, 5s or 1m
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = duration)]
    pub body_timeout: Duration,
    /// Time after which a client that reads nothing of its response is disconnected, such as 500ms,
    /// 5s or 1m
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration)]
    pub write_timeout: Duration,
    /// Maximum number of connections; a further one replaces the connection that has been idle
    /// longest, or waits
    #[arg(long, value_name = "COUNT", default_value = "4096")]
    pub max_connections: NonZeroUsize,
    /// Maximum number of connections of one IPv4 address or one IPv6 /64 network. Default: half of
    /// --max-connections
    #[arg(long, value_name = "COUNT")]
    pub max_connections_per_address: Option<NonZeroUsize>,
    /// Memory limit of the bodies of all open requests, including decompressed ones, such as 64MiB
    /// or 2GiB; when it is exhausted, requests wait for a second, and are then answered 503
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = size)]
    pub body_memory: usize,
    /// Memory limit of all responses that are being sent, such as 64MiB or 2GiB; when it is
    /// exhausted, requests wait for a second, and are then answered 503
    #[arg(long, alias = "answer-memory", value_name = "SIZE", default_value = "512MiB", value_parser = size)]
    pub response_memory: usize,
}

/// Parses the permissions of a file, in octal.
fn permissions(text: &str) -> Result<u32, String> {
    match u32::from_str_radix(text, 8) {
        Ok(mode) if mode <= 0o777 => Ok(mode),
        _ => Err("permissions are three octal digits, such as 755".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::ServeOptions;

    #[derive(Debug, Parser)]
    struct Flags {
        #[command(flatten)]
        options: ServeOptions,
    }

    #[test]
    fn the_memory_of_responses_goes_by_its_former_name_too() {
        for flag in ["--response-memory=3MiB", "--answer-memory=3MiB"] {
            let read = Flags::try_parse_from(["", flag]).ok();
            let memory = read.map(|read| read.options.response_memory);
            assert_eq!(memory, Some(3 << 20), "{flag}");
        }
    }
}
