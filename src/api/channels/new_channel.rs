//! From a plan and a name to what the organization's actor creates.

use super::notices::creation_notice;
use super::options::ChannelPlan;
use crate::http::{ApiError, Caller};
use actors::{NewChannel, RealmMarkdown};
use model::{Directory, UserId};
use rules::colors::pick_color;
use rules::markdown::render;

/// A channel with its first subscribers, each with a colour, and its first notice.
///
/// # Errors
/// A description that has no reasonable HTML.
pub fn new_channel(
    caller: &Caller,
    directory: &Directory,
    plan: &ChannelPlan,
    name: &str,
    description: String,
    subscribers: Vec<(UserId, String)>,
) -> Result<NewChannel, ApiError> {
    let creator = &*caller.user;
    let rendered_description = description_html(caller, directory, &description)?;
    let mut new = NewChannel::public(name, creator.id, plan.permissions.clone());
    new.notice = creation_notice(&caller.realm, directory, creator, plan.privacy, &description);
    new.subscribers = subscribers;
    new.is_default = plan.is_default;
    let channel = &mut new.channel;
    channel.description = description;
    channel.rendered_description = rendered_description;
    channel.invite_only = plan.privacy.invite_only;
    channel.is_web_public = plan.privacy.is_web_public;
    channel.history_public_to_subscribers = plan.privacy.history_public_to_subscribers;
    channel.message_retention_days = plan.message_retention_days;
    channel.topics_policy = plan.topics_policy;
    channel.folder = plan.folder;
    Ok(new)
}

/// The HTML of a description, in which names mean what they mean to the caller.
///
/// # Errors
/// A description that has no reasonable HTML.
pub fn description_html(
    caller: &Caller,
    directory: &Directory,
    description: &str,
) -> Result<String, ApiError> {
    let context = RealmMarkdown::of_description(&caller.realm, directory, &caller.user);
    match render(description, &context) {
        Ok(rendered) => Ok(rendered.html),
        Err(_) => Err(ApiError::bad_request("Unable to render message")),
    }
}

/// A colour for somebody's next subscription, besides those that the same request already used.
pub fn next_color(directory: &Directory, user: UserId, also_used: &[String]) -> String {
    let subscriptions = directory.subscriptions_of_user(user).filter(|(_, own)| own.is_active);
    let used = subscriptions.map(|(_, own)| own.color.as_str());
    pick_color(used.chain(also_used.iter().map(String::as_str))).to_owned()
}
