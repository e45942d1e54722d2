//! The format of the table, and its families.
//!
//! A row is a route, the conversation it is about, parameters, and an expected outcome (see `outcome`) for each caller
//! with an account, in the order guest, member, full member, moderator, administrator, owner, bot, channel
//! administrator; a single outcome is for all of them. The outcomes of other callers are the same for all routes.

pub mod account;
pub mod accounts;
pub mod bots;
pub mod channels;
pub mod events;
pub mod groups;
pub mod invitations;
pub mod media;
pub mod messages;
pub mod organization;
pub mod personal;
pub mod pictures;
pub mod subscriptions;
pub mod uploads;

use super::stage::CALLERS;
use crate::support::channel::ChannelBuilder;
use millstream::http::route::Offered;
use reqwest::Method;

/// The conversation of a call. `In` means that the caller is subscribed, since after `{message}` was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Nowhere,
    Public,
    PublicIn,
    Private,
    PrivateIn,
    ProtectedIn,
    /// A public channel in which only full members may post.
    FullOnlyIn,
    Archived,
}

impl Place {
    pub fn is_inside(self) -> bool {
        matches!(self, Self::PublicIn | Self::PrivateIn | Self::ProtectedIn | Self::FullOnlyIn)
    }

    /// `full` is the id of the group of full members.
    pub fn configure(self, create: ChannelBuilder, full: u32) -> ChannelBuilder {
        match self {
            Self::Private | Self::PrivateIn => create.shared_history(),
            Self::ProtectedIn => create.protected_history(),
            Self::FullOnlyIn => create.set("can_send_message_group", full.into()),
            _ => create,
        }
    }
}

/// A row of the table.
#[derive(Clone, Debug)]
pub struct Row {
    /// Method and path, as in the table of routes.
    pub route: &'static str,
    pub place: Place,
    /// Parameters as `name=value`, separated by spaces, with placeholders.
    given: &'static str,
    outcomes: &'static str,
    is_open: bool,
}

pub const fn row(route: &'static str, place: Place, given: &'static str, outcomes: &'static str) -> Row {
    Row { route, place, given, outcomes, is_open: false }
}

/// A row of a route that needs no account, with the same outcome for all requesters.
pub const fn open(route: &'static str, given: &'static str, outcome: &'static str) -> Row {
    Row { route, place: Place::Nowhere, given, outcomes: outcome, is_open: true }
}

/// All rows of all families.
pub fn all() -> Vec<Row> {
    [
        account::rows(),
        messages::rows(),
        media::rows(),
        events::rows(),
        channels::rows(),
        subscriptions::rows(),
        groups::rows(),
        personal::rows(),
        pictures::rows(),
        uploads::rows(),
        organization::rows(),
        invitations::rows(),
        accounts::rows(),
        bots::rows(),
    ]
    .concat()
}

impl Row {
    /// Each caller with the outcome in its cell.
    pub fn cells(&self) -> Vec<(&'static str, &'static str)> {
        let words: Vec<&str> = self.outcomes.split_whitespace().collect();
        let only = (words.len() == 1).then(|| words[0]);
        assert!(only.is_some() || words.len() == CALLERS.len(), "{} has {} cells", self.route, words.len());
        let outside = [("anonymous", "login"), ("wrong key", "key"), ("other organization", "elsewhere")];
        let mut cells: Vec<_> = outside
            .into_iter()
            .map(|(name, word)| (name, if self.is_open { words[0] } else { word }))
            .collect();
        for (index, (caller, _)) in CALLERS.iter().enumerate() {
            cells.push((caller, only.unwrap_or_else(|| words[index])));
        }
        cells
    }

    /// Whether it is one of the API, offered below `/json` as well.
    pub fn is_for_both(&self) -> bool {
        let routes = millstream::routes::table();
        let found = routes.iter().find(|route| format!("{route:?}") == self.route);
        found.is_some_and(|route| route.offered == Offered::Everywhere)
    }

    /// Whether it is offered to browsers only.
    pub fn is_for_browsers(&self) -> bool {
        self.route.contains(" /json/")
    }

    /// The cells of a call with a web session instead of an API key. Only people who are logged in here have one.
    pub fn browser_cells(&self) -> Vec<(&'static str, &'static str)> {
        let is_out = |caller: &str| ["anonymous", "wrong key", "other organization", "bot"].contains(&caller);
        self.cells()
            .into_iter()
            .map(|(name, word)| (name, if is_out(name) { "login" } else { word }))
            .collect()
    }

    /// Distinguishes the row from others of the same route in reports.
    pub fn case(&self) -> String {
        format!("[{:?} {}]", self.place, self.given)
    }

    /// All texts that may contain placeholders.
    pub fn texts(&self) -> String {
        format!("{} {}", self.request().1, self.given)
    }

    /// Method and path; ids in the path are those of the conversation.
    pub fn request(&self) -> (Method, String) {
        let (method, path) = self.route.split_once(' ').expect("a method and a path");
        let names = [
            ("{message_id:int}", "{message}"),
            ("{stream_id:int}", "{channel}"),
            ("{user_id:int}", "{user}"),
            ("{user_group_id:int}", "{group}"),
            ("{bot_id:int}", "{bot}"),
            ("{email:text}", "cordelia@zulip.com"),
            ("{channel_folder_id:int}", "1"),
            ("{fragment:rest}", "inbox"),
            ("{invite_id:int}", "99999"),
            ("{key:rest}", "nowhere/"),
            ("{field_id:int}", "99999"),
            ("{domain:text}", "nowhere.example"),
            ("{filter_id:int}", "99999"),
            ("{playground_id:int}", "99999"),
            ("{export_id:int}", "99999"),
            ("{group_id:int}", "99999"),
            ("{saved_snippet_id:int}", "99999"),
            ("{attachment_id:int}", "99999"),
            ("{realm_id:int}", "1"),
            ("{file:rest}", "00/unknown/x.txt"),
            ("{token:text}", "1.1.x"),
            ("{name:rest}", "x.txt"),
            ("{upload_id:text}", "99999"),
            ("{draft_id:int}", "99999"),
            ("{scheduled_message_id:int}", "99999"),
            ("{reminder_id:int}", "99999"),
            ("{session_id:text}", "nowhere"),
            ("{page:rest}", "guides"),
            ("{integration:text}", "json"),
        ];
        // `@user={fresh}` makes the row about another user.
        let other = self.given.split_whitespace().find_map(|pair| pair.strip_prefix("@user="));
        // `id={own}` makes the row about another message.
        let own_id = self.given.split_whitespace().find_map(|pair| pair.strip_prefix("@id="));
        let path = names.iter().fold(path.to_owned(), |path, (from, to)| {
            let to = match *from {
                "{message_id:int}" => own_id.unwrap_or(to),
                "{user_id:int}" => other.unwrap_or(to),
                _ => to,
            };
            path.replace(from, to)
        });
        (method.parse().expect("a method"), path)
    }

    /// The parameters, with placeholders.
    pub fn pairs(&self) -> Vec<(String, String)> {
        let pairs = self.given.split_whitespace().filter(|pair| !pair.starts_with('@'));
        let pairs = pairs.map(|pair| pair.split_once('=').expect("name=value"));
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }
}
