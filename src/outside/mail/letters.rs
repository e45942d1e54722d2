//! What each mail says, and to whom. A function for each, from what is true at delivery.

use super::Letter;
use crate::http::host::Hosts;
use actors::RealmHandle;
use actors::outbox::Parcel;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::job::MailTask;
use model::{Directory, Timestamp, User, UserId};
use std::sync::Arc;

/// What a key of this kind is for, when it is derived.
const CONFIRM_PURPOSE: &str = "new address";

/// Recipient and letter, or why there is nothing to write any more.
pub(super) fn compose(parcel: &Parcel, task: &MailTask, hosts: &Hosts) -> Result<(String, Letter), String> {
    let realm = &parcel.realm;
    let directory = realm.directory();
    if !directory.realm().is_active {
        return Err("the organization is deactivated".into());
    }
    let about = About { realm, url: hosts.url(realm, None), directory };
    match task {
        MailTask::ConfirmAddress { user, address, asked } => about.confirm_address(*user, address, *asked),
        MailTask::AddressChanged { user, old } => about.address_changed(*user, old),
        MailTask::NewLogin { user, at, client, ip } => about.new_login(*user, *at, client, ip),
        MailTask::Invitation(invitation) => about.invitation(*invitation, realm.now()),
        // Those become one mail for each conversation first.
        MailTask::Missed { .. } => Err("it is about several people".into()),
        MailTask::Deactivated { user, comment } => about.deactivated(*user, comment),
        MailTask::MissedIn { user, place, recipient, from, until } => {
            about.missed(*user, (place, *recipient), *from, *until)
        }
    }
}

/// What every letter needs.
pub(super) struct About<'p> {
    pub(super) realm: &'p RealmHandle,
    /// Where the organization is found, without a slash at the end.
    pub(super) url: String,
    pub(super) directory: Directory,
}

impl About<'_> {
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
    ) -> Result<(String, Letter), String> {
        let user = self.user(user)?;
        if user.delivery_email == address {
            return Err("the address is the user's already".into());
        }
        let url = format!("{}{}", self.url, confirm_path(self.realm, user, address, asked));
        let letter = Letter::new("Verify your new email address")
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
                "The link is good for one day. If you did not ask for this change, you can ignore this email: \
                 nothing changes then.",
            );
        Ok((address.to_owned(), letter))
    }

    fn address_changed(&self, user: UserId, old: &str) -> Result<(String, Letter), String> {
        let user = self.directory.user(user).ok_or("there is no such account")?;
        let letter = Letter::new(format!("Your email address in {} has been changed", self.name()))
            .paragraph(format!("Hi {},", user.full_name))
            .paragraph(format!(
                "The email address of your account in {} ({}) was changed to {}. Mail about it no longer goes to this address.",
                self.name(),
                self.url,
                user.delivery_email
            ))
            .paragraph("If you did not do this, please ask an administrator of your organization for help at once.");
        Ok((old.to_owned(), letter))
    }

    fn deactivated(&self, user: UserId, comment: &str) -> Result<(String, Letter), String> {
        let user = self.directory.user(user).ok_or("there is no such account")?;
        if user.is_active {
            return Err("the account is in use again".into());
        }
        let mut letter = Letter::new(format!("Your account in {} was deactivated", self.name()))
            .paragraph(format!("Hi {},", user.full_name))
            .paragraph(format!(
                "Your account in {} ({}) was deactivated. You can no longer log in.",
                self.name(),
                self.url
            ));
        if !comment.is_empty() {
            letter = letter.paragraph("The administrators add:").paragraph(comment);
        }
        Ok((user.delivery_email.clone(), letter))
    }

    fn new_login(
        &self,
        user: UserId,
        at: Timestamp,
        client: &str,
        ip: &str,
    ) -> Result<(String, Letter), String> {
        let user = self.user(user)?;
        let client = if client.is_empty() { "an unknown client" } else { client };
        let letter = Letter::new(format!("New login from {client}"))
            .paragraph(format!("Hi {},", user.full_name))
            .paragraph(format!("There was a new login to your account in {} ({}):", self.name(), self.url))
            .paragraph(format!(
                "Email: {}\nTime: {}\nClient: {client}\nIP address: {ip}",
                user.delivery_email,
                in_words(at, &user.timezone)
            ))
            .paragraph(
                "If this was you, there is nothing to do. If it was not, please change your password and \
                 ask an administrator of your organization for help.",
            )
            .paragraph("You can turn these emails off in your notification settings.");
        Ok((user.delivery_email.clone(), letter))
    }
}

/// A moment in somebody's time zone, UTC where none is set.
fn in_words(at: Timestamp, timezone: &str) -> String {
    let Ok(moment) = jiff::Timestamp::from_millisecond(i64::try_from(at.0).unwrap_or_default()) else {
        return String::new();
    };
    let zone = jiff::tz::TimeZone::get(timezone).unwrap_or(jiff::tz::TimeZone::UTC);
    moment.to_zoned(zone).strftime("%a, %d %b %Y, %H:%M %Z").to_string()
}

/// The path of the link that confirms a new address. What was asked for stands in it, and a key over that and the
/// address of now: nothing has to be kept, and once the address has changed the link is good for nothing.
pub fn confirm_path(realm: &RealmHandle, user: &User, address: &str, asked: Timestamp) -> String {
    let key = confirm_key(realm, user, address, asked);
    let address = URL_SAFE_NO_PAD.encode(address);
    format!("/confirm_email/{}.{}.{address}.{key}", user.id, asked.0)
}

fn confirm_key(realm: &RealmHandle, user: &User, address: &str, asked: Timestamp) -> String {
    let (id, asked) = (user.id.to_string(), asked.0.to_string());
    realm.link_key(CONFIRM_PURPOSE, &[&id, &user.delivery_email, address, &asked])
}

/// Whose account, which address, and when that was asked for, in the last piece of a link that this server made; none for
/// any other, and for one that has been used.
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
