//! Changes of messages: facts as an actor decides them, and the same changes of the model.

use super::plain::{Plain, TOPICS};
use super::{Shift, Step};
use model::fact::{ArrivalFact, DeletedFrom, Delivery, MessageUpdate, Movement, NewTopic};
use model::{
    ChannelId, ConversationId, EditEntry, Fact, Flag, Flags, Message, MessageFact, MessageId, MessageRanges,
    MessageVersion, Place, PropagateMode, Reaction, RecipientId, RemainingReactions, Submessage, Timestamp,
    TopicKey, TopicLink, UserId,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const CONTENT_FLAGS: [Flag; 3] = [Flag::Mentioned, Flag::TopicWildcardMentioned, Flag::HasAlertWord];

fn without(flags: Flags, flag: Flag) -> Flags {
    Flags(flags.0 & !Flags::only(flag).0)
}

fn ranges(ids: &BTreeSet<u32>) -> MessageRanges {
    MessageRanges::from_sorted(ids.iter().copied().map(MessageId))
}

fn entry(at: u64) -> EditEntry {
    EditEntry { user: UserId(1), at: Timestamp(at), ..EditEntry::default() }
}

impl Plain {
    fn message(&self, number: u8) -> Option<u32> {
        self.messages.keys().copied().nth(usize::from(number) % self.messages.len().max(1))
    }

    pub fn change(&mut self, step: &Step) -> Option<Fact> {
        self.now += 1;
        match step {
            Step::Edit { message, flagged, traits } => {
                let target = self.message(*message)?;
                let (edited, conversation) =
                    (self.edit(target, *flagged, *traits), self.conversation(target));
                self.set_content_flags(target);
                Some(self.update((target, conversation), Some(edited), None))
            }
            Step::Move(shift) => self.shift(shift),
            Step::Delete { message, count } => self.delete(self.message(*message)?, usize::from(*count)),
            Step::React { message, user } => self.react(self.message(*message)?, self.user(*user)),
            Step::Submessage { message } => {
                let id = self.message(*message)?;
                let submessage = Submessage {
                    id: self.now as u32,
                    msg_type: "widget".into(),
                    content: "{}".into(),
                    sender: UserId(1),
                };
                self.both(id, |message| message.submessages.push(submessage.clone()));
                Some(Fact::Message(MessageFact::SubmessageAdded {
                    message: MessageId(id),
                    conversation: self.conversation(id),
                    submessage,
                }))
            }
            Step::EraseHistory { message } => {
                let id = self.message(*message)?;
                let kept = self.both(id, |message| {
                    let texts = message
                        .edits
                        .iter_mut()
                        .flat_map(|step| [&mut step.prev_content, &mut step.prev_rendered]);
                    texts.flatten().for_each(|text| *text = " ".repeat(text.len()).into());
                });
                let versions = vec![(MessageId(id), kept.version)];
                Some(Fact::Message(MessageFact::HistoryErased { versions }))
            }
            _ => None,
        }
    }

    /// Changes a message as readers see it, and its own record, which it returns.
    fn both(&mut self, id: u32, change: impl Fn(&mut Message)) -> Message {
        self.messages.entry(id).and_modify(&change);
        self.own.entry(id).and_modify(&change);
        self.own[&id].clone()
    }

    fn conversation(&self, id: u32) -> ConversationId {
        ConversationId::of(&self.messages[&id])
    }

    fn update(
        &self,
        (target, conversation): (u32, ConversationId),
        edited: Option<MessageVersion>,
        movement: Option<Movement>,
    ) -> Fact {
        Fact::Message(MessageFact::Updated(Box::new(MessageUpdate {
            target: MessageId(target),
            by: UserId(1),
            at: Timestamp(self.now),
            conversation,
            edited: edited.map(Arc::new),
            movement,
        })))
    }

    fn edit(&mut self, id: u32, flagged: u8, traits: u8) -> MessageVersion {
        let now = self.now;
        let flag = CONTENT_FLAGS[usize::from(traits) % 3];
        let user_flags: Vec<_> = self
            .users_of(flagged & 0x3f)
            .into_iter()
            .map(|user| (UserId(user), Flags::only(flag).with(Flag::Read)))
            .collect();
        let own = self.both(id, |message| {
            let content = Some(std::mem::replace(&mut message.content, format!("tea again {now}")));
            let rendered = Some(std::mem::replace(&mut message.rendered, format!("<p>tea again {now}</p>")));
            // One entry for each request: the move may have made it already.
            if message.edits.first().is_none_or(|newest| newest.at.0 != now) {
                message.edits.insert(0, entry(now));
            }
            message.edits[0].prev_content = content.map(Into::into);
            message.edits[0].prev_rendered = rendered.map(Into::into);
            message.version += 1;
            message.last_edited = Some(Timestamp(now));
            message.traits.has_link = traits & 8 != 0;
            message.traits.channel_wildcard = traits & 16 != 0;
            message.user_flags.clone_from(&user_flags);
        });
        MessageVersion::of(&own)
    }

    fn set_content_flags(&mut self, id: u32) {
        for user in 1..=self.users {
            let wanted = self.own[&id].own_flags(UserId(user));
            let is_delivered = self.delivered.contains(&(user, id));
            let flags = self.flags.entry((user, id)).or_default();
            for flag in CONTENT_FLAGS {
                let has_row = flags.contains(flag) || is_delivered || flags.contains(Flag::Historical);
                *flags = without(*flags, flag).with_if(flag, wanted.contains(flag) && has_row);
            }
        }
    }

    fn react(&mut self, id: u32, user: u32) -> Option<Fact> {
        let reaction = Reaction {
            emoji_name: "tea".into(),
            emoji_code: ["1f375", "2615"][self.now as usize / 2 % 2].into(),
            reaction_type: "unicode_emoji".into(),
            user: UserId(user),
        };
        let is_there = self.own[&id].reactions.contains(&reaction);
        let left = RemainingReactions::without(&self.own[&id], &reaction);
        let (message, conversation) = (MessageId(id), self.conversation(id));
        self.both(id, |message| {
            message.reactions.retain(|other| *other != reaction);
            if !is_there {
                message.reactions.push(reaction.clone());
            }
        });
        let is_delivered = self.delivered.contains(&(user, id));
        let flags = self.flags.entry((user, id)).or_default();
        if !is_there && !is_delivered && !flags.contains(Flag::Historical) {
            *flags = flags.with(Flag::Historical).with(Flag::Read);
        }
        Some(match is_there {
            true => Fact::Message(MessageFact::ReactionRemoved { message, conversation, reaction, left }),
            false => Fact::Message(MessageFact::ReactionAdded { message, conversation, reaction }),
        })
    }

    fn delete(&mut self, target: u32, others: usize) -> Option<Fact> {
        let place = self.messages[&target].place.clone();
        let recipient = self.messages[&target].recipient;
        let conversation = |message: &Message| match (&message.place, &place) {
            (Place::Channel { channel: a, topic: b }, Place::Channel { channel: c, topic: d }) => {
                a == c && TopicKey::new(b) == TopicKey::new(d)
            }
            (Place::Direct, Place::Direct) => message.recipient == recipient,
            _ => false,
        };
        let here = self.messages.range(target..).filter(|(_, message)| conversation(message));
        let ids: BTreeSet<u32> = here.map(|(id, _)| *id).take(1 + others).collect();
        self.messages.retain(|id, _| !ids.contains(id));
        self.own.retain(|id, _| !ids.contains(id));
        self.delivered.retain(|(_, id)| !ids.contains(id));
        self.flags.retain(|(_, id), _| !ids.contains(id));
        self.deleted.extend(&ids);
        let from = match place {
            Place::Channel { channel, topic } => DeletedFrom::Topic { channel, topic },
            Place::Direct => DeletedFrom::Direct(recipient),
        };
        Some(Fact::Message(MessageFact::Deleted { from, messages: ranges(&ids), by: None }))
    }

    fn shift(&mut self, shift: &Shift) -> Option<Fact> {
        let target = self.message(shift.message)?;
        let Place::Channel { channel, topic } = self.messages[&target].place.clone() else { return None };
        let mode = PropagateMode::ALL[usize::from(shift.mode) % 3];
        let ids: BTreeSet<u32> = self
            .messages
            .iter()
            .filter(|(id, message)| {
                mode.includes(MessageId(target), MessageId(**id))
                    && message.place.channel() == Some(channel)
                    && TopicKey::new(message.place.topic()) == TopicKey::new(&topic)
            })
            .map(|(id, _)| *id)
            .collect();
        let to = shift.channel.map(|number| self.channel(number)).filter(|to| *to != channel.0);
        let new_topic = shift.topic.map(|number| NewTopic {
            name: TOPICS[usize::from(number) % TOPICS.len()].into(),
            links: vec![TopicLink { text: number.to_string(), url: "https://tea.example".into() }],
        });
        let conversation = self.conversation(target);
        let new_channel = to.map(|to| self.arrive(to, &ids, shift));
        for id in &ids {
            self.shift_one(*id, to, new_topic.as_ref(), shift.is_resolve);
        }
        let movement = Movement {
            messages: ranges(&ids),
            mode,
            channel,
            topic,
            new_channel,
            new_topic,
            is_resolve: shift.is_resolve,
        };
        let mut edited = None;
        if shift.is_edit {
            // Its own record has an entry for the content alone.
            edited = Some(self.edit(target, shift.newcomers, shift.keepers));
            self.set_content_flags(target);
        }
        Some(self.update((target, conversation), edited, Some(movement)))
    }

    fn shift_one(&mut self, id: u32, to: Option<u32>, topic: Option<&NewTopic>, is_resolve: bool) {
        let now = self.now;
        let Some(message) = self.messages.get_mut(&id) else { return };
        let mut entry = entry(now);
        let mut place = (message.place.channel().unwrap(), message.place.topic().to_owned());
        if let Some(to) = to {
            entry.channel = Some((place.0, ChannelId(to)));
            place.0 = ChannelId(to);
            message.recipient = RecipientId(to);
        }
        if let Some(topic) = topic {
            entry.topic = (place.1 != topic.name).then(|| (place.1.clone(), topic.name.clone()));
            place.1.clone_from(&topic.name);
            message.topic_links.clone_from(&topic.links);
        }
        message.place = Place::Channel { channel: place.0, topic: place.1 };
        if entry.channel.is_some() || entry.topic.is_some() {
            message.edits.insert(0, entry);
        }
        if !is_resolve {
            message.last_moved = Some(Timestamp(now));
        }
    }

    /// The recipients of messages that are moved to another channel.
    fn arrive(&mut self, to: u32, ids: &BTreeSet<u32>, shift: &Shift) -> ArrivalFact {
        let mut groups: BTreeMap<(BTreeSet<u32>, bool), Vec<UserId>> = BTreeMap::new();
        let (keepers, newcomers) = (self.users_of(shift.keepers), self.users_of(shift.newcomers));
        for user in 1..=self.users {
            let (had, lacked): (BTreeSet<u32>, BTreeSet<u32>) =
                ids.iter().partition(|id| self.delivered.contains(&(user, **id)));
            for (theirs, is_new) in [(had, false), (lacked, true)] {
                let people = if is_new { &newcomers } else { &keepers };
                let has = people.contains(&user);
                for id in &theirs {
                    let is_outside = !self.subscriptions.get(&(to, user)).is_some_and(|own| own.is_active);
                    self.arrive_one(user, *id, is_new, has, is_outside);
                }
                if has && !theirs.is_empty() {
                    groups.entry((theirs, is_new)).or_default().push(UserId(user));
                }
            }
        }
        let deliveries = groups
            .into_iter()
            .map(|((ids, is_new), users)| Delivery { messages: ranges(&ids), users, is_new })
            .collect();
        ArrivalFact { channel: ChannelId(to), recipient: RecipientId(to), deliveries }
    }

    fn arrive_one(&mut self, user: u32, id: u32, is_new: bool, has: bool, is_outside: bool) {
        let flags = self.flags.entry((user, id)).or_default();
        match (is_new, has) {
            (true, true) => {
                *flags = flags.with(Flag::Read);
                self.delivered.insert((user, id));
            }
            // Users who starred it without receiving it lose their flags as well, unless they are in the new channel.
            (_, false) if !is_new || is_outside => {
                let own = [Flag::Starred, Flag::Collapsed, Flag::Historical];
                for flag in own.into_iter().chain(CONTENT_FLAGS) {
                    *flags = without(*flags, flag);
                }
                self.delivered.remove(&(user, id));
            }
            _ => {}
        }
    }
}
