//! The signals that ask a command to end: Ctrl-C, SIGTERM and the closing of its terminal.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens for the signals; must be made inside a runtime.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    /// Takes the signals over from the system's default, which would kill us.
    pub(crate) fn listen() -> std::io::Result<Signals> {
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }

    /// Waits for one signal, the only one of interest.
    pub(crate) async fn first(mut self) {
        self.next().await;
    }
}
