//! The requester of a command, and the account that its writes are charged to: it is passed with a request to the actor that
//! commits.
//!
//! A request's future runs with its requester set; `ask` sends it along with the message, the actor sets it while it
//! handles the message or a queued command, and the commit pipeline charges the account for the bytes and records the
//! requester in the audit log. What the server does by itself (timers, retention, jobs) has no requester.

use crate::ReplySender;
use crate::error::DomainError;
use actix::dev::ToEnvelope;
use actix::prelude::*;
use model::{RequestOrigin, UserId};
use std::cell::RefCell;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::oneshot;

/// Who asks for a change, and through what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requester {
    /// The account that is charged for what is written: of a bot, its owner.
    pub charged: Option<UserId>,
    /// None for the operator, and for requests without an account.
    pub user: Option<UserId>,
    pub origin: RequestOrigin,
    pub address: Option<IpAddr>,
    /// The name of the client, if the request may be recorded in the audit log.
    pub client: Option<Arc<str>>,
}

impl Requester {
    /// A command of the server's operator.
    pub fn operator() -> Self {
        Self { origin: RequestOrigin::CommandLine, ..Self::default() }
    }
}

thread_local! {
    static CURRENT: RefCell<Option<Requester>> = const { RefCell::new(None) };
}

/// The account on whose behalf the current thread works.
pub(crate) fn current() -> Option<UserId> {
    CURRENT.with_borrow(|current| current.as_ref().and_then(|requester| requester.charged))
}

/// The requester on whose behalf the current thread works; none for what the server does by itself.
pub(crate) fn requester() -> Option<Requester> {
    CURRENT.with_borrow(Clone::clone)
}

/// Runs `work` on behalf of a requester, and restores the previous one afterwards.
pub(crate) fn work_for<T>(requester: Option<Requester>, work: impl FnOnce() -> T) -> T {
    struct Restore(Option<Requester>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0.take());
        }
    }
    let _restore = Restore(CURRENT.replace(requester));
    work()
}

/// Runs a request on behalf of a requester, whose account is charged for its commands.
pub fn on_behalf_of<F: Future + Unpin>(requester: Option<Requester>, request: F) -> OnBehalfOf<F> {
    OnBehalfOf { requester, request }
}

/// Continues a request on behalf of the requester that the current thread works for: for what is spawned so that it runs to its
/// end, also if the client disconnects.
pub fn for_current_requester<F: Future>(work: F) -> OnBehalfOf<Pin<Box<F>>> {
    on_behalf_of(requester(), Box::pin(work))
}

/// The future of [`on_behalf_of`].
#[derive(Debug)]
pub struct OnBehalfOf<F> {
    requester: Option<Requester>,
    request: F,
}

impl<F: Future + Unpin> Future for OnBehalfOf<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let requester = self.requester.clone();
        work_for(requester, || Pin::new(&mut self.request).poll(context))
    }
}

/// A message to an actor with the requester on whose behalf it is sent.
pub(crate) struct Charged<M> {
    pub requester: Option<Requester>,
    pub message: M,
}

impl<M: Message<Result = ()>> Message for Charged<M> {
    type Result = ();
}

impl<M> Charged<M> {
    /// A message on behalf of the current requester.
    pub fn new(message: M) -> Self {
        Self { requester: requester(), message }
    }

    /// Handles the message in an actor, on behalf of its requester.
    pub fn handle<A>(self, actor: &mut A, context: &mut A::Context)
    where
        A: Actor + Handler<M>,
        M: Message<Result = ()>,
    {
        let message = self.message;
        work_for(self.requester, || {
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

    fn of(user: u32) -> Option<Requester> {
        Some(Requester { charged: Some(UserId(user)), ..Requester::default() })
    }

    #[test]
    fn requester_is_set_while_request_is_polled() {
        let request = on_behalf_of(
            of(1),
            Box::pin(async {
                assert_eq!(requester(), of(1));
                tokio::task::yield_now().await;
                work_for(of(2), || assert_eq!(current(), Some(UserId(2))));
                current()
            }),
        );
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let between = async {
            tokio::task::yield_now().await;
            assert_eq!(requester(), None, "not while another future is polled");
        };
        let (found, ()) = runtime.block_on(async { tokio::join!(request, between) });
        assert_eq!((found, current()), (Some(UserId(1)), None));
    }
}
