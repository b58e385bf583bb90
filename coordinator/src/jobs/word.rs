//! Word of new work from other coordinators and from commands on the database, for calls that wait here.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;
use tracing::{debug, warn};

use crate::Shared;

/// How long to wait before the next try when the database does not let us listen.
const REST: Duration = Duration::from_secs(5);

/// Listens until the shutdown. While nobody listens, calls that wait look again by themselves (`jobs::waiting`).
pub(crate) async fn listen(shared: Arc<Shared>) {
    let mut was_away = false;
    loop {
        let listening = async {
            let mut word = shared.store.word_of_work().await?;
            // What was told before we listened was not heard.
            shared.work.tell();
            loop {
                word.next().await?;
                shared.work.tell();
            }
        };
        tokio::select! {
            ended = listening => {
                let ended: Result<std::convert::Infallible, crate::store::StoreError> = ended;
                let Err(error) = ended;
                if was_away {
                    debug!(%error, "no word of work yet");
                } else {
                    warn!(%error, "no word of work from others; calls that wait look by themselves");
                }
                was_away = true;
            }
            () = shared.shutdown.cancelled() => return,
        }
        tokio::select! {
            () = sleep(REST) => {}
            () = shared.shutdown.cancelled() => return,
        }
    }
}
