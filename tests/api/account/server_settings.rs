//! `GET /server_settings`.

use crate::support::shape::{fields, words};
use crate::support::{TestServer, people};
use serde_json::{Value, json};

#[tokio::test]
async fn what_a_client_learns_before_it_logs_in() {
    let t = TestServer::start().await;
    let body = t.stranger().get("/server_settings", &[]).ok().await;
    let expected = words(
        "authentication_methods email_auth_enabled external_authentication_methods is_incompatible \
         push_notifications_enabled realm_description realm_icon realm_name realm_uri realm_url \
         realm_web_public_access_enabled require_email_format_usernames zulip_feature_level \
         zulip_merge_base zulip_version",
    );
    assert_eq!(fields(&body), expected);
    assert_eq!((&body["zulip_feature_level"], &body["realm_name"]), (&json!(421), &json!("Zulip Dev")));
    assert_eq!((&body["realm_url"], &body["realm_uri"]), (&json!(&*t.url), &json!(&*t.url)));
    let version = body["zulip_version"].as_str().unwrap();
    let (major, rest) = version.split_once('.').unwrap();
    assert!(major.parse::<u32>().is_ok() && rest.starts_with(|c: char| c.is_ascii_digit()), "{version}");
    assert!(body["zulip_merge_base"].is_string() && body["realm_icon"].is_string());
    assert_eq!(body["email_auth_enabled"], true);
    let methods = body["authentication_methods"].as_object().unwrap();
    for name in ["password", "email", "ldap", "dev", "github", "saml", "openid connect"] {
        assert!(methods[name].is_boolean(), "{name}");
    }
    assert_eq!(body["external_authentication_methods"], json!([]));
    assert_eq!(body["is_incompatible"], false);
}

#[tokio::test]
async fn a_host_without_an_organization_knows_no_name() {
    let t = TestServer::start().await;
    people::create_second(t.server(), "acme").await;
    let call = t.stranger().get("/server_settings", &[]).header("Host", "nowhere.localhost");
    let body = call.ok().await;
    for key in ["realm_name", "realm_url", "realm_icon", "realm_description"] {
        assert_eq!(body.get(key), None::<&Value>, "{key}");
    }
    assert_eq!(body["realm_web_public_access_enabled"], false);
    let call = t.stranger().get("/server_settings", &[]).header("Host", "acme.localhost");
    assert_eq!(call.ok().await["realm_name"], "Another one");
}

/// Clients offer to look around without an account where there is something to see.
#[tokio::test]
async fn the_world_is_let_in_where_a_channel_is_open_to_it() {
    let t = TestServer::start().await;
    let desdemona = t.user("desdemona");
    let is_open = async || {
        let body = t.stranger().get("/server_settings", &[]).ok().await;
        body["realm_web_public_access_enabled"] == true
    };
    desdemona.patch("/realm", &[("enable_spectator_access", &true)]).ok().await;
    let channels = desdemona.get("/streams", &[("include_all", &true)]).ok().await;
    for channel in channels["streams"].as_array().unwrap() {
        if channel["is_web_public"] == true {
            desdemona.delete(&format!("/streams/{}", channel["stream_id"]), &[]).ok().await;
        }
    }
    assert!(!is_open().await);
    let world = desdemona.create_channel("world").set("is_web_public", json!(true)).await;
    assert!(is_open().await);
    desdemona.patch("/realm", &[("enable_spectator_access", &false)]).ok().await;
    assert!(!is_open().await);
    desdemona.patch("/realm", &[("enable_spectator_access", &true)]).ok().await;
    assert!(is_open().await);
    desdemona.delete(&format!("/streams/{}", world.id), &[]).ok().await;
    assert!(!is_open().await);
}

#[tokio::test]
async fn credentials_are_not_needed_nor_looked_at() {
    let t = TestServer::start().await;
    let wrong = crate::support::Person { key: "x".to_owned(), ..t.user("iago") };
    wrong.get("/server_settings", &[]).ok().await;
}
