//! Connections as they arrive, plain or encrypted, for both servers.
//!
//! A handshake runs on a task of its own with a deadline, so that who connects and says nothing holds up nobody. Who may
//! stand at the door at all is decided in [`crowd`](super::crowd).

use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::connect_info::Connected as WebConnected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;
use tonic::transport::server::Connected;
use tracing::{debug, warn};

use super::crowd::{Admission, Crowd, Deadline};

/// How long a handshake may take.
const HANDSHAKE_DEADLINE: Duration = Duration::from_secs(10);
/// Connections that wait for a server to take them.
const MAX_WAITING: usize = 64;
/// How long to wait when the system gives no connection (too many files are open).
const REST: Duration = Duration::from_millis(100);

/// A connection with its place at the door. It ends by itself if it makes no call in time that the door lets in.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: Stream,
    deadline: Deadline,
}

#[derive(Debug)]
enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// From where a connection came, and its place at the door.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) addr: SocketAddr,
    pub(crate) admission: Admission,
}

/// How a door takes connections.
#[derive(Clone, Debug)]
pub(crate) struct Entrance {
    /// `None`: connections are plain.
    pub(crate) tls: Option<watch::Receiver<Arc<ServerConfig>>>,
    /// Everybody at the coordinator's doors.
    pub(crate) crowd: Arc<Crowd>,
    /// Whether the door asks for a token.
    pub(crate) asks: bool,
}

/// Connections as they arrive, until the shutdown.
#[derive(Debug)]
pub(crate) struct Arrivals {
    addr: SocketAddr,
    arrivals: mpsc::Receiver<(Connection, SocketAddr)>,
}

impl Arrivals {
    /// Begins to take connections.
    pub(crate) fn at(
        listener: TcpListener,
        addr: SocketAddr,
        entrance: Entrance,
        shutdown: CancellationToken,
    ) -> Arrivals {
        let (sender, arrivals) = mpsc::channel(MAX_WAITING);
        tokio::spawn(async move {
            tokio::select! {
                () = take(&listener, &entrance, &sender) => {}
                () = shutdown.cancelled() => {}
            }
        });
        Arrivals { addr, arrivals }
    }
}

async fn take(
    listener: &TcpListener,
    entrance: &Entrance,
    arrivals: &mpsc::Sender<(Connection, SocketAddr)>,
) {
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                warn!(%error, "no connection could be taken");
                sleep(REST).await;
                continue;
            }
        };
        let Some(admission) = entrance.crowd.arrive(peer.ip(), entrance.asks) else {
            continue;
        };
        let deadline = Deadline::new(admission);
        // Answers hold a few hundred bytes; waiting to fill a packet would cost 40 ms a call.
        if let Err(error) = stream.set_nodelay(true) {
            debug!(%error, %peer, "the connection is gone already");
            continue;
        }
        let Some(tls) = &entrance.tls else {
            let stream = Stream::Plain(stream);
            if arrivals
                .send((Connection { stream, deadline }, peer))
                .await
                .is_err()
            {
                return;
            }
            continue;
        };
        let acceptor = TlsAcceptor::from(Arc::clone(&tls.borrow()));
        let arrivals = arrivals.clone();
        tokio::spawn(async move {
            let shaken = timeout(HANDSHAKE_DEADLINE, acceptor.accept(stream)).await;
            match shaken {
                Ok(Ok(stream)) => {
                    // If nobody takes it, the server is ending.
                    let stream = Stream::Tls(Box::new(stream));
                    let _ = arrivals.send((Connection { stream, deadline }, peer)).await;
                }
                Ok(Err(error)) => debug!(%error, %peer, "no handshake"),
                Err(_elapsed) => debug!(%peer, "a handshake took too long"),
            }
        });
    }
}

impl futures_util::Stream for Arrivals {
    type Item = io::Result<Connection>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.arrivals
            .poll_recv(context)
            .map(|arrived| arrived.map(|(connection, _)| Ok(connection)))
    }
}

impl Listener for Arrivals {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        match self.arrivals.recv().await {
            Some(arrived) => arrived,
            // The shutdown has begun, which the server hears of by itself.
            None => pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.addr)
    }
}

impl WebConnected<IncomingStream<'_, Arrivals>> for Peer {
    fn connect_info(stream: IncomingStream<'_, Arrivals>) -> Peer {
        Peer {
            addr: *stream.remote_addr(),
            admission: stream.io().deadline.admission().clone(),
        }
    }
}

impl Connected for Connection {
    type ConnectInfo = Admission;

    fn connect_info(&self) -> Admission {
        self.deadline.admission().clone()
    }
}

impl Connection {
    /// The stream, if the connection may still be used.
    fn usable(self: Pin<&mut Self>, context: &mut Context<'_>) -> io::Result<&mut Stream> {
        let connection = self.get_mut();
        connection.deadline.check(context)?;
        Ok(&mut connection.stream)
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.usable(context)? {
            Stream::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Stream::Tls(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.usable(context)? {
            Stream::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Stream::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.usable(context)? {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(context),
            Stream::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.usable(context)? {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Stream::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
