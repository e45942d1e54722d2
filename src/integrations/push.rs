//! Delivers push notifications through the push service.

use super::push_payload::{
    Conversation, MessageNotification, PushAccount, message_push, open_message, open_removal, removal_push,
};
use super::push_service::{Account, PushFailure, PushService, SealedPush, Sent, TokenPayload};
use super::seal::seal;
use crate::hosts::Hosts;
use actors::notifications::{Mention, mention_of, shown};
use actors::outbox::{Decide, Delivery, DeliveryAttempt, Followup};
use actors::{RealmHandle, commands};
use model::job::PushTask;
use model::push::{PushDevice, PushStatus, PushTokenKind};
use model::{Directory, Message, MessageId, Timestamp, User, UserId};
use rules::avatar::{AvatarSize, unknown_avatar_url, whole_avatar_url};
use rules::permissions::users::{UNKNOWN_NAME, api_email, sees_user};
use rules::plain_text::{cut, notification_text};
use rules::settings::realm_bool;
use rules::topics::shown_topic;
use serde_json::Value;
use std::sync::Arc;

/// Maximum number of characters of a message in a notification.
const TEXT_CHARS_MAX: usize = 200;
/// The text of a legacy notification when only an encrypted one may contain the message.
const REDACTED: &str = "New message";

/// Delivers jobs to the push service.
pub struct PushDelivery {
    service: Option<PushService>,
    hosts: Arc<Hosts>,
}

/// The notifications for one user's devices.
struct PushMessage {
    user: UserId,
    sealed: String,
    open: TokenPayload,
}

impl PushDelivery {
    /// With the configured service, if there is one.
    pub fn new(service: Option<PushService>, hosts: Arc<Hosts>) -> Self {
        Self { service, hosts }
    }

    /// Whether a service is configured.
    pub fn sends(&self) -> bool {
        self.service.is_some()
    }

    /// One delivery attempt.
    pub async fn deliver(&self, attempt: &DeliveryAttempt, task: &PushTask) -> Delivery {
        let Some(service) = &self.service else {
            return Delivery::dropped("no push service is configured any more");
        };
        let realm = &attempt.realm;
        if !realm.directory().realm().is_active {
            return Delivery::dropped("the organization is deactivated");
        }
        match task {
            PushTask::RegisterDevice { user, account } => {
                register(service, realm, *user, *account, attempt.tries).await
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
            Ok(None) => return Delivery::dropped("the message no longer exists"),
            Err(error) => return Delivery::failed(error.to_string()),
        };
        // Messages that were read, or can no longer be read, are not notified.
        let users = realm.not_read_by(id, users);
        if users.is_empty() {
            return Delivery::dropped("all recipients have read the message");
        }
        let directory = realm.directory();
        let url = self.hosts.url(realm, None);
        let messages: Vec<PushMessage> = users
            .iter()
            .filter_map(|user| push_message_about(&directory, &url, directory.user(*user)?, &message))
            .collect();
        match send(service, realm, &directory, &messages, true).await {
            Ok(0) => Delivery::dropped("no recipient has a registered device any more"),
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
        let push_account = PushAccount::of(directory.realm(), self.hosts.url(realm, None), user);
        let messages: Vec<u32> = messages.iter().map(|id| id.0).collect();
        let (google, apple) = open_removal(&push_account, &messages);
        let push_message = PushMessage {
            user,
            sealed: removal_push(&push_account, &messages).to_string(),
            open: TokenPayload { google, apple, is_urgent: false },
        };
        match send(service, realm, &directory, &[push_message], false).await {
            Ok(0) => Delivery::dropped("no recipient has a registered device any more"),
            Ok(_) => Delivery::done(),
            Err(failure) => failed(&failure),
        }
    }
}

/// Temporary failures are retried; others need an operator.
fn failed(failure: &PushFailure) -> Delivery {
    match failure {
        PushFailure::Busy { retry_after_secs } => Delivery::busy(failure.to_string(), *retry_after_secs),
        PushFailure::Unreachable(_) | PushFailure::Broken(_) => Delivery::failed(failure.to_string()),
        PushFailure::Refused { .. } => Delivery::refused(failure.to_string()),
    }
}

/// Registers a device at the service, and reports the result to its owner. Temporary failures are retried for a
/// while.
async fn register(
    service: &PushService,
    realm: &RealmHandle,
    user: UserId,
    account: i64,
    tries: u32,
) -> Delivery {
    /// Number of attempts before the owner is notified that the service cannot be reached.
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
    match realm
        .execute(commands::SetPushDeviceStatus { user, devices: vec![(account, device.added)], status })
        .await
    {
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

/// Sends to all devices of these users, and returns their number. Devices that the service no longer knows are
/// recorded.
async fn send(
    service: &PushService,
    realm: &RealmHandle,
    directory: &Directory,
    messages: &[PushMessage],
    is_urgent: bool,
) -> Result<usize, PushFailure> {
    let mut owners: Vec<(UserId, &PushDevice)> = Vec::new();
    let mut pushes = Vec::new();
    for push_message in messages {
        for device in directory.push_devices(push_message.user) {
            let sealed = device.service_id().zip(seal(&device.key, push_message.sealed.as_bytes()));
            let Some((service_id, encrypted_data)) = sealed else { continue };
            owners.push((push_message.user, device));
            pushes.push(SealedPush { device, service_id, encrypted_data, is_urgent });
        }
    }
    let mut count = pushes.len();
    if !pushes.is_empty() {
        let sent = service.notify(&realm.push_uuid(None), &pushes).await?;
        forget_devices(realm, &owners, &sent).await;
    }
    for push_message in messages {
        let tokens = directory.push_tokens(push_message.user);
        if tokens.is_empty() {
            continue;
        }
        count += tokens.len();
        let account = Account::of(realm, push_message.user);
        let sent = service.notify_tokens(&account, tokens, &push_message.open).await?;
        forget_tokens(realm, push_message.user, tokens, &sent).await;
    }
    Ok(count)
}

/// Forgets devices on which the app was deleted. If that fails, the next response reports them again.
async fn forget_devices(realm: &RealmHandle, owners: &[(UserId, &PushDevice)], sent: &Sent) {
    let is_gone =
        |device: &PushDevice| device.service_id().is_some_and(|id| sent.delete_device_ids.contains(&id));
    for (user, device) in owners.iter().filter(|(_, device)| is_gone(device)) {
        let status = PushStatus::Failed("INVALID_REMOTE_PUSH_DEVICE_TOKEN".to_owned());
        let _ = realm
            .execute(commands::SetPushDeviceStatus {
                user: *user,
                devices: vec![(device.account, device.added)],
                status,
            })
            .await;
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
        let _ = realm.execute(commands::ForgetPushTokens { user, tokens: gone }).await;
    }
}

/// The notification of a message for one user's devices.
fn push_message_about(
    directory: &Directory,
    url: &str,
    user: &User,
    message: &Message,
) -> Option<PushMessage> {
    let push_account = PushAccount::of(directory.realm(), url.to_owned(), user.id);
    let notification = message_notification(directory, url, user, message)?;
    let mut open_notification = notification.clone();
    if realm_bool(directory.realm(), "require_e2ee_push_notifications") {
        REDACTED.clone_into(&mut open_notification.content);
        open_notification.is_truncated = false;
    }
    let (google, apple) = open_message(&push_account, &open_notification);
    let sealed: Value = message_push(&push_account, &notification);
    let open = TokenPayload { google, apple, is_urgent: true };
    Some(PushMessage { user: user.id, sealed: sealed.to_string(), open })
}

fn message_notification(
    directory: &Directory,
    url: &str,
    user: &User,
    message: &Message,
) -> Option<MessageNotification> {
    let sender = directory.user(message.sender)?;
    let (content, is_truncated) = cut(&notification_text(&message.rendered), TEXT_CHARS_MAX);
    // As in the answers to the user's requests.
    let (sender_name, sender_email, avatar) = match sees_user(directory, user, sender) {
        true => (
            sender.full_name.clone(),
            api_email(directory, sender).into_owned(),
            whole_avatar_url(directory, sender, AvatarSize::Small),
        ),
        false => (
            UNKNOWN_NAME.to_owned(),
            directory.made_up_email(sender.id),
            unknown_avatar_url(directory.realm().id, AvatarSize::Small),
        ),
    };
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
    let mention = mention_of(directory, &message.rendered, user.id);
    let mut group = None;
    if let (Conversation::Channel { .. }, Some(Mention::Group(id))) = (&conversation, mention) {
        group = Some((id.0, directory.group(id)?.name.clone()));
    }
    Some(MessageNotification {
        message: message.id.0,
        content,
        is_truncated,
        sender: sender.id.0,
        sender_name,
        sender_email,
        sender_avatar_url: if avatar.starts_with('/') { format!("{url}{avatar}") } else { avatar },
        sent: message.sent,
        conversation,
        group,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::wire::fixture;

    #[test]
    fn notifications_do_not_name_hidden_senders() {
        let mut directory = fixture::directory();
        fixture::restrict_guests(&mut directory);
        let message = fixture::in_topic(7, "t");
        let of = |reader| {
            let reader = directory.user(reader).unwrap();
            let found = message_notification(&directory, "https://x", reader, &message).unwrap();
            [found.sender_name, found.sender_email, found.sender_avatar_url]
        };
        let unknown = "https://x/user_avatars/1/default/unknown.png";
        assert_eq!(of(fixture::GUEST), ["Unknown user", "user1@zulip.test", unknown]);
        let [name, email, avatar] = of(fixture::CORDELIA);
        assert_eq!((name.as_str(), email.as_str()), ("Iago", "iago@zulip.com"));
        assert_ne!(avatar, unknown);
    }

    #[test]
    fn a_busy_service_sets_the_delay() {
        let busy = failed(&PushFailure::Busy { retry_after_secs: 9 });
        assert!(matches!(busy, Delivery::Failed { after_secs: 9, .. }));
        let failure = failed(&PushFailure::Broken("x".to_owned()));
        assert!(matches!(failure, Delivery::Failed { after_secs: 0, .. }));
        let refused = failed(&PushFailure::Refused { status: 302, code: None });
        assert!(matches!(refused, Delivery::Refused { .. }));
    }
}
