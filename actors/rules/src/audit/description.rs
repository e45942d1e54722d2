//! Audit entries in plain English.

use super::values::{ADDRESS, REUSABLE_LINK, channel_name, joined_of, user_name};
use crate::text::EMPTY_TOPIC_DISPLAY_NAME;
use model::{ActionKind, AuditAction, AuditEntry, Directory, PropertyChange, RequestOrigin, Subject, UserId};

/// The origin of an entry, for programs.
pub fn origin_of(entry: &AuditEntry) -> &'static str {
    match entry.origin {
        RequestOrigin::Api => "api",
        RequestOrigin::Browser => "browser",
        RequestOrigin::CommandLine => "command_line",
        RequestOrigin::Import => "import",
    }
}

/// Who did it: a person with the address, or how the request came without an account.
pub fn who(directory: &Directory, entry: &AuditEntry) -> String {
    match (entry.by, entry.origin) {
        (Some(user), _) => user_name(directory, user),
        (None, RequestOrigin::CommandLine) => "The operator".to_owned(),
        (None, RequestOrigin::Import) => "An import".to_owned(),
        (None, RequestOrigin::Api | RequestOrigin::Browser) => match user_of_link(entry) {
            Some(user) => format!("{}, by a link in an e-mail", user_name(directory, user)),
            None => "A client without an account".to_owned(),
        },
    }
}

/// The person whose link from an e-mail a request without an account used: it chose a new password, or confirmed a new address.
fn user_of_link(entry: &AuditEntry) -> Option<UserId> {
    entry.actions.iter().find_map(|action| {
        let Subject::User(user) = &action.about else { return None };
        let has_new_address = || action.changes.iter().any(|change| change.name == ADDRESS);
        let is_by_link = match action.kind {
            ActionKind::PasswordSet => true,
            ActionKind::Changed => has_new_address(),
            ActionKind::Created
            | ActionKind::Removed
            | ActionKind::Deactivated
            | ActionKind::Reactivated
            | ActionKind::Archived
            | ActionKind::Unarchived
            | ActionKind::MembersAdded
            | ActionKind::MembersRemoved
            | ActionKind::KeyReplaced
            | ActionKind::SessionsEnded
            | ActionKind::Invited
            | ActionKind::InvitationsRevoked
            | ActionKind::InvitationResent
            | ActionKind::MessagesDeleted
            | ActionKind::MessagesMoved
            | ActionKind::Imported => false,
        };
        is_by_link.then_some(*user)
    })
}

/// The client of an entry, such as `website` or `command line`.
pub fn client_of(entry: &AuditEntry) -> String {
    match entry.origin {
        RequestOrigin::CommandLine => "command line".to_owned(),
        RequestOrigin::Import => "import".to_owned(),
        RequestOrigin::Api | RequestOrigin::Browser if !entry.client.is_empty() => entry.client.clone(),
        RequestOrigin::Api => "API".to_owned(),
        RequestOrigin::Browser => "browser".to_owned(),
    }
}

/// What an action did, without who: `changed the channel #design: name from “a” to “b”`.
pub fn describe(directory: &Directory, action: &AuditAction) -> String {
    let about = subject(directory, &action.about);
    let details = details(&action.changes);
    let with_details = |text: String| if details.is_empty() { text } else { format!("{text}: {details}") };
    let users = || {
        let named = action.users.iter().map(|user| user_name(directory, *user));
        joined_of(named, usize::try_from(action.count).unwrap_or(usize::MAX))
    };
    let number = |one: &str, many: &str| match action.count {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    };
    match action.kind {
        ActionKind::Created if matches!(action.about, Subject::Domain(_)) => format!("accepted {about}"),
        ActionKind::Created => with_details(format!("created {about}")),
        ActionKind::Changed => with_details(format!("changed {about}")),
        ActionKind::Removed => format!("removed {about}"),
        ActionKind::Deactivated => format!("deactivated {about}"),
        ActionKind::Reactivated => format!("reactivated {about}"),
        ActionKind::Archived => format!("archived {about}"),
        ActionKind::Unarchived => format!("unarchived {about}"),
        ActionKind::MembersAdded => format!("added {} to {about}", users()),
        ActionKind::MembersRemoved => format!("removed {} from {about}", users()),
        ActionKind::PasswordSet => format!("set a new password of {about}"),
        ActionKind::KeyReplaced => format!("replaced the API key of {about}"),
        ActionKind::SessionsEnded => format!("ended {} of {about}", number("web session", "web sessions")),
        ActionKind::Invited => invitations("made", action),
        ActionKind::InvitationsRevoked => invitations("revoked", action),
        ActionKind::InvitationResent => with_details("sent an invitation again".to_owned()),
        ActionKind::MessagesDeleted => {
            format!("deleted {} of others in {about}", number("message", "messages"))
        }
        ActionKind::MessagesMoved => {
            with_details(format!("moved {} of others in {about}", number("message", "messages")))
        }
        ActionKind::Imported => with_details(format!("imported {about}")),
    }
}

/// What was done with invitations: to how many addresses, or with a link for everyone who has it.
fn invitations(did: &str, action: &AuditAction) -> String {
    let is_to_link = |change: &&PropertyChange| change.after == REUSABLE_LINK;
    let is_link = action.count == 1 && action.changes.iter().any(|change| is_to_link(&change));
    let what = match (is_link, action.count) {
        (true, _) => "a reusable invitation link".to_owned(),
        (false, 1) => "1 invitation".to_owned(),
        (false, count) => format!("{count} invitations"),
    };
    let others = action.changes.iter().filter(|change| !is_link || !is_to_link(change)).cloned();
    match details(&others.collect::<Vec<_>>()).as_str() {
        "" => format!("{did} {what}"),
        details => format!("{did} {what}: {details}"),
    }
}

fn subject(directory: &Directory, about: &Subject) -> String {
    match about {
        Subject::Organization => "the organization".to_owned(),
        Subject::User(id) => {
            let is_bot = directory.user(*id).is_some_and(|user| user.is_bot());
            format!("the {} {}", if is_bot { "bot" } else { "account" }, user_name(directory, *id))
        }
        Subject::Group(id) => {
            let name = directory.group(*id).map_or_else(|| id.to_string(), |group| group.name.clone());
            format!("the group {name}")
        }
        Subject::Channel(id) => format!("the channel {}", channel_name(directory, *id)),
        Subject::Folder(id) => {
            let name = directory.folder(*id).map_or_else(|| id.to_string(), |folder| folder.name.clone());
            format!("the channel folder {name}")
        }
        Subject::Topic { channel, name } => {
            let topic = if name.is_empty() {
                format!("“{EMPTY_TOPIC_DISPLAY_NAME}”")
            } else {
                format!("“{name}”")
            };
            format!("{} in {}", topic, channel_name(directory, *channel))
        }
        Subject::DirectMessages => "a direct conversation".to_owned(),
        Subject::Linkifier(pattern) => format!("the linkifier {pattern}"),
        Subject::Playground(name) => format!("the code playground {name}"),
        Subject::Domain(name) => format!("the e-mail domain {name}"),
        Subject::ProfileField(name) => format!("the profile field {name}"),
        Subject::Emoji(name) => format!("the emoji :{name}:"),
        Subject::DefaultChannelGroup(name) => format!("the group of default channels {name}"),
        Subject::Export(kind) => format!("an export ({kind})"),
    }
}

fn details(changes: &[PropertyChange]) -> String {
    let one =
        |PropertyChange { name, before, after }: &PropertyChange| match (before.as_str(), after.as_str()) {
            (before, after) if is_erased(before) || is_erased(after) => format!("{name} (erased)"),
            ("", after) => format!("{name} {after}"),
            (before, "") => format!("{name} “{before}” removed"),
            (before, after) => format!("{name} from “{before}” to “{after}”"),
        };
    changes.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Whether a value was erased with the account that it was about: it has spaces instead.
fn is_erased(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte == b' ')
}
