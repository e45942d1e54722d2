//! `/?stream=NAME&topic=TOPIC`: a window for one conversation.

use super::params::{Conversation, Term};
use crate::http::{ApiError, Fields, FromFields};
use model::{Directory, User};
use rules::permissions::channel::{Archived, ChannelRef, access_channel_metadata};

/// The parameters of the page.
#[derive(Clone, Debug, Default)]
pub struct HomeQuery {
    stream: Option<String>,
    topic: Option<String>,
}

impl FromFields for HomeQuery {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { stream: fields.optional("stream"), topic: fields.optional("topic") })
    }
}

impl HomeQuery {
    /// The conversation of the window; none for the whole app, and for a channel that the user may not see.
    pub fn conversation(&self, directory: &Directory, user: &User) -> Option<Conversation> {
        let name = ChannelRef::Name(self.stream.as_deref()?);
        let channel = access_channel_metadata(directory, user, name, Archived::Refused).ok()?;
        let mut narrow = vec![Term { operator: "channel", operand: channel.name.clone() }];
        narrow.extend(self.topic.clone().map(|operand| Term { operator: "topic", operand }));
        Some(Conversation {
            narrow,
            narrow_stream: Some(channel.name.clone()),
            narrow_topic: self.topic.clone(),
        })
    }
}

impl Conversation {
    /// The narrow of the queue, which only gets messages of the conversation.
    pub fn queue_narrow(&self) -> Vec<(String, String)> {
        self.narrow.iter().map(|term| (term.operator.to_owned(), term.operand.clone())).collect()
    }
}
