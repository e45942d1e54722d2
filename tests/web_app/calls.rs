//! The calls that Zulip's app makes, against the table of routes: what is not served has a reason in `calls.txt`.

use actix_web::http::Method;
use millstream::http::router::Router;
use millstream::routes::table;

/// A call of the list: method, path, and why it is not served.
struct Listed {
    method: Method,
    path: String,
    reason: Option<&'static str>,
}

fn listed() -> Vec<Listed> {
    let lines = include_str!("calls.txt").lines().filter(|line| !line.starts_with('#'));
    let call = |line: &'static str| {
        let (call, reason) =
            line.split_once(" - ").map_or((line, None), |(call, reason)| (call, Some(reason)));
        let (method, path) = call.split_once(' ').expect("a method and a path");
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/json/{path}") };
        Listed { method: method.parse().expect("a method"), path, reason }
    };
    lines.map(call).collect()
}

#[test]
fn every_call_of_the_app_is_served_or_has_a_reason() {
    let router = Router::new(table());
    let is_served =
        |call: &Listed| router.find(&call.path).is_some_and(|found| found.route(&call.method).is_some());
    let missing: Vec<String> = listed()
        .iter()
        .filter(|call| call.reason.is_none() && !is_served(call))
        .map(|call| format!("{} {}", call.method, call.path))
        .collect();
    assert!(missing.is_empty(), "the app calls these, and they are no routes: {missing:#?}");
    for call in listed().iter().filter(|call| call.reason.is_some() && is_served(call)) {
        println!("{} {} is served now: its reason can go", call.method, call.path);
    }
}

#[test]
fn reasons_say_something() {
    let short =
        listed().into_iter().filter(|call| call.reason.is_some_and(|reason| reason.split(' ').count() < 3));
    assert_eq!(short.map(|call| call.path).collect::<Vec<_>>(), Vec::<String>::new());
    assert!(listed().len() > 120, "the list is complete");
}
