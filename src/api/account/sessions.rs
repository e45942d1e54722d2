//! `GET` and `DELETE /users/me/sessions`, and ending the sessions of others: the browsers in which a user is logged in
//! (docs/api/sessions.md#sessions).

use crate::http::{ApiError, Caller, HandlerResult, OwnSession, Path, reply, reply_ok};
use actors::{EndedSessions, commands};
use model::UserId;
use serde::Serialize;

#[derive(Serialize)]
struct Sessions<'a> {
    sessions: Vec<SessionInfo<'a>>,
}

/// A browser that is logged in.
#[derive(Serialize)]
struct SessionInfo<'a> {
    id: String,
    /// The `User-Agent` at the login.
    device: &'a str,
    /// Unix time in seconds.
    created: u64,
    /// Unix time in seconds, recorded once an hour.
    last_used: u64,
    /// Whether the request came with this session.
    is_current: bool,
}

/// Lists the requester's own sessions, the one used last first.
pub async fn list(caller: Caller, OwnSession(own): OwnSession) -> HandlerResult {
    let directory = caller.realm.directory();
    let mut sessions: Vec<SessionInfo<'_>> = directory
        .web_sessions_of(caller.user.id)
        .map(|(key, session)| SessionInfo {
            id: key.name(),
            device: &session.device,
            created: session.created.secs(),
            last_used: session.used.secs(),
            is_current: own == Some(key),
        })
        .collect();
    sessions.sort_by_key(|session| std::cmp::Reverse((session.last_used, session.created)));
    reply(&Sessions { sessions })
}

/// Ends all of the requester's sessions but the one that the request came with.
pub async fn end_others(caller: Caller, OwnSession(own): OwnSession) -> HandlerResult {
    end(&caller, caller.user.id, EndedSessions::AllBut(own)).await
}

/// Ends one of the requester's sessions.
pub async fn end_one(caller: Caller, Path(name): Path<String>) -> HandlerResult {
    let directory = caller.realm.directory();
    let mut own = directory.web_sessions_of(caller.user.id).map(|(key, _)| key);
    let key = own.find(|key| key.name() == name).ok_or_else(|| ApiError::bad_request("No such session"))?;
    end(&caller, caller.user.id, EndedSessions::One(key)).await
}

/// Ends all sessions of a user, for owners.
pub async fn end_of_user(caller: Caller, Path(user): Path<UserId>) -> HandlerResult {
    end(&caller, user, EndedSessions::All).await
}

async fn end(caller: &Caller, user: UserId, which: EndedSessions) -> HandlerResult {
    caller.realm.execute(commands::EndWebSessions { by: caller.user.id, user, which }).await?;
    reply_ok()
}
