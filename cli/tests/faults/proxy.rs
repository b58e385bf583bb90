//! What lies between workers and coordinators: passes bytes on, or swallows what comes back.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// A proxy in front of some coordinators; each connection goes to the first that takes it.
pub(crate) struct Proxy {
    addr: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    upstreams: Vec<SocketAddr>,
    /// Answers are swallowed; requests pass.
    is_mute: AtomicBool,
    open: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    pub(crate) fn start(upstreams: Vec<SocketAddr>) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            upstreams,
            is_mute: AtomicBool::new(false),
            open: Mutex::default(),
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                accepting.connect(client);
            }
        });
        Proxy { addr, shared }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// From now on requests arrive and answers do not.
    pub(crate) fn mute(&self) {
        self.shared.is_mute.store(true, Ordering::SeqCst);
    }

    /// Cuts every connection, and lets new ones through.
    pub(crate) fn cut(&self) {
        for stream in self.shared.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
        self.shared.is_mute.store(false, Ordering::SeqCst);
    }
}

impl Shared {
    fn connect(self: &Arc<Shared>, client: TcpStream) {
        // Nobody there: the client sees its connection closed, as from a machine that refuses.
        let Some(server) = self
            .upstreams
            .iter()
            .find_map(|upstream| TcpStream::connect(upstream).ok())
        else {
            return;
        };
        let ends = [
            client.try_clone(),
            server.try_clone(),
            client.try_clone(),
            server.try_clone(),
        ];
        let [Ok(kept_client), Ok(kept_server), Ok(from_client), Ok(to_server)] = ends else {
            return;
        };
        self.open.lock().unwrap().extend([kept_client, kept_server]);
        let shared = Arc::clone(self);
        thread::spawn(move || shared.pump(from_client, to_server, false));
        let shared = Arc::clone(self);
        thread::spawn(move || shared.pump(server, client, true));
    }

    fn pump(&self, mut from: TcpStream, mut to: TcpStream, is_answer: bool) {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match from.read(&mut buffer) {
                Ok(0) | Err(_) => break,
                Ok(_) if is_answer && self.is_mute.load(Ordering::SeqCst) => {}
                Ok(n) => {
                    if to.write_all(&buffer[..n]).is_err() {
                        break;
                    }
                }
            }
        }
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    }
}
