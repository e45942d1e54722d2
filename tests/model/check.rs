//! Runs each action on the server and on the model, and compares what users can see.

use super::events::{REBUILT, flag_names, is_expected, match_event, new_ids, parse, parse_flags};
use super::rules::{self, Effects, Event};
use super::state::{Channel, Message, PEOPLE, Place, Privacy, READ, State, Who, key};
use super::steps::{Action, CHANNELS, Step};
use crate::support::{Queue, TestServer, TestUser};
use actors::ManualClock;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A mismatch. It is not a panic, so that the sequence can be shortened.
pub type Wrong = String;

/// The server, the model, and the queues of all users.
pub struct Pair {
    t: Option<TestServer>,
    clock: ManualClock,
    pub(super) people: Vec<TestUser>,
    queues: Vec<Queue>,
    /// Ids on the server, by index in the model.
    pub(super) channel_ids: Vec<u64>,
    state: State,
    /// For each user the expected events of their queue, action by action.
    expected: Vec<VecDeque<(String, Effects)>>,
    /// The users whose pending events are from before a restart.
    has_restarted: [bool; PEOPLE.len()],
    count: usize,
}

/// The event types that are compared.
const TYPES: [&str; 4] = ["message", "update_message", "delete_message", "update_message_flags"];

impl Pair {
    pub async fn start() -> Self {
        let clock = ManualClock::new(model::Timestamp(1_790_000_000_000));
        let t = TestServer::builder().clock(&clock).start().await;
        let mut pair = Self {
            t: None,
            clock,
            people: Vec::new(),
            queues: Vec::new(),
            channel_ids: Vec::new(),
            state: State::default(),
            expected: vec![VecDeque::new(); PEOPLE.len()],
            has_restarted: [false; PEOPLE.len()],
            count: 0,
        };
        pair.people = PEOPLE.iter().map(|(name, _, _)| t.user(name)).collect();
        for index in 0..CHANNELS {
            let create = pair.people[0].create_channel(&format!("channel {index}"));
            let (create, privacy) = match index {
                0 | 1 => (create, Privacy::Public),
                2 => (create.shared_history(), Privacy::Shared),
                _ => (create.protected_history(), Privacy::Protected),
            };
            let channel = create.await;
            let narrow = json!([["channel", channel.name]]);
            let id = pair.people[0].message_ids(narrow).await[0];
            pair.channel_ids.push(channel.id);
            let (subscribers, muted) = (BTreeSet::from([0]), BTreeSet::new());
            pair.state.channels.push(Channel { privacy, subscribers, muted });
            let place = Place::Topic(index, "channel events".to_owned());
            let rows = BTreeMap::from([(0, READ)]);
            let notice =
                Message { sender: None, place, content: None, rows, sent_secs: 0, is_resolve_notice: false };
            pair.state.messages.insert(id, notice);
        }
        for person in &pair.people {
            pair.queues.push(person.register().modern().events(&TYPES).await);
        }
        pair.t = Some(t);
        pair
    }

    /// Stops the server and checks its data folder.
    pub async fn stop(self) {
        if let Some(t) = self.t {
            t.stop().await;
        }
    }

    /// Runs a step on both, and compares what it changed. Returns whether it did anything.
    pub async fn take(&mut self, step: &Step) -> Result<bool, Wrong> {
        self.count += 1;
        let Some(action) = step.action(&self.state, self.count) else { return Ok(false) };
        match action {
            Action::Restart => self.restart().await,
            Action::Wait { secs } => self.clock.advance_secs(secs),
            _ => {}
        }
        let (is_permitted, before) = (rules::permits(&self.state, &action), self.state.clone());
        let mut ids = VecDeque::new();
        if let Some(answer) = self.ask(&action).await {
            let is_done = answer.status == 200;
            if is_done != is_permitted {
                let verb = if is_permitted { "is permitted" } else { "is not permitted" };
                return Err(format!("{action:?} {verb}, but got {} {}", answer.status, answer.body));
            }
            ids.extend(answer.body["id"].as_u64());
        }
        if is_permitted {
            let observed = self.listen(0).await;
            ids.extend(new_ids(&observed).filter(|id| !ids.contains(id)).collect::<Vec<_>>());
            let mut has_run_out = false;
            let next = &mut || {
                ids.pop_front().unwrap_or_else(|| {
                    has_run_out = true;
                    u64::MAX
                })
            };
            let effects = rules::apply(&mut self.state, &action, next);
            if has_run_out || !ids.is_empty() {
                let missing = if has_run_out { "one is missing" } else { "too many" };
                return Err(format!("{action:?}: of the new messages {missing}: {ids:?} left"));
            }
            self.expect(&action, &effects);
            self.match_events(0, observed)?;
            let mut touched = effects.touched.clone();
            touched.extend(before.messages.keys().rev().nth(before.messages.len() % 7));
            self.compare(&touched).await.map_err(|wrong| format!("after {action:?}: {wrong}"))?;
        } else {
            self.compare(&before.messages.keys().rev().take(2).copied().collect()).await?;
        }
        if matches!(action, Action::Poll) {
            self.match_all_events().await?;
        }
        Ok(is_permitted)
    }

    async fn restart(&mut self) {
        let folder = self.t.take().expect("it runs").stop().await;
        let t = TestServer::builder().clock(&self.clock).on(folder).start().await;
        self.people = PEOPLE.iter().map(|(name, _, _)| t.user(name)).collect();
        for (queue, person) in self.queues.iter_mut().zip(&self.people) {
            queue.person = person.clone();
        }
        self.t = Some(t);
        self.has_restarted = [true; PEOPLE.len()];
        self.drop_unknowable_expectations();
        self.renew_queues().await;
    }

    /// A rebuilt queue returns nothing that its user may no longer read. Moves are returned to users who can still read
    /// one of the messages.
    fn drop_unknowable_expectations(&mut self) {
        for (who, waiting) in self.expected.iter_mut().enumerate() {
            let is_gone = |event: &Event| match event {
                Event::Message(id, _) | Event::Flag { id, .. } => !self.state.reads(who, *id),
                Event::Update(_, ids) => !ids.iter().any(|id| self.state.reads(who, *id)),
                Event::Delete(_) => false,
            };
            for (_, effects) in waiting.iter_mut() {
                let (gone, must) = effects.must.drain(..).partition(|(_, event)| is_gone(event));
                effects.must = must;
                effects.may.extend::<Vec<_>>(gone);
                for (_, event) in effects.must.iter_mut().chain(&mut effects.may) {
                    if let Event::Update(target, _) = event {
                        *target = REBUILT;
                    }
                }
            }
        }
    }

    /// A queue may end with a restart if it is unknown by then what its user was entitled to see.
    async fn renew_queues(&mut self) {
        for (who, queue) in self.queues.iter_mut().enumerate() {
            let answer = queue.poll(true).await;
            if answer.body["code"] == "BAD_EVENT_QUEUE_ID" {
                *queue = self.people[who].register().modern().events(&TYPES).await;
                self.expected[who].clear();
            } else {
                queue.take(answer);
            }
        }
    }

    // --- events ---

    async fn listen(&mut self, who: Who) -> Vec<Value> {
        self.queues[who].now().await
    }

    /// Records the events that each queue must return because of an action.
    fn expect(&mut self, action: &Action, effects: &Effects) {
        for who in 0..PEOPLE.len() {
            let of =
                |events: &[(Who, Event)]| events.iter().filter(|(one, _)| *one == who).cloned().collect();
            let own = Effects { must: of(&effects.must), may: of(&effects.may), touched: BTreeSet::new() };
            if !own.must.is_empty() || !own.may.is_empty() {
                self.expected[who].push_back((format!("{action:?}"), own));
            }
        }
    }

    /// Compares all queues with the events expected by now.
    pub async fn match_all_events(&mut self) -> Result<(), Wrong> {
        for who in 0..PEOPLE.len() {
            let events = self.listen(who).await;
            self.match_events(who, events)?;
        }
        Ok(())
    }

    /// After a restart the server does not know since when a user could read a message: the user may get another event
    /// of a deletion, or of the move that took messages to where they can read them now.
    fn reveals_nothing(&self, who: Who, event: &Event) -> bool {
        match event {
            Event::Delete(_) => true,
            Event::Update(id, ids) => ids.iter().chain([id]).any(|id| self.state.reads(who, *id)),
            Event::Message(..) | Event::Flag { .. } => false,
        }
    }

    fn match_events(&mut self, who: Who, events: Vec<Value>) -> Result<(), Wrong> {
        let name = PEOPLE[who].0;
        let mut waiting = std::mem::take(&mut self.expected[who]);
        for event in events {
            for found in parse(&event) {
                if self.has_restarted[who]
                    && self.reveals_nothing(who, &found)
                    && !is_expected(&waiting, &found)
                {
                    continue;
                }
                match_event(name, &mut waiting, &found).map_err(|wrong| format!("{wrong}: {event}"))?;
            }
        }
        self.has_restarted[who] = false;
        for (action, effects) in waiting {
            if !effects.must.is_empty() {
                return Err(format!("{name} did not receive {:?} of {action}", effects.must));
            }
        }
        Ok(())
    }

    // --- what users see ---

    /// Compares some messages, for all users.
    async fn compare(&self, ids: &BTreeSet<u64>) -> Result<(), Wrong> {
        let wanted = json!(ids);
        let fetches = self.people.iter().map(|person| fetch(person, &wanted));
        let answers = futures_util::future::join_all(fetches).await;
        for (who, answer) in answers.iter().enumerate() {
            let found: BTreeMap<u64, &Value> =
                answer.iter().map(|message| (message["id"].as_u64().expect("an id"), message)).collect();
            for id in ids {
                self.compare_one(who, *id, found.get(id).copied())
                    .map_err(|wrong| format!("message {id} for {}: {wrong}", PEOPLE[who].0))?;
            }
        }
        Ok(())
    }

    fn compare_one(&self, who: Who, id: u64, found: Option<&Value>) -> Result<(), Wrong> {
        let found = match (self.state.reads(who, id), found) {
            (false, None) => return Ok(()),
            (false, Some(found)) => return Err(format!("can be read, and should not: {found}")),
            (true, None) => return Err("cannot be read, and should".to_owned()),
            (true, Some(found)) => found,
        };
        let message = &self.state.messages[&id];
        let same = |what: &str, expected: Value, found: &Value| {
            if expected == *found { Ok(()) } else { Err(format!("{what} should be {expected}, is {found}")) }
        };
        if let Place::Topic(channel, topic) = &message.place {
            same("the channel", json!(self.channel_ids[*channel]), &found["stream_id"])?;
            same("the topic", json!(topic), &found["subject"])?;
        }
        if let Some(content) = &message.content {
            same("the content", json!(content), &found["content"])?;
        }
        let flags = parse_flags(&found["flags"]);
        let expected = self.state.flags(who, id);
        if flags != expected {
            return Err(format!("the flags should be {}, are {}", flag_names(expected), found["flags"]));
        }
        Ok(())
    }

    /// Compares everything that all users see.
    pub async fn compare_all(&mut self) -> Result<(), Wrong> {
        self.match_all_events().await?;
        self.compare(&self.state.messages.keys().copied().collect()).await?;
        for (who, person) in self.people.iter().enumerate() {
            self.compare_channels(who, person).await?;
            self.compare_registration(who, person).await?;
        }
        Ok(())
    }

    async fn compare_channels(&self, who: Who, person: &TestUser) -> Result<(), Wrong> {
        for (channel, channel_id) in self.channel_ids.iter().enumerate() {
            if !self.state.has_content(who, channel) {
                continue;
            }
            let found = person.message_ids(json!([{"operator": "channel", "operand": channel_id}])).await;
            let is_here =
                |id: &u64| matches!(&self.state.messages[id].place, Place::Topic(at, _) if *at == channel);
            let readable = self.state.messages.keys().filter(|id| is_here(id) && self.state.reads(who, **id));
            let expected: Vec<u64> = readable.copied().collect();
            if found != expected {
                return Err(format!(
                    "{} should find {expected:?} in channel {channel}, finds {found:?}",
                    PEOPLE[who].0
                ));
            }
            let mut topics: BTreeMap<String, (u64, String)> = BTreeMap::new();
            for id in expected {
                if let Place::Topic(_, name) = &self.state.messages[&id].place {
                    topics.insert(key(name), (id, name.clone()));
                }
            }
            let mut topics: Vec<(u64, String)> = topics.into_values().collect();
            topics.sort_by(|a, b| b.cmp(a));
            let path = format!("/users/me/{channel_id}/topics");
            let body = person.get(&path, &[("allow_empty_topic_name", &true)]).ok().await;
            let read = |topic: &Value| {
                (topic["max_id"].as_u64().unwrap(), topic["name"].as_str().unwrap().to_owned())
            };
            let listed: Vec<(u64, String)> =
                body["topics"].as_array().expect("topics").iter().map(read).collect();
            if listed != topics {
                return Err(format!(
                    "{} should see topics {topics:?} in channel {channel}, sees {listed:?}",
                    PEOPLE[who].0
                ));
            }
        }
        Ok(())
    }

    /// Unread messages, and topics with a policy.
    async fn compare_registration(&self, who: Who, person: &TestUser) -> Result<(), Wrong> {
        let types = ["message", "update_message_flags", "user_topic"];
        let queue = person.register().modern().events(&types).await;
        person.delete("/events", &[("queue_id", &queue.id)]).ok().await;
        let mut unread = BTreeSet::new();
        for kind in ["pms", "huddles", "streams"] {
            for conversation in queue.state["unread_msgs"][kind].as_array().expect("a list") {
                let ids = conversation["unread_message_ids"].as_array().expect("ids");
                unread.extend(ids.iter().filter_map(Value::as_u64));
            }
        }
        let expected = self.state.unread(who);
        if unread != expected {
            return Err(format!("{} should have {expected:?} unread, has {unread:?}", PEOPLE[who].0));
        }
        let mut policies = BTreeMap::new();
        for topic in queue.state["user_topics"].as_array().expect("a list") {
            let id = topic["stream_id"].as_u64().expect("an id");
            let channel = self.channel_ids.iter().position(|known| *known == id).expect("a known channel");
            policies.insert(
                (channel, key(topic["topic_name"].as_str().expect("a topic"))),
                topic["visibility_policy"].clone(),
            );
        }
        let own = self.state.policies.iter().filter(|((one, _, _), _)| *one == who);
        let expected: BTreeMap<_, _> =
            own.map(|((_, channel, topic), policy)| ((*channel, topic.clone()), json!(policy))).collect();
        if policies != expected {
            return Err(format!("{} should have policies {expected:?}, has {policies:?}", PEOPLE[who].0));
        }
        Ok(())
    }
}

async fn fetch(person: &TestUser, ids: &Value) -> Vec<Value> {
    let params: crate::support::Params<'_> =
        &[("message_ids", ids), ("apply_markdown", &false), ("allow_empty_topic_name", &true)];
    person.get("/messages", params).ok().await["messages"].as_array().expect("messages").clone()
}
