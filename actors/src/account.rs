//! The account that writes are charged to: it is passed with a request to the actor that commits.
//!
//! A request's future runs with its account set; `ask` sends it along with the message, the actor sets it while it
//! handles the message or a queued command, and the commit pipeline charges it for the bytes. What the
//! server does by itself (timers, retention, jobs) has no account.

use crate::ReplySender;
use crate::error::DomainError;
use actix::dev::ToEnvelope;
use actix::prelude::*;
use model::UserId;
use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::oneshot;

thread_local! {
    static CURRENT: Cell<Option<UserId>> = const { Cell::new(None) };
}

/// The account on whose behalf the current thread works.
pub(crate) fn current() -> Option<UserId> {
    CURRENT.get()
}

/// Runs `work` on behalf of an account, and restores the previous account afterwards.
pub(crate) fn work_for<T>(account: Option<UserId>, work: impl FnOnce() -> T) -> T {
    struct Restore(Option<UserId>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0);
        }
    }
    let _restore = Restore(CURRENT.replace(account));
    work()
}

/// Runs a request on behalf of an account, which is charged for its commands.
pub fn on_behalf_of<F: Future + Unpin>(account: Option<UserId>, request: F) -> OnBehalfOf<F> {
    OnBehalfOf { account, request }
}

/// The future of [`on_behalf_of`].
#[derive(Debug)]
pub struct OnBehalfOf<F> {
    account: Option<UserId>,
    request: F,
}

impl<F: Future + Unpin> Future for OnBehalfOf<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let account = self.account;
        work_for(account, || Pin::new(&mut self.request).poll(context))
    }
}

/// A message to an actor with the account on whose behalf it is sent.
pub(crate) struct Charged<M> {
    pub account: Option<UserId>,
    pub message: M,
}

impl<M: Message<Result = ()>> Message for Charged<M> {
    type Result = ();
}

impl<M> Charged<M> {
    /// A message on behalf of the current account.
    pub fn new(message: M) -> Self {
        Self { account: current(), message }
    }

    /// Handles the message in an actor, on behalf of its account.
    pub fn handle<A>(self, actor: &mut A, context: &mut A::Context)
    where
        A: Actor + Handler<M>,
        M: Message<Result = ()>,
    {
        let message = self.message;
        work_for(self.account, || {
            Handler::<M>::handle(actor, message, context);
        });
    }
}

/// Sends a request to an actor and waits for its answer. A full mailbox refuses at once, instead of queueing in memory.
///
/// The request is sent before the future is created, so that the future holds no copy of it.
pub(crate) fn ask<A, M, T>(
    to: &Addr<A>,
    request: impl FnOnce(ReplySender<T>) -> M,
) -> impl Future<Output = Result<T, DomainError>>
where
    A: Actor + Handler<Charged<M>>,
    M: Message<Result = ()> + Send + 'static,
    A::Context: ToEnvelope<A, Charged<M>>,
{
    let (answer, answered) = oneshot::channel();
    let asked = to.try_send(Charged::new(request(answer))).map_err(|error| match error {
        actix::dev::SendError::Full(_) => DomainError::Overloaded,
        actix::dev::SendError::Closed(_) => DomainError::Stopping,
    });
    async move {
        asked?;
        answered.await.unwrap_or(Err(DomainError::Stopping))
    }
}

/// The error of a request that did not reach its actor.
pub(crate) fn mailbox(error: MailboxError) -> DomainError {
    match error {
        MailboxError::Closed => DomainError::Stopping,
        MailboxError::Timeout => DomainError::Overloaded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn account_is_set_while_request_is_polled() {
        let (one, other) = (Some(UserId(1)), Some(UserId(2)));
        let request = on_behalf_of(
            one,
            Box::pin(async {
                assert_eq!(current(), one);
                tokio::task::yield_now().await;
                work_for(other, || assert_eq!(current(), other));
                current()
            }),
        );
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let between = async {
            tokio::task::yield_now().await;
            assert_eq!(current(), None, "not while another future is polled");
        };
        let (found, ()) = runtime.block_on(async { tokio::join!(request, between) });
        assert_eq!((found, current()), (one, None));
    }
}
