//! The text of each e-mail, and its recipient: one function for each kind, from the state at delivery.

use super::Email;
use super::email::Run;
use super::incoming::address::AddressPattern;
use super::unsubscribe::{MailKind, unsubscribe_path};
use crate::hosts::Hosts;
use actors::RealmHandle;
use actors::outbox::DeliveryAttempt;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::job::MailTask;
use model::{Directory, Timestamp, User, UserId};
use rules::client::CLIENT_UNSPECIFIED;
use std::sync::Arc;

/// Context for deriving keys of this kind.
const CONFIRM_PURPOSE: &str = "new address";
/// Where the start page says how to change settings.
pub const SETTINGS_PAGE: &str = "/about#your-settings";

/// Recipient and e-mail, or why there is nothing to send any more.
pub(super) fn compose(
    attempt: &DeliveryAttempt,
    task: &MailTask,
    (hosts, has_passwords): (&Hosts, bool),
) -> Result<(String, Email), String> {
    let realm = &attempt.realm;
    let directory = realm.directory();
    if !directory.realm().is_active {
        return Err("the organization is deactivated".into());
    }
    let (url, addresses) = (hosts.url(realm, None), hosts.mail_addresses());
    let context = MailContext { realm, url, directory, addresses, has_passwords };
    match task {
        MailTask::ConfirmAddress { user, address, asked } => context.confirm_address(*user, address, *asked),
        MailTask::AddressChanged { user, old } => context.address_changed(*user, old),
        MailTask::NewLogin { user, at, client, ip } => context.new_login(*user, *at, client, ip),
        MailTask::Invitation(invitation) => context.invitation(*invitation, realm.now()),
        MailTask::Deactivated { user, comment } => context.deactivated(*user, comment),
        MailTask::FoundAccounts { user, organizations } => context.found_accounts(*user, organizations),
        MailTask::PasswordReset { user, asked } => context.password_reset(*user, *asked),
        MailTask::SignUp { address, asked } => context.sign_up(address, *asked),
        MailTask::SignUpKnown { user } => context.sign_up_known(*user),
        MailTask::Missed { user, messages } => context.missed(*user, messages),
    }
}

/// What the text of every e-mail is made from.
pub(super) struct MailContext<'p> {
    pub(super) realm: &'p RealmHandle,
    /// URL of the organization, without a slash at its end.
    pub(super) url: String,
    pub(super) directory: Directory,
    /// The addresses of replies, if mail is received.
    pub(super) addresses: Option<&'p AddressPattern>,
    /// Whether people can choose a new password by mail.
    has_passwords: bool,
}

impl MailContext<'_> {
    /// The e-mail with the link that turns off mails of its kind, in its text and in its headers.
    pub(super) fn with_unsubscribe_link(&self, email: Email, reader: &User, kind: MailKind) -> Email {
        let url = format!("{}{}", self.url, unsubscribe_path(self.realm, reader, kind));
        email
            .with_unsubscribe_link(url.clone())
            .link(format!("Stop emails about {}", kind.description()), url)
    }

    /// The link to how a person changes settings: which clients can, and a call for all others.
    pub(super) fn link_to_settings(&self) -> Run {
        let (words, url) =
            ("Choose which emails you receive".to_owned(), format!("{}{SETTINGS_PAGE}", self.url));
        Run { words, url: Some(url), shows_url: true, mark: None }
    }

    pub(super) fn user(&self, id: UserId) -> Result<&Arc<User>, String> {
        self.directory
            .user(id)
            .filter(|user| user.is_active)
            .ok_or_else(|| "the account is not in use".into())
    }

    pub(super) fn name(&self) -> &str {
        &self.directory.realm().name
    }

    fn confirm_address(
        &self,
        user: UserId,
        address: &str,
        asked: Timestamp,
    ) -> Result<(String, Email), String> {
        let user = self.user(user)?;
        if user.delivery_email == address {
            return Err("the address is the user's already".into());
        }
        let url = format!("{}{}", self.url, confirm_path(self.realm, user, address, asked));
        let email = Email::new("Verify your new email address")
            .paragraph(format!("Hi {},", user.full_name))
            .paragraph(format!(
                "We received a request to change the email address of your account in {} ({}) from {} to {address}. \
                 To confirm this change, please open this link:",
                self.name(),
                self.url,
                user.delivery_email
            ))
            .link("Confirm the email change", url)
            .paragraph(
                "The link expires in one day. If you did not request this change, you can ignore this email: \
                 your address stays as it is.",
            );
        Ok((address.to_owned(), email))
    }

    fn address_changed(&self, user: UserId, old: &str) -> Result<(String, Email), String> {
        let user = self.directory.user(user).ok_or("there is no such account")?;
        let email = Email::new(format!("Your email address in {} has been changed", self.name()))
            .paragraph(format!("Hi {},", user.full_name))
            .paragraph(format!(
                "The email address of your account in {} ({}) was changed to {}. Emails are no longer sent to this address.",
                self.name(),
                self.url,
                user.delivery_email
            ))
            .paragraph("If you did not do this, please contact an administrator of your organization immediately.");
        Ok((old.to_owned(), email))
    }

    fn deactivated(&self, user: UserId, comment: &str) -> Result<(String, Email), String> {
        let user = self.directory.user(user).ok_or("there is no such account")?;
        if user.is_active {
            return Err("the account is in use again".into());
        }
        let mut email = Email::new(format!("Your account in {} was deactivated", self.name()))
            .paragraph(format!("Hi {},", user.full_name))
            .paragraph(format!(
                "Your account in {} ({}) was deactivated. You can no longer log in.",
                self.name(),
                self.url
            ));
        if !comment.is_empty() {
            email = email.paragraph("Comment of the administrators:").paragraph(comment);
        }
        Ok((user.delivery_email.clone(), email))
    }

    fn new_login(
        &self,
        user: UserId,
        at: Timestamp,
        client: &str,
        ip: &str,
    ) -> Result<(String, Email), String> {
        let user = self.user(user)?;
        let is_unknown = client.is_empty() || client == CLIENT_UNSPECIFIED;
        let client = if is_unknown { "an unknown client" } else { client };
        let email = Email::new(format!("New login from {client}"))
            .paragraph(format!("Hi {},", user.full_name))
            .paragraph(format!("There was a new login to your account in {} ({}):", self.name(), self.url))
            .paragraph(format!(
                "Email: {}\nTime: {}\nClient: {client}\nIP address: {ip}",
                user.delivery_email,
                format_time(at, &user.timezone)
            ))
            .paragraph(
                "If this was you, there is nothing to do. If it was not, please change your password and \
                 contact an administrator of your organization.",
            );
        let email = match self.has_passwords {
            true => email.link("Choose a new password", format!("{}/accounts/password/reset/", self.url)),
            false => email,
        };
        let email = email
            .paragraph_of(vec![self.link_to_settings(), Run::plain(", or turn these off with this link:")]);
        Ok((user.delivery_email.clone(), self.with_unsubscribe_link(email, user, MailKind::Logins)))
    }
}

/// A time in the time zone of a user, or in UTC.
fn format_time(at: Timestamp, timezone: &str) -> String {
    let Ok(moment) = jiff::Timestamp::from_millisecond(i64::try_from(at.0).unwrap_or_default()) else {
        return String::new();
    };
    let zone = jiff::tz::TimeZone::get(timezone).unwrap_or(jiff::tz::TimeZone::UTC);
    moment.to_zoned(zone).strftime("%a, %d %b %Y, %H:%M %Z").to_string()
}

/// The path of the link that confirms a new e-mail address. It contains the request, and a MAC over that and the
/// current address: nothing is stored, and the link becomes invalid once the address has changed.
pub fn confirm_path(realm: &RealmHandle, user: &User, address: &str, asked: Timestamp) -> String {
    let key = confirm_key(realm, user, address, asked);
    let address = URL_SAFE_NO_PAD.encode(address);
    format!("/confirm_email/{}.{}.{address}.{key}", user.id, asked.0)
}

fn confirm_key(realm: &RealmHandle, user: &User, address: &str, asked: Timestamp) -> String {
    let (id, asked) = (user.id.to_string(), asked.0.to_string());
    realm.link_key(CONFIRM_PURPOSE, &[&id, &user.delivery_email, address, &asked])
}

/// The user, new address and time in the last segment of a valid link; none for any other, and for one that was used.
pub fn parse_confirm_key(realm: &RealmHandle, text: &str) -> Option<(Arc<User>, String, Timestamp)> {
    let mut pieces = text.split('.');
    let (user, asked) = (pieces.next()?.parse().ok()?, pieces.next()?.parse().ok()?);
    let (address, key) = (pieces.next()?, pieces.next()?);
    let address = String::from_utf8(URL_SAFE_NO_PAD.decode(address).ok()?).ok()?;
    let user = realm.directory().user(UserId(user)).cloned()?;
    let (id, asked_text) = (user.id.to_string(), u64::to_string(&asked));
    let is_ours =
        realm.is_link_key(key, CONFIRM_PURPOSE, &[&id, &user.delivery_email, &address, &asked_text]);
    (is_ours && pieces.next().is_none()).then_some((user, address, Timestamp(asked)))
}
