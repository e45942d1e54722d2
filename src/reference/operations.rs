//! The declarations of all operations, by family. A new endpoint has its entry here; tests compare it with what its handler reads.

mod account;
mod channels;
mod invitations;
mod messages;
mod organization;
mod services;
mod settings;
mod users;

use super::operation::Operation;

/// A family of operations.
pub struct Family {
    /// Its name in the document and in addresses.
    pub name: &'static str,
    /// What it is about.
    pub text: &'static str,
    pub operations: Vec<Operation>,
}

impl Family {
    /// Its name in the addresses of the page.
    pub fn anchor(&self) -> String {
        self.name.to_lowercase().replace(' ', "-")
    }
}

/// All families, in the order in which they are shown.
pub fn families() -> Vec<Family> {
    let family = |name, text, operations| Family { name, text, operations };
    vec![
        family(
            "Messages",
            "Sending, reading, changing and deleting messages; flags, reactions, widgets.",
            messages::operations(),
        ),
        family("Channels", "Channels, folders, subscriptions and topics.", channels::operations()),
        family("Users", "People and bots, their presence, status and pictures.", users::operations()),
        family("Real-time events", "Event queues, and the state that they change.", services::events()),
        family("User groups", "Groups of people, by which permissions are given.", organization::groups()),
        family("Account", "Logging in, keys, sessions and own settings.", account::operations()),
        family(
            "Drafts and scheduled messages",
            "Texts that are stored before they are sent.",
            services::texts(),
        ),
        family("Files", "Uploaded files and their thumbnails.", services::uploads()),
        family("Bots", "Bots, their keys and storage, incoming webhooks.", services::bots()),
        family(
            "Organization",
            "Settings of the organization, its pictures, emoji, linkifiers and profile fields.",
            organization::operations(),
        ),
        family("Invitations", "Invitations by e-mail and by link.", invitations::operations()),
        family("Push notifications", "Devices that are notified.", services::push()),
        family("Video calls", "Services for calls that clients may start.", services::calls()),
    ]
}

/// All operations of all families.
pub fn operations() -> Vec<Operation> {
    families().into_iter().flat_map(|family| family.operations).collect()
}
