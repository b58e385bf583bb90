//! Batches that are being proved and stored: one that is sent again meanwhile is not proved twice at once.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use proto::ids::{BatchId, Session};

type Key = (Session, BatchId);

/// The batches under way.
#[derive(Debug, Default)]
pub(super) struct UnderWay(Mutex<HashSet<Key>>);

/// A batch under way; dropped, it is no more.
#[derive(Debug)]
pub(super) struct OnItsWay<'a> {
    under_way: &'a UnderWay,
    key: Key,
}

impl UnderWay {
    /// `None`: it is under way already.
    pub(super) fn begin(&self, session: Session, batch: BatchId) -> Option<OnItsWay<'_>> {
        let key = (session, batch);
        let is_new = self.lock().insert(key);
        // Made only then: one that is made and dropped would take the key from who has it.
        is_new.then(|| OnItsWay { under_way: self, key })
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<Key>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OnItsWay<'_> {
    fn drop(&mut self) {
        self.under_way.lock().remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_batch_is_under_way_once() {
        let under_way = UnderWay::default();
        let session = Session::new(Uuid::nil());
        let begin = |n| under_way.begin(session, BatchId::new(Uuid::from_u128(n)));
        let first = begin(1);
        assert!(first.is_some() && begin(2).is_some());
        // However often it is asked.
        assert!(begin(1).is_none() && begin(1).is_none());
        drop(first);
        assert!(begin(1).is_some());
    }
}
