//! The body of a request to a service, in its two forms.

use super::call::WebhookCall;
use crate::api::wire::json::{push_name, push_text_field};
use crate::api::wire::message::{MessageForm, MessageWriter};
use model::Place;

impl WebhookCall<'_> {
    /// JSON with `bot_email`, `bot_full_name`, `data`, `message`, `token` and `trigger`.
    pub fn json(&self) -> Vec<u8> {
        let form = MessageForm { apply_markdown: false, client_gravatar: false, allow_empty_topic: false };
        let mut writer = MessageWriter::new(&self.directory, Some(&self.bot), form);
        let mut message = Vec::with_capacity(writer.size_of(&self.message) * 2);
        writer.push(&mut message, &self.message, None);
        // Inserted before the last brace.
        message.pop();
        push_text_field(&mut message, "rendered_content", &self.message.rendered);
        message.push(b'}');
        let mut out = Vec::with_capacity(message.len() + self.message.content.len() + 256);
        push_text_field(&mut out, "bot_email", &self.bot.delivery_email);
        push_text_field(&mut out, "bot_full_name", &self.bot.full_name);
        push_text_field(&mut out, "data", &self.message.content);
        push_text_field(&mut out, "token", &self.token());
        push_text_field(&mut out, "trigger", self.task.trigger.as_str());
        push_name(&mut out, "message");
        out.extend_from_slice(&message);
        out.push(b'}');
        // Fields begin with the comma between them.
        if let Some(first) = out.first_mut() {
            *first = b'{';
        }
        out
    }

    /// The fields of Slack-compatible outgoing webhooks; `None` for direct messages, which they do not support.
    pub fn form(&self) -> Option<Vec<(&'static str, String)>> {
        let Place::Channel { channel, .. } = &self.message.place else { return None };
        let name = self.directory.channel(*channel).map(|channel| channel.name.clone()).unwrap_or_default();
        let sender = self.directory.user(self.message.sender);
        let host = url::Url::parse(&self.url).ok().and_then(|url| url.host_str().map(str::to_owned));
        let sent = self.message.sent.secs();
        Some(vec![
            ("token", self.token()),
            ("team_id", format!("T{}", self.directory.realm().id)),
            ("team_domain", host.unwrap_or_default()),
            ("channel_id", format!("C{channel}")),
            ("channel_name", name),
            ("thread_ts", sent.to_string()),
            ("timestamp", sent.to_string()),
            ("user_id", format!("U{}", self.message.sender)),
            ("user_name", sender.map(|sender| sender.full_name.clone()).unwrap_or_default()),
            ("text", self.message.content.clone()),
            ("trigger_word", self.task.trigger.as_str().to_owned()),
            ("service_id", self.bot.id.to_string()),
        ])
    }
    fn token(&self) -> String {
        self.attempt.realm.webhook_token(self.bot.id)
    }
}
