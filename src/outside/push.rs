//! What organizations owe to phones, carried to the push service.

use super::payload::{Conversation, Note, Place, message_push, open_message, open_removal, removal_push};
use super::push_service::{Account, PushFailure, PushService, SealedPush, Sent, TokenPayload};
use super::seal::seal;
use crate::http::host::Hosts;
use actors::RealmHandle;
use actors::noticing::{Mention, mention_of, shown, still_news};
use actors::outbox::{Decide, Delivery, Followup, Parcel};
use model::job::PushTask;
use model::push::{PushDevice, PushStatus, PushTokenKind};
use model::{Directory, Message, MessageId, Timestamp, User, UserId};
use rules::avatar::{AvatarSize, whole_avatar_url};
use rules::permissions::users::api_email;
use rules::plain_text::{cut, plain_text};
use rules::settings::realm_bool;
use rules::topics::shown_topic;
use serde_json::Value;
use std::sync::Arc;

/// Longest text of a message on a phone, in characters.
const TEXT_CHARS_MAX: usize = 200;
/// What phones of the older way show where only the newer one may say more.
const REDACTED: &str = "New message";

/// Takes jobs to the push service.
pub struct PushCourier {
    service: Option<PushService>,
    hosts: Arc<Hosts>,
}

/// What one user's phones are told.
struct Letter {
    user: UserId,
    sealed: String,
    open: TokenPayload,
}

impl PushCourier {
    /// With the service of the configuration, if there is one.
    pub fn new(service: Option<PushService>, hosts: Arc<Hosts>) -> Self {
        Self { service, hosts }
    }

    /// Whether there is a service.
    pub fn sends(&self) -> bool {
        self.service.is_some()
    }

    /// One try.
    pub async fn deliver(&self, parcel: &Parcel, task: &PushTask) -> Delivery {
        let Some(service) = &self.service else {
            return Delivery::dropped("there is no push service any more");
        };
        let realm = &parcel.realm;
        if !realm.directory().realm().is_active {
            return Delivery::dropped("the organization is deactivated");
        }
        match task {
            PushTask::RegisterDevice { user, account } => {
                register(service, realm, *user, *account, parcel.tries).await
            }
            PushTask::RegisterToken { user, kind, added } => {
                register_token(service, realm, *user, *kind, *added).await
            }
            PushTask::Show { message, users } => self.show(service, realm, *message, users).await,
            PushTask::Remove { user, messages } => self.remove(service, realm, *user, messages).await,
        }
    }

    async fn show(
        &self,
        service: &PushService,
        realm: &RealmHandle,
        id: MessageId,
        users: &[UserId],
    ) -> Delivery {
        let message = match realm.message(id) {
            Ok(Some(message)) => message,
            Ok(None) => return Delivery::dropped("the message is gone"),
            Err(error) => return Delivery::failed(error.to_string()),
        };
        // What was read meanwhile, or cannot be read any more, is no news.
        let users: Vec<UserId> =
            realm.read(|view| users.iter().copied().filter(|user| still_news(view, *user, id)).collect());
        if users.is_empty() {
            return Delivery::dropped("everybody has read it meanwhile");
        }
        let directory = realm.directory();
        let url = self.hosts.url(realm, None);
        let letters: Vec<Letter> = users
            .iter()
            .filter_map(|user| letter_about(&directory, &url, directory.user(*user)?, &message))
            .collect();
        match send(service, realm, &directory, &letters, true).await {
            Ok(0) => Delivery::dropped("nobody has a phone any more"),
            Ok(_) => {
                let decide: Decide = Arc::new(move |directory: &Directory| shown(directory, id, &users));
                Delivery::Done(Some(Followup::Decide(decide)))
            }
            Err(failure) => failed(&failure),
        }
    }

    async fn remove(
        &self,
        service: &PushService,
        realm: &RealmHandle,
        user: UserId,
        messages: &[MessageId],
    ) -> Delivery {
        let directory = realm.directory();
        let place = Place::of(directory.realm(), self.hosts.url(realm, None), user);
        let messages: Vec<u32> = messages.iter().map(|id| id.0).collect();
        let (google, apple) = open_removal(&place, &messages);
        let letter = Letter {
            user,
            sealed: removal_push(&place, &messages).to_string(),
            open: TokenPayload { google, apple, is_urgent: false },
        };
        match send(service, realm, &directory, &[letter], false).await {
            Ok(0) => Delivery::dropped("nobody has a phone any more"),
            Ok(_) => Delivery::done(),
            Err(failure) => failed(&failure),
        }
    }
}

/// A failure that passes is tried again; one that does not is for those who run the server.
fn failed(failure: &PushFailure) -> Delivery {
    match failure.is_passing() {
        true => Delivery::failed(failure.to_string()),
        false => Delivery::refused(failure.to_string()),
    }
}

/// Tells the service of a phone, and the phone's owner what it said. What passes is tried again for a while.
async fn register(
    service: &PushService,
    realm: &RealmHandle,
    user: UserId,
    account: i64,
    tries: u32,
) -> Delivery {
    /// So often it is tried to reach the service before the owner is told that it cannot be reached.
    const TRIES_MAX: u32 = 8;
    let directory = realm.directory();
    let device = directory.push_devices(user).iter().find(|device| device.account == account);
    let Some(device) = device.filter(|device| device.status == PushStatus::Pending) else {
        return Delivery::dropped("the phone is no longer waiting to be registered");
    };
    let answer = service.register(&realm.push_uuid(None), device).await;
    let (status, delivery) = match answer {
        Ok(id) => (PushStatus::Active(id), Delivery::done()),
        Err(failure) if failure.is_passing() && tries < TRIES_MAX => return failed(&failure),
        Err(failure) => {
            (PushStatus::Failed(failure.code().to_owned()), Delivery::refused(failure.to_string()))
        }
    };
    match realm.settle_push_devices(user, vec![(account, device.added)], status).await {
        Ok(()) => delivery,
        Err(error) => Delivery::failed(error.to_string()),
    }
}

async fn register_token(
    service: &PushService,
    realm: &RealmHandle,
    user: UserId,
    kind: PushTokenKind,
    added: Timestamp,
) -> Delivery {
    let directory = realm.directory();
    let is_it = |token: &&model::push::PushToken| token.kind == kind && token.added == added;
    let Some(token) = directory.push_tokens(user).iter().find(is_it) else {
        return Delivery::dropped("the phone is no longer registered");
    };
    match service.register_token(&Account::of(realm, user), token).await {
        Ok(()) => Delivery::done(),
        Err(failure) => failed(&failure),
    }
}

/// Sends to all phones of these users; how many there were. Phones that the service no longer knows are noted.
async fn send(
    service: &PushService,
    realm: &RealmHandle,
    directory: &Directory,
    letters: &[Letter],
    is_urgent: bool,
) -> Result<usize, PushFailure> {
    let mut owners: Vec<(UserId, &PushDevice)> = Vec::new();
    let mut pushes = Vec::new();
    for letter in letters {
        for device in directory.push_devices(letter.user) {
            let sealed = device.service_id().zip(seal(&device.key, letter.sealed.as_bytes()));
            let Some((service_id, encrypted_data)) = sealed else { continue };
            owners.push((letter.user, device));
            pushes.push(SealedPush { device, service_id, encrypted_data, is_urgent });
        }
    }
    let mut count = pushes.len();
    if !pushes.is_empty() {
        let sent = service.notify(&realm.push_uuid(None), &pushes).await?;
        forget_devices(realm, &owners, &sent).await;
    }
    for letter in letters {
        let tokens = directory.push_tokens(letter.user);
        if tokens.is_empty() {
            continue;
        }
        count += tokens.len();
        let account = Account::of(realm, letter.user);
        let sent = service.notify_tokens(&account, tokens, &letter.open).await?;
        forget_tokens(realm, letter.user, tokens, &sent).await;
    }
    Ok(count)
}

/// Phones on which the app is gone are not told of anything any more. If noting that fails, the next answer says it again.
async fn forget_devices(realm: &RealmHandle, owners: &[(UserId, &PushDevice)], sent: &Sent) {
    let is_gone =
        |device: &PushDevice| device.service_id().is_some_and(|id| sent.delete_device_ids.contains(&id));
    for (user, device) in owners.iter().filter(|(_, device)| is_gone(device)) {
        let status = PushStatus::Failed("INVALID_REMOTE_PUSH_DEVICE_TOKEN".to_owned());
        let _ = realm.settle_push_devices(*user, vec![(device.account, device.added)], status).await;
    }
}

async fn forget_tokens(realm: &RealmHandle, user: UserId, tokens: &[model::push::PushToken], sent: &Sent) {
    let gone = |token: &&model::push::PushToken| {
        let list = match token.kind {
            PushTokenKind::Apns => &sent.deleted_devices.apple_devices,
            PushTokenKind::Fcm => &sent.deleted_devices.android_devices,
        };
        list.contains(&token.token.0)
    };
    let gone: Vec<_> = tokens.iter().filter(gone).map(|token| (token.kind, token.token.clone())).collect();
    if !gone.is_empty() {
        let _ = realm.forget_push_tokens(user, gone).await;
    }
}

/// What one user's phones are told of a message.
fn letter_about(directory: &Directory, url: &str, user: &User, message: &Message) -> Option<Letter> {
    let place = Place::of(directory.realm(), url.to_owned(), user.id);
    let note = note_about(directory, url, user, message)?;
    let mut open_note = note.clone();
    if realm_bool(directory.realm(), "require_e2ee_push_notifications") {
        REDACTED.clone_into(&mut open_note.content);
        open_note.is_cut = false;
    }
    let (google, apple) = open_message(&place, &open_note);
    let sealed: Value = message_push(&place, &note);
    let open = TokenPayload { google, apple, is_urgent: true };
    Some(Letter { user: user.id, sealed: sealed.to_string(), open })
}

fn note_about(directory: &Directory, url: &str, user: &User, message: &Message) -> Option<Note> {
    let sender = directory.user(message.sender)?;
    let (content, is_cut) = cut(&plain_text(&message.rendered), TEXT_CHARS_MAX);
    let avatar = whole_avatar_url(directory, sender, AvatarSize::Small);
    let conversation = match &message.place {
        model::Place::Channel { channel, topic } => Conversation::Channel {
            id: channel.0,
            name: directory.channel(*channel)?.name.clone(),
            topic: shown_topic(topic, false).to_owned(),
        },
        model::Place::Direct => {
            let direct = directory.direct(message.recipient)?;
            Conversation::Direct(direct.users.iter().map(|user| user.0).collect())
        }
    };
    let group = match (&conversation, mention_of(directory, &message.rendered, user.id)) {
        (Conversation::Channel { .. }, Some(Mention::Group(group))) => {
            Some((group.0, directory.group(group)?.name.clone()))
        }
        _ => None,
    };
    Some(Note {
        message: message.id.0,
        content,
        is_cut,
        sender: sender.id.0,
        sender_name: sender.full_name.clone(),
        sender_email: api_email(directory, sender).into_owned(),
        sender_avatar_url: if avatar.starts_with('/') { format!("{url}{avatar}") } else { avatar },
        sent: message.sent,
        conversation,
        group,
    })
}
