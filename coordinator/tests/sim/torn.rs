//! Work that is given up in the middle, as by a process that dies over it.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

/// What a future comes to, if it waits no more often than so; else it is dropped where it stands.
pub(crate) async fn torn<T>(work: impl Future<Output = T>, n_waits: usize) -> Option<T> {
    let mut work = pin!(work);
    let mut n_left = n_waits;
    poll_fn(move |context| match work.as_mut().poll(context) {
        Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
        Poll::Pending if n_left == 0 => Poll::Ready(None),
        Poll::Pending => {
            n_left -= 1;
            Poll::Pending
        }
    })
    .await
}
