//! Decides a change of messages in the actor of their channel or conversation, when all earlier decisions are durable.

use super::{Change, ChangeCommand, ConversationKey, Decision, DecisionContext, Routed};
use crate::ReplySender;
use crate::shard::{BasedOn, SerialActor};
use actix::prelude::*;

/// An actor that decides changes of messages.
pub(crate) trait DecidesChanges: SerialActor {
    /// The channel or conversation that it decides for.
    fn conversation_key(&self) -> ConversationKey<'_>;

    /// Queues a change and decides it when all earlier decisions are durable.
    fn change<C: ChangeCommand>(&mut self, ctx: &mut Context<Self>, change: Change<C>) {
        let Change { command, answer } = change;
        self.in_order(ctx, BasedOn::Durable, answer, move |actor, ctx, answer| {
            actor.decide_change(ctx, &*command, answer);
        });
    }

    fn decide_change<C: ChangeCommand>(
        &mut self,
        ctx: &Context<Self>,
        command: &C,
        answer: ReplySender<Routed<C::Outcome>>,
    ) {
        let realm = self.realm().clone();
        let decided = self.committer().ids(realm.id).and_then(|ids| {
            let view = realm.view.read();
            let now = realm.clock.now();
            let is_changing = |channel| self.committer().uncommitted_channel(realm.id, channel).is_some();
            let (conversation, is_changing) = (self.conversation_key(), &is_changing);
            let target = None;
            let mut context =
                DecisionContext { realm: &realm, view: &view, conversation, now, ids, target, is_changing };
            let (outcome, facts) = match command.decide(&mut context)? {
                Decision::Decided(outcome, facts) => (Routed::Done(outcome), facts),
                Decision::Retry => (Routed::Retry, Vec::new()),
            };
            let is_changed = facts.iter().any(|fact| fact.changed_message().is_some());
            if let Some(target) = context.target.filter(|_| is_changed) {
                self.committer().keep_target(realm.id, target);
            }
            Ok((context.ids, outcome, facts))
        });
        self.conclude(ctx, decided, answer);
    }
}
