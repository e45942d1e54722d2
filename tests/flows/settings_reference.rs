//! `millstream settings` is correct: each listed value is accepted, announced by the named event, and refused to users
//! who are not listed; the listed defaults are those of a new organization.

use crate::support::{Call, ServerProcess, TestServer, TestUser};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A row of a printed table.
struct Row {
    name: String,
    typed: String,
    allowed: String,
    default: String,
    events: Vec<String>,
    who: String,
}

impl Row {
    fn parse(line: &str) -> Self {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [name, typed, allowed, default, events, who, _meaning] = cells[..] else {
            panic!("not a row: {line}")
        };
        Self {
            name: name.trim_matches('`').to_owned(),
            typed: typed.to_owned(),
            allowed: allowed.to_owned(),
            default: default.to_owned(),
            events: quoted(events),
            who: who.to_owned(),
        }
    }

    /// The value as clients receive it.
    fn value(&self, word: &str) -> Value {
        match (self.typed.as_str(), word) {
            ("boolean", _) => json!(word.parse::<bool>().expect("a boolean")),
            ("integer", "unlimited") if self.name == "message_retention_days" => json!(-1),
            (_, "unlimited" | "default") => Value::Null,
            ("integer", _) => json!(word.parse::<i64>().expect("a number")),
            _ => json!(word),
        }
    }

    fn default(&self) -> Value {
        match quoted(&self.default).first() {
            Some(word) => self.value(word),
            None => json!(""),
        }
    }

    /// The listed values; for URLs only their prefix is listed.
    fn listed(&self) -> Vec<String> {
        quoted(&self.allowed).into_iter().filter(|word| !word.ends_with("//")).collect()
    }

    fn change(&self, person: &TestUser, path: &str, word: &str) -> Call {
        person.call(Method::PATCH, path, &[(self.name.as_str(), &word)])
    }
}

/// The texts in backticks.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The rows below a heading.
fn rows(text: &str, heading: &str) -> Vec<Row> {
    let (_, below) = text.split_once(&format!("\n## {heading}\n")).expect("the heading");
    let section = below.split("\n## ").next().expect("a section");
    let rows: Vec<Row> = section.lines().filter(|line| line.starts_with("| `")).map(Row::parse).collect();
    assert!(!rows.is_empty(), "no settings below {heading}");
    rows
}

async fn refused(call: Call, role: &str) {
    let answer = call.await;
    let msg = format!("Must be an organization {role}");
    assert_eq!((answer.status, &answer.body["msg"]), (400, &json!(msg)));
}

fn printed() -> String {
    let (status, text) = ServerProcess::run(&["settings"]);
    assert!(status.success(), "{text}");
    text
}

#[tokio::test]
async fn settings_command_user_settings() {
    let rows = rows(&printed(), "Users");
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let state = hamlet.register().modern().await.state;
    let settings = state["user_settings"].as_object().expect("settings");
    let named: BTreeSet<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    let lists = ["emojiset_choices", "available_notification_sounds"];
    let there = settings.keys().map(String::as_str).filter(|name| !lists.contains(name));
    assert_eq!(named, there.collect());
    let mut modern = hamlet.register().modern().await;
    let mut older = hamlet.register().await;
    for row in &rows {
        assert_eq!(settings[&row.name], row.default(), "{}", row.name);
        assert_eq!(row.who, "themselves");
        let mut now = row.default();
        let words = if row.name == "timezone" { vec!["Europe/Paris".to_owned()] } else { row.listed() };
        assert!(!words.is_empty(), "{}", row.name);
        for word in words.iter().rev() {
            row.change(&hamlet, "/settings", word).ok().await;
            if row.value(word) == now {
                continue;
            }
            now = row.value(word);
            let mut received = modern.now().await;
            received.extend(older.now().await);
            let about = |event: &&Value| {
                let names = ["property", "setting_name", "notification_name"];
                names.iter().any(|name| event[*name] == row.name.as_str())
            };
            let types: BTreeSet<&str> =
                received.iter().filter(about).map(|event| event["type"].as_str().expect("a type")).collect();
            assert_eq!(types, row.events.iter().map(String::as_str).collect(), "{}: {received:?}", row.name);
        }
    }
}

#[tokio::test]
async fn settings_command_realm_settings() {
    let text = printed();
    let rows = rows(&text, "Organization");
    let t = TestServer::start().await;
    let [desdemona, iago, hamlet] = t.users(["desdemona", "iago", "hamlet"]);
    let mut queue = hamlet.register().modern().await;
    for row in &rows {
        assert_eq!(queue.state[format!("realm_{}", row.name)], row.default(), "{}", row.name);
        let default = quoted(&row.default);
        let own = default.first().map_or("", String::as_str);
        refused(row.change(&hamlet, "/realm", own), "administrator").await;
        match row.who.as_str() {
            "owners" => refused(row.change(&iago, "/realm", own), "owner").await,
            "administrators" => drop(row.change(&iago, "/realm", own).ok().await),
            who => panic!("unknown caller {who}"),
        }
        let mut now = row.default();
        for word in row.listed().iter().rev() {
            row.change(&desdemona, "/realm", word).ok().await;
            if row.value(word) == now {
                continue;
            }
            now = row.value(word);
            let received = queue.now().await;
            let event = received.iter().find(|event| event["data"].get(&row.name).is_some());
            let event = event.unwrap_or_else(|| panic!("{} is not received: {received:?}", row.name));
            assert_eq!(vec![event["type"].as_str().expect("a type")], row.events);
            assert_eq!(event["data"][&row.name], now);
        }
    }
}

#[tokio::test]
async fn settings_command_realm_permissions() {
    let rows = rows(&printed(), "Permissions");
    let t = TestServer::start().await;
    let [desdemona, iago] = t.users(["desdemona", "iago"]);
    let state = desdemona.register().modern().await.state;
    let group = |name: &str| crate::api::groups::group_id(&t, name);
    for row in &rows {
        assert_eq!(state[format!("realm_{}", row.name)], group(&quoted(&row.default)[0]), "{}", row.name);
        let (is_list, names) = (!row.allowed.contains("but not"), quoted(&row.allowed));
        for name in ["role:internet", "role:everyone", "role:members", "role:moderators", "role:nobody"] {
            let new = json!({"new": group(name)}).to_string();
            let answer = row.change(&desdemona, "/realm", &new).await;
            let is_allowed = names.iter().any(|listed| listed == name) == is_list;
            assert_eq!(answer.status == 200, is_allowed, "{} {name}: {answer:?}", row.name);
        }
        let back = json!({"new": group(&quoted(&row.default)[0])}).to_string();
        match row.who.as_str() {
            "owners" => refused(row.change(&iago, "/realm", &back), "owner").await,
            _ => drop(row.change(&iago, "/realm", &back).ok().await),
        }
    }
}
