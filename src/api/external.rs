//! `POST /external/{integration}`: an incoming webhook (docs/webhooks.md).
//!
//! The key in the URL says whose message it becomes; the catalog says how.

use crate::api::messages::recipients::{ChannelName, PeopleNames};
use crate::api::messages::send::{Destination, post_message};
use crate::http::params::check_length_max;
use crate::http::webhook_body::WebhookBody;
use crate::http::{
    ApiError, App, BodyKind, Caller, Code, Envelope, Fields, HandlerResult, Path, RealmUrl, reply_ok,
};
use crate::integrations::incoming::{
    Delivery, EventFilter, Integration, Outcome, PATTERN_CHARS_MAX, PATTERNS_MAX, parse_payload, value_count,
};
use percent_encoding::percent_decode_str;
use std::collections::BTreeMap;

/// Memory of one value of a payload, in bytes.
const VALUE_BYTES: usize = 96;

/// The parameters of the URL that every integration has.
struct Parameters {
    stream: Option<String>,
    topic: Option<String>,
    filter: EventFilter,
    ignores_private: bool,
    /// Those of this integration.
    own: BTreeMap<String, String>,
    ignored: Vec<String>,
}

impl Parameters {
    fn read(fields: &Fields, integration: &Integration) -> Result<Self, ApiError> {
        // Checked before the body was read.
        fields.optional_str("api_key");
        let decoded = |text: &str| match integration.decodes_parameters_twice {
            true => percent_decode_str(text).decode_utf8_lossy().into_owned(),
            false => text.to_owned(),
        };
        let given = |name| fields.optional_str(name).map(|text| decoded(text).trim().to_owned());
        let own = integration
            .url_options
            .iter()
            .filter_map(|option| Some((option.key.clone(), fields.optional_str(&option.key)?.to_owned())));
        let own = own.collect();
        let ignores_private =
            integration.knows_private && fields.bool_or("ignore_private_repositories", false)?;
        let only = patterns(fields, "only_events")?;
        let exclude = patterns(fields, "exclude_events")?;
        let (stream, topic) = (given("stream"), given("topic"));
        let filter = EventFilter { only, exclude };
        Ok(Self { stream, topic, filter, ignores_private, own, ignored: fields.ignored() })
    }
}

fn patterns(fields: &Fields, name: &str) -> Result<Option<Vec<String>>, ApiError> {
    let Some(list) = fields.optional_strings(name)? else { return Ok(None) };
    if list.len() > PATTERNS_MAX {
        return Err(ApiError::bad_request(format!("{name} is too long (limit: {PATTERNS_MAX} items)")));
    }
    list.iter().try_for_each(|pattern| check_length_max(name, pattern, PATTERN_CHARS_MAX))?;
    Ok(Some(list))
}

/// Receives a delivery, and sends the message that it becomes.
pub async fn receive(
    app: App,
    caller: Caller,
    Path(name): Path<String>,
    url: RealmUrl,
    body: WebhookBody,
) -> HandlerResult {
    let head = check_head(&app, &name, &body);
    let (integration, parameters, event) = match head {
        Ok(head) => head,
        Err((refusal, notice)) => {
            body.discard().await;
            notify_owner(&caller, notice).await;
            return Err(refusal);
        }
    };
    let kind = body.kind.clone();
    let mut read = body.read().await?;
    read.hold(value_count(&read.bytes) * VALUE_BYTES)?;
    let payload = match parse_payload(&kind, &read.bytes) {
        Ok(payload) => payload,
        Err(error) => {
            notify_owner(&caller, Some(not_json_notice(integration))).await;
            return Err(refused_payload(integration, &kind, &error));
        }
    };
    let delivery = Delivery {
        event: &event,
        payload: &payload,
        parameters: &parameters.own,
        topic: parameters.topic.as_deref(),
        filter: &parameters.filter,
        ignores_private: parameters.ignores_private,
    };
    let outcome = app.incoming.outcome(integration, &delivery);
    drop((payload, read));
    respond(&app, &caller, &url, (integration, &parameters), outcome).await
}

/// What the head alone decides: the integration, the parameters, and the event's name if it is in a header. A refusal comes
/// with a text for the owner of the bot, if the reason is the set-up.
type Head<'a> = (&'a Integration, Parameters, String);

fn check_head<'a>(
    app: &'a App,
    name: &str,
    body: &WebhookBody,
) -> Result<Head<'a>, (ApiError, Option<String>)> {
    let integration = app.incoming.integration(name).ok_or_else(|| (ApiError::not_found(), None))?;
    let parameters = Parameters::read(&body.parameters, integration).map_err(|error| (error, None))?;
    let Some(header) = &integration.event_header else { return Ok((integration, parameters, String::new())) };
    match body.header(header) {
        Some(event) => Ok((integration, parameters, event.chars().take(100).collect())),
        None => {
            let msg = format!("Missing the HTTP event header '{header}'");
            let refusal = ApiError::new(Code::MISSING_HTTP_EVENT_HEADER, msg).with("header", header.as_str());
            Err((refusal, Some(no_header_notice(integration, header))))
        }
    }
}

fn refused_payload(
    integration: &Integration,
    kind: &BodyKind,
    error: &crate::integrations::incoming::PayloadError,
) -> ApiError {
    tracing::info!(integration = %integration.name, body = %kind, %error, "an incoming webhook was refused");
    ApiError::bad_request(error.to_string())
}

async fn respond(
    app: &App,
    caller: &Caller,
    url: &RealmUrl,
    (integration, parameters): (&Integration, &Parameters),
    outcome: Outcome,
) -> HandlerResult {
    match outcome {
        Outcome::Message { topic, content, .. } => {
            deliver(app, caller, url, (integration, parameters), (topic, content)).await?;
        }
        Outcome::Ignored => {}
        Outcome::Unsupported { event } => return unsupported(integration, &event),
        Outcome::Anomalous { event, reason } => {
            tracing::info!(integration = %integration.name, %event, %reason, "the payload of an incoming webhook is not understood");
            let name = &integration.display_name;
            let msg = format!("Unable to parse request: Did {name} generate this event?");
            return Err(
                ApiError::new(Code::ANOMALOUS_WEBHOOK_PAYLOAD, msg).with("webhook_name", name.as_str())
            );
        }
    }
    if integration.answer.is_empty() {
        return Ok(reply_ok()?.ignoring(parameters.ignored.clone()));
    }
    let mut envelope = Envelope::with_capacity(64);
    for (name, value) in &integration.answer {
        envelope = envelope.field(name, value)?;
    }
    Ok(envelope.reply()?.ignoring(parameters.ignored.clone()))
}

fn unsupported(integration: &Integration, event: &str) -> HandlerResult {
    let name = &integration.display_name;
    let msg = format!("The '{event}' event isn't currently supported by the {name} webhook; ignoring");
    Envelope::with_msg(&msg)?
        .field("webhook_name", name)?
        .field("event_type", &event)?
        .field("code", &"UNSUPPORTED_WEBHOOK_EVENT_TYPE")?
        .reply()
}

/// Sends the message to the channel in the URL; without one directly to the owner of the bot. A channel that does not exist is
/// no error for the service: the owner of the bot is notified instead.
async fn deliver(
    app: &App,
    caller: &Caller,
    url: &RealmUrl,
    (integration, parameters): (&Integration, &Parameters),
    (topic, content): (String, String),
) -> Result<(), ApiError> {
    let to = match &parameters.stream {
        Some(stream) => {
            let channel = match stream.parse::<i64>() {
                Ok(id) if stream.bytes().all(|byte| byte.is_ascii_digit()) => ChannelName::Id(id),
                Ok(_) | Err(_) => ChannelName::Name(stream.clone()),
            };
            let topic = parameters.topic.clone().unwrap_or(topic);
            Destination::Topic(channel, topic)
        }
        None => {
            let owner = caller.user.bot.as_ref().and_then(|bot| bot.owner);
            let owner = owner.ok_or_else(|| ApiError::missing_parameter("stream"))?;
            Destination::People(PeopleNames::Ids(vec![i64::from(owner.0)]))
        }
    };
    match post_message(app, caller, integration.client.clone(), url, to, content).await {
        Err(error) if error.code() == Some(Code::STREAM_DOES_NOT_EXIST) => Ok(()),
        result => result,
    }
}

/// Tells the owner of a bot about a wrong set-up, at most once in five minutes.
async fn notify_owner(caller: &Caller, text: Option<String>) {
    let Some(text) = text else { return };
    let Some(draft) = actors::owner_message(&caller.realm, &caller.realm.directory(), &caller.user, text)
    else {
        return;
    };
    if let Err(error) = caller.realm.send_direct(draft).await {
        tracing::warn!(%error, "the owner of a bot could not be notified");
    }
}

fn not_json_notice(integration: &Integration) -> String {
    format!(
        "Hi there! It looks like you tried to set up the Zulip {} integration, but didn't correctly configure the \
         webhook to send data in the JSON format that this integration expects!",
        integration.display_name
    )
}

fn no_header_notice(integration: &Integration, header: &str) -> String {
    format!(
        "Hi there! Your bot just received an HTTP request that is missing the HTTP header `{header}`. Because this \
         header is how {} indicates the type of an event, this usually means that the URL of another integration was \
         entered, or that the service is an older version, which does not send the header.",
        integration.display_name
    )
}
