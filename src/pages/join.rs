//! `/join/{key}/`: the page behind an invitation link, and its form.
//!
//! The key is the only credential: there are no cookies, and no other page can make a browser do what its own user
//! could not. Errors are shown next to the fields of the form.

use super::{MessagePage, page};
use crate::http::{ApiError, App, Fields, FromFields, HandlerResult, Params, Path, Realm, RealmUrl};
use actix_web::http::StatusCode;
use actors::{DomainError, Joining, RealmHandle, commands};
use askama::Template;
use model::{DefaultChannelGroup, Directory, Invitation, Role};
use rules::RuleError;
use rules::addresses::AddressRefusal;
use rules::error::{AddressProblem, InvitationEnd, InvitationError};
use rules::invitations::{check_new_address, open_invitation};
use rules::names::{check_full_name_free, parse_full_name};
use rules::passwords::{PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN, is_strong_password};
use rules::text::strip;

/// The name of the checkbox for a group of default channels, before its id.
const GROUP_FIELD: &str = "default_stream_group_";

/// The form. Every field may be missing, which is an error shown on the page.
pub struct JoinForm {
    email: String,
    full_name: String,
    password: String,
    /// Ids of the chosen groups of default channels.
    groups: Vec<u32>,
}

impl FromFields for JoinForm {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self {
            email: strip(fields.optional_str("email").unwrap_or_default()).to_owned(),
            full_name: fields.optional("full_name").unwrap_or_default(),
            password: fields.optional("password").unwrap_or_default(),
            groups: fields.names_after(GROUP_FIELD).iter().filter_map(|id| id.parse().ok()).collect(),
        })
    }
}

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
    groups: Vec<GroupChoice<'p>>,
}

/// A group of default channels to choose.
struct GroupChoice<'p> {
    field: String,
    name: &'p str,
    description: &'p str,
    is_chosen: bool,
}

#[derive(Template)]
#[template(path = "joined.html", config = "src/pages/askama.toml")]
struct JoinedPage<'p> {
    organization: &'p str,
    full_name: &'p str,
    email: &'p str,
    url: &'p str,
}

/// A usable invitation, and the directory by which that was decided.
struct Invited {
    realm: RealmHandle,
    directory: Directory,
    /// Restricted to what its inviter may still grant.
    invitation: Invitation,
}

/// Shows the form, or why the invitation cannot be used.
pub async fn show(realm: Option<Realm>, Path(key): Path<String>) -> HandlerResult {
    match find(realm, &key) {
        Ok(invited) => invited.form("", "", &[], &Problems::default()),
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
    let invited = match find(realm, &key) {
        Ok(invited) => invited,
        Err(refusal) => return *refusal,
    };
    let JoinForm { email, full_name, password, groups } = form;
    let email = invited.invitation.address.clone().unwrap_or(email);
    let mut problems = invited.problems(&email, &full_name, &password);
    if problems.are_there() {
        return invited.form(&email, &full_name, &groups, &problems);
    }
    let permit = app.passwords.acquire_permit().await?;
    let known = [email.clone(), full_name.clone()];
    let hashed = permit.run(move |hasher| {
        let is_strong = is_strong_password(&password, &[&known[0], &known[1]]);
        if is_strong { hasher.hash(&password).map(Some) } else { Ok(None) }
    });
    let Some(password_hash) = hashed.await?? else {
        problems.password = Some("This password is too easy to guess. Add another word or two.".into());
        return invited.form(&email, &full_name, &groups, &problems);
    };
    let joining = Joining {
        invitation: invited.invitation.id,
        address: email.clone(),
        full_name: full_name.clone(),
        password_hash,
        default_groups: groups.clone(),
    };
    match invited.realm.execute(commands::AcceptInvitation { joining }).await {
        Ok(user) => {
            let url = url.map(|RealmUrl(url)| url).unwrap_or_default();
            let organization = &invited.directory.realm().name;
            let (full_name, email) = (&user.full_name, &user.delivery_email);
            page(StatusCode::OK, &JoinedPage { organization, full_name, email, url: &url })
        }
        Err(error) => invited.refused(error, &email, &full_name, &groups),
    }
}

/// The invitation of a key, or the page that says why it cannot be used.
fn find(realm: Option<Realm>, key: &str) -> Result<Invited, Box<HandlerResult>> {
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
        let title = "This organization has been deactivated";
        return Err(Box::new(message(StatusCode::GONE, &organization, title, text)));
    }
    let given = open_invitation(&directory, &found, realm.now());
    let invitation = given.map_err(|end| Box::new(ended(&organization, end)))?;
    let invited = Invited { realm, directory, invitation };
    if let Some(address) = &invited.invitation.address
        && let Err(problem) = check_new_address(&invited.directory, address)
    {
        let text = address_text(problem);
        return Err(Box::new(message(StatusCode::GONE, &organization, "You cannot join", text)));
    }
    Ok(invited)
}

impl Invited {
    /// The page with the form as it was submitted, except for the password.
    fn form(&self, email: &str, full_name: &str, chosen: &[u32], problems: &Problems) -> HandlerResult {
        let fixed = self.invitation.address.as_deref();
        let inviter = self.directory.user(self.invitation.inviter);
        let has_problems = problems.are_there();
        let template = JoinPage {
            organization: &self.directory.realm().name,
            inviter: inviter.map_or("A member", |inviter| inviter.full_name.as_str()),
            email: fixed.unwrap_or(email),
            is_address_fixed: fixed.is_some(),
            full_name,
            has_problems,
            email_problem: problems.email.as_deref(),
            name_problem: problems.name.as_deref(),
            password_problem: problems.password.as_deref(),
            groups: self.group_choices(chosen),
        };
        page(if has_problems { StatusCode::BAD_REQUEST } else { StatusCode::OK }, &template)
    }

    /// The groups of default channels; none for guests.
    fn group_choices<'s>(&'s self, chosen: &[u32]) -> Vec<GroupChoice<'s>> {
        let is_offered = self.invitation.role != Role::Guest;
        let groups = self.directory.default_groups().items.iter().filter(|_| is_offered);
        let choice = |group: &'s DefaultChannelGroup| GroupChoice {
            field: format!("{GROUP_FIELD}{}", group.id),
            name: &group.name,
            description: &group.description,
            is_chosen: chosen.contains(&group.id),
        };
        groups.map(choice).collect()
    }

    /// The errors that can be found without hashing the password.
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

    /// Errors of changes that happened while the password was hashed.
    fn refused(&self, error: DomainError, email: &str, full_name: &str, chosen: &[u32]) -> HandlerResult {
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
        self.form(email, full_name, chosen, &problems)
    }
}

fn message(status: StatusCode, organization: &str, title: &str, text: &str) -> HandlerResult {
    page(status, &MessagePage { organization, title, text })
}

fn ended(organization: &str, end: InvitationEnd) -> HandlerResult {
    let (title, text) = match end {
        InvitationEnd::Used => (
            "This invitation has already been used",
            "If it was you who used it, log in with a Zulip app. Otherwise ask for another invitation.",
        ),
        InvitationEnd::Revoked => (
            "This invitation has been revoked",
            "If you have an account already, log in with a Zulip app. Otherwise ask for another invitation.",
        ),
        InvitationEnd::Expired => ("This invitation has expired", "Ask for another invitation."),
    };
    message(StatusCode::GONE, organization, title, text)
}

fn address_text(problem: AddressProblem) -> &'static str {
    match problem {
        AddressProblem::Invalid => "Enter a valid email address.",
        AddressProblem::Refused(AddressRefusal::OutsideDomains) => {
            "This organization accepts only email addresses of its own domains."
        }
        AddressProblem::Refused(AddressRefusal::Disposable) => "Please use your real email address.",
        AddressProblem::Refused(AddressRefusal::ContainsPlus) => {
            "Email addresses containing + are not allowed."
        }
        AddressProblem::Reserved => "This address is reserved for system bots.",
        AddressProblem::Taken => "An account with this address exists already. Log in with a Zulip app.",
        AddressProblem::Deactivated => {
            "The account with this address has been deactivated. Ask an administrator to reactivate it."
        }
    }
}

fn name_text(error: &RuleError) -> String {
    match error {
        RuleError::NameTaken => "This name is taken, and names must be unique in this organization.".into(),
        other => other.to_string(),
    }
}
