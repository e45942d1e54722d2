//! Creating channels.

use super::TestUser;
use serde_json::{Value, json};
use std::future::{Future, IntoFuture};
use std::pin::Pin;

/// An existing channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    pub id: u64,
    pub name: String,
}

/// A channel to be created. Awaiting it creates it.
pub struct ChannelBuilder {
    creator: TestUser,
    name: String,
    subscribers: Vec<u32>,
    more: Vec<(&'static str, Value)>,
}

impl ChannelBuilder {
    pub fn new(creator: TestUser, name: &str) -> Self {
        Self { subscribers: vec![creator.id], creator, name: name.to_owned(), more: Vec::new() }
    }

    /// Makes it private.
    pub fn private(self) -> Self {
        self.set("invite_only", json!(true))
    }

    /// Makes it private with protected history: subscribers see only messages sent while they were subscribed.
    pub fn protected_history(self) -> Self {
        self.private().set("history_public_to_subscribers", json!(false))
    }

    /// Makes it private with shared history: subscribers see all messages.
    pub fn shared_history(self) -> Self {
        self.private().set("history_public_to_subscribers", json!(true))
    }

    /// Adds a subscriber besides the creator.
    pub fn with(mut self, person: &TestUser) -> Self {
        self.subscribers.push(person.id);
        self
    }

    /// Adds a parameter to the request.
    pub fn set(mut self, name: &'static str, value: Value) -> Self {
        self.more.push((name, value));
        self
    }
}

impl IntoFuture for ChannelBuilder {
    type Output = Channel;
    type IntoFuture = Pin<Box<dyn Future<Output = Channel> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let subscribers = json!(self.subscribers);
            let mut params: Vec<super::call::Param<'_>> =
                vec![("name", &self.name), ("subscribers", &subscribers)];
            for (name, value) in &self.more {
                params.push((name, value));
            }
            let body = self.creator.post("/channels/create", &params).ok().await;
            Channel { id: body["id"].as_u64().expect("a channel id"), name: self.name }
        })
    }
}
