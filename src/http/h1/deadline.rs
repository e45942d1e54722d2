//! A deadline that is moved for each request and rarely reached.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::time::{Instant, Sleep};

/// A timer. Moving its deadline to a later time costs nothing until the earlier one has passed.
#[derive(Default)]
pub struct Deadline(Option<Pin<Box<Sleep>>>);

impl Deadline {
    /// Ready once a moment has passed.
    pub fn poll(&mut self, cx: &mut Context<'_>, until: Instant) -> Poll<()> {
        let sleep = self.0.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
        if sleep.deadline() > until {
            sleep.as_mut().reset(until);
        }
        loop {
            ready!(sleep.as_mut().poll(cx));
            if sleep.deadline() >= until {
                // Used up.
                self.0 = None;
                return Poll::Ready(());
            }
            sleep.as_mut().reset(until);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::time::Duration;

    #[tokio::test]
    async fn it_can_be_moved_in_both_directions() {
        let start = Instant::now();
        let (soon, later, late) = (
            start + Duration::from_millis(10),
            start + Duration::from_millis(40),
            start + Duration::from_secs(600),
        );
        let mut deadline = Deadline::default();
        assert!(poll_fn(|cx| Poll::Ready(deadline.poll(cx, soon))).await.is_pending());
        poll_fn(|cx| deadline.poll(cx, later)).await;
        assert!(Instant::now() >= later);
        assert!(poll_fn(|cx| Poll::Ready(deadline.poll(cx, late))).await.is_pending());
        let now = Instant::now();
        poll_fn(|cx| deadline.poll(cx, now)).await;
        assert!(Instant::now() < late);
    }
}
