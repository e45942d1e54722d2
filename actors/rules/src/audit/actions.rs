//! Decided facts as actions. Facts about personal records, messages that are sent, and upkeep of the server are none.

use super::changes::{of_channel, of_folder, of_group, of_realm, of_user, privacy};
use super::decided::{ACTIONS_MAX, Decided, USERS_MAX, action, cut};
use super::messages::of_message;
use super::values::{Changes, REUSABLE_LINK, channel_names, joined, role_name, user_name};
use model::export::{ExportStatus, RealmExport, RequestedExport};
use model::invitation::created_invitations;
use model::picture::{PictureFact, RealmPicture};
use model::{
    ActionKind, AuditAction, Channel, ChannelFact, ChannelFolder, ChannelId, DefaultChannelGroup, DomainOp,
    Fact, GroupFact, GroupId, InvitationFact, Listed, PersonalFact, RealmFact, Subject, SubscriptionFact,
    User, UserFact, UserGroup, UserId, WebSessionFact,
};

/// What owners read about the facts of a request; empty for most requests.
pub fn actions(decided: &Decided<'_>, facts: &[Fact]) -> Vec<AuditAction> {
    let mut found = Vec::new();
    for fact in facts {
        add(decided, facts, fact, &mut found);
    }
    found.truncate(ACTIONS_MAX);
    found
}

fn add(decided: &Decided<'_>, facts: &[Fact], fact: &Fact, found: &mut Vec<AuditAction>) {
    match fact {
        Fact::Message(fact) => found.extend(of_message(decided, fact)),
        Fact::Realm(fact) => of_organization(decided, fact, found),
        Fact::User(fact) => of_account(decided, fact, found),
        Fact::Group(fact) => of_groups(decided, fact, found),
        Fact::Channel(fact) => of_channels(decided, fact, found),
        Fact::Subscription(fact) => found.extend(of_subscription(decided, facts, fact)),
        Fact::Invitation(fact) => found.extend(of_invitation(decided, fact)),
        Fact::Picture(fact) => found.extend(of_picture(decided, fact)),
        Fact::Personal(PersonalFact::WebSession { user, fact: WebSessionFact::Ended(keys) }) => {
            if decided.by != Some(*user) {
                let count = keys.len() as u64;
                found.push(AuditAction { count, ..action(ActionKind::SessionsEnded, Subject::User(*user)) });
            }
        }
        Fact::Personal(_)
        | Fact::Queue(_)
        | Fact::Job(_)
        | Fact::Push(_)
        | Fact::PreImages(_)
        | Fact::Attachment(_)
        | Fact::Audit(_) => {}
    }
}

/// An action about changes, if there are any.
fn changed(about: Subject, changes: Changes) -> Option<AuditAction> {
    let changes = changes.0;
    (!changes.is_empty()).then(|| AuditAction { changes, ..action(ActionKind::Changed, about) })
}

fn switched(is_on: bool, about: Subject) -> AuditAction {
    action(if is_on { ActionKind::Reactivated } else { ActionKind::Deactivated }, about)
}

fn of_organization(decided: &Decided<'_>, fact: &RealmFact, found: &mut Vec<AuditAction>) {
    let before = decided.before;
    match fact {
        RealmFact::Created(_) => found.push(action(ActionKind::Created, Subject::Organization)),
        RealmFact::Changed(is) => {
            if is.is_active != before.realm().is_active {
                found.push(switched(is.is_active, Subject::Organization));
            }
            found.extend(changed(Subject::Organization, of_realm(before, is)));
        }
        RealmFact::ProfileFieldsChanged(is) => {
            let row = |field: &model::ProfileField| (field.id.0, field.name.clone(), format!("{field:?}"));
            let was: Vec<_> = before.profile_fields().list.iter().map(row).collect();
            let is: Vec<_> = is.list.iter().map(row).collect();
            found.extend(listed(&was, &is, Subject::ProfileField));
        }
        RealmFact::DomainSet { domain, op } => {
            let kind = match op {
                DomainOp::Added => ActionKind::Created,
                DomainOp::Changed => ActionKind::Changed,
                DomainOp::Removed => ActionKind::Removed,
            };
            found.push(action(kind, Subject::Domain(cut(&domain.name))));
        }
        RealmFact::LinkifiersChanged(is) => {
            let row = |one: &model::LinkifierRecord| (one.id, one.pattern.clone(), one.url_template.clone());
            let was: Vec<_> = before.lists().linkifiers.items.iter().map(row).collect();
            let is: Vec<_> = is.items.iter().map(row).collect();
            found.extend(listed(&was, &is, Subject::Linkifier));
        }
        RealmFact::PlaygroundsChanged(is) => {
            let row = |one: &model::Playground| (one.id, one.name.clone(), one.url_template.clone());
            let was: Vec<_> = before.lists().playgrounds.items.iter().map(row).collect();
            let is: Vec<_> = is.items.iter().map(row).collect();
            found.extend(listed(&was, &is, Subject::Playground));
        }
        RealmFact::ExportsChanged(is) => found.extend(of_exports(&before.exports().items, &is.items)),
    }
}

/// Exports that were requested or deleted. How a request ends is not an act of the requester.
fn of_exports(was: &[RealmExport], is: &[RealmExport]) -> Vec<AuditAction> {
    let is_deleted = |export: &RealmExport| matches!(export.status, ExportStatus::Deleted { .. });
    let kind_of = |export: &RealmExport| match export.kind {
        RequestedExport::Public => "public data",
        RequestedExport::WithConsent => "with consent",
    };
    let action_of = |export: &RealmExport| {
        let kind = match was.iter().find(|known| known.id == export.id) {
            None => ActionKind::Created,
            Some(known) if is_deleted(export) && !is_deleted(known) => ActionKind::Removed,
            Some(_) => return None,
        };
        Some(action(kind, Subject::Export(kind_of(export).to_owned())))
    };
    is.iter().filter_map(action_of).collect()
}

/// The actions about the entries of a list, by id: those that are new, differ or are gone. One of any entry if only the order
/// differs.
fn listed(
    was: &[(u32, String, String)],
    is: &[(u32, String, String)],
    about: fn(String) -> Subject,
) -> Vec<AuditAction> {
    let mut found = Vec::new();
    for entry in is {
        match was.iter().find(|known| known.0 == entry.0) {
            None => found.push(action(ActionKind::Created, about(cut(&entry.1)))),
            Some(known) if known != entry => {
                let mut changes = Changes::default();
                changes.add("name", &known.1, &entry.1);
                found.push(AuditAction {
                    changes: changes.0,
                    ..action(ActionKind::Changed, about(cut(&known.1)))
                });
            }
            Some(_) => {}
        }
    }
    let is_gone = |known: &&(u32, String, String)| is.iter().all(|entry| entry.0 != known.0);
    found.extend(was.iter().filter(is_gone).map(|known| action(ActionKind::Removed, about(cut(&known.1)))));
    if found.is_empty() && was != is {
        let mut changes = Changes::default();
        let order = |entries: &[(u32, String, String)]| joined(entries.iter().map(|entry| entry.1.clone()));
        changes.add("order", &order(was), &order(is));
        let first = is.first().map(|entry| entry.1.clone()).unwrap_or_default();
        found.push(AuditAction { changes: changes.0, ..action(ActionKind::Changed, about(cut(&first))) });
    }
    found
}

fn of_account(decided: &Decided<'_>, fact: &UserFact, found: &mut Vec<AuditAction>) {
    match fact {
        UserFact::Created(user) if user.is_system_bot() => {}
        UserFact::Created(user) => {
            let mut changes = Changes::default();
            changes.add("name", "", &user.full_name);
            changes.add("role", "", role_name(user.role));
            let owner = user.owner().map(|owner| user_name(decided.before, owner)).unwrap_or_default();
            changes.add("owner", "", &owner);
            found.push(AuditAction {
                changes: changes.0,
                ..action(ActionKind::Created, Subject::User(user.id))
            });
        }
        UserFact::Changed(is) => of_changed_account(decided, is, found),
        UserFact::ActiveSet { user, is_active, .. } => {
            found.push(switched(*is_active, Subject::User(*user)));
        }
        UserFact::ProfileValuesSet { user, values } => {
            if decided.by != Some(*user) {
                let fields = decided.before.profile_fields();
                let names = values.iter().filter_map(|(id, _)| Some(fields.get(*id)?.name.clone()));
                let mut changes = Changes::default();
                changes.add("profile fields", "", &joined(names));
                found.extend(changed(Subject::User(*user), changes));
            }
        }
        UserFact::BotConfigured { bot, before: Some(_), .. }
        | UserFact::BotIntegrationSet { bot, is_new: false, .. } => {
            let mut changes = Changes::default();
            changes.add("configuration", "", "new values");
            found.extend(changed(Subject::User(*bot), changes));
        }
        UserFact::BotConfigured { before: None, .. }
        | UserFact::BotIntegrationSet { is_new: true, .. }
        | UserFact::VisibilityChanged { .. }
        | UserFact::DataErased { .. }
        | UserFact::SettingsRestated { .. } => {}
    }
}

fn of_changed_account(decided: &Decided<'_>, is: &User, found: &mut Vec<AuditAction>) {
    let Some(was) = decided.before.user(is.id) else { return };
    let about = Subject::User(is.id);
    if is.is_deleted() && !was.is_deleted() {
        // Without the values that are erased.
        return found.push(action(ActionKind::Removed, about));
    }
    found.extend(changed(about.clone(), of_user(decided.before, was, is, decided.by)));
    if was.password_hash != is.password_hash {
        found.push(action(ActionKind::PasswordSet, about.clone()));
    }
    if was.api_key_rotation != is.api_key_rotation {
        found.push(action(ActionKind::KeyReplaced, about));
    }
}

fn members(kind: ActionKind, about: Subject, users: &[UserId]) -> Option<AuditAction> {
    let count = users.len() as u64;
    let users: Vec<UserId> = users.iter().take(USERS_MAX).copied().collect();
    (count > 0).then(|| AuditAction { count, users, ..action(kind, about) })
}

fn of_groups(decided: &Decided<'_>, fact: &GroupFact, found: &mut Vec<AuditAction>) {
    let record = |group: GroupId| decided.before.group(group);
    match fact {
        GroupFact::Created(group) if group.is_system => {}
        GroupFact::Created(group) => {
            let mut changes = Changes::default();
            changes.add("name", "", &group.name);
            found.push(AuditAction {
                changes: changes.0,
                ..action(ActionKind::Created, Subject::Group(group.id))
            });
        }
        GroupFact::Changed(is) => {
            if let Some(was) = record(is.id).filter(|was| !was.is_system) {
                of_changed_group(decided, was, is, found);
            }
        }
        GroupFact::MembersChanged { group, added, removed } => {
            if record(*group).is_some_and(|group| !group.is_system) {
                let about = Subject::Group(*group);
                found.extend(members(ActionKind::MembersAdded, about.clone(), added));
                found.extend(members(ActionKind::MembersRemoved, about, removed));
            }
        }
    }
}

fn of_changed_group(decided: &Decided<'_>, was: &UserGroup, is: &UserGroup, found: &mut Vec<AuditAction>) {
    let about = Subject::Group(is.id);
    if was.is_deactivated != is.is_deactivated {
        found.push(switched(!is.is_deactivated, about.clone()));
    }
    found.extend(changed(about.clone(), of_group(decided.before, was, is)));
    found.extend(members(ActionKind::MembersAdded, about.clone(), &is.members_not_in(was)));
    found.extend(members(ActionKind::MembersRemoved, about, &was.members_not_in(is)));
}

fn of_channels(decided: &Decided<'_>, fact: &ChannelFact, found: &mut Vec<AuditAction>) {
    let before = decided.before;
    match fact {
        ChannelFact::Created(channel) => {
            let mut changes = Changes::default();
            changes.add("name", "", &channel.name);
            changes.add("privacy", "", privacy(channel));
            found.push(AuditAction {
                changes: changes.0,
                ..action(ActionKind::Created, Subject::Channel(channel.id))
            });
        }
        ChannelFact::Changed(is) => {
            if let Some(was) = before.channel(is.id) {
                of_changed_channel(decided, was, is, found);
            }
        }
        ChannelFact::DefaultsChanged(channels) => {
            let names = |channels: &[ChannelId]| channel_names(before, channels);
            let mut changes = Changes::default();
            changes.add("default channels", &names(&before.realm().default_channels), &names(channels));
            found.extend(changed(Subject::Organization, changes));
        }
        ChannelFact::FolderChanged(is) => of_changed_folder(decided, is, found),
        ChannelFact::FoldersReordered(order) => {
            let name =
                |id| before.folder(id).map(|folder: &std::sync::Arc<ChannelFolder>| folder.name.clone());
            let mut changes = Changes::default();
            let order = order.iter().filter_map(|id| name(*id));
            changes.add("order of the channel folders", "", &joined(order));
            found.extend(changed(Subject::Organization, changes));
        }
        ChannelFact::DefaultGroupsChanged(is) => {
            let rows = |groups: &Listed<DefaultChannelGroup>| -> Vec<_> {
                let row = |one: &DefaultChannelGroup| (one.id, one.name.clone(), format!("{one:?}"));
                groups.items.iter().map(row).collect()
            };
            found.extend(listed(&rows(before.default_groups()), &rows(is), Subject::DefaultChannelGroup));
        }
        ChannelFact::ActivityChanged { .. } | ChannelFact::ReadingPending { .. } => {}
    }
}

fn of_changed_channel(decided: &Decided<'_>, was: &Channel, is: &Channel, found: &mut Vec<AuditAction>) {
    let about = Subject::Channel(is.id);
    if was.is_archived != is.is_archived {
        let kind = if is.is_archived { ActionKind::Archived } else { ActionKind::Unarchived };
        found.push(action(kind, about.clone()));
    }
    found.extend(changed(about, of_channel(decided.before, was, is)));
}

fn of_changed_folder(decided: &Decided<'_>, is: &ChannelFolder, found: &mut Vec<AuditAction>) {
    let about = Subject::Folder(is.id);
    match decided.before.folder(is.id) {
        None => {
            let mut changes = Changes::default();
            changes.add("name", "", &is.name);
            found.push(AuditAction { changes: changes.0, ..action(ActionKind::Created, about) });
        }
        Some(was) => {
            if was.is_archived != is.is_archived {
                let kind = if is.is_archived { ActionKind::Archived } else { ActionKind::Unarchived };
                found.push(action(kind, about.clone()));
            }
            found.extend(changed(about, of_folder(was, is)));
        }
    }
}

/// Users that another user subscribed or unsubscribed; not those who were created or subscribed with their channel.
fn of_subscription(decided: &Decided<'_>, facts: &[Fact], fact: &SubscriptionFact) -> Option<AuditAction> {
    let others = |users: &mut dyn Iterator<Item = UserId>| -> Vec<UserId> {
        users.filter(|user| Some(*user) != decided.by).collect()
    };
    let is_new = |channel: &ChannelId| {
        facts.iter().any(|fact| {
            let is_own = matches!(fact, Fact::Channel(ChannelFact::Created(own)) if own.id == *channel);
            is_own || matches!(fact, Fact::User(UserFact::Created(_)))
        })
    };
    match fact {
        SubscriptionFact::Added { channel, subscribers, .. } if !is_new(channel) => {
            let users = others(&mut subscribers.iter().map(|(user, _)| *user));
            members(ActionKind::MembersAdded, Subject::Channel(*channel), &users)
        }
        SubscriptionFact::Removed { channel, users, .. } => {
            let users = others(&mut users.iter().copied());
            members(ActionKind::MembersRemoved, Subject::Channel(*channel), &users)
        }
        SubscriptionFact::Added { .. }
        | SubscriptionFact::Changed { .. }
        | SubscriptionFact::Restated { .. }
        | SubscriptionFact::TopicPolicySet { .. }
        | SubscriptionFact::TopicPoliciesImported { .. } => None,
    }
}

fn of_invitation(decided: &Decided<'_>, fact: &InvitationFact) -> Option<AuditAction> {
    let about = Subject::Organization;
    match fact {
        InvitationFact::Created { first, others } => {
            let addresses = created_invitations(first, others).filter_map(|one| one.address);
            let addresses = joined(addresses);
            let to = if addresses.is_empty() { REUSABLE_LINK.to_owned() } else { addresses };
            let mut changes = Changes::default();
            changes.add("to", "", &to);
            changes.add("role", "", role_name(first.role));
            let count = 1 + others.len() as u64;
            Some(AuditAction { count, changes: changes.0, ..action(ActionKind::Invited, about) })
        }
        InvitationFact::Revoked(ids) => {
            let address = |id| match decided.before.invitation(id)?.address.clone() {
                Some(address) => Some(address),
                None => Some(REUSABLE_LINK.to_owned()),
            };
            let mut changes = Changes::default();
            let to = joined(ids.iter().filter_map(|id| address(*id)));
            changes.add("to", "", &to);
            let count = ids.len() as u64;
            Some(AuditAction { count, changes: changes.0, ..action(ActionKind::InvitationsRevoked, about) })
        }
        InvitationFact::Resent { invitation, .. } => {
            let address = decided.before.invitation(*invitation).and_then(|own| own.address.clone());
            let mut changes = Changes::default();
            changes.add("to", "", &address.unwrap_or_default());
            Some(AuditAction { changes: changes.0, ..action(ActionKind::InvitationResent, about) })
        }
        // The new account is an action of its own.
        InvitationFact::Accepted { .. } | InvitationFact::Expired(_) => None,
    }
}

fn of_picture(decided: &Decided<'_>, fact: &PictureFact) -> Option<AuditAction> {
    let picture = |file: &Option<String>| if file.is_some() { "a new picture" } else { "none" };
    let mut changes = Changes::default();
    match fact {
        PictureFact::AvatarSet { user, .. } if decided.by == Some(*user) => None,
        // Only the picture that is made from the address differs.
        PictureFact::AvatarSet { user, file: None, .. } if decided.before.avatar_file(*user).is_none() => {
            None
        }
        PictureFact::AvatarSet { user, file, .. } => {
            changes.add("profile picture", "", picture(file));
            changed(Subject::User(*user), changes)
        }
        PictureFact::RealmPictureSet { which, picture: record } => {
            let name = match which {
                RealmPicture::Icon => "icon",
                RealmPicture::Logo => "logo",
                RealmPicture::NightLogo => "logo on dark backgrounds",
            };
            changes.add(name, "", picture(&record.file));
            changed(Subject::Organization, changes)
        }
        PictureFact::EmojiSet(emoji) => {
            let kind = if emoji.is_deactivated { ActionKind::Removed } else { ActionKind::Created };
            Some(action(kind, Subject::Emoji(cut(&emoji.name))))
        }
    }
}
