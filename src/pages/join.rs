//! `/join/{key}/`: the page that an invitation's link opens, and what becomes of its form.
//!
//! Whoever has the key is invited: nothing else says who somebody is here, so there are no cookies, and no other page can
//! make a browser do what its own user could not. What is wrong with the form is said on the page.

use super::{MessagePage, page};
use crate::api::account::welcome::welcome;
use crate::http::{Answer, ApiError, App, Fields, FromFields, Params, Path, Realm, RealmUrl};
use actix_web::http::StatusCode;
use actors::{DomainError, Joining, RealmHandle};
use askama::Template;
use model::{Directory, Invitation};
use rules::RuleError;
use rules::addresses::AddressRefusal;
use rules::error::{AddressProblem, InvitationEnd, InvitationError};
use rules::invitations::{check_new_address, check_open};
use rules::names::{check_full_name_free, parse_full_name};
use rules::passwords::{PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN, is_strong_password};
use rules::text::strip;
use std::sync::Arc;

/// What was filled in. Everything may be missing: then it is said on the page that it is.
pub struct JoinForm {
    email: String,
    full_name: String,
    password: String,
}

impl FromFields for JoinForm {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self {
            email: strip(fields.optional_str("email").unwrap_or_default()).to_owned(),
            full_name: fields.optional("full_name").unwrap_or_default(),
            password: fields.optional("password").unwrap_or_default(),
        })
    }
}

/// What is wrong with the form, in words for whoever filled it in.
#[derive(Default)]
struct Problems {
    email: Option<String>,
    name: Option<String>,
    password: Option<String>,
}

impl Problems {
    fn are_there(&self) -> bool {
        self.email.is_some() || self.name.is_some() || self.password.is_some()
    }
}

#[derive(Template)]
#[template(path = "join.html", config = "src/pages/askama.toml")]
struct JoinPage<'p> {
    organization: &'p str,
    inviter: &'p str,
    email: &'p str,
    is_address_fixed: bool,
    full_name: &'p str,
    has_problems: bool,
    email_problem: Option<&'p str>,
    name_problem: Option<&'p str>,
    password_problem: Option<&'p str>,
}

#[derive(Template)]
#[template(path = "joined.html", config = "src/pages/askama.toml")]
struct JoinedPage<'p> {
    organization: &'p str,
    full_name: &'p str,
    email: &'p str,
    url: &'p str,
}

/// An invitation that somebody can join with, and the organization as it was when that was found out.
struct Invited {
    realm: RealmHandle,
    directory: Directory,
    invitation: Arc<Invitation>,
}

/// Shows the form, or says why there is none.
pub async fn show(realm: Option<Realm>, Path(key): Path<String>) -> Answer {
    match find(realm, &key) {
        Ok(invited) => invited.form("", "", &Problems::default()),
        Err(refusal) => refusal,
    }
}

/// Makes the account, and says how to log in to it.
pub async fn join(
    app: App,
    realm: Option<Realm>,
    url: Option<RealmUrl>,
    Path(key): Path<String>,
    Params(form): Params<JoinForm>,
) -> Answer {
    let invited = match find(realm, &key) {
        Ok(invited) => invited,
        Err(refusal) => return refusal,
    };
    let JoinForm { email, full_name, password } = form;
    let email = invited.invitation.address.clone().unwrap_or(email);
    let mut problems = invited.problems(&email, &full_name, &password);
    if problems.are_there() {
        return invited.form(&email, &full_name, &problems);
    }
    let turn = app.passwords.turn().await?;
    let known = [email.clone(), full_name.clone()];
    let hashed = turn.run(move |hasher| {
        let is_strong = is_strong_password(&password, &[&known[0], &known[1]]);
        if is_strong { hasher.hash(&password).map(Some) } else { Ok(None) }
    });
    let Some(password_hash) = hashed.await?? else {
        problems.password =
            Some("This password is too easy to guess. Add a word or two that nobody expects.".into());
        return invited.form(&email, &full_name, &problems);
    };
    let joining = Joining {
        invitation: invited.invitation.id,
        address: email.clone(),
        full_name: full_name.clone(),
        password_hash,
    };
    match invited.realm.accept_invitation(joining).await {
        Ok(user) => {
            welcome(&invited.realm, &user, Some(&invited.invitation)).await;
            let url = url.map(|RealmUrl(url)| url).unwrap_or_default();
            let organization = &invited.directory.realm().name;
            let (full_name, email) = (&user.full_name, &user.delivery_email);
            page(StatusCode::OK, &JoinedPage { organization, full_name, email, url: &url })
        }
        Err(error) => invited.refused(error, &email, &full_name),
    }
}

/// The invitation of a key, or the page that says that nobody can join with it.
fn find(realm: Option<Realm>, key: &str) -> Result<Invited, Answer> {
    let unknown = || {
        message(
            StatusCode::NOT_FOUND,
            "",
            "This link does not lead anywhere",
            "Perhaps a part of it is missing. Copy the whole link, or ask whoever invited you for another one.",
        )
    };
    let Realm(realm) = realm.ok_or_else(unknown)?;
    // With the slash at the end that links have, and without.
    let key = key.strip_suffix('/').unwrap_or(key);
    let id = realm.invitation_of_key(key).ok_or_else(unknown)?;
    let directory = realm.directory();
    let invitation = directory.invitation(id).cloned().ok_or_else(unknown)?;
    let organization = directory.realm().name.clone();
    if !directory.realm().is_active {
        let text = "Nobody can join it any more.";
        return Err(message(StatusCode::GONE, &organization, "This organization has been deactivated", text));
    }
    check_open(&invitation, realm.now()).map_err(|end| ended(&organization, end))?;
    let invited = Invited { realm, directory, invitation };
    if let Some(address) = &invited.invitation.address
        && let Err(problem) = check_new_address(&invited.directory, address)
    {
        return Err(message(StatusCode::GONE, &organization, "You cannot join", address_text(problem)));
    }
    Ok(invited)
}

impl Invited {
    /// The page with the form as it was filled in, but for the password.
    fn form(&self, email: &str, full_name: &str, problems: &Problems) -> Answer {
        let fixed = self.invitation.address.as_deref();
        let inviter = self.directory.user(self.invitation.inviter);
        let has_problems = problems.are_there();
        let template = JoinPage {
            organization: &self.directory.realm().name,
            inviter: inviter.map_or("Somebody", |inviter| inviter.full_name.as_str()),
            email: fixed.unwrap_or(email),
            is_address_fixed: fixed.is_some(),
            full_name,
            has_problems,
            email_problem: problems.email.as_deref(),
            name_problem: problems.name.as_deref(),
            password_problem: problems.password.as_deref(),
        };
        page(if has_problems { StatusCode::BAD_REQUEST } else { StatusCode::OK }, &template)
    }

    /// Everything that is wrong with the form and quickly found.
    fn problems(&self, email: &str, full_name: &str, password: &str) -> Problems {
        let name = parse_full_name(full_name);
        let name = name.and_then(|name| check_full_name_free(&self.directory, name, None));
        let length = password.chars().count();
        let password = match length {
            0..PASSWORD_LENGTH_MIN => {
                Some(format!("A password has at least {PASSWORD_LENGTH_MIN} characters."))
            }
            _ if length > PASSWORD_LENGTH_MAX => {
                Some(format!("A password has at most {PASSWORD_LENGTH_MAX} characters."))
            }
            _ => None,
        };
        let email = check_new_address(&self.directory, email).err();
        Problems {
            email: email.map(|problem| address_text(problem).to_owned()),
            name: name.err().map(|error| name_text(&error)),
            password,
        }
    }

    /// What changed while the password was computed.
    fn refused(&self, error: DomainError, email: &str, full_name: &str) -> Answer {
        let organization = &self.directory.realm().name;
        let problems = match error {
            DomainError::Rule(RuleError::Invitation(InvitationError::Over(end))) => {
                return ended(organization, end);
            }
            DomainError::Rule(RuleError::Invitation(InvitationError::Address(problem))) => {
                Problems { email: Some(address_text(problem).to_owned()), ..Problems::default() }
            }
            DomainError::EmailInUse(_) => {
                let text = address_text(AddressProblem::Taken).to_owned();
                Problems { email: Some(text), ..Problems::default() }
            }
            DomainError::Rule(error @ RuleError::NameTaken) => {
                Problems { name: Some(name_text(&error)), ..Problems::default() }
            }
            other => return Err(other.into()),
        };
        self.form(email, full_name, &problems)
    }
}

fn message(status: StatusCode, organization: &str, title: &str, text: &str) -> Answer {
    page(status, &MessagePage { organization, title, text })
}

fn ended(organization: &str, end: InvitationEnd) -> Answer {
    let (title, text) = match end {
        InvitationEnd::Used => (
            "This invitation has already been used",
            "If it was you who used it, log in with a Zulip app. Otherwise ask for an invitation of your own.",
        ),
        InvitationEnd::Revoked => (
            "This invitation has been revoked",
            "If you have an account already, log in with a Zulip app. Otherwise ask whoever invited you for another one.",
        ),
        InvitationEnd::Expired => {
            ("This invitation has expired", "Ask whoever invited you to send it once more.")
        }
    };
    message(StatusCode::GONE, organization, title, text)
}

fn address_text(problem: AddressProblem) -> &'static str {
    match problem {
        AddressProblem::Invalid => "Enter a valid email address.",
        AddressProblem::Refused(AddressRefusal::OutsideDomains) => {
            "This organization takes only addresses at domains of its own."
        }
        AddressProblem::Refused(AddressRefusal::Disposable) => "Please use your real email address.",
        AddressProblem::Refused(AddressRefusal::ContainsPlus) => {
            "Email addresses containing + are not allowed."
        }
        AddressProblem::Reserved => "This address is reserved for system bots.",
        AddressProblem::Taken => "There is an account with this address already. Log in with a Zulip app.",
        AddressProblem::Deactivated => {
            "The account with this address has been deactivated. Ask an administrator to reactivate it."
        }
    }
}

fn name_text(error: &RuleError) -> String {
    match error {
        RuleError::NameTaken => "Somebody here has this name already, and names must be unique here.".into(),
        other => other.to_string(),
    }
}
