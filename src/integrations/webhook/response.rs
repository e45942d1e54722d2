//! The response of a service, and the bot's message made from it, in the same topic or conversation.

use super::call::WebhookCall;
use actors::outbox::Followup;
use actors::{ChannelDraft, DirectDraft, Draft};
use model::{Place, TopicLink, WebhookInterface};
use rules::content::parse_content;
use rules::markdown::{render, topic_links};
use serde_json::{Map, Value};

const CLIENT: &str = "OutgoingWebhookResponse";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WebhookResponse {
    Nothing,
    Say(String),
}

/// Parses the response of a service: JSON, an object or an empty string.
pub(super) fn read_answer(interface: WebhookInterface, body: &[u8]) -> Result<WebhookResponse, &'static str> {
    let answer: Value = serde_json::from_slice(body).map_err(|_| "Invalid JSON in response")?;
    let answer = match answer {
        Value::String(text) if text.is_empty() => return Ok(WebhookResponse::Nothing),
        Value::Object(answer) => answer,
        _ => return Err("Invalid response format"),
    };
    let text = match interface {
        WebhookInterface::Slack => answer.get("text"),
        WebhookInterface::Generic if !wants_reply(&answer) => None,
        // The older name takes precedence.
        WebhookInterface::Generic => answer.get("response_string").or_else(|| answer.get("content")),
    };
    Ok(match text.map(as_text) {
        Some(text) if !text.trim().is_empty() => WebhookResponse::Say(text),
        _ => WebhookResponse::Nothing,
    })
}

fn wants_reply(answer: &Map<String, Value>) -> bool {
    match answer.get("response_not_required") {
        None | Some(Value::Null | Value::Bool(false)) => true,
        Some(Value::Number(number)) => number.as_f64() == Some(0.0),
        Some(Value::String(text)) => text.is_empty(),
        Some(_) => false,
    }
}

fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// The bot's message. Permissions are checked when it is sent, as for every message.
pub(super) fn reply_to(call: &WebhookCall<'_>, text: &str) -> Result<Followup, String> {
    let directory = &call.directory;
    let content = parse_content(text).map_err(|error| error.to_string())?;
    let context = call.attempt.realm.message_markdown(directory, &call.bot).with_url(&call.url);
    let rendered = render(&content, &context).map_err(|_| "Unable to render message".to_owned())?;
    let draft = Draft {
        sender: call.bot.clone(),
        content,
        rendered,
        client: CLIENT.to_owned(),
        read_by_sender: true,
        echo: None,
        claims: Vec::new(),
        widget: None,
    };
    match &call.message.place {
        Place::Channel { channel, topic } => {
            let found = directory.channel(*channel).ok_or_else(|| "The channel does not exist".to_owned())?;
            rules::permissions::channel::check_may_post(directory, &call.bot, found)
                .map_err(|error| error.to_string())?;
            let links = topic_links(topic, &context);
            let links = links.into_iter().map(|link| TopicLink { text: link.text, url: link.url });
            let topic_links = links.collect();
            let draft = ChannelDraft {
                draft,
                channel: *channel,
                topic: topic.clone(),
                topic_links,
                owner_notice: None,
            };
            Ok(Followup::SendToChannel(Box::new(draft)))
        }
        Place::Direct => {
            let conversation = directory.direct(call.message.recipient);
            let users =
                conversation.ok_or_else(|| "The conversation does not exist".to_owned())?.users.clone();
            Ok(Followup::SendDirect(Box::new(DirectDraft { draft, users })))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn webhook_responses_are_parsed() {
        let say = |text: &str| Ok(WebhookResponse::Say(text.to_owned()));
        let cases: [(&str, Result<WebhookResponse, &str>); 14] = [
            (r#"{"content": "hi"}"#, say("hi")),
            (r#"{"response_string": "older", "content": "newer"}"#, say("older")),
            (r#"{"content": 5}"#, say("5")),
            (r#"{"content": "hi", "response_not_required": false}"#, say("hi")),
            (r#"{"content": "hi", "response_not_required": true}"#, Ok(WebhookResponse::Nothing)),
            (r#"{"content": "  "}"#, Ok(WebhookResponse::Nothing)),
            (r#"{"content": null}"#, Ok(WebhookResponse::Nothing)),
            (r#"{"text": "hi"}"#, Ok(WebhookResponse::Nothing)),
            ("{}", Ok(WebhookResponse::Nothing)),
            (r#""""#, Ok(WebhookResponse::Nothing)),
            (r#""hi""#, Err("Invalid response format")),
            ("[]", Err("Invalid response format")),
            ("", Err("Invalid JSON in response")),
            ("<html>", Err("Invalid JSON in response")),
        ];
        for (body, expected) in cases {
            assert_eq!(read_answer(WebhookInterface::Generic, body.as_bytes()), expected, "{body}");
        }
        for (body, expected) in
            [(r#"{"text": "hi"}"#, say("hi")), (r#"{"content": "hi"}"#, Ok(WebhookResponse::Nothing))]
        {
            assert_eq!(read_answer(WebhookInterface::Slack, body.as_bytes()), expected, "{body}");
        }
    }
}
