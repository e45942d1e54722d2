//! When users were subscribed to channels, in message ids: from the history of subscriptions.

use super::tables::SubscriptionChange;
use model::{MessageId, SubscriptionSpan};

/// The spans of one subscription. `changes` are in chronological order; without any, an active subscription has been there
/// from the beginning. `newest` is the newest message that the user has: a span that must have ended without saying when
/// ends there.
pub fn spans_of(changes: &[SubscriptionChange], is_active: bool, newest: MessageId) -> Vec<SubscriptionSpan> {
    let mut spans: Vec<SubscriptionSpan> = Vec::new();
    for change in changes {
        let open = spans.last_mut().filter(|span| span.until.is_none());
        match (open, change.is_start) {
            (None, true) => spans.push(SubscriptionSpan { after: change.last, until: None }),
            (Some(open), false) => open.until = Some(change.last.max(open.after)),
            (Some(_), true) | (None, false) => {}
        }
    }
    let is_open = spans.last().is_some_and(|span| span.until.is_none());
    if is_active && !is_open {
        let after = spans.last().and_then(|span| span.until).unwrap_or(MessageId::ZERO);
        spans.push(SubscriptionSpan { after, until: None });
    }
    if !is_active && let Some(open) = spans.last_mut().filter(|span| span.until.is_none()) {
        open.until = Some(newest.max(open.after));
    }
    if spans.is_empty() {
        spans.push(SubscriptionSpan { after: MessageId::ZERO, until: Some(newest) });
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(is_start: bool, last: u32) -> SubscriptionChange {
        SubscriptionChange { is_start, last: MessageId(last), ..SubscriptionChange::default() }
    }

    fn spans(changes: &[SubscriptionChange], is_active: bool) -> Vec<(u32, Option<u32>)> {
        let spans = spans_of(changes, is_active, MessageId(90));
        spans.into_iter().map(|span| (span.after.0, span.until.map(|until| until.0))).collect()
    }

    #[test]
    fn subscribed_unsubscribed_and_subscribed_again() {
        let all = [change(true, 5), change(false, 20), change(true, 40)];
        assert_eq!(spans(&all, true), [(5, Some(20)), (40, None)]);
        assert_eq!(spans(&all[..2], false), [(5, Some(20))]);
    }

    #[test]
    fn missing_history_is_completed() {
        assert_eq!(spans(&[], true), [(0, None)]);
        assert_eq!(spans(&[], false), [(0, Some(90))]);
        assert_eq!(spans(&[change(true, 5)], false), [(5, Some(90))]);
        assert_eq!(spans(&[change(true, 5), change(false, 20)], true), [(5, Some(20)), (20, None)]);
    }

    #[test]
    fn repeated_changes_have_no_effect() {
        let all = [change(false, 3), change(true, 5), change(true, 9), change(false, 20), change(false, 30)];
        assert_eq!(spans(&all, false), [(5, Some(20))]);
    }
}
