//! What the encodings of events have in common: the queue that they are written for, and shared bytes.

use crate::api::wire::bot::BotSecrets;
use crate::api::wire::json::{push_field, push_value};
use bytes::Bytes;
use model::{Directory, Event, EventKind, QueueOptions, User};
use rules::permissions::users::{api_email, is_restricted, sees_user};
use rules::topics::shown_topic;
use serde::Serialize;
use std::borrow::Cow;

/// The form of events that are the same for every queue.
pub(super) const ANY: Option<usize> = Some(0);

/// The form of events whose bytes are not shared with other queues.
pub(super) const OWN: Option<usize> = None;

/// Writes events for one queue.
pub struct EventWriter<'a> {
    pub(super) directory: &'a Directory,
    pub(super) owner: &'a User,
    pub(super) options: &'a QueueOptions,
    pub(super) secrets: &'a dyn BotSecrets,
    /// The owner may see only some users: events that name users cannot be shared with other queues.
    pub(super) is_restricted: bool,
}

/// Where an event is written, and where its shared bytes are.
pub(super) struct Target<'t> {
    pub(super) out: &'t mut Vec<u8>,
    pub(super) event: &'t Event,
}

impl Target<'_> {
    /// Writes the bytes of a form, which are encoded by the first queue that needs them.
    pub(super) fn bytes(self, form: Option<usize>, encode: impl FnOnce() -> Vec<u8>) {
        match form.and_then(|form| self.event.encoded.get(form)) {
            Some(shared) => self.out.extend_from_slice(shared.get_or_init(|| Bytes::from(encode()))),
            None => self.out.extend_from_slice(&encode()),
        }
    }

    /// Writes an event whose fields are `fields`.
    pub(super) fn fields<F: Serialize>(self, form: Option<usize>, fields: impl FnOnce() -> F) {
        let kind = self.event.body.kind();
        self.bytes(form, || {
            let mut out = Vec::with_capacity(128);
            open(&mut out, kind, &fields());
            out
        });
    }
}

/// Writes an event up to its number. `fields` must be a struct or a map.
pub(super) fn open(out: &mut Vec<u8>, kind: EventKind, fields: &impl Serialize) {
    #[derive(Serialize)]
    struct Typed<'f, F> {
        r#type: &'static str,
        #[serde(flatten)]
        fields: &'f F,
    }
    push_value(out, &Typed { r#type: kind.as_str(), fields });
    out.pop();
}

/// Writes the number of an event and its end.
pub(super) fn finish(out: &mut Vec<u8>, number: u64) {
    push_field(out, "id", &number);
    out.push(b'}');
}

impl<'a> EventWriter<'a> {
    /// A writer for the queue of `owner`, with names and e-mail addresses as in `directory`.
    pub fn new(
        directory: &'a Directory,
        owner: &'a User,
        options: &'a QueueOptions,
        secrets: &'a dyn BotSecrets,
    ) -> Self {
        let is_restricted = is_restricted(directory, owner);
        Self { directory, owner, options, secrets, is_restricted }
    }

    /// A form that can be shared only if the owner of the queue may see all users.
    pub(super) fn unless_restricted(&self, form: Option<usize>) -> Option<usize> {
        if self.is_restricted { OWN } else { form }
    }

    /// The form of an event with a topic: the empty topic has a display name for clients that do not know it.
    pub(super) fn topic_form(&self, topic: &str) -> usize {
        usize::from(topic.is_empty() && self.options.capabilities.empty_topic_name)
    }

    /// A topic as the client shows it.
    pub(super) fn topic<'e>(&self, topic: &'e str) -> &'e str {
        shown_topic(topic, self.options.capabilities.empty_topic_name)
    }

    /// Whether the owner of the queue may not see the user.
    pub(super) fn hides(&self, user: &User) -> bool {
        self.is_restricted && !sees_user(self.directory, self.owner, user)
    }

    /// The e-mail address of a user for the API; an artificial one for a hidden user.
    pub(super) fn email_of<'e>(&self, user: &'e User) -> Cow<'e, str> {
        match self.hides(user) {
            true => Cow::Owned(self.directory.made_up_email(user.id)),
            false => api_email(self.directory, user),
        }
    }
}
