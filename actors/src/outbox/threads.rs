//! The threads on which external services are called, apart from the shards, so that a slow service delays no one.
//! Each kind of task has its own thread, so that no kind waits for another.

use super::delivery::{Delivery, DeliveryAttempt, OutboxOptions};
use crate::error::DomainError;
use model::job::TaskKind;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// The threads. They end when this is closed or dropped.
pub(crate) struct DeliveryThreads {
    pub options: OutboxOptions,
    runtimes: BTreeMap<TaskKind, Handle>,
    until_closed: Mutex<Vec<oneshot::Sender<()>>>,
}

impl DeliveryThreads {
    /// Starts the threads.
    pub fn start(options: OutboxOptions) -> Result<Self, DomainError> {
        let mut runtimes = BTreeMap::new();
        let mut until_closed = Vec::new();
        for kind in TaskKind::ALL {
            let (handle, closer) = start_thread(kind)
                .map_err(|error| DomainError::Storage(format!("cannot start a thread: {error}")))?;
            runtimes.insert(kind, handle);
            until_closed.push(closer);
        }
        Ok(Self { options, runtimes, until_closed: Mutex::new(until_closed) })
    }

    /// Ends the threads and the deliveries in progress, which hold references to their organizations.
    pub fn close(&self) {
        self.until_closed.lock().clear();
    }

    /// One attempt, with a timeout.
    pub async fn deliver(&self, attempt: DeliveryAttempt) -> Delivery {
        let worker = self.options.worker.clone();
        let secs_max = self.options.delivery_secs_max;
        let Some(runtime) = self.runtimes.get(&attempt.job.task.kind()) else {
            return Delivery::failed("nothing of this kind is delivered");
        };
        let one_try = runtime.spawn(async move {
            tokio::time::timeout(Duration::from_secs(secs_max), worker.deliver(attempt)).await
        });
        match one_try.await {
            Ok(Ok(delivery)) => delivery,
            Ok(Err(_)) => Delivery::failed(format!("it took longer than {secs_max} s")),
            Err(_) => Delivery::failed("the delivery was aborted"),
        }
    }
}

/// A thread for one kind of task, until the sender is dropped.
fn start_thread(kind: TaskKind) -> std::io::Result<(Handle, oneshot::Sender<()>)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    let (until_closed, closed) = oneshot::channel::<()>();
    std::thread::Builder::new().name(format!("outside-{}", kind.name())).spawn(move || {
        let _ = runtime.block_on(closed);
        // A pending name lookup must not delay the end of the process.
        runtime.shutdown_background();
    })?;
    Ok((handle, until_closed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outbox::DeliveryWorker;
    use model::job::{Job, MailTask, PushTask, Task};
    use model::{JobId, Timestamp, UserId};
    use std::pin::Pin;
    use std::sync::Arc;

    /// Blocks its thread with an e-mail until the test releases it; everything else is done at once.
    struct Busy(Mutex<std::sync::mpsc::Receiver<()>>);

    impl DeliveryWorker for Busy {
        fn supports(&self, _: TaskKind) -> bool {
            true
        }

        fn deliver(&self, attempt: DeliveryAttempt) -> Pin<Box<dyn Future<Output = Delivery> + Send>> {
            if attempt.job.task.kind() == TaskKind::Mail {
                let _ = self.0.lock().recv();
            }
            Box::pin(async { Delivery::done() })
        }
    }

    #[tokio::test]
    async fn slow_kind_does_not_delay_other_kinds() {
        let (go_on, busy) = std::sync::mpsc::channel();
        let worker = Arc::new(Busy(Mutex::new(busy)));
        let options = OutboxOptions { worker, delivery_secs_max: 30, give_up_secs: 30 };
        let outside = DeliveryThreads::start(options).unwrap();
        let (realm, _, _folder) = crate::fixture::shared();
        let attempt = |task| {
            let now = Timestamp(0);
            let job = Job { id: JobId(1), added: now, due: now, task, failure: None };
            DeliveryAttempt {
                realm: crate::fixture::handle(&realm),
                job: Arc::new(job),
                tries: 1,
                age_millis: 0,
            }
        };
        let mail = Task::Mail(MailTask::Missed { user: UserId(1), messages: Vec::new() });
        let push = Task::Push(PushTask::Remove { user: UserId(1), messages: Vec::new() });
        let mut waiting = Box::pin(outside.deliver(attempt(mail)));
        tokio::select! {
            biased;
            _ = &mut waiting => panic!("the mail is not done"),
            delivery = outside.deliver(attempt(push)) => assert!(matches!(delivery, Delivery::Done(None))),
        }
        go_on.send(()).unwrap();
        assert!(matches!(waiting.await, Delivery::Done(None)));
    }
}
