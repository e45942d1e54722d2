//! `/join/{key}/`: the page behind an invitation link, and its form.
//!
//! The key is the only credential: there are no cookies, and no other page can make a browser do what its own user
//! could not. Errors are shown next to the fields of the form.

use super::account_form::{Entry, JoinForm, address_refused};
use super::{DEACTIVATED_TITLE, LOG_IN, MessagePage, page};
use crate::http::{App, HandlerResult, Params, Path, Realm, RealmUrl};
use actix_web::http::StatusCode;
use actors::{DomainError, Joining, commands};
use model::{InvitationId, Role};
use rules::RuleError;
use rules::error::{InvitationEnd, InvitationError};
use rules::invitations::{check_new_address, open_invitation};

/// Shows the form, or why the invitation cannot be used.
pub async fn show(app: App, realm: Option<Realm>, Path(key): Path<String>) -> HandlerResult {
    match find(&app, realm, &key) {
        Ok((_, entry)) => entry.empty_form(),
        Err(refusal) => *refusal,
    }
}

/// Creates the account, and shows how to log in.
pub async fn join(
    app: App,
    realm: Option<Realm>,
    url: Option<RealmUrl>,
    Path(key): Path<String>,
    Params(form): Params<JoinForm>,
) -> HandlerResult {
    let (invitation, entry) = match find(&app, realm, &key) {
        Ok(found) => found,
        Err(refusal) => return *refusal,
    };
    let (address, password_hash) = match entry.check(&app, &form).await? {
        Ok(checked) => checked,
        Err(shown) => return shown,
    };
    let joining = Joining {
        invitation,
        address: address.clone(),
        full_name: form.full_name.clone(),
        password_hash,
        default_groups: form.groups.clone(),
    };
    match entry.realm.execute(commands::AcceptInvitation { joining }).await {
        Ok(user) => entry.welcome(&app, &user, &url.map(|RealmUrl(url)| url).unwrap_or_default()),
        Err(DomainError::Rule(RuleError::Invitation(InvitationError::Over(end)))) => {
            ended(&entry.directory.realm().name, end)
        }
        Err(error) => entry.refused(error, &address, &form),
    }
}

/// The invitation of a key, restricted to what its inviter may still grant, or the page that says why it cannot be used.
fn find(app: &App, realm: Option<Realm>, key: &str) -> Result<(InvitationId, Entry), Box<HandlerResult>> {
    let unknown = || {
        Box::new(message(
            StatusCode::NOT_FOUND,
            "",
            "This link is not valid",
            "A part of it may be missing. Copy the complete link, or ask for another invitation.",
        ))
    };
    let Realm(realm) = realm.ok_or_else(unknown)?;
    // Links have a slash at their end, but may lose it.
    let key = key.strip_suffix('/').unwrap_or(key);
    let id = realm.invitation_of_key(key).ok_or_else(unknown)?;
    let directory = realm.directory();
    let found = directory.invitation(id).cloned().ok_or_else(unknown)?;
    let organization = directory.realm().name.clone();
    if !directory.realm().is_active {
        let text = "It no longer accepts new members.";
        return Err(Box::new(message(StatusCode::GONE, &organization, DEACTIVATED_TITLE, text)));
    }
    let given = open_invitation(&directory, &found, realm.now());
    let invitation = given.map_err(|end| Box::new(ended(&organization, end)))?;
    if let Some(address) = &invitation.address
        && let Err(problem) = check_new_address(&directory, address)
    {
        return Err(Box::new(address_refused(&organization, problem)));
    }
    let inviter = directory.user(invitation.inviter);
    let greeting =
        format!("{} invites you", inviter.map_or("A member", |inviter| inviter.full_name.as_str()));
    let (address, offers_groups) = (invitation.address.clone(), invitation.role != Role::Guest);
    let sends_mail = app.mail.sends();
    Ok((invitation.id, Entry { realm, directory, address, greeting, offers_groups, sends_mail }))
}

fn message(status: StatusCode, organization: &str, title: &str, text: &str) -> HandlerResult {
    page(status, &MessagePage { organization, title, text, link: None })
}

fn ended(organization: &str, end: InvitationEnd) -> HandlerResult {
    let (title, text) = match end {
        InvitationEnd::Used => (
            "This invitation has already been used",
            "If it was you who used it, log in. Otherwise ask for another invitation.",
        ),
        InvitationEnd::Revoked => (
            "This invitation has been revoked",
            "If you have an account already, log in. Otherwise ask for another invitation.",
        ),
        InvitationEnd::Expired => ("This invitation has expired", "Ask for another invitation."),
    };
    page(StatusCode::GONE, &MessagePage { organization, title, text, link: Some(LOG_IN) })
}
