//! The form with which people make their account, from an invitation or without one: name and password, and what is
//! wrong with them next to the fields.

use super::{LOG_IN, MessagePage, page};
use crate::http::{ApiError, App, Fields, FromFields, HandlerResult};
use actix_web::http::StatusCode;
use actors::{DomainError, RealmHandle};
use askama::Template;
use model::{DefaultChannelGroup, Directory, User};
use rules::RuleError;
use rules::addresses::AddressRefusal;
use rules::error::{AddressProblem, InvitationError};
use rules::invitations::check_new_address;
use rules::names::{
    FULL_NAME_LENGTH_MAX, FULL_NAME_LENGTH_MIN, NAME_CHARACTERS_REFUSED, check_full_name_free,
    parse_full_name,
};
use rules::passwords::{PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN, is_strong_password};
use rules::text::strip;

/// The name of the checkbox for a group of default channels, before its id.
const GROUP_FIELD: &str = "default_stream_group_";

/// The form. Every field may be missing, which is an error shown on the page.
pub struct JoinForm {
    pub email: String,
    pub full_name: String,
    pub password: String,
    /// Ids of the chosen groups of default channels.
    pub groups: Vec<u32>,
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
    /// Who invites, or what is done here.
    greeting: &'p str,
    email: &'p str,
    is_address_fixed: bool,
    full_name: &'p str,
    has_problems: bool,
    email_problem: Option<&'p str>,
    name_problem: Option<&'p str>,
    password_problem: Option<&'p str>,
    groups: Vec<GroupChoice<'p>>,
    sends_mail: bool,
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
    has_web_app: bool,
}

/// Where an account is made, and the directory by which it was decided that it may be.
pub struct Entry {
    pub realm: RealmHandle,
    pub directory: Directory,
    /// The address, if it cannot be chosen.
    pub address: Option<String>,
    /// Who invites, or what is done here.
    pub greeting: String,
    /// Whether groups of default channels can be chosen.
    pub offers_groups: bool,
    /// Whether the server sends mail.
    pub sends_mail: bool,
}

impl Entry {
    /// The empty form.
    pub fn empty_form(&self) -> HandlerResult {
        self.form("", "", &[], &Problems::default())
    }

    /// The page with the form as it was submitted, except for the password.
    fn form(&self, email: &str, full_name: &str, chosen: &[u32], problems: &Problems) -> HandlerResult {
        let fixed = self.address.as_deref();
        let has_problems = problems.are_there();
        let template = JoinPage {
            organization: &self.directory.realm().name,
            greeting: &self.greeting,
            email: fixed.unwrap_or(email),
            is_address_fixed: fixed.is_some(),
            full_name,
            has_problems,
            email_problem: problems.email.as_deref(),
            name_problem: problems.name.as_deref(),
            password_problem: problems.password.as_deref(),
            groups: self.group_choices(chosen),
            sends_mail: self.sends_mail,
        };
        page(if has_problems { StatusCode::BAD_REQUEST } else { StatusCode::OK }, &template)
    }

    /// The groups of default channels.
    fn group_choices<'s>(&'s self, chosen: &[u32]) -> Vec<GroupChoice<'s>> {
        let groups = self.directory.default_groups().items.iter().filter(|_| self.offers_groups);
        let choice = |group: &'s DefaultChannelGroup| GroupChoice {
            field: format!("{GROUP_FIELD}{}", group.id),
            name: &group.name,
            description: &group.description,
            is_chosen: chosen.contains(&group.id),
        };
        groups.map(choice).collect()
    }

    /// The address of the account, and the hash of its password; or the page with what is wrong.
    ///
    /// # Errors
    /// 503 if too many passwords are waiting to be hashed.
    pub async fn check(
        &self,
        app: &App,
        form: &JoinForm,
    ) -> Result<Result<(String, String), HandlerResult>, ApiError> {
        let email = self.address.clone().unwrap_or_else(|| form.email.clone());
        let mut problems = self.problems(&email, &form.full_name, &form.password);
        if problems.are_there() {
            return Ok(Err(self.form(&email, &form.full_name, &form.groups, &problems)));
        }
        let permit = app.passwords.acquire_permit().await?;
        let (known, password) = ([email.clone(), form.full_name.clone()], form.password.clone());
        let hashed = permit.run(move |hasher| {
            let is_strong = is_strong_password(&password, &[&known[0], &known[1]]);
            if is_strong { hasher.hash(&password).map(Some) } else { Ok(None) }
        });
        let Some(hash) = hashed.await?? else {
            problems.password = Some("This password is too easy to guess. Add another word or two.".into());
            return Ok(Err(self.form(&email, &form.full_name, &form.groups, &problems)));
        };
        Ok(Ok((email, hash)))
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
    pub fn refused(&self, error: DomainError, email: &str, form: &JoinForm) -> HandlerResult {
        let problems = match error {
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
        self.form(email, &form.full_name, &form.groups, &problems)
    }

    /// The page for a new user.
    pub fn welcome(&self, app: &App, user: &User, url: &str) -> HandlerResult {
        let organization = &self.directory.realm().name;
        let has_web_app = app.web_app.current().is_some();
        let (full_name, email) = (&user.full_name, &user.delivery_email);
        page(StatusCode::OK, &JoinedPage { organization, full_name, email, url, has_web_app })
    }
}

/// What is wrong with an address, for the person who enters it.
pub fn address_text(problem: AddressProblem) -> &'static str {
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
        AddressProblem::Taken => {
            "An account with this address exists already. Log in with it; if you forgot the password, the page to log in says how to get another one."
        }
        AddressProblem::Deactivated => {
            "The account with this address has been deactivated. Ask an administrator to reactivate it."
        }
    }
}

/// The page of a link for an address that cannot make an account (any more). Who has one already may log in.
pub fn address_refused(organization: &str, problem: AddressProblem) -> HandlerResult {
    let (title, text) = ("You cannot join", address_text(problem));
    let link = matches!(problem, AddressProblem::Taken).then_some(LOG_IN);
    page(StatusCode::GONE, &MessagePage { organization, title, text, link })
}

fn name_text(error: &RuleError) -> String {
    match error {
        RuleError::NameTaken => {
            "This name is taken, and names must be unique in this organization. Add a middle name or an initial.".into()
        }
        RuleError::NameTooShort | RuleError::NameTooLong => {
            format!("A name has {FULL_NAME_LENGTH_MIN} to {FULL_NAME_LENGTH_MAX} characters.")
        }
        RuleError::NameCharacters => {
            let refused = NAME_CHARACTERS_REFUSED.map(String::from).join(" ");
            format!("A name cannot have these characters, or invisible ones: {refused}")
        }
        other => other.to_string(),
    }
}
