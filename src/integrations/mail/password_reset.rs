//! The e-mails that people ask for without a login: a link for a new password, and the organizations of an address.

use super::Email;
use super::emails::MailContext;
use actors::RealmHandle;
use model::{Timestamp, User, UserId};
use std::sync::Arc;

/// Context for deriving keys of this kind.
const PURPOSE: &str = "new password";

impl MailContext<'_> {
    /// The link, as long as the account is in use.
    pub(super) fn password_reset(&self, user: UserId, asked: Timestamp) -> Result<(String, Email), String> {
        let user = self.user(user)?;
        let url = format!("{}/accounts/password/reset/{}/", self.url, reset_key(self.realm, user, asked));
        let email = Email::new(format!("Choose a new password for {}", self.name()))
            .paragraph(format!("Hi {},", user.full_name))
            .paragraph(format!(
                "Someone, probably you, asked for a new password for your account in {} ({}). To choose one, please \
                 open this link:",
                self.name(),
                self.url
            ))
            .link("Choose a new password", url)
            .paragraph(
                "The link can be used once, within one day. If you did not ask for it, you can ignore this email: your \
                 password stays as it is.",
            );
        Ok((user.delivery_email.clone(), email))
    }

    /// The organizations of an address.
    pub(super) fn found_accounts(
        &self,
        user: UserId,
        organizations: &[(String, String)],
    ) -> Result<(String, Email), String> {
        let user = self.user(user)?;
        let email = Email::new("Your organizations")
            .paragraph(format!("Hi {},", user.full_name))
            .paragraph(format!("{} has an account in these organizations:", user.delivery_email));
        let email = organizations.iter().fold(email, |email, (name, url)| email.link(name, url));
        let text = "If you did not ask for this list, you can ignore this email.";
        Ok((user.delivery_email.clone(), email.paragraph(text)))
    }
}

/// The last segment of the link. It has the request, and a MAC over that, the address and the password: nothing is
/// stored, and the link becomes invalid once one of them has changed.
fn reset_key(realm: &RealmHandle, user: &User, asked: Timestamp) -> String {
    format!("{}.{}.{}", user.id, asked.0, secret(realm, user, asked.0))
}

fn secret(realm: &RealmHandle, user: &User, asked: u64) -> String {
    let hash = user.password_hash.as_deref().unwrap_or_default();
    realm.link_key(PURPOSE, &[&user.id.to_string(), &user.delivery_email, hash, &asked.to_string()])
}

/// The user of a valid link and the time of its request; none for any other, and for one that was used.
pub fn parse_reset_key(realm: &RealmHandle, text: &str) -> Option<(Arc<User>, Timestamp)> {
    let mut pieces = text.split('.');
    let (user, asked) = (pieces.next()?.parse().ok()?, pieces.next()?.parse::<u64>().ok()?);
    let key = pieces.next()?;
    let user = realm.directory().user(UserId(user)).cloned()?;
    let hash = user.password_hash.as_deref().unwrap_or_default();
    let parts = [&*user.id.to_string(), &*user.delivery_email, hash, &*asked.to_string()];
    let is_ours = realm.is_link_key(key, PURPOSE, &parts);
    (is_ours && pieces.next().is_none()).then_some((user, Timestamp(asked)))
}
