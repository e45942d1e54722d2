//! Acts in plain English.

use super::values::{channel_name, joined, user_name};
use crate::text::EMPTY_TOPIC_DISPLAY_NAME;
use model::{Act, ActChange, ActOrigin, Deed, DeedKind, Directory, Subject};

/// Who did it: a person with the address, or how the request came without an account.
pub fn who(directory: &Directory, act: &Act) -> String {
    match (act.by, act.origin) {
        (Some(user), _) => user_name(directory, user),
        (None, ActOrigin::CommandLine) => "The operator".to_owned(),
        (None, ActOrigin::Import) => "An import".to_owned(),
        (None, ActOrigin::Api | ActOrigin::Browser) => "A client without an account".to_owned(),
    }
}

/// The client of an act, such as `website` or `command line`.
pub fn client_of(act: &Act) -> String {
    match act.origin {
        ActOrigin::CommandLine => "command line".to_owned(),
        ActOrigin::Import => "import".to_owned(),
        ActOrigin::Api | ActOrigin::Browser if !act.client.is_empty() => act.client.clone(),
        ActOrigin::Api => "API".to_owned(),
        ActOrigin::Browser => "browser".to_owned(),
    }
}

/// What a deed did, without who: `changed the channel #design: name from “a” to “b”`.
pub fn describe(directory: &Directory, deed: &Deed) -> String {
    let about = subject(directory, &deed.about);
    let details = details(&deed.changes);
    let with_details = |text: String| if details.is_empty() { text } else { format!("{text}: {details}") };
    let users = || {
        let named = joined(deed.users.iter().map(|user| user_name(directory, *user)));
        match deed.count.saturating_sub(deed.users.len() as u64) {
            0 => named,
            more => format!("{named} and {more} others"),
        }
    };
    let number = |one: &str, many: &str| match deed.count {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    };
    match deed.kind {
        DeedKind::Created => with_details(format!("created {about}")),
        DeedKind::Changed => with_details(format!("changed {about}")),
        DeedKind::Removed => format!("removed {about}"),
        DeedKind::Deactivated => format!("deactivated {about}"),
        DeedKind::Reactivated => format!("reactivated {about}"),
        DeedKind::Archived => format!("archived {about}"),
        DeedKind::Unarchived => format!("unarchived {about}"),
        DeedKind::MembersAdded => format!("added {} to {about}", users()),
        DeedKind::MembersRemoved => format!("removed {} from {about}", users()),
        DeedKind::PasswordSet => format!("set a new password of {about}"),
        DeedKind::KeyReplaced => format!("replaced the API key of {about}"),
        DeedKind::SessionsEnded => format!("ended {} of {about}", number("web session", "web sessions")),
        DeedKind::Invited => with_details(format!("made {}", number("invitation", "invitations"))),
        DeedKind::InvitationsRevoked => {
            with_details(format!("revoked {}", number("invitation", "invitations")))
        }
        DeedKind::InvitationResent => with_details("sent an invitation again".to_owned()),
        DeedKind::MessagesDeleted => {
            format!("deleted {} of others in {about}", number("message", "messages"))
        }
        DeedKind::MessagesMoved => {
            with_details(format!("moved {} of others in {about}", number("message", "messages")))
        }
        DeedKind::Imported => with_details(format!("imported {about}")),
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

fn details(changes: &[ActChange]) -> String {
    let one = |ActChange { name, before, after }: &ActChange| match (before.as_str(), after.as_str()) {
        ("", after) => format!("{name} {after}"),
        (before, "") => format!("{name} “{before}” removed"),
        (before, after) => format!("{name} from “{before}” to “{after}”"),
    };
    changes.iter().map(one).collect::<Vec<_>>().join("; ")
}
