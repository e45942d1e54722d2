//! `/confirm_email/{key}`: the page that the link in a mail to a new address opens. Whoever reads mail there has the key, and
//! opening it is all that confirming takes.

use super::{MessagePage, page};
use crate::http::{Answer, Path, Realm};
use crate::outside::mail::parse_confirm_key;
use actix_web::http::StatusCode;
use actors::{DomainError, RealmHandle};
use model::Timestamp;

/// How long a link is good, in milliseconds (one day).
const GOOD_MILLIS: u64 = 24 * 3600 * 1000;

/// Makes the address the user's, and says so, or why not.
pub async fn confirm(realm: Option<Realm>, Path(key): Path<String>) -> Answer {
    let Some(Realm(realm)) = realm else { return says("", StatusCode::NOT_FOUND, NO_LINK) };
    let name = realm.directory().realm().name.clone();
    let Some((user, address, asked)) = parse_confirm_key(&realm, key.trim_end_matches('/')) else {
        return says(&name, StatusCode::NOT_FOUND, NO_LINK);
    };
    if is_over(&realm, asked) {
        return says(&name, StatusCode::NOT_FOUND, EXPIRED);
    }
    match realm.confirm_address(user.id, user.delivery_email.clone(), address.clone()).await {
        Ok(()) => {
            let text =
                format!("{address} is now the address of your account. You log in with it from now on.");
            says(&name, StatusCode::OK, ("Email address confirmed", &text))
        }
        Err(DomainError::LinkUsed) => says(&name, StatusCode::NOT_FOUND, NO_LINK),
        Err(DomainError::EmailInUse(_)) => says(&name, StatusCode::CONFLICT, TAKEN),
        Err(DomainError::UserDeactivated | DomainError::RealmDeactivated) => {
            says(&name, StatusCode::FORBIDDEN, DEACTIVATED)
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether a link is too old.
fn is_over(realm: &RealmHandle, asked: Timestamp) -> bool {
    realm.now().millis_since(asked) > GOOD_MILLIS
}

/// Title and text.
type Words<'w> = (&'w str, &'w str);

const NO_LINK: Words<'static> = (
    "This link is not valid",
    "It was used already, replaced by another change, or not copied whole. You can ask for another one in your settings.",
);
const EXPIRED: Words<'static> =
    ("This link has expired", "It was good for one day. You can ask for another one in your settings.");
const TAKEN: Words<'static> =
    ("Somebody has this address", "Another account has been given this address since you asked for it.");
const DEACTIVATED: Words<'static> = ("This account is deactivated", "Its address cannot be changed.");

fn says(organization: &str, status: StatusCode, (title, text): Words<'_>) -> Answer {
    page(status, &MessagePage { organization, title, text })
}
