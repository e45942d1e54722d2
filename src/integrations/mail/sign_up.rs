//! The e-mails of people who make an account without an invitation: a link that confirms the address, or a note that it
//! has an account already.

use super::Email;
use super::emails::MailContext;
use actors::RealmHandle;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::{Timestamp, UserId};
use rules::settings::realm_bool;

/// Context for deriving keys of this kind.
const PURPOSE: &str = "sign up";

impl MailContext<'_> {
    /// The link, as long as the organization lets people in.
    pub(super) fn sign_up(&self, address: &str, asked: Timestamp) -> Result<(String, Email), String> {
        if realm_bool(self.directory.realm(), "invite_required") {
            return Err("the organization requires an invitation".into());
        }
        if self.directory.user_by_email(address).is_some() {
            return Err("the address has an account".into());
        }
        let url = format!("{}/accounts/do_confirm/{}/", self.url, sign_up_key(self.realm, address, asked));
        let email = Email::new(format!("Create your account in {}", self.name()))
            .paragraph("Hi there,")
            .paragraph(format!(
                "Someone, probably you, asked for an account in {} ({}), a team chat. To create it, please open this link:",
                self.name(),
                self.url
            ))
            .link("Complete registration", url)
            .paragraph("The link expires in one day. If you did not ask for it, you can ignore this email.");
        Ok((address.to_owned(), email))
    }

    /// To the owner of an account, whose address was given to make another one.
    pub(super) fn sign_up_known(&self, user: UserId) -> Result<(String, Email), String> {
        let user = self.directory.user(user).ok_or("there is no such account")?;
        let email = Email::new(format!("You have an account in {}", self.name()))
            .paragraph(format!("Hi {},", user.full_name))
            .paragraph(format!(
                "Someone, probably you, asked for a new account in {} ({}) with this address, which has one already.",
                self.name(),
                self.url
            ));
        let email = match user.is_active {
            true => email
                .link("Log in", format!("{}/login/", self.url))
                .link("Reset your password", format!("{}/accounts/password/reset/", self.url)),
            false => email.paragraph(
                "The account has been deactivated. Ask an administrator of the organization to reactivate it.",
            ),
        };
        let email = email.paragraph("If you did not ask for it, you can ignore this email.");
        Ok((user.delivery_email.clone(), email))
    }
}

/// The last segment of the link. It has the request, and a MAC over that: nothing is stored, and an address that has an
/// account cannot get another one.
fn sign_up_key(realm: &RealmHandle, address: &str, asked: Timestamp) -> String {
    let key = realm.link_key(PURPOSE, &[address, &asked.0.to_string()]);
    format!("{}.{}.{key}", URL_SAFE_NO_PAD.encode(address), asked.0)
}

/// The address of a valid link and the time of its request; none for any other.
pub fn parse_sign_up_key(realm: &RealmHandle, text: &str) -> Option<(String, Timestamp)> {
    let mut pieces = text.split('.');
    let (address, asked) = (pieces.next()?, pieces.next()?.parse::<u64>().ok()?);
    let key = pieces.next()?;
    let address = String::from_utf8(URL_SAFE_NO_PAD.decode(address).ok()?).ok()?;
    let is_ours = realm.is_link_key(key, PURPOSE, &[&address, &asked.to_string()]);
    (is_ours && pieces.next().is_none()).then_some((address, Timestamp(asked)))
}
