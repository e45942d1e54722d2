//! `realm_bot` events: for those who look after a bot, keys included (events.md 3).

use super::EventWriter;
use super::changes::{push_object, push_open};
use crate::api::wire::bot::{bot as bot_json, channel_name, services};
use crate::api::wire::json::{push_field, push_name, push_text_field, push_value};
use model::event::BotChange;
use model::{EventBody, UserId};
use rules::avatar::{AvatarSize, whole_avatar_url};

impl EventWriter<'_> {
    /// Writes an event about a bot, up to its number. False: it is of another kind.
    pub(super) fn push_bot_event(&self, out: &mut Vec<u8>, body: &EventBody) -> bool {
        match body {
            EventBody::BotAdded { bot, config } => {
                push_open(out, "realm_bot", "add");
                push_name(out, "bot");
                if let Some(realm) = self.realm {
                    push_value(out, &bot_json(realm, self.directory, bot, config));
                }
            }
            EventBody::BotChanged { bot, change } => {
                push_open(out, "realm_bot", "update");
                push_name(out, "bot");
                push_object(out, &self.bot_fields(*bot, change));
            }
            EventBody::BotRemoved(bot) => {
                push_open(out, "realm_bot", "delete");
                push_name(out, "bot");
                let mut fields = Vec::new();
                push_field(&mut fields, "user_id", bot);
                push_object(out, &fields);
            }
            _ => return false,
        }
        true
    }

    fn bot_fields(&self, bot: UserId, change: &BotChange) -> Vec<u8> {
        let mut out = Vec::new();
        push_field(&mut out, "user_id", &bot);
        match change {
            BotChange::FullName(name) => push_text_field(&mut out, "full_name", name),
            BotChange::Email(address) => push_text_field(&mut out, "email", address),
            BotChange::IsActive(is_active) => push_field(&mut out, "is_active", is_active),
            BotChange::Owner(owner) => push_field(&mut out, "owner_id", owner),
            BotChange::SendingChannel(channel) => {
                push_field(&mut out, "default_sending_stream", &channel_name(self.directory, *channel));
            }
            BotChange::RegisterChannel(channel) => {
                let name = channel_name(self.directory, *channel);
                push_field(&mut out, "default_events_register_stream", &name);
            }
            BotChange::AllPublicChannels(is_set) => {
                push_field(&mut out, "default_all_public_streams", is_set);
            }
            BotChange::Avatar => {
                if let Some(bot) = self.directory.user(bot) {
                    push_text_field(
                        &mut out,
                        "avatar_url",
                        &whole_avatar_url(self.directory, bot, AvatarSize::Small),
                    );
                }
            }
            BotChange::ApiKey => {
                if let Some((realm, bot)) = self.realm.zip(self.directory.user(bot)) {
                    push_text_field(&mut out, "api_key", &realm.api_key(bot));
                }
            }
            BotChange::Service(service) => {
                if let Some(realm) = self.realm {
                    push_field(&mut out, "services", &services(realm, bot, service.as_ref()));
                }
            }
        }
        out
    }
}
