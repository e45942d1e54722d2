//! `GET /users/{id}` and `GET /users/{email}`.

use crate::support::TestServer;
use crate::support::shape::fields;

#[tokio::test]
async fn get_user_by_id_and_email() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    for path in [format!("/users/{}", hamlet.id), format!("/users/{}", hamlet.api_email)] {
        let body = iago.get(&path, &[]).ok().await;
        assert_eq!(fields(&body), ["user"]);
        assert_eq!(body["user"]["user_id"], hamlet.id);
        assert!(body["user"].get("profile_data").is_none());
    }
    let encoded = format!("/users/{}", hamlet.api_email.replace('@', "%40"));
    assert_eq!(iago.get(&encoded, &[]).ok().await["user"]["user_id"], hamlet.id);
    let path = format!("/users/{}", hamlet.id);
    let body = iago.get(&path, &[("include_custom_profile_fields", &true), ("client_gravatar", &false)]);
    let body = body.ok().await;
    assert!(body["user"]["profile_data"].is_object() && body["user"]["avatar_url"].is_string());
}

#[tokio::test]
async fn unknown_user_is_error() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    for path in ["/users/99999", "/users/0", "/users/99999999999999999999", "/users/nobody@zulip.com"] {
        iago.get(path, &[]).bad("No such user").await;
    }
}
