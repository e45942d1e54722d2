//! `GET /about`, and `GET /` without a web app: what this server is, how to connect each client, and for owners its state
//! at a glance (docs/api/server-additions.md#pages). API clients get JSON.

use super::description::below_heading;
use super::login::no_organization;
use super::open_to::can_sign_up;
use super::{SCRIPT_PATH, calling_page, deactivated, scripted_page};
use crate::api::account::server_settings::render_description;
use crate::dev::accounts::password_of_seed;
use crate::http::{App, Audience, Caller, FormToken, HandlerResult, Realm, RealmUrl, Reply, no_realm, reply};
use crate::integrations::mail::KeptMail;
use crate::units::{duration, size};
use crate::version::{ZULIP_FEATURE_LEVEL, ZULIP_VERSION};
use actix_web::http::StatusCode;
use actors::RealmHandle;
use actors::queries::{AuditFilter, activity, audit_log};
use askama::Template;
use model::{AuditEntry, RecordedAuditEntry, Role, Timestamp, UserId};
use rules::audit::{client_of, describe, who};
use rules::avatar::realm_icon_url;
use rules::client::CLIENT_UNSPECIFIED;
use serde::Serialize;
use std::sync::Arc;

/// Days of the chart.
const DAYS: u64 = 14;
/// People and e-mails that a development server shows.
const SHOWN_MAX: usize = 30;
/// Entries of the audit log that owners see.
const AUDIT_ENTRIES_SHOWN: usize = 20;
/// Height of the chart.
const CHART_HEIGHT: u64 = 60;

#[derive(Template)]
#[template(path = "about.html", config = "src/pages/askama.toml")]
struct AboutPage<'p> {
    organization: &'p str,
    icon: &'p str,
    description: &'p str,
    url: &'p str,
    host: &'p str,
    /// The user who is logged in, and their name.
    user_id: Option<UserId>,
    name: Option<&'p str>,
    token: &'p str,
    has_web_app: bool,
    can_sign_up: bool,
    is_development: bool,
    people: Vec<Account<'p>>,
    mails: Vec<Mail>,
    state: Option<State>,
    script: &'static str,
}

/// A person of a development server.
struct Account<'p> {
    name: &'p str,
    email: &'p str,
    role: &'static str,
    /// As the seed gave it; none if the user has another one.
    password: Option<&'p str>,
}

/// An e-mail of a development server.
struct Mail {
    subject: String,
    to: String,
}

/// What owners see at a glance.
struct State {
    version: &'static str,
    uptime: String,
    storage: String,
    queues: usize,
    people: usize,
    bars: Vec<Bar>,
    sum: u64,
    acts: Vec<ShownEntry>,
}

/// An entry of the audit log.
struct ShownEntry {
    time: String,
    who: String,
    deeds: Vec<String>,
    client: String,
}

/// The messages of one day.
struct Bar {
    day: String,
    count: u64,
    x: u64,
    y: u64,
    height: u64,
}

/// What the page says, as JSON for API clients.
#[derive(Serialize)]
struct About<'a> {
    server: &'static str,
    server_version: &'static str,
    zulip_version: &'static str,
    zulip_feature_level: u32,
    realm_name: &'a str,
    realm_description: &'a str,
    realm_icon: &'a str,
    realm_url: &'a str,
    has_web_app: bool,
    can_sign_up: bool,
    is_development: bool,
    is_deactivated: bool,
}

/// Shows what this server is: a page, or JSON.
pub async fn show(
    app: App,
    realm: Option<Realm>,
    url: Option<RealmUrl>,
    caller: Option<Caller>,
    token: FormToken,
    audience: Audience,
) -> HandlerResult {
    let (Some(Realm(realm)), Some(RealmUrl(url))) = (realm, url) else {
        return if audience.wants_page { no_organization() } else { Err(no_realm()) };
    };
    of(&app, (&realm, &url), caller.as_ref(), token, audience)
}

/// The page of an organization, or JSON.
pub(super) fn of(
    app: &App,
    (realm, url): (&RealmHandle, &str),
    caller: Option<&Caller>,
    token: FormToken,
    audience: Audience,
) -> HandlerResult {
    if !audience.wants_page {
        return as_json(app, realm, url);
    }
    if let Some(page) = deactivated(realm) {
        return page;
    }
    let directory = realm.directory();
    let shown = directory.users().filter(|user| audience.is_developer && user.is_active && !user.is_bot());
    let seed = app.tools.as_ref().map(|tools| tools.seed_of(realm.id()));
    let people = shown.take(SHOWN_MAX).map(|user| Account {
        name: &user.full_name,
        email: &user.delivery_email,
        role: role_name(user.role),
        password: seed.as_ref().and_then(|seed| password_of_seed(seed, user)),
    });
    let is_owner = caller.is_some_and(|caller| caller.user.role == Role::Owner);
    let template = AboutPage {
        organization: &directory.realm().name,
        icon: &realm_icon_url(&directory),
        description: &below_heading(&render_description(directory.realm())),
        url,
        host: url.split_once("://").map_or(url, |(_, host)| host),
        user_id: caller.map(|caller| caller.user.id),
        name: caller.map(|caller| caller.user.full_name.as_str()),
        token: &token.text,
        has_web_app: app.web_app.current().is_some(),
        can_sign_up: can_sign_up(app, realm),
        is_development: audience.is_developer,
        people: people.collect(),
        mails: if audience.is_developer { mails(app, realm) } else { Vec::new() },
        state: is_owner.then(|| state(app, realm)),
        script: SCRIPT_PATH,
    };
    // Who is logged in may ask for the names of a channel and of people.
    let page = match caller {
        Some(_) => calling_page(StatusCode::OK, &template)?,
        None => scripted_page(StatusCode::OK, &template)?,
    };
    Ok(page.with_headers(token.cookie))
}

/// What the page says, for API clients.
fn as_json(app: &App, realm: &RealmHandle, url: &str) -> HandlerResult {
    let directory = realm.directory();
    reply(&About {
        server: "Millstream",
        server_version: env!("CARGO_PKG_VERSION"),
        zulip_version: ZULIP_VERSION,
        zulip_feature_level: ZULIP_FEATURE_LEVEL,
        realm_name: &directory.realm().name,
        realm_description: &render_description(directory.realm()),
        realm_icon: &realm_icon_url(&directory),
        realm_url: url,
        has_web_app: app.web_app.current().is_some(),
        can_sign_up: can_sign_up(app, realm),
        is_development: app.is_development,
        is_deactivated: !realm.is_active(),
    })
}

/// The newest e-mails of the organization on a development server.
fn mails(app: &App, realm: &RealmHandle) -> Vec<Mail> {
    let all = app.mail.list().map(|list| list.of(realm.id())).unwrap_or_default();
    let shown = |mail: &Arc<KeptMail>| Mail { subject: mail.subject.clone(), to: mail.to.clone() };
    all.iter().take(SHOWN_MAX).map(shown).collect()
}

fn state(app: &App, realm: &RealmHandle) -> State {
    let found = activity(realm, DAYS);
    let highest = found.messages_by_day.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    let bar = |(at, (day, count)): (u64, &(u64, u64))| {
        let height = (count * CHART_HEIGHT).div_ceil(highest);
        Bar { day: day_name(*day), count: *count, x: at * 20, y: CHART_HEIGHT - height, height }
    };
    let storage = app.server.storage_status();
    let free = storage.free_bytes.map_or("unknown".to_owned(), |bytes| format!("{} free", size(bytes)));
    let storage = match (storage.paused, storage.is_low) {
        (Some(pause), _) => format!("{free}; {pause}"),
        (None, true) => format!("{free}; disk space is low"),
        (None, false) => free,
    };
    State {
        version: env!("CARGO_PKG_VERSION"),
        uptime: duration(app.moment().since(app.started).as_secs()),
        storage,
        queues: found.queues,
        people: found.people,
        sum: found.messages_by_day.iter().map(|(_, count)| count).sum(),
        bars: (0..).zip(&found.messages_by_day).map(bar).collect(),
        acts: newest_entries(realm),
    }
}

/// The newest entries of the audit log.
fn newest_entries(realm: &RealmHandle) -> Vec<ShownEntry> {
    let directory = realm.directory();
    let page = audit_log(realm, &AuditFilter { limit: AUDIT_ENTRIES_SHOWN, ..AuditFilter::default() });
    let shown = |recorded: &RecordedAuditEntry| ShownEntry {
        time: minute_name(recorded.at),
        who: who(&directory, &recorded.entry),
        deeds: recorded.entry.actions.iter().map(|action| describe(&directory, action)).collect(),
        client: client_name(&recorded.entry),
    };
    page.entries.iter().map(|(_, recorded)| shown(recorded)).collect()
}

/// The client of an entry, in the words of mails about logins if it gave no name.
fn client_name(entry: &AuditEntry) -> String {
    let client = client_of(entry);
    if client == CLIENT_UNSPECIFIED { "unknown client".to_owned() } else { client }
}

/// A time to the minute, in UTC.
fn minute_name(at: Timestamp) -> String {
    let moment =
        jiff::Timestamp::from_second(i64::try_from(at.secs()).unwrap_or_default()).unwrap_or_default();
    moment.strftime("%Y-%m-%d %H:%M").to_string()
}

/// A day since 1970 as people write it.
fn day_name(day: u64) -> String {
    let secs = i64::try_from(day.saturating_mul(24 * 60 * 60)).unwrap_or_default();
    let moment = jiff::Timestamp::from_second(secs).unwrap_or_default();
    moment.to_zoned(jiff::tz::TimeZone::UTC).strftime("%-d %b").to_string()
}

pub(super) fn role_name(role: Role) -> &'static str {
    match role {
        Role::Owner => "owner",
        Role::Administrator => "administrator",
        Role::Moderator => "moderator",
        Role::Member => "member",
        Role::Guest => "guest",
    }
}

/// The script of the page: the part of a link after `#` reaches no server.
pub async fn script() -> HandlerResult {
    let script = include_str!("conversation.js").as_bytes();
    Ok(Reply::plain("text/javascript; charset=utf-8", "public, max-age=3600", script))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::RequestOrigin;

    #[test]
    fn client_without_a_name_is_unknown() {
        let entry = |client: &str| AuditEntry {
            by: None,
            origin: RequestOrigin::Api,
            address: None,
            client: client.to_owned(),
            actions: Vec::new(),
        };
        assert_eq!(client_name(&entry(CLIENT_UNSPECIFIED)), "unknown client");
        assert_eq!(client_name(&entry("ZulipPython")), "ZulipPython");
    }

    #[test]
    fn days_as_people_write_them() {
        assert_eq!(day_name(20_000), "4 Oct");
    }
}
