//! `GET /server_settings`.

use crate::support::shape::{fields, words};
use crate::support::{TestServer, people};
use serde_json::{Value, json};

#[tokio::test]
async fn server_settings_content() {
    let t = TestServer::start().await;
    let body = t.anonymous().get("/server_settings", &[]).ok().await;
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
async fn server_settings_without_realm_at_host() {
    let t = TestServer::start().await;
    people::create_second(t.server(), "acme").await;
    let call = t.anonymous().get("/server_settings", &[]).header("Host", "nowhere.localhost");
    let body = call.ok().await;
    for key in ["realm_name", "realm_url", "realm_icon", "realm_description"] {
        assert_eq!(body.get(key), None::<&Value>, "{key}");
    }
    assert_eq!(body["realm_web_public_access_enabled"], false);
    let call = t.anonymous().get("/server_settings", &[]).header("Host", "acme.localhost");
    assert_eq!(call.ok().await["realm_name"], "Another one");
}

/// With a web-public channel, clients offer to view the organization without an account.
#[tokio::test]
async fn server_settings_web_public_streams_enabled() {
    let t = TestServer::start().await;
    let desdemona = t.user("desdemona");
    let is_open = async || {
        let body = t.anonymous().get("/server_settings", &[]).ok().await;
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
async fn server_settings_ignores_credentials() {
    let t = TestServer::start().await;
    let wrong = crate::support::TestUser { key: "x".to_owned(), ..t.user("iago") };
    wrong.get("/server_settings", &[]).ok().await;
}
