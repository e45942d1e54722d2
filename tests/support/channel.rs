//! Channels, and how one is asked for.

use super::Person;
use serde_json::{Value, json};
use std::future::{Future, IntoFuture};
use std::pin::Pin;

/// A channel that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    pub id: u64,
    pub name: String,
}

/// A channel to be created. Awaiting it creates it.
pub struct ChannelBuilder {
    creator: Person,
    name: String,
    subscribers: Vec<u32>,
    more: Vec<(&'static str, Value)>,
}

impl ChannelBuilder {
    pub fn new(creator: Person, name: &str) -> Self {
        Self { subscribers: vec![creator.id], creator, name: name.to_owned(), more: Vec::new() }
    }

    /// Nobody outside sees what is in it.
    pub fn private(self) -> Self {
        self.set("invite_only", json!(true))
    }

    /// New people do not see what was before them.
    pub fn protected_history(self) -> Self {
        self.private().set("history_public_to_subscribers", json!(false))
    }

    /// New people see what was before them.
    pub fn shared_history(self) -> Self {
        self.private().set("history_public_to_subscribers", json!(true))
    }

    /// With somebody else in it.
    pub fn with(mut self, person: &Person) -> Self {
        self.subscribers.push(person.id);
        self
    }

    /// With one more parameter.
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
            let mut params: Vec<(&str, &(dyn std::fmt::Display + Sync))> =
                vec![("name", &self.name), ("subscribers", &subscribers)];
            for (name, value) in &self.more {
                params.push((name, value));
            }
            let body = self.creator.post("/channels/create", &params).ok().await;
            Channel { id: body["id"].as_u64().expect("a channel id"), name: self.name }
        })
    }
}
