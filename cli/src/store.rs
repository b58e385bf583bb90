//! A command's way to the database: opened, brought up to date, and closed again in order.

use std::future::Future;

use anyhow::Context;
use coordinator::store::Store;
use tokio::runtime::Runtime;

use crate::commands::{Database, DatabaseArguments};
use crate::embedded::Access;

/// Connections of one short command.
const MAX_CONNECTIONS: u32 = 4;

/// An open database and the runtime that talks to it.
pub(crate) struct OpenStore {
    pub(crate) runtime: Runtime,
    pub(crate) store: Store,
    database: Database,
}

impl OpenStore {
    /// Opens the database that the arguments name, starting the private Postgres if need be.
    ///
    /// # Errors
    /// When there is no database to be had, or its migrations fail.
    pub(crate) fn open(arguments: &DatabaseArguments) -> anyhow::Result<OpenStore> {
        let database = arguments.open(Access::OwnerOrGuest)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let store = runtime.block_on(async {
            let store = Store::connect(&database.url(), MAX_CONNECTIONS).await?;
            store.migrate().await?;
            anyhow::Ok(store)
        })?;
        Ok(OpenStore {
            runtime,
            store,
            database,
        })
    }

    /// Waits for an answer of the database.
    pub(crate) fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// Closes the connections, then the database if it is ours.
    ///
    /// # Errors
    /// When the server does not stop.
    pub(crate) fn close(self) -> anyhow::Result<()> {
        self.runtime.block_on(self.store.close());
        drop(self.runtime);
        self.database.close().context("stopping Postgres")
    }
}
