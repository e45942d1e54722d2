//! The record of the calls that a development server answered: what the client sent, which parameters were ignored, and
//! what the response was.

use model::{RealmId, Timestamp};
use parking_lot::Mutex;
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::ops::{Deref, DerefMut};
use std::time::Instant;

/// Calls that are recorded; older ones are dropped.
const CALLS_MAX: usize = 1000;
/// Characters that are recorded of a value.
const VALUE_CHARS_MAX: usize = 1000;
/// Parameters that are recorded of a call.
const PARAMETERS_MAX: usize = 50;
/// Dropped records that are kept for later calls, and bytes of each: most calls are small and answered at once.
const SPARE_MAX: usize = 64;
const KEPT_BYTES_MAX: usize = 4096;
/// Parameters whose values are not recorded.
const SECRETS: [&str; 8] = [
    "api_key",
    "password",
    "old_password",
    "new_password",
    "token",
    "push_key",
    "push_public_key",
    "csrfmiddlewaretoken",
];

/// A call that was answered.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RecordedCall {
    /// Grows with each call of the server.
    pub id: u64,
    #[serde(skip)]
    pub realm: Option<RealmId>,
    /// When the request came, in milliseconds.
    pub time: u64,
    pub method: Cow<'static, str>,
    pub path: String,
    /// The name of the client program.
    pub client: String,
    /// The e-mail address of the caller; null without one.
    pub user: Option<String>,
    pub parameters: Parameters,
    /// The files in the body.
    pub files: Vec<RecordedFile>,
    /// The parameters that the endpoint does not know.
    pub ignored_parameters: Vec<String>,
    /// The status that was sent; null if a fault, or the client, closed the connection before.
    pub status: Option<u16>,
    /// The id of the fault that the call had.
    pub fault: Option<u32>,
    /// The code of an error.
    pub code: Option<&'static str>,
    /// The text of an error.
    pub msg: Option<String>,
    pub micros: u64,
}

/// A file that a call had in its body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecordedFile {
    /// As the client sent it; null where the body is nothing but the file.
    pub name: Option<String>,
    /// Bytes that were received.
    pub size: u64,
}

impl RecordedFile {
    /// A file of which nothing was received yet.
    pub fn new(name: Option<&str>) -> Self {
        Self { name: name.map(|name| shortened(name).to_owned()), size: 0 }
    }
}

impl RecordedCall {
    /// Becomes the record of a call that begins. The buffers keep their room.
    fn begin(&mut self, realm: Option<RealmId>, time: Timestamp, (method, path): (&str, &str), client: &str) {
        let method = match method {
            "GET" => Cow::Borrowed("GET"),
            "POST" => Cow::Borrowed("POST"),
            "PATCH" => Cow::Borrowed("PATCH"),
            "DELETE" => Cow::Borrowed("DELETE"),
            other => Cow::Owned(other.to_owned()),
        };
        let path = refilled(&mut self.path, path);
        let client = refilled(&mut self.client, client);
        let mut parameters = std::mem::take(&mut self.parameters);
        parameters.text.clear();
        parameters.ends.clear();
        *self = Self { realm, time: time.0, method, path, client, parameters, ..Self::default() };
    }

    /// Whether its buffers are small enough to be kept for another call.
    fn is_small(&self) -> bool {
        self.path.capacity() + self.client.capacity() + self.parameters.text.capacity() <= KEPT_BYTES_MAX
    }

    /// Records parameters, within the bounds.
    pub fn set_parameters<'p>(&mut self, parameters: impl Iterator<Item = (&'p str, &'p str)> + Clone) {
        let parameters = parameters.take(PARAMETERS_MAX).map(|(name, value)| {
            let value = if SECRETS.contains(&name) { "***" } else { value };
            (shortened(name), shortened(value))
        });
        let sizes = parameters.clone().map(|(name, value)| (1, name.len() + value.len()));
        let (count, bytes) = sizes.fold((0, 0), |sum, size| (sum.0 + size.0, sum.1 + size.1));
        let Parameters { text, ends } = &mut self.parameters;
        text.clear();
        text.reserve(bytes);
        ends.clear();
        ends.reserve(count);
        for (name, value) in parameters {
            self.parameters.push(name, value);
        }
    }
}

/// Names and values, in their order; those of secrets are `***`. All in one text, because every call has some and hardly any
/// is ever shown.
#[derive(Clone, Debug, Default)]
pub struct Parameters {
    text: String,
    /// The ends of each name and value in the text.
    ends: Vec<(usize, usize)>,
}

impl Parameters {
    fn push(&mut self, name: &str, value: &str) {
        self.text.push_str(name);
        let name_end = self.text.len();
        self.text.push_str(value);
        self.ends.push((name_end, self.text.len()));
    }

    /// Names and values.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(_, end)| *end));
        starts.zip(&self.ends).map(|(start, (name, end))| (&self.text[start..*name], &self.text[*name..*end]))
    }
}

impl Serialize for Parameters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.pairs())
    }
}

/// A buffer with another text, shortened.
fn refilled(buffer: &mut String, text: &str) -> String {
    let mut buffer = std::mem::take(buffer);
    buffer.clear();
    buffer.push_str(shortened(text));
    buffer
}

fn shortened(text: &str) -> &str {
    // A text of few bytes has no more characters.
    if text.len() <= VALUE_CHARS_MAX {
        return text;
    }
    let end = text.char_indices().nth(VALUE_CHARS_MAX);
    &text[..end.map_or(text.len(), |(end, _)| end)]
}

/// The newest calls of a server.
#[derive(Default)]
pub struct CallLog(Mutex<State>);

#[derive(Default)]
struct State {
    newest_id: u64,
    /// Calls that have begun.
    begun: u64,
    /// Organizations that were reset, and how many calls had begun then: what they answer later is of the time before.
    resets: HashMap<RealmId, u64>,
    /// Boxed: a record is moved between functions several times.
    calls: VecDeque<Box<RecordedCall>>,
    /// Dropped ones, to be used again.
    #[expect(clippy::vec_box, reason = "a record moves between the lists without being copied")]
    spare: Vec<Box<RecordedCall>>,
}

impl CallLog {
    /// A record of a call that begins, to be added when it is answered, or when its client gives it up.
    pub fn begin(
        &self,
        realm: Option<RealmId>,
        time: Timestamp,
        call: (&str, &str),
        client: &str,
    ) -> OpenRecord<'_> {
        let (number, mut record) = {
            let mut state = self.0.lock();
            state.begun += 1;
            (state.begun, state.spare.pop().unwrap_or_default())
        };
        record.begin(realm, time, call, client);
        OpenRecord { log: self, record: Some(record), number, begun: Instant::now() }
    }

    /// Adds a call, which was the `number`th to begin; the oldest one is dropped at the bound.
    fn add(&self, number: u64, mut call: Box<RecordedCall>) {
        let mut state = self.0.lock();
        let reset = call.realm.and_then(|realm| state.resets.get(&realm));
        if reset.is_some_and(|begun| number <= *begun) {
            return;
        }
        state.newest_id += 1;
        call.id = state.newest_id;
        let oldest = if state.calls.len() >= CALLS_MAX { state.calls.pop_front() } else { None };
        state.calls.push_back(call);
        let is_kept = state.spare.len() < SPARE_MAX;
        state.spare.extend(oldest.filter(|oldest| is_kept && oldest.is_small()));
    }

    /// The calls of an organization after an id, the oldest first.
    pub fn after(&self, realm: RealmId, id: u64) -> Vec<RecordedCall> {
        let state = self.0.lock();
        let calls = state.calls.iter().filter(|call| call.realm == Some(realm) && call.id > id);
        calls.map(|call| RecordedCall::clone(call)).collect()
    }

    /// Drops the calls of an organization.
    pub fn clear(&self, realm: RealmId) {
        self.0.lock().calls.retain(|call| call.realm != Some(realm));
    }

    /// Drops the calls of an organization that was reset, those that are not answered yet, too.
    pub fn reset(&self, realm: RealmId) {
        let mut state = self.0.lock();
        let begun = state.begun;
        state.resets.insert(realm, begun);
        state.calls.retain(|call| call.realm != Some(realm));
    }
}

/// The record of a call that is not answered yet. Dropping it adds the call without a response: its client has ended the
/// connection.
pub struct OpenRecord<'l> {
    log: &'l CallLog,
    /// None once it is added.
    record: Option<Box<RecordedCall>>,
    /// Which call it is, in the order in which they began.
    number: u64,
    begun: Instant,
}

impl OpenRecord<'_> {
    /// Adds the call as it was answered.
    pub fn add(mut self) {
        if let Some(record) = self.record.take() {
            self.log.add(self.number, record);
        }
    }
}

impl Drop for OpenRecord<'_> {
    fn drop(&mut self) {
        if let Some(mut record) = self.record.take() {
            // Those of a fault were not sent.
            (record.code, record.msg) = (None, None);
            record.micros = u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX);
            self.log.add(self.number, record);
        }
    }
}

/// Why a record is there: only `add`, which consumes it, and `drop` take it out.
const THERE: &str = "the record of an open call";

impl Deref for OpenRecord<'_> {
    type Target = RecordedCall;

    fn deref(&self) -> &RecordedCall {
        self.record.as_ref().expect(THERE)
    }
}

impl DerefMut for OpenRecord<'_> {
    fn deref_mut(&mut self) -> &mut RecordedCall {
        self.record.as_mut().expect(THERE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_calls_are_kept_without_secrets() {
        let log = CallLog::default();
        for number in 0..=CALLS_MAX {
            let realm = Some(RealmId(1 + number as u32 % 2));
            let mut call = log.begin(realm, Timestamp(1), ("GET", "/a"), "curl");
            call.set_parameters(
                [("password", "secret"), ("push_key", "secret"), ("topic", "lunch")].into_iter(),
            );
            call.add();
        }
        let calls = log.after(RealmId(1), 0);
        assert_eq!((calls.len(), calls[0].id, log.after(RealmId(1), 999).len()), (CALLS_MAX / 2, 3, 1));
        let parameters: Vec<_> = calls[0].parameters.pairs().collect();
        assert_eq!(parameters, [("password", "***"), ("push_key", "***"), ("topic", "lunch")]);
        log.clear(RealmId(1));
        assert_eq!((log.after(RealmId(1), 0).len(), log.after(RealmId(2), 0).len()), (0, CALLS_MAX / 2));
    }

    #[test]
    fn calls_under_way_are_not_recorded_after_a_reset() {
        let log = CallLog::default();
        let begin = |realm| log.begin(Some(RealmId(realm)), Timestamp(1), ("GET", "/"), "curl");
        let (answered, given_up, other) = (begin(1), begin(1), begin(2));
        log.reset(RealmId(1));
        let later = begin(1);
        answered.add();
        drop(given_up);
        other.add();
        assert_eq!((log.after(RealmId(1), 0).len(), log.after(RealmId(2), 0).len()), (0, 1));
        later.add();
        assert_eq!(log.after(RealmId(1), 0).len(), 1);
    }

    #[test]
    fn record_that_is_used_again_has_nothing_of_the_last_call() {
        let log = CallLog::default();
        let begin = |path| log.begin(Some(RealmId(1)), Timestamp(1), ("GET", path), "curl");
        for _ in 0..=CALLS_MAX {
            let mut call = begin("/long/path");
            (call.user, call.status, call.msg) =
                (Some("iago@zulip.com".into()), Some(400), Some("no".into()));
            call.set_parameters([("topic", "lunch")].into_iter());
            call.add();
        }
        assert_eq!(log.0.lock().spare.len(), 1);
        let mut fresh = RecordedCall::default();
        fresh.begin(Some(RealmId(1)), Timestamp(1), ("GET", "/"), "curl");
        assert_eq!(format!("{:?}", *begin("/")), format!("{fresh:?}"));
    }
}
