//! Subscriptions of users to channels.

use crate::ids::MessageId;
use serde::{Deserialize, Serialize};

/// One period of a subscription, in message ids. Deliveries follow from these periods, so that no row for each
/// recipient of each message is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubscriptionSpan {
    /// Messages with a greater id were delivered.
    pub after: MessageId,
    /// The last delivered message; none while the period lasts.
    pub until: Option<MessageId>,
}

/// A user's settings for a channel, and the periods of the subscription. Stored after unsubscribing with `is_active`
/// false, so that settings and history are restored by subscribing again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscription {
    pub is_active: bool,
    /// `#rrggbb`, lower case.
    pub color: String,
    pub is_muted: bool,
    /// Shown at the top.
    pub pin_to_top: bool,
    /// None inherits the user's setting, as for the following four.
    pub desktop_notifications: Option<bool>,
    pub audible_notifications: Option<bool>,
    pub push_notifications: Option<bool>,
    pub email_notifications: Option<bool>,
    pub wildcard_mentions_notify: Option<bool>,
    /// All periods of the subscription, oldest first; the last one is open while this and the account are active.
    pub spans: Vec<SubscriptionSpan>,
}

impl Subscription {
    /// A new subscription that starts after message `after`.
    pub fn start(color: String, after: MessageId) -> Self {
        let spans = vec![SubscriptionSpan { after, until: None }];
        Self { is_active: true, color, spans, ..Self::default() }
    }

    /// Starts another span after message `after`. No effect while active.
    pub fn resubscribe(&mut self, after: MessageId) {
        if !self.is_active {
            self.is_active = true;
            self.spans.push(SubscriptionSpan { after, until: None });
        }
    }

    /// Ends the open span: `last` is the newest message that was still delivered.
    pub fn end(&mut self, last: MessageId) {
        self.is_active = false;
        if let Some(span) = self.spans.last_mut() {
            span.until.get_or_insert(last);
        }
    }

    /// The account is deactivated: no message after `last` is delivered. The subscription itself stays active.
    pub fn pause(&mut self, last: MessageId) {
        if let Some(span) = self.spans.last_mut().filter(|_| self.is_active) {
            span.until.get_or_insert(last);
        }
    }

    /// The account is reactivated. No effect unless paused.
    pub fn resume(&mut self, after: MessageId) {
        if self.is_active && self.spans.last().is_none_or(|span| span.until.is_some()) {
            self.spans.push(SubscriptionSpan { after, until: None });
        }
    }

    /// Whether message `id` of the channel was delivered to this user.
    pub fn received(&self, id: MessageId) -> bool {
        self.spans.iter().any(|span| id > span.after && span.until.is_none_or(|until| id <= until))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_determine_deliveries() {
        let mut subscription = Subscription::start("#76ce90".into(), MessageId(10));
        assert!(!subscription.received(MessageId(10)));
        assert!(subscription.received(MessageId(11)));
        subscription.end(MessageId(20));
        assert!(subscription.received(MessageId(20)));
        assert!(!subscription.received(MessageId(21)));
        subscription.resubscribe(MessageId(30));
        subscription.resubscribe(MessageId(35));
        assert!(!subscription.received(MessageId(30)));
        assert!(subscription.received(MessageId(31)));
        assert_eq!(subscription.spans.len(), 2);
    }

    #[test]
    fn nothing_is_delivered_while_paused() {
        let mut subscription = Subscription::start("#76ce90".into(), MessageId(10));
        subscription.pause(MessageId(20));
        subscription.pause(MessageId(25));
        assert!(subscription.is_active && !subscription.received(MessageId(21)));
        subscription.resume(MessageId(30));
        subscription.resume(MessageId(35));
        assert!(!subscription.received(MessageId(30)) && subscription.received(MessageId(31)));
        assert_eq!(subscription.spans.len(), 2);
        subscription.end(MessageId(40));
        subscription.resume(MessageId(50));
        assert!(!subscription.is_active && !subscription.received(MessageId(51)));
    }
}
