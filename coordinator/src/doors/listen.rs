//! Connections as they arrive, plain or encrypted, for both servers.
//!
//! A handshake runs on a task of its own with a deadline, so that who connects and says nothing holds up nobody.

use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::connect_info::Connected as WebConnected;
use axum::serve::{IncomingStream, Listener};
use futures_util::Stream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;
use tonic::transport::server::Connected;
use tracing::{debug, warn};

/// How long a handshake may take.
const HANDSHAKE_DEADLINE: Duration = Duration::from_secs(10);
/// Handshakes at once; who comes beyond that is sent away.
const MAX_HANDSHAKES: usize = 512;
/// Connections that wait for a server to take them.
const MAX_WAITING: usize = 64;
/// How long to wait when the system gives no connection (too many files are open).
const REST: Duration = Duration::from_millis(100);

/// A connection, plain or encrypted.
#[derive(Debug)]
pub(crate) enum Connection {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// From where a connection came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeerAddr(pub(crate) SocketAddr);

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
        tls: Option<watch::Receiver<Arc<ServerConfig>>>,
        shutdown: CancellationToken,
    ) -> Arrivals {
        let (sender, arrivals) = mpsc::channel(MAX_WAITING);
        tokio::spawn(async move {
            tokio::select! {
                () = take(&listener, tls.as_ref(), &sender) => {}
                () = shutdown.cancelled() => {}
            }
        });
        Arrivals { addr, arrivals }
    }
}

async fn take(
    listener: &TcpListener,
    tls: Option<&watch::Receiver<Arc<ServerConfig>>>,
    arrivals: &mpsc::Sender<(Connection, SocketAddr)>,
) {
    let handshakes = Arc::new(Semaphore::new(MAX_HANDSHAKES));
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                warn!(%error, "no connection could be taken");
                sleep(REST).await;
                continue;
            }
        };
        // Answers hold a few hundred bytes; waiting to fill a packet would cost 40 ms a call.
        if let Err(error) = stream.set_nodelay(true) {
            debug!(%error, %peer, "the connection is gone already");
            continue;
        }
        let Some(tls) = tls else {
            if arrivals.send((Connection::Plain(stream), peer)).await.is_err() {
                return;
            }
            continue;
        };
        let Ok(place) = Arc::clone(&handshakes).try_acquire_owned() else {
            warn!(%peer, "too many handshakes at once, a connection was sent away");
            continue;
        };
        let acceptor = TlsAcceptor::from(Arc::clone(&tls.borrow()));
        let arrivals = arrivals.clone();
        tokio::spawn(async move {
            let shaken = timeout(HANDSHAKE_DEADLINE, acceptor.accept(stream)).await;
            drop(place);
            match shaken {
                Ok(Ok(stream)) => {
                    // If nobody takes it, the server is ending.
                    let _ = arrivals.send((Connection::Tls(Box::new(stream)), peer)).await;
                }
                Ok(Err(error)) => debug!(%error, %peer, "no handshake"),
                Err(_elapsed) => debug!(%peer, "a handshake took too long"),
            }
        });
    }
}

impl Stream for Arrivals {
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

impl WebConnected<IncomingStream<'_, Arrivals>> for PeerAddr {
    fn connect_info(stream: IncomingStream<'_, Arrivals>) -> PeerAddr {
        PeerAddr(*stream.remote_addr())
    }
}

impl Connected for Connection {
    type ConnectInfo = ();

    fn connect_info(&self) {}
}

impl AsyncRead for Connection {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Connection::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Connection::Tls(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Connection::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Connection::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Connection::Plain(stream) => Pin::new(stream).poll_flush(context),
            Connection::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Connection::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Connection::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
