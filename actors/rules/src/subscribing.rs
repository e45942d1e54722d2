//! Which of the channels in a request to subscribe users exist, may be subscribed to, or may be created.

use crate::error::RuleError;
use crate::names::parse_channel_name;
use crate::new_channels::{ChannelOptions, ChannelPlan, check_room};
use crate::permissions::channel::sees_channel;
use crate::permissions::create::{check_may_add_subscribers, check_may_subscribe};
use crate::permissions::roles::check_not_guest;
use crate::text::strip;
use model::{Channel, ChannelId, Directory, User};
use std::collections::HashSet;

/// A channel to subscribe to.
#[derive(Clone, Debug)]
pub struct WantedChannel {
    /// Name, as sent.
    pub name: String,
    /// Markdown, if the channel has to be created.
    pub description: String,
    /// Color for all subscribers; without one each gets an unused color.
    pub color: Option<String>,
}

/// A request to subscribe users.
#[derive(Clone, Debug)]
pub struct SubscribeRequest {
    pub wanted: Vec<WantedChannel>,
    /// How missing channels are created.
    pub options: ChannelOptions,
    /// Whether one inaccessible channel refuses the whole request.
    pub authorization_errors_fatal: bool,
}

impl SubscribeRequest {
    /// The descriptions that are rendered: those of channels that have to be created. None if the requester may not create
    /// them, because the request is refused then.
    pub fn new_descriptions(&self, directory: &Directory, requester: &User) -> Vec<&str> {
        let mut seen = HashSet::new();
        let mut is_missing = |wanted: &WantedChannel| {
            let name = parse_channel_name(&wanted.name);
            name.is_ok_and(|name| {
                directory.channel_by_name(name).is_none() && seen.insert(name.to_lowercase())
            })
        };
        let missing = self.wanted.iter().filter(|wanted| is_missing(wanted));
        let missing: Vec<&str> = missing.map(|wanted| wanted.description.as_str()).collect();
        let may_create =
            || check_not_guest(requester).is_ok() && self.options.plan(directory, requester).is_ok();
        if missing.is_empty() || may_create() { missing } else { Vec::new() }
    }
}

/// The permitted part of a request.
#[derive(Debug)]
pub struct PermittedSubscriptions<'r> {
    pub existing: Vec<(ChannelId, &'r WantedChannel)>,
    /// Channels to create, by their checked names.
    pub missing: Vec<(&'r str, &'r WantedChannel)>,
    /// How to create them; present where there are any.
    pub plan: Option<ChannelPlan>,
    /// Names of channels that the requester has no access to.
    pub unauthorized: Vec<String>,
}

/// Most subscriptions that one request may make or end: its channels times its users. The answer names the channel of each.
pub const SUBSCRIPTIONS_MAX: usize = 100_000;

/// Refuses a request about more subscriptions than [`SUBSCRIPTIONS_MAX`], whether or not they exist.
pub fn check_subscription_count(channels: usize, users: usize) -> Result<(), RuleError> {
    match channels.saturating_mul(users) > SUBSCRIPTIONS_MAX {
        true => Err(RuleError::TooManySubscriptions { limit: SUBSCRIPTIONS_MAX }),
        false => Ok(()),
    }
}

/// Decides which channels users may be subscribed to; `for_others`: not only the requester. Checks guests, names,
/// permission to create, room for the new channels and access to existing ones, in this order.
pub fn check_subscribe<'r>(
    directory: &Directory,
    requester: &User,
    request: &'r SubscribeRequest,
    for_others: bool,
) -> Result<PermittedSubscriptions<'r>, RuleError> {
    check_not_guest(requester)?;
    let (mut existing, mut missing, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    let is_hidden = |channel: &Channel| !sees_channel(directory, requester, channel);
    for wanted in &request.wanted {
        let name = parse_channel_name(&wanted.name)?;
        if !seen.insert(name.to_lowercase()) {
            continue;
        }
        match directory.channel_by_name(name) {
            Some(channel) => existing.push((channel, wanted)),
            None => missing.push((name, wanted)),
        }
    }
    // A requester who may not create channels gets the same error for a hidden channel as for a missing one.
    let plan = match missing.is_empty() && !existing.iter().any(|(channel, _)| is_hidden(channel)) {
        true => None,
        false => Some(request.options.plan(directory, requester)?),
    };
    if let Some(plan) = &plan {
        check_room(directory, requester, plan, missing.len())?;
    }
    let (mut open, mut unauthorized) = (Vec::new(), Vec::new());
    for (channel, wanted) in existing {
        // Archived channels are subscribed to like others.
        let check = if for_others { check_may_add_subscribers } else { check_may_subscribe };
        match check(directory, requester, channel) {
            Ok(()) => open.push((channel.id, wanted)),
            Err(RuleError::ChannelsInaccessible { .. }) => {
                // The name of a hidden channel is repeated as the requester spelled it.
                let name = if is_hidden(channel) { strip(&wanted.name) } else { channel.name.as_str() };
                if request.authorization_errors_fatal {
                    return Err(RuleError::ChannelsInaccessible { names: vec![name.to_owned()] });
                }
                unauthorized.push(name.to_owned());
            }
            // Not tolerated: the requester can read the channel but may not add others to it.
            Err(error) => return Err(error),
        }
    }
    Ok(PermittedSubscriptions { existing: open, missing, plan, unauthorized })
}
