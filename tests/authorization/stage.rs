//! The callers, and the conversations that they make calls about.
//!
//! A conversation is rebuilt after each successful call, and reused after errors, which change nothing.

use super::rows::{Place, Row};
use crate::support::user::Browser;
use crate::support::{ApiResponse, Channel, Params, TestServer, TestUser, as_params, people};
use serde_json::{Value, json};

/// The callers with an account here, in the order of the table's columns, and their users.
pub const CALLERS: [(&str, &str); 8] = [
    ("guest", "polonius"),
    ("member", "hamlet"),
    ("full member", "veteran"),
    ("moderator", "shiva"),
    ("administrator", "iago"),
    ("owner", "desdemona"),
    ("bot", "default-bot"),
    // In `can_administer_channel_group` of every channel of the table, and otherwise an ordinary member.
    ("channel administrator", "prospero"),
];

/// The waiting period in days: members who joined before it are full members. Only the veteran is one.
const WAITING_DAYS: i64 = 10;

/// A server, its users, and the conversation of the next call.
pub struct Stage {
    t: TestServer,
    olga: TestUser,
    scene: Option<Scene>,
    scenes: usize,
}

/// The values of a row's placeholders.
struct Scene {
    /// The row's conversation and caller.
    key: (Place, String, &'static str),
    values: Values,
}

/// Placeholders and their values.
type Values = Vec<(&'static str, String)>;

impl Stage {
    pub async fn set() -> Self {
        let t = TestServer::builder().waiting_days(WAITING_DAYS).start().await;
        let acme = people::create_second(t.server(), "acme").await;
        let olga = t.user_of(&acme, "olga");
        Self { t, olga, scene: None, scenes: 0 }
    }

    /// Makes a row's call as one of the callers.
    pub async fn call(&mut self, row: &Row, caller: &'static str, is_browser: bool) -> ApiResponse {
        let key = (row.place, row.texts(), caller);
        if self.scene.as_ref().is_none_or(|scene| scene.key != key) {
            self.scene = Some(self.build(row, caller, key).await);
        }
        let fill = |text: &str| self.fill(text);
        let (method, path) = row.request();
        let path = fill(&path);
        let pairs: Vec<(String, String)> =
            row.pairs().into_iter().map(|(name, value)| (name, fill(&value))).collect();
        let params = as_params(&pairs);
        let person = if is_browser { self.browser(caller).await } else { self.person(caller) };
        person.call(method, &path, &params).await
    }

    /// The names that messages of responses may contain.
    pub fn scene_name(&self) -> Vec<(&'static str, String)> {
        self.scene.as_ref().map(|scene| scene.values.clone()).unwrap_or_default()
    }

    /// Discards the conversation, which a call may have changed.
    pub fn discard(&mut self) {
        self.scene = None;
    }

    /// A caller with a web session; without one where no session can be had.
    async fn browser(&self, caller: &str) -> TestUser {
        let person = self.person(caller);
        let with_session = match caller {
            "anonymous" => TestUser { browser: Some(Browser::default()), ..person },
            "wrong key" | "bot" => TestUser { browser: Some(Browser::new("no session")), ..person },
            "other organization" => {
                let acme = self.t.server().realm_by_subdomain("acme").expect("an organization");
                self.t.with_session_of(&acme, &person).await
            }
            _ => self.t.with_session(&person).await,
        };
        TestUser { key: String::new(), ..with_session }
    }

    fn person(&self, caller: &str) -> TestUser {
        let own = |name| CALLERS.iter().find(|(column, _)| *column == name);
        match caller {
            "anonymous" => self.t.anonymous(),
            "wrong key" => TestUser { key: "A".repeat(32), ..self.t.user("iago") },
            "other organization" => self.olga.clone(),
            _ => self.t.user(own(caller).unwrap_or_else(|| panic!("who is {caller}?")).1),
        }
    }

    fn fill(&self, text: &str) -> String {
        let values = self.scene.iter().flat_map(|scene| &scene.values);
        values.fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
    }

    /// Builds a conversation with everything that the row's placeholders name.
    async fn build(&mut self, row: &Row, caller: &'static str, key: (Place, String, &'static str)) -> Scene {
        self.scenes += 1;
        let number = self.scenes;
        let texts = row.texts();
        let person = self.person(caller);
        let is_here = CALLERS.iter().any(|(column, _)| *column == caller);
        let mut values = vec![
            ("number", number.to_string()),
            ("caller", person.id.to_string()),
            ("user", self.t.user("cordelia").id.to_string()),
            ("other", self.t.user("ZOE").id.to_string()),
        ];
        if row.place != Place::Nowhere {
            let inside = (is_here && row.place.is_inside()).then_some(&person);
            self.build_channel(row, inside, &mut values).await;
        }
        if texts.contains("{queue}") {
            let owner = if is_here { person.clone() } else { self.t.user("hamlet") };
            values.push(("queue", owner.register().await.id));
        }
        if texts.contains("{foreign_queue}") {
            let queue = self.t.user("cordelia").register().await.id;
            // Errors name the requested queue.
            values.extend([("foreign_queue", queue.clone()), ("queue", queue)]);
        }
        if texts.contains("{fresh}") {
            let name = format!("fresh{number}");
            let id = people::add(self.t.realm(), &name, "Fresh", model::Role::Member, None).await;
            values.push(("fresh", id.to_string()));
        }
        if texts.contains("{bot}") {
            values.push(("bot", self.build_bot(number).await.to_string()));
        }
        if texts.contains("{group}") {
            values.push(("group", self.build_group().await.to_string()));
        }
        Scene { key, values }
    }

    /// A bot whose owner is not a caller.
    async fn build_bot(&self, number: usize) -> u32 {
        let (name, short_name) = (format!("Scene {number}"), format!("scene{number}"));
        let params: Params<'_> = &[("full_name", &name), ("short_name", &short_name)];
        let made = self.t.user("ZOE").post("/bots", params).ok().await;
        made["user_id"].as_u64().expect("an id") as u32
    }

    /// A group with one member, managed by a member who is not a caller and by the channel administrator.
    async fn build_group(&self) -> u32 {
        let [othello, warden, cordelia] = self.t.users(["othello", "prospero", "cordelia"]);
        let members = self.t.realm().directory().group_by_name("role:members").expect("a group").id.0;
        let managers = json!({"direct_members": [othello.id, warden.id], "direct_subgroups": []});
        let more = json!({"can_manage_group": managers, "can_join_group": members});
        crate::api::groups::create_with(&othello, &format!("group {}", self.scenes), &[&cordelia], more).await
    }

    async fn build_channel(
        &self,
        row: &Row,
        inside: Option<&TestUser>,
        values: &mut Vec<(&'static str, String)>,
    ) {
        let [othello, cordelia] = self.t.users(["othello", "cordelia"]);
        let warden = self.t.user("prospero");
        let name = format!("place {}", self.scenes);
        let group = json!({"direct_members": [othello.id, warden.id], "direct_subgroups": []});
        // New members may not post in this channel, so another user sent the message.
        let author = if row.place == Place::FullOnlyIn { self.t.user("veteran") } else { cordelia };
        let full = self.t.realm().directory().group_by_name("role:fullmembers").expect("a group").id.0;
        let create = othello.create_channel(&name).with(&author);
        let create = row.place.configure(create, full).set("can_administer_channel_group", group);
        let channel: Channel = create.await;
        values.push(("message", author.send(&channel, "t", "before").await.to_string()));
        let texts = row.texts();
        if let Some(person) = inside {
            othello.subscribe_others(&channel, &[person]).await;
            if texts.contains("{own}") {
                values.push(("own", person.send(&channel, "t", "my own").await.to_string()));
            }
        } else if texts.contains("{own}") {
            values.push(("own", author.send(&channel, "t", "not one's own").await.to_string()));
        }
        if texts.contains("{later}") {
            values.push(("later", author.send(&channel, "t", "after").await.to_string()));
        }
        if texts.contains("{destination}") {
            let goal = othello.create_channel(&format!("goal {}", self.scenes)).await;
            values.push(("destination", goal.id.to_string()));
        }
        if row.place == Place::Archived {
            othello.delete(&format!("/streams/{}", channel.id), &[]).ok().await;
        }
        values.extend([("channel", channel.id.to_string()), ("name", name)]);
    }

    /// Makes the call as an owner of another organization, at that organization's host: the response has no text of
    /// this organization, which does not change. An error is the same as that for unknown ids.
    pub async fn try_from_outside(&mut self, row: &Row) {
        let key = (row.place, row.texts(), "moderator");
        self.scene = Some(self.build(row, "moderator", key).await);
        let before = self.state().await;
        let answer = self.ask_from_outside(row).await;
        let asked = row.pairs().iter().any(|(_, value)| names_a_scene(&self.fill(value)));
        let text = answer.body.to_string();
        // The acts of the other organization repeat what its owner asked for in earlier rows.
        let is_own_log = row.route.ends_with("/realm/audit");
        assert!(asked || is_own_log || !names_a_scene(&text), "{} {} tells {text}", row.route, row.case());
        // The examples of the document are about the sample organization, on every server.
        let is_document = row.route.ends_with("/openapi.json");
        assert!(is_document || !text.contains("cordelia@"), "{} {} tells {text}", row.route, row.case());
        if answer.status != 200 {
            let (here, nowhere) = self.leave_the_ids();
            let other = self.ask_from_outside(row).await;
            let received =
                here.iter().zip(&nowhere).fold(other.body.to_string(), |received, (here, nowhere)| {
                    received.replace(nowhere.1.as_str(), &here.1)
                });
            assert_eq!(
                (other.status, received),
                (answer.status, text),
                "{} {} knows an id",
                row.route,
                row.case()
            );
        }
        assert_eq!(self.state().await, before, "{} {} reached over", row.route, row.case());
    }

    async fn ask_from_outside(&self, row: &Row) -> ApiResponse {
        let (method, path) = row.request();
        let pairs: Vec<(String, String)> =
            row.pairs().into_iter().map(|(name, value)| (name, self.fill(&value))).collect();
        let params = as_params(&pairs);
        self.olga.call(method, &self.fill(&path), &params).header("Host", "acme.localhost").await
    }

    /// Replaces the placeholders by unknown ids and names; returns the real and the unknown values, in the same order.
    fn leave_the_ids(&mut self) -> (Values, Values) {
        let Some(scene) = &mut self.scene else { return (Vec::new(), Vec::new()) };
        let here = scene.values.clone();
        for (name, value) in scene.values.iter_mut().filter(|(name, _)| *name != "number") {
            *value = match value.parse::<u32>() {
                Ok(id) => (7_000_000 + id).to_string(),
                Err(_) => format!("no {name} of anybody"),
            };
        }
        (here, scene.values.clone())
    }

    /// The state that an owner and a member see, without values that change by themselves.
    async fn state(&self) -> Value {
        let mut all = Vec::new();
        for name in ["desdemona", "othello"] {
            let person = self.t.user(name);
            let queue = person.register().modern().await;
            let mut state = queue.state.clone();
            person.delete("/events", &[("queue_id", &queue.id)]).ok().await;
            for momentary in ["queue_id", "last_event_id", "server_timestamp"] {
                state[momentary] = json!(null);
            }
            all.push(json!({"state": state, "messages": person.messages(json!([])).await}));
        }
        json!(all)
    }
}

/// Whether a text has the name of a channel of a scene, such as `place 7`.
fn names_a_scene(text: &str) -> bool {
    text.split("place ").skip(1).any(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
}
