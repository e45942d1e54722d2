//! Invalid input of every kind on every route: it gets an error, changes nothing, and the server keeps running.
//!
//! Driven by the table of routes: a new route without a row in `rows` fails the first test here.

mod admission;
mod answers;
mod bodies;
mod connections;
mod developers;
mod limits;
mod page_rows;
mod parameters;
mod rows;
mod secrets;
mod secrets_outside;

use crate::support::{TestServer, TestUser};
use reqwest::Method;
use rows::Row;
use serde_json::{Value, json};

#[test]
fn every_route_has_a_robustness_row() {
    let routes = millstream::routes::table();
    let routes: Vec<String> = routes.iter().map(|route| format!("{} {}", route.method, route.path)).collect();
    let rows: Vec<&str> = page_rows::all().map(|row| row.route).collect();
    for route in &routes {
        assert!(rows.contains(&route.as_str()), "no bad input is tried on {route}; add a row");
    }
    for row in rows {
        assert!(routes.contains(&row.to_owned()), "there is no {row} any more");
    }
}

/// A valid call of a route: the route, method, path and parameters.
#[cfg(debug_assertions)]
pub type ValidCall = (&'static str, Method, String, Vec<(String, String)>);

/// A valid call of each route of the API.
#[cfg(debug_assertions)]
pub fn valid_calls() -> Vec<ValidCall> {
    rows::ROWS.iter().map(|row| (row.route, row.method(), row.path(), row.pairs())).collect()
}

impl Row {
    fn method(&self) -> Method {
        let (method, _) = self.route.split_once(' ').expect("a method");
        method.parse().expect("a method")
    }

    /// The path with each placeholder filled in.
    fn path(&self) -> String {
        let (_, path) = self.route.split_once(' ').expect("a path");
        crate::api::edge::example(path)
    }

    /// The path, with the key in it where the route wants it there.
    fn path_with_key(&self, person: &TestUser) -> String {
        let key = if self.route.contains("/external/") {
            format!("?api_key={}", person.key)
        } else {
            String::new()
        };
        format!("{}{key}", self.path())
    }

    /// Valid parameters.
    fn pairs(&self) -> Vec<(String, String)> {
        let pairs = self.given.split_whitespace().map(|pair| pair.split_once('=').expect("name=value"));
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }
}

/// Starts the sample organization with everything that the rows name.
async fn stage(settings: &[(&'static str, &str)]) -> TestServer {
    let mut plan = TestServer::builder().development();
    for (option, value) in settings {
        plan = plan.set(option, value);
    }
    plan.start().await
}

/// What several users see: any change by invalid input would show here.
async fn state(t: &TestServer) -> Value {
    let mut all = Vec::new();
    for name in ["desdemona", "hamlet", "polonius"] {
        let person = t.user(name);
        let queue = person.register().modern().await;
        let mut state = queue.state.clone();
        person.delete("/events", &[("queue_id", &queue.id)]).ok().await;
        for momentary in ["queue_id", "last_event_id", "server_timestamp"] {
            state[momentary] = json!(null);
        }
        all.push(json!({"state": state, "newest": person.messages(json!([])).await.last().cloned()}));
    }
    json!(all)
}

/// Asserts that a valid request succeeds.
async fn assert_healthy(person: &TestUser) {
    assert_eq!(person.get("/users/me", &[]).ok().await["user_id"], person.id);
}
