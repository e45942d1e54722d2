//! Actors whose mailboxes have a bound of their own, from their first message on.

use actix::prelude::*;

/// An actor with a bounded mailbox: [`ask`](crate::account::ask) refuses what it has no room for.
pub(crate) trait BoundedMailbox: Actor<Context = Context<Self>> {
    /// How many messages may wait.
    const MAILBOX_MAX: usize;

    /// Starts the actor. The bound is set before any message can be sent: until `started` runs, which may be after many
    /// messages, a context without it has room for 16.
    fn start_bounded(self) -> Addr<Self> {
        Self::create(|context| {
            context.set_mailbox_capacity(Self::MAILBOX_MAX);
            self
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix::dev::SendError;

    struct Counter(usize);

    impl Actor for Counter {
        type Context = Context<Self>;
    }

    impl BoundedMailbox for Counter {
        const MAILBOX_MAX: usize = 100;
    }

    #[derive(Message)]
    #[rtype(result = "usize")]
    struct Count;

    impl Handler<Count> for Counter {
        type Result = usize;

        fn handle(&mut self, _: Count, _: &mut Self::Context) -> usize {
            self.0 += 1;
            self.0
        }
    }

    #[actix::test]
    async fn bound_holds_before_the_actor_has_run() {
        let counter = Counter(0).start_bounded();
        let accepted = (0..1000).take_while(|_| counter.try_send(Count).is_ok()).count();
        assert!(matches!(counter.try_send(Count), Err(SendError::Full(_))));
        // Each sender may be one above the bound.
        assert!((100..=102).contains(&accepted), "{accepted}");
        assert_eq!(counter.send(Count).await.unwrap(), accepted + 1);
    }
}
