//! `/confirm_email/{key}`: the page behind the link in an e-mail to a new address. Opening it confirms the address:
//! only its owner receives the key.

use super::{MessagePage, SETTINGS, deactivated, page};
use crate::http::{HandlerResult, Path, Realm};
use crate::integrations::mail::parse_confirm_key;
use actix_web::http::StatusCode;
use actors::{DomainError, RealmHandle, commands};
use model::Timestamp;

/// Changes the e-mail address of the user, and shows the result.
pub async fn confirm(realm: Option<Realm>, Path(key): Path<String>) -> HandlerResult {
    let Some(Realm(realm)) = realm else { return result_page("", StatusCode::NOT_FOUND, NO_LINK) };
    if let Some(page) = deactivated(&realm) {
        return page;
    }
    let name = realm.directory().realm().name.clone();
    let Some((user, address, asked)) = parse_confirm_key(&realm, key.trim_end_matches('/')) else {
        return result_page(&name, StatusCode::NOT_FOUND, NO_LINK);
    };
    if is_over(&realm, asked) {
        return result_page(&name, StatusCode::NOT_FOUND, EXPIRED);
    }
    match realm
        .execute(commands::ConfirmAddress {
            user: user.id,
            old: user.delivery_email.clone(),
            address: address.clone(),
        })
        .await
    {
        Ok(()) => {
            let text = format!("{address} is now the address of your account. Use it to log in from now on.");
            result_page(&name, StatusCode::OK, ("Email address confirmed", &text))
        }
        Err(DomainError::LinkUsed) => result_page(&name, StatusCode::NOT_FOUND, NO_LINK),
        Err(DomainError::EmailInUse(_)) => result_page(&name, StatusCode::CONFLICT, TAKEN),
        Err(DomainError::UserDeactivated | DomainError::RealmDeactivated) => {
            result_page(&name, StatusCode::FORBIDDEN, DEACTIVATED)
        }
        Err(error) => Err(error.into()),
    }
}

fn is_over(realm: &RealmHandle, asked: Timestamp) -> bool {
    realm.directory().realm().has_link_expired(asked, realm.now())
}

/// Title and text of a page.
type PageText<'w> = (&'w str, &'w str);

const NO_LINK: PageText<'static> = (
    "This link is not valid",
    "It was already used, replaced by another change, or not copied completely. You can request another one in your settings.",
);
const EXPIRED: PageText<'static> =
    ("This link has expired", "It was valid for one day. You can request another one in your settings.");
const TAKEN: PageText<'static> =
    ("This address is in use", "Another account has been given this address since your request.");
const DEACTIVATED: PageText<'static> = ("This account is deactivated", "Its address cannot be changed.");

fn result_page(organization: &str, status: StatusCode, (title, text): PageText<'_>) -> HandlerResult {
    let may_ask_again = !organization.is_empty() && [NO_LINK.0, EXPIRED.0].contains(&title);
    let link = may_ask_again.then_some(SETTINGS);
    page(status, &MessagePage { organization, title, text, link })
}
