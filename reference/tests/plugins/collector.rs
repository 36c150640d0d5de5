//! Collector of spans over HTTP and gRPC, which decodes the requests of the engine.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, Version};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::environment::{Done, until};

/// Received span.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedSpan {
    /// Resource attributes of the sender.
    pub(crate) resource: BTreeMap<String, Value>,
    pub(crate) attributes: BTreeMap<String, Value>,
    pub(crate) span: Span,
}

impl ReceivedSpan {
    /// Returns the trace id and the span id, as in `traceparent`.
    pub(crate) fn ids(&self) -> (String, String) {
        (hex(&self.span.trace_id), hex(&self.span.span_id))
    }

    /// Returns the id of the parent span; empty for a root span.
    pub(crate) fn parent(&self) -> String {
        hex(&self.span.parent_span_id)
    }

    /// Returns true if the status of the span is an error.
    pub(crate) fn failed(&self) -> bool {
        // 2 is `STATUS_CODE_ERROR`.
        self.span
            .status
            .as_ref()
            .is_some_and(|status| status.code == 2)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Response to a call over gRPC.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CallStatus {
    /// Message, and a status in the trailers.
    Trailer(&'static str),
    /// Status in the headers, without a message.
    Head(&'static str),
}

#[derive(Debug, Default)]
struct State {
    /// Spans of each received request in order, or the reason why the request is invalid.
    requests: Vec<Result<Vec<ReceivedSpan>, String>>,
    /// Responses to the next gRPC calls; further calls succeed.
    statuses: Vec<CallStatus>,
}

/// Running collector, stopped when dropped.
#[derive(Debug)]
pub(crate) struct Collector {
    pub(crate) address: SocketAddr,
    state: Arc<Mutex<State>>,
    _listening: JoinSet<()>,
}

impl Collector {
    pub(crate) async fn start() -> Done<Self> {
        Self::start_with(None).await
    }

    /// Starts a collector, with TLS if configured.
    pub(crate) async fn start_with(tls: Option<rustls::ServerConfig>) -> Done<Self> {
        let tls = tls.map(|mut config| {
            config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
            TlsAcceptor::from(Arc::new(config))
        });
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        let mut listening = JoinSet::new();
        listening.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (tls, state) = (tls.clone(), Arc::clone(&shared));
                connections.spawn(async move {
                    match tls {
                        None => serve(stream, state).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                serve(stream, state).await;
                            }
                        }
                    }
                });
            }
        });
        Ok(Self {
            address,
            state,
            _listening: listening,
        })
    }

    /// Sets the responses to the next gRPC calls, in order.
    pub(crate) fn answer_calls(&self, statuses: &[CallStatus]) {
        locked(&self.state).statuses = statuses.to_vec();
    }

    /// Returns the number of received requests.
    pub(crate) fn requests(&self) -> usize {
        locked(&self.state).requests.len()
    }

    /// Returns the received spans.
    ///
    /// # Errors
    /// When a received request was invalid.
    pub(crate) fn spans(&self) -> Done<Vec<ReceivedSpan>> {
        let state = locked(&self.state);
        let requests: Result<Vec<_>, _> = state.requests.iter().cloned().collect();
        Ok(requests?.into_iter().flatten().collect())
    }

    /// Waits for a span that satisfies a condition.
    pub(crate) async fn span(
        &self,
        what: &str,
        matches: impl Fn(&ReceivedSpan) -> bool,
    ) -> Done<ReceivedSpan> {
        let find = || match self.spans() {
            Ok(spans) => spans.into_iter().find(|sent| matches(sent)).map(Ok),
            Err(error) => Some(Err(error)),
        };
        until(what, find).await?
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve<I>(stream: I, state: Arc<Mutex<State>>)
where
    I: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let service = service_fn(move |request: Request<Incoming>| {
        let state = Arc::clone(&state);
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            let request = Request::from_parts(head, body);
            Ok::<_, hyper::Error>(locked(&state).answer(&request))
        }
    });
    let server = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
    let served = server.serve_connection(TokioIo::new(stream), service).await;
    // A client may disconnect at any time, which is not an error here.
    served.ok();
}

impl State {
    fn answer(&mut self, request: &Request<Bytes>) -> Response<BoxBody<Bytes, Infallible>> {
        let header = |name| request.headers().get(name).map(HeaderValue::as_bytes);
        let kind = header("content-type");
        let calls = kind == Some(b"application/grpc");
        let spans = match request.uri().path() {
            "/v1/traces" if kind == Some(b"application/x-protobuf") => decode(request.body()),
            "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
                if calls
                    && header("te") == Some(b"trailers")
                    && request.version() == Version::HTTP_2 =>
            {
                unframed(request.body()).and_then(decode)
            }
            _ => Err(format!("not of OTLP: {request:?}")),
        };
        self.requests.push(spans);
        match calls {
            true => self.answer_call(),
            false => Response::new(Full::default().boxed()),
        }
    }

    fn answer_call(&mut self) -> Response<BoxBody<Bytes, Infallible>> {
        let status = match self.statuses.is_empty() {
            true => CallStatus::Trailer("0"),
            false => self.statuses.remove(0),
        };
        let body = Full::new(Bytes::from_static(&[0; 5]));
        let (mut response, status) = match status {
            CallStatus::Head(status) => {
                let mut response = Response::new(Full::default().boxed());
                let status = HeaderValue::from_static(status);
                response.headers_mut().insert("grpc-status", status);
                (response, None)
            }
            CallStatus::Trailer(status) => (Response::new(body.boxed()), Some(status)),
        };
        let grpc = HeaderValue::from_static("application/grpc");
        response.headers_mut().insert("content-type", grpc);
        response.map(|body| match status {
            None => body,
            Some(status) => {
                let mut trailers = HeaderMap::new();
                trailers.insert("grpc-status", HeaderValue::from_static(status));
                body.with_trailers(async { Some(Ok(trailers)) }).boxed()
            }
        })
    }
}

/// Returns the message in an uncompressed gRPC frame.
fn unframed(body: &[u8]) -> Result<&[u8], String> {
    match body.split_first_chunk::<5>() {
        Some(([0, length @ ..], message))
            if usize::try_from(u32::from_be_bytes(*length)) == Ok(message.len()) =>
        {
            Ok(message)
        }
        _ => Err(format!("no frame: {body:?}")),
    }
}

fn decode(message: &[u8]) -> Result<Vec<ReceivedSpan>, String> {
    let request = ExportTraceServiceRequest::decode(message).map_err(|error| error.to_string())?;
    let mut sent = Vec::new();
    for of_resource in request.resource_spans {
        let resource = attributes(&of_resource.resource.unwrap_or_default().attributes);
        let spans = of_resource.scope_spans.into_iter();
        sent.extend(
            spans
                .flat_map(|scope| scope.spans)
                .map(|span| ReceivedSpan {
                    resource: resource.clone(),
                    attributes: attributes(&span.attributes),
                    span,
                }),
        );
    }
    Ok(sent)
}

fn attributes(attributes: &[KeyValue]) -> BTreeMap<String, Value> {
    let attributes = attributes.iter().map(|attribute| {
        let value = attribute.value.as_ref().and_then(|any| any.value.as_ref());
        let value = match value {
            Some(any_value::Value::StringValue(text)) => Value::from(text.clone()),
            Some(any_value::Value::IntValue(number)) => Value::from(*number),
            _ => Value::Null,
        };
        (attribute.key.clone(), value)
    });
    attributes.collect()
}
