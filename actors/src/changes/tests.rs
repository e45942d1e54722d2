mod move_notices;
mod moves;

use super::*;
use crate::draft::Draft;
use crate::fixture::{self, CORE, HAMLET, IAGO, POLONIUS, START, VERONA};
use model::fact::{DeletedFrom, Delivery, MessageUpdate};
use model::{
    ChannelFact, EventNumber, Flag, Flags, Frame, MessageFact, MessageRanges, PersonalFact, Place,
    PropagateMode, RealmFact, Subscription, SubscriptionFact, TopicKey, UserFact, VisibilityPolicy,
};
use rules::error::EditError;
use rules::markdown::Rendered;

const BOT: UserId = UserId(1);

/// An organization whose frames the test writes itself.
struct World {
    realm: Arc<RealmShared>,
    clock: crate::ManualClock,
    /// A channel whose record is on its way to the disk.
    changing: std::cell::Cell<Option<ChannelId>>,
    _folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let (realm, clock, folder) = fixture::shared();
        Self { realm, clock, changing: Default::default(), _folder: folder }
    }

    fn apply(&self, facts: Vec<Fact>) {
        let mut view = self.realm.view.write();
        let (sequence, first_event) = (view.progress.sequence.next(), view.progress.last_event.next());
        let at = self.realm.clock.now();
        view.apply(sequence, &Frame { at, first_event: EventNumber(first_event.0), facts }).unwrap();
    }

    fn ids(&self) -> Sequencer {
        Sequencer::after(&self.realm.view.read())
    }

    /// Sends to a topic; gives the id.
    fn send(&self, sender: UserId, channel: ChannelId, topic: &str, content: &str) -> MessageId {
        let id = self.ids().message;
        let view = self.realm.view.read();
        let draft = fixture::draft(&view, sender, channel, topic, content).draft;
        let recipient = view.directory.channel(channel).unwrap().recipient;
        drop(view);
        let place = Place::Channel { channel, topic: topic.to_owned() };
        let destination = crate::draft::Destination { recipient, place, topic_links: Vec::new() };
        let message =
            Arc::new(draft.into_message(id, self.realm.clock.now(), destination, Default::default()));
        self.apply(vec![Fact::Message(MessageFact::Sent { message, echo: None })]);
        id
    }

    fn decide<C: ChangeCommand>(
        &self,
        conversation: ChannelId,
        command: &C,
    ) -> Result<Decision<C::Outcome>, DomainError> {
        let view = self.realm.view.read();
        let now = self.realm.clock.now();
        let conversation = ConversationKey::Channel(conversation);
        let (ids, is_changing) = (self.ids(), &|channel| Some(channel) == self.changing.get());
        let target = Default::default();
        command.decide(&mut DecisionContext {
            realm: &self.realm,
            view: &view,
            conversation,
            now,
            ids,
            target,
            is_changing,
        })
    }

    /// The facts of a change, which are true afterwards.
    fn change<C: ChangeCommand>(&self, conversation: ChannelId, command: &C) -> Vec<Fact> {
        match self.decide(conversation, command) {
            Ok(Decision::Decided(_, facts)) => {
                self.apply(facts.clone());
                facts
            }
            Ok(Decision::Retry) => panic!("retry"),
            Err(error) => panic!("{error}"),
        }
    }

    fn refused<C: ChangeCommand>(&self, conversation: ChannelId, command: &C) -> String {
        match self.decide(conversation, command) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("permitted"),
        }
    }

    fn set_policy(&self, user: UserId, topic: &str, policy: VisibilityPolicy) {
        self.apply(vec![Fact::Subscription(SubscriptionFact::TopicPolicySet {
            users: vec![user],
            channel: VERONA,
            topic: topic.into(),
            policy,
        })]);
    }

    fn policy(&self, user: UserId, channel: ChannelId, topic: &str) -> VisibilityPolicy {
        self.realm.view.read().directory.topic_policy(user, channel, &TopicKey::new(topic))
    }

    fn change_channel(&self, channel: ChannelId, change: impl FnOnce(&mut model::Channel)) {
        let mut record = model::Channel::clone(self.realm.directory().channel(channel).unwrap());
        change(&mut record);
        self.apply(vec![Fact::Channel(ChannelFact::Changed(Box::new(record)))]);
    }

    fn set(&self, name: &str, value: model::SettingValue) {
        let mut realm = model::Realm::clone(self.realm.directory().realm());
        realm.settings.insert(name.to_owned(), value);
        self.apply(vec![Fact::Realm(RealmFact::Changed(Box::new(realm)))]);
    }

    fn subscribe(&self, user: UserId, channel: ChannelId) {
        let last = self.ids().last_message();
        let subscribers = vec![(user, Subscription::start("#76ce90".into(), last))];
        self.apply(vec![Fact::Subscription(SubscriptionFact::Added { channel, subscribers, by: user })]);
    }
}

fn edit(user: UserId, message: MessageId) -> EditCommand {
    EditCommand {
        user,
        message,
        request: RequestedEdit::default(),
        rendered: None,
        topic_links: Vec::new(),
        tells_old: false,
        tells_new: false,
        realm_url: "https://chat.example".into(),
    }
}

fn content(user: UserId, message: MessageId, text: &str) -> EditCommand {
    let mut command = edit(user, message);
    command.request.content = Some(text.to_owned());
    command.rendered = Some(Rendered { html: format!("<p>{text}</p>"), ..Rendered::default() });
    command
}

fn rename(user: UserId, message: MessageId, topic: &str, mode: PropagateMode) -> EditCommand {
    let mut command = edit(user, message);
    command.request.topic = Some(topic.to_owned());
    command.request.mode = mode;
    command
}

fn carry(user: UserId, message: MessageId, channel: ChannelId, mode: PropagateMode) -> EditCommand {
    let mut command = edit(user, message);
    command.request.channel = Some(channel.0.into());
    command.request.mode = mode;
    command
}

fn update(facts: &[Fact]) -> &MessageUpdate {
    let updates = facts.iter().find_map(|fact| match fact {
        Fact::Message(MessageFact::Updated(update)) => Some(update),
        _ => None,
    });
    updates.expect("an update")
}

fn moved(facts: &[Fact]) -> Vec<MessageId> {
    update(facts).movement.iter().flat_map(|movement| movement.messages.iter()).collect()
}

/// Topic and text of the notices among facts.
fn notices(facts: &[Fact]) -> Vec<(String, String)> {
    let sent = facts.iter().filter_map(|fact| match fact {
        Fact::Message(MessageFact::Sent { message, .. }) => {
            assert_eq!(message.sender, BOT);
            Some((message.place.topic().to_owned(), message.content.clone()))
        }
        _ => None,
    });
    sent.collect()
}

fn deliveries(facts: &[Fact]) -> &[Delivery] {
    &update(facts).movement.as_ref().unwrap().new_channel.as_ref().unwrap().deliveries
}

#[test]
fn edit_keeps_history_and_updates_mention_flags() {
    let world = World::new();
    let id = world.send(HAMLET, VERONA, "lunch", "one");
    world.apply(vec![Fact::Personal(PersonalFact::AlertWordsSet { user: IAGO, words: vec!["two".into()] })]);
    let mut command = content(HAMLET, id, "say Two");
    command.rendered.as_mut().unwrap().mentions.users = vec![IAGO.0.into(), POLONIUS.0.into()];
    world.clock.advance_secs(5);
    let facts = world.change(VERONA, &command);
    let edited = update(&facts).edited.clone().unwrap();
    assert_eq!((edited.content.as_str(), edited.rendered.as_str()), ("say Two", "<p>say Two</p>"));
    assert_eq!((edited.number, edited.by, edited.at), (1, HAMLET, START.plus_secs(5)));
    let message = world.realm.message(id).unwrap().unwrap();
    assert_eq!(message.last_edited, Some(START.plus_secs(5)));
    assert_eq!(message.edits[0].prev_content.as_deref(), Some("one"));
    assert_eq!(message.edits[0].prev_rendered.as_deref(), Some("<p>one</p>"));
    let flags = Flags::only(Flag::Mentioned).with(Flag::HasAlertWord);
    assert_eq!(edited.user_flags, [(IAGO, flags)], "who does not have the message gets nothing of it");
    let again = world.change(VERONA, &content(HAMLET, id, " \n"));
    let edited = update(&again).edited.clone().unwrap();
    assert_eq!((edited.content.as_str(), edited.number), ("(deleted)", 2));
    assert!(edited.user_flags.is_empty());
}

#[test]
fn edit_checks_mention_permissions() {
    let world = World::new();
    let id = world.send(HAMLET, VERONA, "lunch", "one");
    let people = (1000..1020).map(|id| (UserId(id), Subscription::start("#76ce90".into(), MessageId(0))));
    world.apply(vec![Fact::Subscription(SubscriptionFact::Added {
        channel: VERONA,
        subscribers: people.collect(),
        by: IAGO,
    })]);
    let mut command = content(HAMLET, id, "@**all**");
    command.rendered.as_mut().unwrap().mentions.channel_wildcard = true;
    let refused = world.refused(VERONA, &command);
    assert_eq!(refused, "You do not have permission to use channel wildcard mentions in this channel.");
    let mut command = content(HAMLET, id, "@*admins*");
    command.rendered.as_mut().unwrap().mentions.groups = vec![3];
    assert_eq!(
        world.refused(VERONA, &command),
        "You are not allowed to mention user group 'role:administrators'."
    );
}

#[test]
fn delete_topic_starts_with_newest_messages() {
    let world = World::new();
    let ids: Vec<MessageId> = (0..101).map(|_| world.send(HAMLET, VERONA, "Lunch", "x")).collect();
    world.set_policy(HAMLET, "lunch", VisibilityPolicy::Muted);
    let batch = DeleteTopicBatch { user: IAGO, channel: VERONA, topic: " lunch".into() };
    let facts = world.change(VERONA, &batch);
    let from = DeletedFrom::Topic { channel: VERONA, topic: "Lunch".into() };
    let messages = MessageRanges::from_sorted(ids[1..].iter().copied());
    assert_eq!(facts, [Fact::Message(MessageFact::Deleted { from, messages, by: Some(IAGO) })]);
    assert_eq!(world.policy(HAMLET, VERONA, "lunch"), VisibilityPolicy::Muted);
    let Ok(Decision::Decided(outcome, facts)) = world.decide(VERONA, &batch) else { panic!() };
    assert_eq!(outcome, TopicDeletion { deleted: 1, is_complete: true });
    world.apply(facts);
    assert_eq!(world.policy(HAMLET, VERONA, "lunch"), VisibilityPolicy::Inherit);
    let Ok(Decision::Decided(outcome, facts)) = world.decide(VERONA, &batch) else { panic!() };
    assert_eq!(outcome, TopicDeletion { deleted: 0, is_complete: true });
    assert!(facts.is_empty());
    let by_member = DeleteTopicBatch { user: HAMLET, ..batch };
    assert_eq!(world.refused(VERONA, &by_member), "Must be an organization administrator");
}

#[test]
fn delete_topic_keeps_policies_of_hidden_messages() {
    let world = World::new();
    world.subscribe(HAMLET, CORE);
    world.apply(vec![Fact::Subscription(SubscriptionFact::Removed {
        channel: CORE,
        last: MessageId(0),
        users: vec![IAGO],
        by: IAGO,
    })]);
    world.send(HAMLET, CORE, "lunch", "x");
    world.change_channel(CORE, |channel| channel.history_public_to_subscribers = false);
    world.subscribe(IAGO, CORE);
    world.send(HAMLET, CORE, "lunch", "y");
    for user in [HAMLET, IAGO] {
        let policy = VisibilityPolicy::Followed;
        world.apply(vec![Fact::Subscription(SubscriptionFact::TopicPolicySet {
            users: vec![user],
            channel: CORE,
            topic: "lunch".into(),
            policy,
        })]);
    }
    world.change(CORE, &DeleteTopicBatch { user: IAGO, channel: CORE, topic: "lunch".into() });
    assert_eq!(world.policy(HAMLET, CORE, "lunch"), VisibilityPolicy::Followed);
    assert_eq!(world.policy(IAGO, CORE, "lunch"), VisibilityPolicy::Inherit);
}

#[test]
fn reaction_sets_topic_policy_by_setting() {
    let world = World::new();
    let id = world.send(IAGO, VERONA, "lunch", "x");
    let emoji = NamedEmoji { name: Some("heart".into()), ..NamedEmoji::default() };
    let react = |user, change| ChangeReaction { user, message: id, change, emoji: emoji.clone() };
    assert_eq!(world.change(VERONA, &react(HAMLET, ReactionChange::Add)).len(), 1);
    let mut iago = User::clone(world.realm.directory().user(IAGO).unwrap());
    iago.settings.insert("automatically_follow_topics_policy".into(), model::SettingValue::Int(1));
    world.apply(vec![Fact::User(UserFact::Changed(Box::new(iago)))]);
    assert_eq!(world.change(VERONA, &react(IAGO, ReactionChange::Add)).len(), 2);
    assert_eq!(world.policy(IAGO, VERONA, "lunch"), VisibilityPolicy::Followed);
    assert_eq!(world.refused(VERONA, &react(IAGO, ReactionChange::Add)), "Reaction already exists.");
    world.change(VERONA, &react(HAMLET, ReactionChange::Remove));
    let message = world.realm.message(id).unwrap().unwrap();
    assert_eq!(message.reactions.iter().map(|reaction| reaction.user).collect::<Vec<_>>(), [IAGO]);
    assert_eq!(world.refused(VERONA, &react(HAMLET, ReactionChange::Remove)), "Reaction doesn't exist.");
}

#[test]
fn poll_votes_are_submessages() {
    let world = World::new();
    let id = world.send(IAGO, VERONA, "lunch", "no poll");
    let content = r#"{"type":"vote","key":"canned,0","vote":1}"#.to_owned();
    let vote = AddSubmessage { user: HAMLET, message: id, msg_type: "widget".into(), content };
    assert_eq!(world.refused(VERONA, &vote), "You cannot attach a submessage to this message.");
    let ids = world.ids();
    let draft = |text: &str, widget: Option<&str>| {
        let draft = fixture::draft(&world.realm.view.read(), IAGO, VERONA, "lunch", text).draft;
        Draft { widget: widget.map(str::to_owned), ..draft }
    };
    let first = first_submessage(&draft("/poll Lunch?\npizza", None), &ids).unwrap().unwrap();
    assert_eq!(first.id, ids.sequence.0 as u32);
    assert_eq!(first_submessage(&draft("hello", None), &ids).unwrap(), None);
    let given = first_submessage(&draft("/poll Lunch?", Some("{}")), &ids).unwrap().unwrap();
    assert_eq!((given.content.as_str(), given.sender), ("{}", IAGO));
    let own = AddSubmessage { user: IAGO, content: first.content, ..vote.clone() };
    world.change(VERONA, &own);
    world.change(VERONA, &vote);
    let message = world.realm.message(id).unwrap().unwrap();
    let senders: Vec<UserId> = message.submessages.iter().map(|part| part.sender).collect();
    assert_eq!(senders, [IAGO, HAMLET]);
    assert!(message.submessages[0].id < message.submessages[1].id);
}
