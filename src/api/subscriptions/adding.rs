//! Subscribing people, and creating the channels that are not there yet (companions.md 6).
//!
//! Everything is checked against one snapshot before anything changes; what happens meanwhile (a channel of the same
//! name) is met as if it had been there.

use super::principals::Principals;
use crate::api::channels::new_channel::{new_channel, next_color};
use crate::api::channels::notices::{announce_channels, tell_subscribed};
use crate::api::channels::options::{ChannelOptions, ChannelPlan};
use crate::api::users::get::no_such_user;
use crate::http::params::JsonField;
use crate::http::{ApiError, Caller};
use actors::DomainError;
use model::{Channel, ChannelId, Directory, UserId};
use rules::RuleError;
use rules::colors::parse_color;
use rules::names::{parse_channel_name, parse_description};
use rules::permissions::create::{check_may_add_subscribers, check_may_subscribe};
use rules::permissions::roles::check_not_guest;
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

/// A channel to subscribe to.
#[derive(Clone, Debug)]
pub struct WantedChannel {
    name: String,
    /// For a channel that has to be created.
    description: String,
    color: Option<String>,
}

/// Reads a list of `{name, description, color}`. Errors: the rules of names, descriptions and colours.
pub fn parse_wanted(field: &JsonField) -> Result<Vec<WantedChannel>, ApiError> {
    let mut wanted = Vec::new();
    for item in field.root().list()? {
        let object = item.object()?;
        let name = object.required("name")?.string()?.to_owned();
        let text = |key| object.optional(key).filter(|given| !given.value().is_null());
        let description = text("description").map_or(Ok(""), |given| given.string())?;
        let color = match text("color") {
            None => None,
            Some(given) => {
                let color = parse_color(given.string()?);
                let fault = |error| ApiError::bad_request(format!("Invalid {}: {error}", given.place()));
                Some(color.map_err(fault)?)
            }
        };
        wanted.push(WantedChannel { name, description: parse_description(description)?, color });
    }
    Ok(wanted)
}

/// A request to subscribe people.
#[derive(Clone, Debug)]
pub struct Adding {
    /// To what.
    pub wanted: Vec<WantedChannel>,
    /// Whom.
    pub principals: Principals,
    /// How channels are created that are not there.
    pub options: ChannelOptions,
    /// Whether one channel without access refuses the whole request.
    pub authorization_errors_fatal: bool,
    /// Whether people are told that somebody subscribed them.
    pub sends_messages: bool,
}

/// What came of it. Names of channels by user.
#[derive(Clone, Debug, Default)]
pub struct Added {
    /// Subscribed now.
    pub subscribed: BTreeMap<UserId, Vec<String>>,
    /// Were subscribed already.
    pub already_subscribed: BTreeMap<UserId, Vec<String>>,
    /// Channels without access.
    pub unauthorized: Vec<String>,
    /// Whether people were told; none where that was not asked for.
    pub messages_sent: Option<bool>,
    created: Vec<String>,
}

/// A request that was checked.
struct Checked<'a> {
    people: Vec<UserId>,
    existing: Vec<(ChannelId, &'a WantedChannel)>,
    missing: Vec<&'a WantedChannel>,
    /// For the missing ones.
    plan: Option<ChannelPlan>,
    unauthorized: Vec<String>,
}

/// Subscribes people.
///
/// # Errors
/// Names, permissions and principals, in that order; nothing has changed then.
pub async fn add_subscriptions(caller: &Caller, adding: &Adding) -> Result<Added, ApiError> {
    let directory = caller.realm.directory();
    let checked = check(caller, &directory, adding)?;
    let mut work =
        Work { caller, adding, people: checked.people, colors: BTreeMap::new(), added: Added::default() };
    work.added.unauthorized = checked.unauthorized;
    for (channel, wanted) in checked.existing {
        work.subscribe(&directory, channel, wanted).await?;
    }
    if let Some(plan) = &checked.plan {
        for wanted in checked.missing {
            work.create(plan, wanted).await?;
        }
    }
    let mut added = work.added;
    if adding.options.announce && !added.created.is_empty() {
        announce_channels(caller, &added.created).await;
    }
    if adding.sends_messages {
        added.messages_sent = Some(tell_subscribed(caller, &added.told()).await);
    }
    Ok(added)
}

impl Added {
    /// Whom to tell of what: those who created a channel know of it.
    fn told(&self) -> BTreeMap<UserId, Vec<String>> {
        let mut told = self.subscribed.clone();
        for names in told.values_mut() {
            names.retain(|name| !self.created.contains(name));
        }
        told
    }
}

fn check<'a>(caller: &Caller, directory: &Directory, adding: &'a Adding) -> Result<Checked<'a>, ApiError> {
    check_not_guest(&caller.user)?;
    let (mut existing, mut missing, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    for wanted in &adding.wanted {
        let name = parse_channel_name(&wanted.name)?;
        if !seen.insert(name.to_lowercase()) {
            continue;
        }
        match directory.channel_by_name(name) {
            Some(channel) => existing.push((channel, wanted)),
            None => missing.push(wanted),
        }
    }
    let plan = match missing.is_empty() {
        true => None,
        false => Some(adding.options.plan(directory, &caller.user)?),
    };
    let people = adding.principals.resolve(directory, caller, |_| no_such_user());
    let for_others = !matches!(adding.principals, Principals::Caller)
        && people.as_ref().map_or(true, |people| people.as_slice() != [caller.user.id]);
    let (mut open, mut unauthorized) = (Vec::new(), Vec::new());
    for (channel, wanted) in existing {
        match check_access(caller, directory, channel, for_others) {
            Ok(()) => open.push((channel.id, wanted)),
            Err(error) if is_tolerated(&error, adding) => unauthorized.push(channel.name.clone()),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Checked { people: people?, existing: open, missing, plan, unauthorized })
}

/// Archived channels are subscribed to like others.
fn check_access(
    caller: &Caller,
    directory: &Directory,
    channel: &Channel,
    for_others: bool,
) -> Result<(), RuleError> {
    match for_others {
        true => check_may_add_subscribers(directory, &caller.user, channel),
        false => check_may_subscribe(directory, &caller.user, channel),
    }
}

/// Whether a channel is left out instead of refusing the whole request: only for being out of reach. Whoever may not
/// add others to a channel that they can read is always refused.
fn is_tolerated(error: &RuleError, adding: &Adding) -> bool {
    !adding.authorization_errors_fatal && matches!(error, RuleError::ChannelsInaccessible { .. })
}

/// How often a name that somebody else is just taking is looked at again, and how soon.
const NAME_CHECKS_MAX: usize = 200;
const NAME_CHECK_PAUSE: Duration = Duration::from_millis(5);

/// The changes, one channel after the other.
struct Work<'a> {
    caller: &'a Caller,
    adding: &'a Adding,
    people: Vec<UserId>,
    /// Colours that this request has given out.
    colors: BTreeMap<UserId, Vec<String>>,
    added: Added,
}

impl Work<'_> {
    fn subscribers(&mut self, directory: &Directory, wanted: &WantedChannel) -> Vec<(UserId, String)> {
        let mut subscribers = Vec::with_capacity(self.people.len());
        for user in &self.people {
            let given = self.colors.entry(*user).or_default();
            let color = wanted.color.clone().unwrap_or_else(|| next_color(directory, *user, given));
            given.push(color.clone());
            subscribers.push((*user, color));
        }
        subscribers
    }

    async fn subscribe(
        &mut self,
        directory: &Directory,
        channel: ChannelId,
        wanted: &WantedChannel,
    ) -> Result<(), ApiError> {
        let name = directory.channel(channel).map_or(wanted.name.as_str(), |found| found.name.as_str());
        let subscribers = self.subscribers(directory, wanted);
        let outcome = self.caller.realm.subscribe(channel, subscribers, self.caller.user.id).await?;
        for user in outcome.subscribed {
            self.added.subscribed.entry(user).or_default().push(name.to_owned());
        }
        for user in outcome.already {
            self.added.already_subscribed.entry(user).or_default().push(name.to_owned());
        }
        Ok(())
    }

    /// Creates a channel; when another request was quicker, the channel is one that exists.
    async fn create(&mut self, plan: &ChannelPlan, wanted: &WantedChannel) -> Result<(), ApiError> {
        let name = parse_channel_name(&wanted.name)?;
        for _ in 0..NAME_CHECKS_MAX {
            let directory = self.caller.realm.directory();
            if let Some(channel) = directory.channel_by_name(name) {
                return self.subscribe_to_rival(&directory, channel, wanted).await;
            }
            let subscribers = self.subscribers(&directory, wanted);
            let description = wanted.description.clone();
            let new = new_channel(self.caller, &directory, plan, name, description, subscribers)?;
            match self.caller.realm.create_channel(new).await {
                Ok(_) => {
                    for user in &self.people {
                        self.added.subscribed.entry(*user).or_default().push(name.to_owned());
                    }
                    self.added.created.push(name.to_owned());
                    return Ok(());
                }
                // Taken, but not durable yet: it will be there in a moment, or free again.
                Err(DomainError::ChannelExists(_)) => actix_web::rt::time::sleep(NAME_CHECK_PAUSE).await,
                Err(error) => return Err(error.into()),
            }
        }
        Err(DomainError::Overloaded.into())
    }

    async fn subscribe_to_rival(
        &mut self,
        directory: &Directory,
        channel: &Channel,
        wanted: &WantedChannel,
    ) -> Result<(), ApiError> {
        let for_others = self.people != [self.caller.user.id];
        match check_access(self.caller, directory, channel, for_others) {
            Ok(()) => self.subscribe(directory, channel.id, wanted).await,
            Err(error) if is_tolerated(&error, self.adding) => {
                self.added.unauthorized.push(channel.name.clone());
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }
}
