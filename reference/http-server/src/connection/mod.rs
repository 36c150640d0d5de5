//! Lifecycle of one connection: TLS handshake, protocol detection, requests and shutdown.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use hyper::body::Incoming;
use rustls::Error;
use tokio::time::timeout;
use tracing::{debug, warn};

use super::memory_budget::MemoryBudget;
use super::remote_addr::Peer;
use super::service::{Server, Service};
use super::socket::Transport;

pub(super) mod activity;
mod exchange;
mod framing;
mod http1;
mod http2;
mod respond;
mod response_stream;
mod socket;
mod stream;
mod timer;

use activity::{Activity, CloseReason};
use exchange::Exchange;
use respond::HttpResponse;
use socket::Socket;
use stream::{Protocol, Stream};

/// A client connection.
pub(super) struct Connection<S> {
    pub(super) server: Arc<Server<S>>,
    pub(super) activity: Arc<Activity>,
    pub(super) peer: Peer,
    /// Memory budget of request bodies, shared by all connections. Each connection has a separate
    /// `Arc` of it, so that threads do not contend for one reference counter.
    pub(super) bodies: Arc<MemoryBudget>,
    /// Memory budget of responses, shared in the same way.
    pub(super) answers: Arc<MemoryBudget>,
    /// Certificates of the client, the leaf first, concatenated in DER.
    pub(super) certificates: Bytes,
}

impl<S: Service> Connection<S> {
    /// Serves the connection, after its TLS handshake if TLS is enabled, until its client closes
    /// it, or it is asked to end.
    pub(super) async fn run(mut self, stream: Transport) {
        let peer = self.peer;
        if let Err(failure) = stream.set_nodelay() {
            debug!(%peer, %failure, "cannot disable Nagle's algorithm");
        }
        let server = Arc::clone(&self.server);
        let Some(tls) = &server.tls else {
            return self.speak(stream).await;
        };
        let handshake = timeout(server.options.header_timeout, tls.accept(stream));
        let shaken = tokio::select! {
            shaken = handshake => shaken,
            () = self.activity.until_leaving(CloseReason::Yield) => return,
        };
        match shaken {
            Ok(Ok(stream)) => {
                let certificates = stream.get_ref().1.peer_certificates().unwrap_or_default();
                let certificates: Vec<_> = certificates.iter().map(|one| one.as_ref()).collect();
                self.certificates = certificates.concat().into();
                self.speak(stream).await;
            }
            Ok(Err(failure)) if is_refusal(&failure) => {
                warn!(%peer, %failure, "the client's certificate is refused");
            }
            Ok(Err(failure)) => debug!(%peer, %failure, "TLS handshake failed"),
            Err(_) => debug!(%peer, "TLS handshake timed out"),
        }
    }

    /// Detects the protocol of the client, and serves it.
    async fn speak(self, socket: impl Socket) {
        let (peer, options) = (self.peer, &self.server.options);
        let activity = Arc::clone(&self.activity);
        let mut stream = Stream::new(socket, activity, options.write_timeout);
        // A client that never sends enough bytes to detect the protocol occupies its connection no
        // longer than a client that sends its request head slowly.
        let recognised = timeout(options.header_timeout, stream.recognise());
        let recognised = tokio::select! {
            recognised = recognised => recognised,
            () = self.activity.until_leaving(CloseReason::Yield) => return,
            () = self.idle_at_stop() => return,
        };
        match recognised {
            Ok(Ok(Protocol::Http1)) => http1::serve(self, stream).await,
            Ok(Ok(Protocol::Http2)) => http2::serve(self, stream).await,
            Ok(Err(failure)) => debug!(%peer, %failure, "connection failed"),
            Err(_) => debug!(%peer, "no request in time"),
        }
    }

    /// Completes when the server stops and requests in transit have had time to arrive.
    async fn idle_at_stop(&self) {
        self.activity.until_leaving(CloseReason::Finish).await;
        tokio::time::sleep(http1::UNDER_WAY).await;
    }

    /// Begins the exchange of a request.
    fn call(
        self: &Arc<Self>,
        request: hyper::Request<Incoming>,
    ) -> impl Future<Output = Result<HttpResponse, Infallible>> + Send + use<S> {
        let exchange = Exchange::begin(&self.activity, &request);
        let connection = Arc::clone(self);
        async move { Ok(connection.answer(request, exchange).await) }
    }
}

/// Whether a handshake failed because of an invalid or missing client certificate.
fn is_refusal(failure: &std::io::Error) -> bool {
    let inner = failure.get_ref().and_then(|inner| inner.downcast_ref());
    matches!(
        inner,
        Some(Error::InvalidCertificate(_) | Error::NoCertificatesPresented)
    )
}
