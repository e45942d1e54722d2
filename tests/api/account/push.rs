//! Registering devices for push notifications, and test notifications.

use crate::support::http_stub::{HttpStub, StubReply};
use crate::support::phone::{Phone, service_url};
use crate::support::{Param, Params, TestServer, TestUser};
use serde_json::{Value, json};

const APPLE: &str = "/users/me/apns_device_token";
const GOOGLE: &str = "/users/me/android_gcm_reg_id";
const TEST: &str = "/mobile_push/e2ee/test_notification";
const OLD_TEST: &str = "/mobile_push/test_notification";

fn bad(msg: &str) -> Value {
    json!({ "result": "error", "msg": msg, "code": "BAD_REQUEST" })
}

fn error(code: &str, msg: &str) -> Value {
    json!({ "result": "error", "msg": msg, "code": code })
}

/// Starts a server with a stub as its push service.
async fn start() -> (TestServer, HttpStub) {
    let service = HttpStub::start().await;
    let plan = TestServer::builder().set("push.service_url", service_url(&service));
    (plan.set("push.org_id", "acme").set("push.org_key", "quite-secret").start().await, service)
}

async fn devices(person: &TestUser) -> Value {
    person.register().await.state["push_devices"].clone()
}

#[tokio::test]
async fn legacy_push_token_add_and_remove() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let apple: Params<'_> = &[("token", &"c0ffee"), ("appid", &"org.zulip.Zulip")];
    hamlet.post(APPLE, apple).ok().await;
    hamlet.post(APPLE, &[("token", &"C0FFEE"), ("appid", &"org.zulip.Zulip")]).ok().await;
    hamlet.post(GOOGLE, &[("token", &"android-token")]).ok().await;
    // The same token is one device, whatever its case; a token of another kind is another device.
    hamlet.delete(GOOGLE, &[("token", &"c0ffee")]).refused(400, bad("Token does not exist")).await;
    hamlet.delete(APPLE, &[("token", &"C0ffee")]).ok().await;
    hamlet.delete(APPLE, &[("token", &"c0ffee")]).refused(400, bad("Token does not exist")).await;
    // The devices of other users cannot be removed.
    let othello = t.user("othello");
    othello.delete(GOOGLE, &[("token", &"android-token")]).refused(400, bad("Token does not exist")).await;
    hamlet.delete(GOOGLE, &[("token", &"Android-Token")]).ok().await;
}

#[tokio::test]
async fn legacy_push_token_format_errors() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let long = "a".repeat(4097);
    let app = "org.zulip.Zulip";
    for (token, msg) in [
        ("", "Empty or invalid length token"),
        (&long, "Empty or invalid length token"),
        ("apple-tokenbb", "Invalid APNS token"),
        ("c0ffe", "Invalid APNS token"),
    ] {
        hamlet.post(APPLE, &[("token", &token), ("appid", &app)]).refused(400, bad(msg)).await;
        hamlet.delete(APPLE, &[("token", &token)]).refused(400, bad(msg)).await;
    }
    for token in ["", &long] {
        hamlet.post(GOOGLE, &[("token", &token)]).refused(400, bad("Empty or invalid length token")).await;
        hamlet.delete(GOOGLE, &[("token", &token)]).refused(400, bad("Empty or invalid length token")).await;
    }
    let app: Params<'_> = &[("token", &"c0ffee"), ("appid", &"'; tables: --")];
    hamlet.post(APPLE, app).refused(400, bad("appid has invalid format")).await;
    let both: Params<'_> = &[("token", &""), ("appid", &"")];
    hamlet.post(APPLE, both).refused(400, bad("appid has invalid format")).await;
}

#[tokio::test]
async fn push_device_is_pending_until_registered_with_service() {
    let (t, mut service) = start().await;
    let hamlet = t.user("hamlet");
    let phone = Phone::new(42, "fcm");
    assert_eq!(devices(&hamlet).await, json!({}));
    let (mut queue, mut others) = (
        hamlet.register().events(&["push_device"]).await,
        t.user("othello").register().events(&["push_device"]).await,
    );
    service.reply_next(StubReply::Status(503, ""));
    service.reply_next(StubReply::json(&json!({ "device_id": phone.service_id })));
    phone.request_registration(&hamlet).await;
    let asked = service.next_request().await;
    assert_eq!(asked.headers["authorization"], "Basic YWNtZTpxdWl0ZS1zZWNyZXQ=");
    for (name, value) in [
        ("push_account_id", "42"),
        ("encrypted_push_registration", "sealed-registration"),
        ("bouncer_public_key", "bouncer-public-key"),
    ] {
        assert_eq!(asked.field(name), value);
    }
    let uuid = asked.field("realm_uuid");
    assert_eq!((uuid.len(), &uuid[14..15]), (36, "4"), "{uuid}");
    assert_eq!(devices(&hamlet).await, json!({ "42": { "status": "pending", "error_code": null } }));
    assert_eq!(phone.next_status(&mut queue).await, "pending");
    assert_eq!(phone.next_status(&mut queue).await, "active");
    assert_eq!(devices(&hamlet).await, json!({ "42": { "status": "active", "error_code": null } }));
    assert_eq!(service.next_request().await.field("realm_uuid"), uuid);
    // Repeating the registration changes nothing and sends no request.
    phone.request_registration(&hamlet).await;
    assert_eq!(queue.now().await, [] as [Value; 0]);
    assert!(service.take_received().is_empty());
    assert_eq!(others.now().await, [] as [Value; 0]);
    assert_eq!(devices(&t.user("othello")).await, json!({}));
}

#[tokio::test]
async fn push_device_registration_can_be_retried_after_service_error() {
    let (t, mut service) = start().await;
    let hamlet = t.user("hamlet");
    let phone = Phone::new(7, "apns");
    for (reply, code) in [
        (StubReply::Status(400, r#"{"code":"REQUEST_EXPIRED"}"#), "REQUEST_EXPIRED"),
        (StubReply::Status(400, r#"{"code":"INVALID_BOUNCER_PUBLIC_KEY"}"#), "INVALID_BOUNCER_PUBLIC_KEY"),
        (StubReply::Status(400, "<html>"), "BAD_REQUEST"),
        (StubReply::Status(403, r#"{"code":"MISSING_REMOTE_REALM"}"#), "ADMIN_ACTION_REQUIRED"),
    ] {
        service.reply_next(reply);
        let mut queue = hamlet.register().events(&["push_device"]).await;
        phone.request_registration(&hamlet).await;
        assert_eq!(phone.next_status(&mut queue).await, "pending");
        let event = queue.next().await;
        assert_eq!((&event["status"], &event["error_code"]), (&json!("failed"), &json!(code)));
        assert_eq!(devices(&hamlet).await, json!({ "7": { "status": "failed", "error_code": code } }));
        service.next_request().await;
    }
    phone.register(&hamlet, &mut service).await;
    assert_eq!(devices(&hamlet).await, json!({ "7": { "status": "active", "error_code": null } }));
}

#[tokio::test]
async fn push_device_registration_parameter_errors() {
    let (t, _service) = start().await;
    let hamlet = t.user("hamlet");
    let key = Phone::new(1, "fcm").push_key();
    let with = |name: &'static str, value: &str| -> Vec<(&'static str, String)> {
        let given = [
            ("token_kind", "fcm"),
            ("push_account_id", "1"),
            ("push_key", &key),
            ("bouncer_public_key", "k"),
            ("encrypted_push_registration", "r"),
        ];
        given.map(|(known, given)| (known, if known == name { value } else { given }.to_owned())).into()
    };
    let short = "MTIz";
    for (name, value, msg) in [
        ("token_kind", "gcm", "Invalid token_kind"),
        ("push_key", "no base64!", "Invalid `push_key`"),
        ("push_key", short, "Invalid `push_key`"),
        ("push_key", "", "Invalid `push_key`"),
        ("push_key", &key.replace("MQ", "Mg"), "Invalid `push_key`"),
    ] {
        let given = with(name, value);
        let given: Vec<Param<'_>> =
            given.iter().map(|(name, value)| (*name, value as &(dyn std::fmt::Display + Sync))).collect();
        hamlet.post("/mobile_push/register", &given).refused(400, bad(msg)).await;
    }
    assert_eq!(devices(&hamlet).await, json!({}));
}

#[tokio::test]
async fn push_registration_without_service_is_error() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let key = Phone::new(1, "fcm").push_key();
    let given: Params<'_> = &[
        ("token_kind", &"fcm"),
        ("push_account_id", &"1"),
        ("push_key", &key),
        ("bouncer_public_key", &"k"),
        ("encrypted_push_registration", &"r"),
    ];
    let refusal =
        error("PUSH_SERVICE_NOT_CONFIGURED", "Server is not configured to use push notification service.");
    hamlet.post("/mobile_push/register", given).refused(400, refusal).await;
    let settings = t.anonymous().get("/server_settings", &[]).ok().await;
    assert_eq!(settings["push_notifications_enabled"], false);
    let (t, _service) = start().await;
    let settings = t.anonymous().get("/server_settings", &[]).ok().await;
    assert_eq!(settings["push_notifications_enabled"], true);
    let state = t.user("hamlet").register().await.state.clone();
    assert_eq!(state["realm_push_notifications_enabled"], true);
}

#[tokio::test]
async fn test_notification_reaches_selected_devices() {
    let (t, mut service) = start().await;
    let hamlet = t.user("hamlet");
    let none = error("NO_ACTIVE_PUSH_DEVICE", "No active registered push device");
    hamlet.post(TEST, &[]).refused(400, none.clone()).await;
    let (google, apple) = (Phone::new(1, "fcm"), Phone::new(2, "apns"));
    google.register(&hamlet, &mut service).await;
    apple.register(&hamlet, &mut service).await;
    hamlet.post(TEST, &[("push_account_id", &"3")]).refused(400, none.clone()).await;
    t.user("othello").post(TEST, &[("push_account_id", &"1")]).refused(400, none).await;
    hamlet.post(TEST, &[("push_account_id", &"2")]).ok().await;
    let asked = service.next_request().await;
    let said = apple.decrypt(&asked);
    assert_eq!(asked.json()["push_requests"].as_array().unwrap().len(), 1);
    let keys: Vec<&String> = said.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["realm_name", "realm_url", "time", "type", "user_id"]);
    assert_eq!(
        (&said["type"], &said["user_id"], &said["realm_name"]),
        (&json!("test"), &json!(hamlet.id), &json!("Zulip Dev"))
    );
    assert_eq!(said["realm_url"], *t.url);
    hamlet.post(TEST, &[]).ok().await;
    let asked = service.next_request().await;
    assert_eq!(
        (google.decrypt(&asked)["type"].clone(), apple.decrypt(&asked)["type"].clone()),
        (json!("test"), json!("test"))
    );
    assert_eq!(asked.json()["push_requests"][0]["fcm_priority"], "high");
    assert_eq!(asked.json()["push_requests"][1]["http_headers"]["apns_push_type"], "alert");
}

#[tokio::test]
async fn test_notification_errors() {
    let (t, mut service) = start().await;
    let hamlet = t.user("hamlet");
    Phone::new(1, "fcm").register(&hamlet, &mut service).await;
    let action = error(
        "ADMIN_ACTION_REQUIRED",
        "Push notification configuration issue on server, contact the server administrator or retry later.",
    );
    for (status, body) in
        [(401, "{}"), (403, r#"{"code":"MISSING_REMOTE_REALM"}"#), (400, "nonsense"), (404, "")]
    {
        service.reply_next(StubReply::Status(status, body));
        hamlet.post(TEST, &[]).refused(403, action.clone()).await;
    }
    let broken = error(
        "INTERNAL_SERVER_ERROR_ON_BOUNCER",
        "Internal server error on Zulip push notification service, retry later.",
    );
    for reply in
        [StubReply::Status(500, ""), StubReply::Status(503, "{}"), StubReply::Ok("<html>".to_owned())]
    {
        service.reply_next(reply);
        hamlet.post(TEST, &[]).refused(502, broken.clone()).await;
    }
    let unreachable = error(
        "FAILED_TO_CONNECT_BOUNCER",
        "Network error while connecting to Zulip push notification service.",
    );
    service.reply_next(StubReply::Disconnect);
    hamlet.post(TEST, &[]).refused(502, unreachable.clone()).await;
    // The app was uninstalled.
    service.reply_next(StubReply::json(&json!({ "delete_device_ids": [1001] })));
    let none = error("NO_ACTIVE_PUSH_DEVICE", "No active registered push device");
    hamlet.post(TEST, &[]).refused(400, none.clone()).await;
    hamlet.post(TEST, &[]).refused(400, none).await;
    let code = "INVALID_REMOTE_PUSH_DEVICE_TOKEN";
    assert_eq!(devices(&hamlet).await, json!({ "1": { "status": "failed", "error_code": code } }));
    Phone::new(1, "fcm").register(&hamlet, &mut service).await;
    // The push service is unreachable.
    drop(service);
    hamlet.post(TEST, &[]).refused(502, unreachable).await;
}

#[tokio::test]
async fn test_notification_times_out_on_hanging_service() {
    let mut service = HttpStub::start().await;
    let plan = TestServer::builder().set("push.service_url", service_url(&service));
    let t = plan.set("push.request_secs_max", 1).start().await;
    let hamlet = t.user("hamlet");
    Phone::new(1, "fcm").register(&hamlet, &mut service).await;
    service.reply_next(StubReply::Hang);
    let unreachable = error(
        "FAILED_TO_CONNECT_BOUNCER",
        "Network error while connecting to Zulip push notification service.",
    );
    hamlet.post(TEST, &[]).refused(502, unreachable).await;
}

#[tokio::test]
async fn test_notification_to_legacy_tokens() {
    let (t, mut service) = start().await;
    let hamlet = t.user("hamlet");
    // Having no device is an error only if a token was named.
    hamlet.post(OLD_TEST, &[]).ok().await;
    let unknown = error("INVALID_PUSH_DEVICE_TOKEN", "Device not recognized");
    hamlet.post(OLD_TEST, &[("token", &"android-token")]).refused(400, unknown.clone()).await;
    hamlet.post(GOOGLE, &[("token", &"android-token")]).ok().await;
    let asked = service.next_request().await;
    assert_eq!(asked.path, "/api/v1/remotes/push/register");
    assert_eq!((asked.field("token"), asked.field("token_kind")), ("android-token".into(), "2".into()));
    t.user("othello").post(OLD_TEST, &[("token", &"android-token")]).refused(400, unknown).await;
    hamlet.post(OLD_TEST, &[("token", &"android-token")]).ok().await;
    let asked = service.next_request().await;
    assert_eq!(asked.path, "/api/v1/remotes/push/test_notification");
    let said = asked.json();
    assert_eq!((&said["token"], &said["token_kind"]), (&json!("android-token"), &json!(2)));
    assert_eq!(said["base_payload"]["user_id"], hamlet.id);
    service.reply_next(StubReply::Status(400, r#"{"code":"INVALID_REMOTE_PUSH_DEVICE_TOKEN"}"#));
    let gone = error("INVALID_REMOTE_PUSH_DEVICE_TOKEN", "Device not recognized by the push bouncer");
    hamlet.post(OLD_TEST, &[]).refused(400, gone).await;
}
