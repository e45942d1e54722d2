//! `POST /users/me/presence`, `GET /users/{user}/presence`, `GET /realm/presence`
//! (docs/api/presence-and-status.md#presence).

use crate::api::wire::presence::{LegacyPresence, ModernPresence, Seen, legacy, modern, shown};
use crate::http::{
    ApiError, Caller, Fields, FromFields, HandlerResult, Params, Path, reply, reply_field, reply_ok,
};
use actors::{Presence, Report};
use model::{Directory, Timestamp, User, UserId};
use rules::permissions::users::{UserScope, api_email, find_user_by_email, sees_user, user_scope};
use rules::settings::{realm_bool, user_bool};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Default age of presences that clients get, in days.
pub const HISTORY_DAYS: u64 = 14;

/// Seconds without a report after which a user is offline.
const OFFLINE_SECS: u64 = 200;

const DAY_SECS: u64 = 24 * 60 * 60;

/// A report of the requester's presence, and the presences to return.
pub struct ReportPresence {
    status: String,
    ping_only: bool,
    slim_presence: bool,
    last_update_id: Option<i64>,
    history_days: Option<u64>,
}

impl FromFields for ReportPresence {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let status = fields.required("status")?;
        let last_update_id = fields.optional_int("last_update_id")?;
        let history_days = fields.optional_int("history_limit_days")?;
        let ping_only = fields.bool_or("ping_only", false)?;
        // Distinguishes activity of the user from automatic reports; not used here.
        fields.bool_or("new_user_input", false)?;
        let slim_presence = fields.bool_or("slim_presence", false)?;
        Ok(Self { status, ping_only, slim_presence, last_update_id, history_days })
    }
}

/// Presences by user id, or by e-mail address for older clients.
#[derive(Serialize)]
#[serde(untagged)]
enum PresencesJson<'d> {
    Modern(BTreeMap<UserId, ModernPresence>),
    Legacy(BTreeMap<Cow<'d, str>, LegacyPresence>),
}

#[derive(Serialize)]
struct PresenceAnswer<'d> {
    presences: PresencesJson<'d>,
    server_timestamp: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    presence_last_update_id: Option<u64>,
}

/// Records the presence of the caller, and returns that of others.
pub async fn report(caller: Caller, Params(request): Params<ReportPresence>) -> HandlerResult {
    let Caller { realm, user } = caller;
    let report = match request.status.as_str() {
        "active" => Report::Active,
        "idle" => Report::Idle,
        status => return Err(ApiError::bad_request(format!("Invalid status: {status}"))),
    };
    if user_bool(&user, "presence_enabled") {
        realm.report_presence(user.clone(), report).await?;
    }
    if request.ping_only {
        return reply_ok();
    }
    let directory = realm.directory();
    let now = realm.now();
    let since = request.last_update_id.and_then(|id| u64::try_from(id).ok());
    let (presences, last_update) = realm.presences(since);
    let days = request.history_days.unwrap_or(HISTORY_DAYS);
    let visible = visible(&directory, &user, presences, now, days);
    let is_modern = request.slim_presence || request.last_update_id.is_some();
    reply(&PresenceAnswer {
        presences: if is_modern {
            PresencesJson::Modern(visible.into_iter().map(|(user, seen)| (user.id, modern(seen))).collect())
        } else {
            by_address(&directory, visible)
        },
        server_timestamp: float_secs(now),
        presence_last_update_id: Some(last_update),
    })
}

/// Returns all presences in the legacy form.
pub async fn all(caller: Caller, Params(()): Params<()>) -> HandlerResult {
    let Caller { realm, user } = caller;
    let directory = realm.directory();
    let now = realm.now();
    let (presences, _) = realm.presences(None);
    let visible = visible(&directory, &user, presences, now, HISTORY_DAYS);
    reply(&PresenceAnswer {
        presences: by_address(&directory, visible),
        server_timestamp: float_secs(now),
        presence_last_update_id: None,
    })
}

fn by_address<'d>(directory: &'d Directory, visible: Vec<(&'d User, Seen)>) -> PresencesJson<'d> {
    let entry = |(user, seen)| (api_email(directory, user), legacy(seen));
    PresencesJson::Legacy(visible.into_iter().map(entry).collect())
}

fn float_secs(time: Timestamp) -> f64 {
    time.0 as f64 / 1000.0
}

/// Presences of users whom the viewer may see. Users who hide their presence keep that of before.
pub fn visible<'d>(
    directory: &'d Directory,
    viewer: &User,
    presences: Vec<(UserId, Presence)>,
    now: Timestamp,
    history_days: u64,
) -> Vec<(&'d User, Seen)> {
    if realm_bool(directory.realm(), "presence_disabled") {
        return Vec::new();
    }
    let scope: UserScope = user_scope(directory, viewer);
    let oldest_secs = now.secs().saturating_sub(history_days.saturating_mul(DAY_SECS));
    let entries = presences.into_iter().filter_map(|(id, presence)| {
        let user = directory.user(id).filter(|user| user.is_active && scope.contains(user.id))?;
        Some((&**user, shown(presence.active, presence.idle)))
    });
    entries.filter(|(_, seen)| seen.latest_secs() >= oldest_secs).collect()
}

#[derive(Serialize)]
struct OnePresence {
    aggregated: StatusSince,
    website: StatusSince,
}

#[derive(Serialize)]
struct StatusSince {
    status: &'static str,
    timestamp: u64,
}

/// Returns the `presence` of the user with an id.
pub async fn one_by_id(caller: Caller, Path(id): Path<UserId>, Params(()): Params<()>) -> HandlerResult {
    let directory = caller.realm.directory();
    one(&caller, &directory, directory.user(id).map(|user| &**user), &id.to_string())
}

/// Returns the `presence` of the user with an e-mail address.
pub async fn one_by_email(
    caller: Caller,
    Path(email): Path<String>,
    Params(()): Params<()>,
) -> HandlerResult {
    let directory = caller.realm.directory();
    // An address must not tell that it has a hidden user.
    let user = find_user_by_email(&directory, Some(&caller.user), &email)
        .filter(|user| sees_user(&directory, &caller.user, user));
    one(&caller, &directory, user.map(|user| &**user), &email)
}

fn one(caller: &Caller, directory: &Directory, user: Option<&User>, asked: &str) -> HandlerResult {
    let refused = |text: &str| Err(ApiError::bad_request(text.to_owned()));
    // Hidden users have the same answer whether they are active or not.
    if user.is_some_and(|user| !sees_user(directory, &caller.user, user)) {
        return refused("Insufficient permission");
    }
    let Some(user) = user.filter(|user| user.is_active) else { return refused("No such user") };
    if user.is_bot() {
        return refused("Presence is not supported for bot users.");
    }
    let is_shown = !realm_bool(directory.realm(), "presence_disabled");
    let Some(presence) = caller.realm.presence_of(user.id).filter(|_| is_shown) else {
        return refused(&format!("No presence data for {asked}"));
    };
    let (status, timestamp) = shown(presence.active, presence.idle).status();
    let is_offline = caller.realm.now().secs().saturating_sub(timestamp) > OFFLINE_SECS;
    let aggregated = StatusSince { status: if is_offline { "offline" } else { status }, timestamp };
    reply_field("presence", &OnePresence { aggregated, website: StatusSince { status, timestamp } })
}
