//! The thread on which the world outside is talked to, away from those that decide: whoever is slow there costs nobody here.

use super::{Delivery, OutboxOptions, Parcel};
use crate::error::DomainError;
use parking_lot::Mutex;
use std::time::Duration;
use tokio::sync::oneshot;

/// The thread, and how jobs are carried on it. It ends when this is closed or dropped.
pub(crate) struct Outside {
    /// How.
    pub options: OutboxOptions,
    runtime: tokio::runtime::Handle,
    until_closed: Mutex<Option<oneshot::Sender<()>>>,
}

impl Outside {
    /// Starts the thread.
    ///
    /// # Errors
    /// `Storage` when the system has no more threads.
    pub fn start(options: OutboxOptions) -> Result<Self, DomainError> {
        let failed = |error: std::io::Error| DomainError::Storage(error.to_string());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let handle = runtime.handle().clone();
        let (until_closed, closed) = oneshot::channel::<()>();
        let thread = std::thread::Builder::new().name("outside".to_owned());
        thread
            .spawn(move || {
                let _ = runtime.block_on(closed);
                // What still looks up a name must not keep the process.
                runtime.shutdown_background();
            })
            .map_err(failed)?;
        Ok(Self { options, runtime: handle, until_closed: Mutex::new(Some(until_closed)) })
    }

    /// Ends the thread, and whatever is under way on it: a delivery knows its organization, and would keep it for ever.
    pub fn close(&self) {
        self.until_closed.lock().take();
    }

    /// One try, which always comes to an end.
    pub async fn deliver(&self, parcel: Parcel) -> Delivery {
        let courier = self.options.courier.clone();
        let secs_max = self.options.delivery_secs_max;
        let one_try = self.runtime.spawn(async move {
            tokio::time::timeout(Duration::from_secs(secs_max), courier.deliver(parcel)).await
        });
        match one_try.await {
            Ok(Ok(delivery)) => delivery,
            Ok(Err(_)) => Delivery::failed(format!("it took longer than {secs_max} s")),
            Err(_) => Delivery::failed("the server gave up in the middle"),
        }
    }
}
