//! Rolling upgrades of a cluster: records of a new version are allowed only when no older node is left, and none comes back.
//! The newer release is a row in the table of nodes, which is all that the others know of it.

use crate::support::skip::{not_skipped, skip};
use crate::support::{ServerProcess, TestServer};
use postgres::testing::TestDatabase;
use serde_json::{Value, json};
use std::process::ExitStatus;

const NEWER: &str = "INSERT INTO millstream.node (name, incarnation, advertise, lease_until, records)
    VALUES ('n2', 1, 'http://127.0.0.1:2', now() + interval '1 hour', 2)";

fn run(database: &TestDatabase, args: &[&str]) -> (ExitStatus, String) {
    let url = format!("{}?sslmode=disable", database.url(database.port));
    let environment = [
        ("MILLSTREAM_CLUSTER_DATABASE", url.as_str()),
        ("MILLSTREAM_CLUSTER_NODE", "n1"),
        ("MILLSTREAM_CLUSTER_ADVERTISE", "http://127.0.0.1:1"),
        ("MILLSTREAM_CLUSTER_ALLOW_SINGLE_COPY", "true"),
    ];
    ServerProcess::run_in(args, &environment)
}

fn upgrade(database: &TestDatabase) -> Result<Value, String> {
    let (status, text) = run(database, &["cluster", "upgrade", "--output", "json"]);
    let line = text.lines().find(|line| line.starts_with('{'));
    match line.filter(|_| status.success()) {
        Some(line) => Ok(serde_json::from_str(line).unwrap()),
        None => Err(text),
    }
}

#[tokio::test]
async fn older_nodes_stop_an_upgrade_and_cannot_join_after_it() {
    let Some(database) = TestDatabase::create() else {
        return skip("upgrades of a cluster", "there is no PostgreSQL 15");
    };
    not_skipped("upgrades of a cluster");
    let node = TestServer::builder().node(&database, "n1").start().await;
    assert_eq!(upgrade(&database).unwrap(), json!({"before": 1, "records": 1}));
    database.sql(NEWER);
    let refused = upgrade(&database).unwrap_err();
    assert!(refused.contains("these do not: n1"), "{refused}");
    let (_, status) = run(&database, &["cluster", "status", "--output", "json"]);
    let status: Value =
        serde_json::from_str(status.lines().find(|line| line.starts_with('{')).unwrap()).unwrap();
    let reads: Vec<&Value> =
        status["nodes"].as_array().unwrap().iter().map(|node| &node["records"]).collect();
    assert_eq!((&status["records"], reads), (&json!(1), vec![&json!(1), &json!(2)]));

    let folder = node.stop().await;
    assert_eq!(upgrade(&database).unwrap(), json!({"before": 1, "records": 2}));
    // The older program, on its own folder and with its own name.
    let data = folder.path().join("data").display().to_string();
    let (status, text) = run(&database, &["serve", "--listen", "127.0.0.1:0", "--data", &data]);
    assert!(!status.success() && text.contains("may have records of version 2"), "{text}");
    assert_eq!(database.query("SELECT records FROM millstream.node WHERE name = 'n1'"), "1");
}
