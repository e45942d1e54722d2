//! What the owner of a rebuilt queue may know now, whatever the owner could know when the events happened.

use crate::announce;
use model::event::{BotChange, UserChange};
use model::{Audience, ChannelId, Directory, Event, EventBody, User, UserId};
use rules::avatar::{AvatarSize, public_avatar_url};
use rules::permissions::channel::{sees_channel, sees_subscribers};
use rules::permissions::users::{api_email, sees_user, shown_delivery_email};
use std::sync::Arc;
use storage::View;

/// Removes the key and tokens of a bot that has another owner now, since the event with them is for its owner at that time.
/// Users get the settings of now, which decide who sees their addresses when the event is encoded.
pub(super) fn redact_secrets(view: &View, body: &mut EventBody, audience: &Audience) {
    let is_owners = |bot: UserId| match audience {
        Audience::Users(users) => view.directory.bot_owner(bot).is_some_and(|owner| users[..] == [owner]),
        _ => false,
    };
    match body {
        EventBody::BotAdded { bot, with_secrets, .. } => *with_secrets &= is_owners(bot.id),
        EventBody::BotChanged { bot, change: BotChange::Service { with_secrets, .. } } => {
            *with_secrets &= is_owners(*bot);
        }
        EventBody::UserAdded(user) | EventBody::UnknownUserAdded(user) | EventBody::Reaction { user, .. } => {
            update_settings(&view.directory, user)
        }
        _ => {}
    }
}

fn update_settings(directory: &Directory, user: &mut Arc<User>) {
    if let Some(now) = directory.user(user.id).filter(|now| now.settings != user.settings) {
        *user = Arc::new(User { settings: now.settings.clone(), ..User::clone(user) });
    }
}

/// The part of an event that a user may see now: all of it, or only some of the channels that it is about; none if nothing.
/// Removals may always be seen. Who may see changes of messages is decided with the state of now when the events are made.
#[expect(clippy::too_many_lines, reason = "a table with each event")]
pub(super) fn visible_part(view: &View, user: &User, event: &Arc<Event>) -> Option<Arc<Event>> {
    let directory = &view.directory;
    let sees =
        |id: &ChannelId| directory.channel(*id).is_some_and(|channel| sees_channel(directory, user, channel));
    let sees_person = |id: UserId| directory.user(id).is_some_and(|about| sees_user(directory, user, about));
    let keeps = |bot: UserId| directory.user(bot).is_some_and(|bot| announce::manages_bot(user, bot));
    let may_know = match &event.body {
        EventBody::ChannelsCreated(all) => {
            return part_of(event, all, |one| sees(&one.channel.id), EventBody::ChannelsCreated);
        }
        EventBody::SubscriptionsAdded(all) => {
            return part_of(event, all, |one| sees(&one.summary.channel.id), EventBody::SubscriptionsAdded);
        }
        EventBody::Message { message, .. } => announce::can_read_now(view, user, message),
        EventBody::ChannelChanged { channel, .. } => sees(channel),
        EventBody::PeersAdded { channel, .. } | EventBody::PeersRemoved { channel, .. } => {
            let record = directory.channel(*channel);
            record.is_some_and(|record| sees_subscribers(directory, user, record))
        }
        EventBody::BotAdded { bot, .. } => keeps(bot.id),
        EventBody::BotChanged { bot, change: BotChange::ApiKey(_) } => {
            directory.bot_owner(*bot) == Some(user.id)
        }
        EventBody::BotChanged { bot, .. } => keeps(*bot),
        EventBody::UserAdded(about) => sees_person(about.id),
        EventBody::UserChanged { user: about, change } => may_know_change(directory, user, *about, change),
        EventBody::UserStatus { user: about, .. } | EventBody::EditTyping { sender: about, .. } => {
            sees_person(*about)
        }
        EventBody::Presence { user: about, .. } | EventBody::Typing { sender: about, .. } => {
            sees_person(about.id)
        }
        EventBody::ExportConsent { .. } | EventBody::Exports(_) => user.is_administrator(),
        // The user's own.
        EventBody::Flags { .. }
        | EventBody::SubscriptionChanged { .. }
        | EventBody::AlertWords(_)
        | EventBody::MutedUsers(_)
        | EventBody::NavigationViewAdded { .. }
        | EventBody::NavigationViewChanged { .. }
        | EventBody::NavigationViewRemoved(_)
        | EventBody::SavedSnippets(_)
        | EventBody::Attachment { .. }
        | EventBody::Drafts { .. }
        | EventBody::ScheduledMessages { .. }
        | EventBody::Reminders { .. }
        | EventBody::SettingChanged(_)
        | EventBody::UserTopic { .. }
        | EventBody::MutedTopics(_)
        | EventBody::OnboardingSteps(_)
        | EventBody::PushDeviceChanged { .. } => true,
        // Of messages that the user has.
        EventBody::MessageChanged(_) | EventBody::Reaction { .. } | EventBody::Submessage { .. } => true,
        // Removals.
        EventBody::ChannelsLost(_)
        | EventBody::MessagesDeleted { .. }
        | EventBody::SubscriptionsRemoved(_)
        | EventBody::UserRemoved(_)
        | EventBody::GroupRemoved(_)
        | EventBody::BotRemoved(_) => true,
        // For everyone, or without content.
        EventBody::FolderAdded(_)
        | EventBody::FolderChanged { .. }
        | EventBody::FoldersReordered(_)
        | EventBody::ProfileFields(_)
        | EventBody::RealmChanged(_)
        | EventBody::DefaultChannels(_)
        | EventBody::DefaultChannelGroups(_)
        | EventBody::UnknownUserAdded(_)
        | EventBody::DefaultSettingChanged { .. }
        | EventBody::GroupAdded(_)
        | EventBody::GroupMembersAdded { .. }
        | EventBody::GroupMembersRemoved { .. }
        | EventBody::GroupChanged { .. }
        | EventBody::SubgroupsAdded { .. }
        | EventBody::SubgroupsRemoved { .. }
        | EventBody::Domain { .. }
        | EventBody::Linkifiers(_)
        | EventBody::Playgrounds(_)
        | EventBody::InvitationsChanged
        | EventBody::RealmDeactivated(_)
        | EventBody::RealmEmoji(_)
        | EventBody::RealmPictureChanged { .. }
        | EventBody::Heartbeat => true,
    };
    may_know.then(|| event.clone())
}

/// An event about several channels with those alone that are visible; none if none is.
fn part_of<T: Clone>(
    event: &Arc<Event>,
    all: &[T],
    is_visible: impl Fn(&T) -> bool,
    body: impl Fn(Vec<T>) -> EventBody,
) -> Option<Arc<Event>> {
    let kept: Vec<T> = all.iter().filter(|one| is_visible(one)).cloned().collect();
    if kept.is_empty() {
        return None;
    }
    Some(match kept.len() == all.len() {
        true => event.clone(),
        false => Arc::new(Event { clients: event.clients, ..Event::new(event.number, body(kept)) }),
    })
}

/// Whether a user may know a change of a person or bot. What was replaced since has a later event.
fn may_know_change(directory: &Directory, viewer: &User, about: UserId, change: &UserChange) -> bool {
    let Some(about) = directory.user(about).filter(|about| sees_user(directory, viewer, about)) else {
        return false;
    };
    let sees_address = || shown_delivery_email(directory, Some(viewer), about).is_some();
    match change {
        UserChange::DeliveryEmail(Some(_)) => sees_address(),
        UserChange::Email(address) => *address == api_email(directory, about) || sees_address(),
        // Its URL may be made of the address.
        UserChange::Avatar { url, .. } => {
            *url == public_avatar_url(directory, about, AvatarSize::Small) || sees_address()
        }
        UserChange::DeliveryEmail(None)
        | UserChange::FullName(_)
        | UserChange::Role(_)
        | UserChange::IsActive(_)
        | UserChange::Timezone(_)
        | UserChange::BotOwner(_)
        | UserChange::ProfileValue(..) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, CORE, HAMLET, IAGO, START};
    use model::{Channel, ChannelFact, EventNumber, Fact, Frame, GroupSetting};

    #[test]
    fn who_subscribed_is_for_those_who_see_the_subscribers_now() {
        let mut view = fixture::view();
        let mut record = Channel::clone(view.directory.channel(CORE).unwrap());
        record.permissions.subscribe = GroupSetting::only(HAMLET);
        let facts = vec![Fact::Channel(ChannelFact::Changed(Box::new(record)))];
        let frame = Frame { at: START, first_event: view.progress.last_event.next(), facts };
        view.apply(view.progress.sequence.next(), &frame).unwrap();
        let users: Arc<[UserId]> = [IAGO].into();
        let added = EventBody::PeersAdded { channel: CORE, users: users.clone() };
        for body in [added, EventBody::PeersRemoved { channel: CORE, users }] {
            let event = Arc::new(Event::new(EventNumber(1), body));
            let is_visible = |user| {
                let user = view.directory.user(user).unwrap();
                visible_part(&view, user, &event).is_some()
            };
            assert_eq!((is_visible(IAGO), is_visible(HAMLET)), (true, false));
        }
    }
}
