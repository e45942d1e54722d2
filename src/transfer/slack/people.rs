//! People and bots of a workspace, also those who only appear in messages.

use super::archive::SlackArchive;
use crate::transfer::problem::TransferError;
use crate::transfer::report::Report;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

/// Bots and strangers that only messages name; further ones are one account.
const STRANGERS_MAX: usize = 20_000;
/// The table of the report.
pub const TABLE: &str = "slack users";
/// Characters that names cannot have.
const FORBIDDEN: &str = "*`\\>\"@";
const NAME_CHARS_MAX: usize = 100;

/// A profile, as far as it is used.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Profile {
    pub real_name: Option<String>,
    pub display_name: Option<String>,
    pub email: Option<String>,
    pub name: Option<String>,
}

/// A row of users.json.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct SlackUser {
    id: String,
    name: String,
    real_name: Option<String>,
    profile: Profile,
    deleted: bool,
    is_bot: bool,
    is_owner: bool,
    is_primary_owner: bool,
    is_admin: bool,
    is_restricted: bool,
    is_ultra_restricted: bool,
    tz: Option<String>,
}

/// An account to create.
#[derive(Clone, Debug)]
struct Account {
    name: String,
    email: String,
    role: u16,
    is_active: bool,
    is_bot: bool,
    timezone: String,
    /// The time of the first message, in Unix seconds; none before it is converted.
    first_message: Option<f64>,
}

/// All accounts by id; ids are positions, counted from 1.
#[derive(Debug, Default)]
pub struct People {
    accounts: Vec<Account>,
    by_slack_id: HashMap<String, u32>,
    names: HashMap<String, usize>,
    emails: HashSet<String>,
    strangers: usize,
    domain: String,
}

impl People {
    /// Reads users.json. `domain` is for the addresses of accounts without one.
    pub fn read(
        archive: &mut SlackArchive,
        domain: &str,
        report: &mut Report,
    ) -> Result<Self, TransferError> {
        let mut users: Vec<SlackUser> = archive.json("users.json")?.unwrap_or_default();
        report.read(TABLE, users.len() as u64);
        // The primary owner gets the first id.
        users.sort_by_key(|user| !user.is_primary_owner);
        let mut own = Self { domain: domain.to_owned(), ..Self::default() };
        for user in users {
            if user.id.is_empty() || own.by_slack_id.contains_key(&user.id) {
                report.leave_out(TABLE, "without an id, or the same twice", 1);
                continue;
            }
            let role = match () {
                () if user.is_primary_owner || user.is_owner => 100,
                () if user.is_admin => 200,
                () if user.is_restricted || user.is_ultra_restricted => 600,
                () => 400,
            };
            let is_bot = user.is_bot || user.id == "USLACKBOT";
            let names = [user.profile.real_name, user.real_name, user.profile.display_name, Some(user.name)];
            own.add(&user.id, names, user.profile.email, |account| {
                account.role = if is_bot { 400 } else { role };
                account.is_active = !user.deleted;
                account.is_bot = is_bot;
                account.timezone = user.tz.unwrap_or_default();
            });
            report.carry(TABLE, 1);
        }
        if !own.accounts.iter().any(|account| account.role == 100 && account.is_active)
            && let Some(first) = own.accounts.iter_mut().find(|account| account.is_active && !account.is_bot)
        {
            first.role = 100;
            report.change("the export names no owner; the first active account became one", 1);
        }
        Ok(own)
    }

    fn add<const N: usize>(
        &mut self,
        slack_id: &str,
        names: [Option<String>; N],
        email: Option<String>,
        adjust: impl FnOnce(&mut Account),
    ) -> u32 {
        let cleaned = names.into_iter().flatten().map(|name| clean_name(&name));
        let name =
            cleaned.into_iter().find(|name| name.chars().count() > 1).unwrap_or_else(|| slack_id.to_owned());
        let known = email.filter(|email| email.contains('@')).map(|email| email.to_lowercase());
        let known = known.filter(|email| !self.emails.contains(email));
        let email = known.unwrap_or_else(|| format!("{}@{}", slack_id.to_lowercase(), self.domain));
        self.emails.insert(email.clone());
        *self.names.entry(name.clone()).or_default() += 1;
        let timezone = String::new();
        let mut account = Account {
            name,
            email,
            role: 400,
            is_active: false,
            is_bot: false,
            timezone,
            first_message: None,
        };
        adjust(&mut account);
        self.accounts.push(account);
        let id = self.accounts.len() as u32;
        self.by_slack_id.insert(slack_id.to_owned(), id);
        id
    }

    /// The account of a Slack id.
    pub fn known(&self, slack_id: &str) -> Option<u32> {
        self.by_slack_id.get(slack_id).copied()
    }

    /// The account of someone who is not in users.json; created at their first message, deactivated.
    pub fn stranger(&mut self, slack_id: &str, name: Option<String>, is_bot: bool) -> u32 {
        if let Some(known) = self.known(slack_id) {
            return known;
        }
        let slack_id = if self.strangers < STRANGERS_MAX { slack_id } else { "others" };
        if let Some(known) = self.known(slack_id) {
            return known;
        }
        self.strangers += 1;
        self.add(slack_id, [name], None, |account| account.is_bot = is_bot)
    }

    /// Takes the time of a message, in Unix seconds: accounts have joined with their first one.
    pub fn wrote(&mut self, id: u32, at: f64) {
        let position = (id as usize).checked_sub(1);
        if let Some(account) = position.and_then(|position| self.accounts.get_mut(position)) {
            account.first_message = Some(account.first_message.map_or(at, |first| first.min(at)));
        }
    }

    /// The time of the first message of all, in Unix seconds.
    pub fn first_message(&self) -> Option<f64> {
        self.accounts.iter().filter_map(|account| account.first_message).reduce(f64::min)
    }

    /// A mention; with the id if several have the name.
    pub fn mention(&self, slack_id: &str) -> Option<String> {
        let id = self.known(slack_id)?;
        let account = self.accounts.get(id as usize - 1)?;
        Some(match self.names.get(&account.name) {
            Some(1) => format!("@**{}**", account.name),
            _ => format!("@**{}|{id}**", account.name),
        })
    }

    /// The ids of all accounts.
    pub fn ids(&self) -> impl Iterator<Item = u32> + use<> {
        1..=self.accounts.len() as u32
    }

    /// The rows of the table of users. Those who wrote nothing join when the organization is imported.
    pub fn rows(&self) -> impl Iterator<Item = Value> {
        let owner = self.accounts.iter().position(|account| account.role == 100).map(|position| position + 1);
        (1..).zip(&self.accounts).map(move |(id, account)| {
            json!({
                "id": id, "realm": 1, "delivery_email": account.email, "email": account.email,
                "full_name": account.name, "role": account.role, "is_active": account.is_active,
                "is_bot": account.is_bot, "bot_type": account.is_bot.then_some(1),
                "bot_owner": owner.filter(|_| account.is_bot), "date_joined": account.first_message,
                "timezone": account.timezone, "avatar_source": "G", "avatar_version": 1,
            })
        })
    }
}

fn clean_name(name: &str) -> String {
    let name: String =
        name.chars().filter(|c| !FORBIDDEN.contains(*c) && !c.is_control()).take(NAME_CHARS_MAX).collect();
    name.trim().to_owned()
}
