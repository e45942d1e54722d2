//! Faults that a development server produces on demand, so that a client's bad days can be tested.

use crate::rate_limit::MonotonicTime;
use model::RealmId;
use parking_lot::Mutex;
use serde::Serialize;
use std::borrow::Cow;
use std::time::Duration;

/// The paths of the tools themselves, besides those below `/dev/`.
const TOOLS: [&str; 2] = ["/emails", "/emails.json"];
/// Maximum number of faults of a server at a time.
pub const FAULTS_MAX: usize = 1000;

/// Whether a path is that of one of the tools themselves, which have no faults and are not recorded.
pub fn is_tool(path: &str) -> bool {
    let path = &*decoded(path);
    path.starts_with("/dev/") || TOOLS.contains(&path)
}

/// A path as routes are found by it: percent-decoded. One that is no text is left as it is, and leads nowhere.
fn decoded(path: &str) -> Cow<'_, str> {
    percent_encoding::percent_decode_str(path).decode_utf8().unwrap_or(Cow::Borrowed(path))
}

/// What happens to a call instead of its usual response, or before it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FaultKind {
    /// An error response; the call has no effect. Without a code, and then without a text, a page as from a proxy.
    Error {
        status: u16,
        code: Option<String>,
        msg: Option<String>,
        /// In seconds; none for the wait of that code on a server, if it has one.
        retry_after: Option<f64>,
    },
    /// Status 429, RATE_LIMIT_HIT; the call has no effect.
    RateLimit { retry_after: f64 },
    /// The call has its effect at once, and its response comes later.
    Delay { delay_ms: u64 },
    /// The connection is closed without a response; the call has no effect.
    Disconnect,
    /// The call has its effect, and the connection is closed without a response.
    LoseResponse,
    /// The call has its effect, and the connection is closed in the middle of the response's body.
    Truncate,
}

/// The calls that a fault is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Target {
    /// None for every method.
    pub http_method: Option<String>,
    /// The path of a call: `*` is any text, `{name}` any text without a slash.
    pub path: String,
}

impl Target {
    /// Whether there can be such calls: their paths begin with a slash and have no query, and wildcards are complete.
    pub fn is_possible(&self) -> bool {
        let is_closed = self.path.split('{').skip(1).all(|rest| rest.contains('}'));
        self.path.starts_with(['/', '*', '{']) && !self.path.contains(['?', '#']) && is_closed
    }

    /// Whether there are only calls of the tools themselves, which have no faults.
    pub fn is_of_tools(&self) -> bool {
        is_tool(&self.path)
    }

    /// Whether a call is one of them; its path is decoded.
    fn includes(&self, method: &str, path: &str) -> bool {
        let is_asked_for = self.http_method.as_deref().is_none_or(|expected| expected == method);
        is_asked_for && matches(&decoded(&self.path), path)
    }
}

/// Whether a path matches a pattern.
fn matches(pattern: &str, path: &str) -> bool {
    let (literal, rest) = pattern.split_at(pattern.find(['*', '{']).unwrap_or(pattern.len()));
    let Some(path) = path.strip_prefix(literal) else { return false };
    match rest.as_bytes().first() {
        None => path.is_empty(),
        Some(b'*') => ends(path, path.len()).any(|end| matches(&rest[1..], &path[end..])),
        Some(_) => {
            let after = rest.find('}').map_or("", |end| &rest[end + 1..]);
            let segment = path.find('/').unwrap_or(path.len());
            ends(path, segment).skip(1).any(|end| matches(after, &path[end..]))
        }
    }
}

/// Where a wildcard's text may end.
fn ends(path: &str, longest: usize) -> impl Iterator<Item = usize> {
    (0..=longest).filter(|end| path.is_char_boundary(*end))
}

/// A fault, and for how many calls or how long it lasts.
#[derive(Clone, Debug, Serialize)]
pub struct Fault {
    pub id: u32,
    #[serde(skip)]
    pub realm: RealmId,
    #[serde(flatten)]
    pub target: Target,
    #[serde(flatten)]
    pub kind: FaultKind,
    /// Calls that it is still for; none without a limit.
    pub times: Option<u32>,
    #[serde(skip)]
    pub until: Option<MonotonicTime>,
    /// Calls that had it.
    pub hits: u32,
}

/// A fault with the time that it still has.
#[derive(Clone, Debug, Serialize)]
pub struct ListedFault {
    #[serde(flatten)]
    pub fault: Fault,
    /// None without a limit of time.
    pub seconds: Option<f64>,
}

impl Fault {
    /// Whether a call has it; its path is decoded. Responses to HEAD have no body that could be truncated.
    fn is_for(&self, realm: RealmId, method: &str, path: &str) -> bool {
        let has_effect = method != "HEAD" || self.kind != FaultKind::Truncate;
        self.realm == realm && has_effect && self.target.includes(method, path)
    }

    fn is_over(&self, now: MonotonicTime) -> bool {
        self.times == Some(0) || self.until.is_some_and(|until| now.since(until) > Duration::ZERO)
    }
}

/// The faults of a server; each is for the calls of one organization.
#[derive(Default)]
pub struct Faults(Mutex<State>);

#[derive(Default)]
struct State {
    newest_id: u32,
    faults: Vec<Fault>,
}

impl Faults {
    /// Adds a fault and returns its id; none at the bound.
    pub fn add(&self, mut fault: Fault, now: MonotonicTime) -> Option<u32> {
        let mut state = self.0.lock();
        state.faults.retain(|fault| !fault.is_over(now));
        if state.faults.len() >= FAULTS_MAX {
            return None;
        }
        state.newest_id += 1;
        fault.id = state.newest_id;
        state.faults.push(fault);
        Some(state.newest_id)
    }

    /// The faults of an organization that are not over, the oldest first.
    pub fn list(&self, realm: RealmId, now: MonotonicTime) -> Vec<ListedFault> {
        let state = self.0.lock();
        let those = state.faults.iter().filter(|fault| fault.realm == realm && !fault.is_over(now));
        let listed = |fault: &Fault| {
            let seconds = fault.until.map(|until| until.since(now).as_secs_f64());
            ListedFault { fault: fault.clone(), seconds }
        };
        those.map(listed).collect()
    }

    /// Removes one fault of an organization, or all of them; returns how many.
    pub fn remove(&self, realm: RealmId, id: Option<u32>) -> usize {
        let mut state = self.0.lock();
        let before = state.faults.len();
        state.faults.retain(|fault| fault.realm != realm || id.is_some_and(|id| fault.id != id));
        before - state.faults.len()
    }

    /// The fault of a call with its id, which counts for it: the oldest that matches.
    pub fn take(
        &self,
        realm: RealmId,
        (method, path): (&str, &str),
        now: MonotonicTime,
    ) -> Option<(u32, FaultKind)> {
        let path = decoded(path);
        let mut state = self.0.lock();
        let mut faults = state.faults.iter_mut();
        let fault = faults.find(|fault| !fault.is_over(now) && fault.is_for(realm, method, &path))?;
        fault.hits += 1;
        fault.times = fault.times.map(|times| times - 1);
        Some((fault.id, fault.kind.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_limit::moment;

    fn fault(path: &str, times: Option<u32>, until: Option<u64>) -> Fault {
        Fault {
            id: 0,
            realm: RealmId(1),
            target: Target { http_method: Some("GET".to_owned()), path: path.to_owned() },
            kind: FaultKind::Disconnect,
            times,
            until: until.map(moment),
            hits: 0,
        }
    }

    #[test]
    fn patterns() {
        let cases = [
            ("/api/v1/messages", "/api/v1/messages", true),
            ("/api/v1/messages", "/api/v1/messages/1", false),
            ("/api/v1/messages/{message_id}", "/api/v1/messages/17", true),
            ("/api/v1/messages/{message_id}", "/api/v1/messages/", false),
            ("/api/v1/messages/{message_id}", "/api/v1/messages/17/reactions", false),
            ("/api/v1/messages/{message_id}/*", "/api/v1/messages/17/reactions", true),
            ("/api/*", "/api/v1/é/1", true),
            ("*/events", "/api/v1/events", true),
            ("*", "/", true),
            ("", "/", false),
            ("/{broken", "/a", true),
        ];
        for (pattern, path, expected) in cases {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn paths_that_no_call_has_are_known() {
        let is_possible = |path: &str| Target { http_method: None, path: path.into() }.is_possible();
        assert!(["/", "*/events", "{any}", "/a/{b}/{c}"].into_iter().all(is_possible));
        assert!(!["", "a", "/a?b=1", "/a#b", "/a/{b", "/{a/{b}"].into_iter().any(is_possible));
    }

    #[test]
    fn fault_lasts_for_its_calls_or_its_time() {
        let faults = Faults::default();
        let call = |method, secs| faults.take(RealmId(1), (method, "/a"), moment(secs)).is_some();
        faults.add(fault("/a", Some(2), None), moment(0)).unwrap();
        assert_eq!(
            [call("GET", 0), call("POST", 0), call("GET", 0), call("GET", 0)],
            [true, false, true, false]
        );
        let id = faults.add(fault("/a", None, Some(10)), moment(0)).unwrap();
        assert!(faults.take(RealmId(2), ("GET", "/a"), moment(1)).is_none());
        assert_eq!([call("GET", 1), call("GET", 10), call("GET", 11)], [true, true, false]);
        let listed = &faults.list(RealmId(1), moment(4))[0];
        assert_eq!((listed.fault.hits, listed.seconds), (2, Some(6.0)));
        assert_eq!((faults.remove(RealmId(2), None), faults.remove(RealmId(1), Some(id + 1))), (0, 0));
        assert_eq!(faults.remove(RealmId(1), Some(id)), 1);
    }

    #[test]
    fn number_of_faults_is_bounded() {
        let faults = Faults::default();
        for _ in 0..FAULTS_MAX {
            faults.add(fault("/a", None, None), moment(0)).unwrap();
        }
        assert_eq!(faults.add(fault("/a", None, None), moment(0)), None);
    }
}
