//! The HTTP API of the push service.
//!
//! Paths and the content of encrypted notifications are those of the public documentation of the API; responses are
//! parsed leniently.

use super::http_client::{builder, read_at_most, reason};
use crate::config::Push;
use actors::RealmHandle;
use model::UserId;
use model::push::{PushDevice, PushToken, PushTokenKind};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Client, RequestBuilder, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Maximum size of an answer of the push service, in bytes.
const ANSWER_BYTES_MAX: usize = 256 * 1024;
/// Maximum length of an error code that is passed on, in characters.
const CODE_LENGTH_MAX: usize = 64;

/// The `realm_uuid` of no organization.
const NO_ORGANIZATION: &str = "00000000-0000-0000-0000-000000000000";

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PushFailure {
    /// The service could not be reached, or did not respond in time.
    #[error("the push service cannot be reached: {0}")]
    Unreachable(String),
    /// It responded with a 5xx, or with an invalid response.
    #[error("the push service failed ({0})")]
    Broken(String),
    /// It has too many requests (429); with the seconds until the next one may come, if it says so, else 0.
    #[error("the push service has too many requests")]
    Busy { retry_after_secs: u64 },
    /// It refused the request or this server.
    #[error("the push service refused ({status}{})", code.as_ref().map(|code| format!(", {code}")).unwrap_or_default())]
    Refused { status: u16, code: Option<String> },
}

impl PushFailure {
    /// Whether a retry may succeed.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Broken(_) | Self::Busy { .. } => true,
            Self::Refused { .. } => false,
        }
    }

    /// The error code for a client whose registration failed.
    pub fn code(&self) -> &str {
        match self {
            Self::Unreachable(_) => "FAILED_TO_CONNECT_BOUNCER",
            Self::Broken(_) => "INTERNAL_SERVER_ERROR_ON_BOUNCER",
            Self::Busy { .. } => "BAD_REQUEST",
            Self::Refused { status: 401 | 403, .. } => "ADMIN_ACTION_REQUIRED",
            Self::Refused { code, .. } => code.as_deref().unwrap_or("BAD_REQUEST"),
        }
    }
}

/// The configured push service. Cheap to clone.
#[derive(Clone)]
pub struct PushService {
    http: Client,
    /// URL, without a slash at its end.
    url: String,
    org_id: String,
    org_key: String,
}

/// The account of a notification.
#[derive(Clone, Debug, Serialize)]
pub struct Account {
    pub realm_uuid: String,
    pub user_uuid: String,
}

/// One encrypted notification for one device.
#[derive(Clone, Debug)]
pub struct SealedPush<'a> {
    pub device: &'a PushDevice,
    /// The id of the device at the service.
    pub service_id: i64,
    /// Base64 of nonce and ciphertext.
    pub encrypted_data: String,
    /// High priority: a new message; otherwise a removal.
    pub is_urgent: bool,
}

/// The service's response to a notification.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Sent {
    /// Devices that no longer exist, by their ids at the service.
    #[serde(default)]
    pub delete_device_ids: Vec<i64>,
    #[serde(default)]
    pub deleted_devices: GoneTokens,
}

/// Legacy push tokens.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct GoneTokens {
    #[serde(default)]
    pub android_devices: Vec<String>,
    #[serde(default)]
    pub apple_devices: Vec<String>,
}

impl Account {
    /// The account of a user.
    pub fn of(realm: &RealmHandle, user: UserId) -> Self {
        Self { realm_uuid: realm.push_uuid(None), user_uuid: realm.push_uuid(Some(user)) }
    }
}

#[derive(Deserialize)]
struct Registered {
    device_id: i64,
}

#[derive(Deserialize)]
struct Refusal {
    code: Option<String>,
}

impl PushService {
    /// The service; none if it is not configured.
    pub fn new(settings: &Push) -> Result<Option<Self>, reqwest::Error> {
        if settings.service_url.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self {
            http: builder(settings.request_secs_max).build()?,
            url: settings.service_url.trim_end_matches('/').to_owned(),
            org_id: settings.org_id.clone(),
            org_key: settings.org_key.0.clone(),
        }))
    }

    fn post(&self, path: &str) -> RequestBuilder {
        let request = self.http.post(format!("{}/api/v1/remotes/push/{path}", self.url));
        request.basic_auth(&self.org_id, Some(&self.org_key))
    }

    /// Registers a device, and returns its id at the service.
    pub async fn register(&self, realm_uuid: &str, device: &PushDevice) -> Result<i64, PushFailure> {
        let account = device.account.to_string();
        let form = [
            ("realm_uuid", realm_uuid),
            ("push_account_id", &account),
            ("encrypted_push_registration", &device.registration.0),
            ("bouncer_public_key", &device.bouncer_public_key),
        ];
        let answer: Registered = ask(self.post("e2ee/register").form(&form)).await?;
        Ok(answer.device_id)
    }

    /// Sends encrypted notifications.
    pub async fn notify(&self, realm_uuid: &str, pushes: &[SealedPush<'_>]) -> Result<Sent, PushFailure> {
        let requests: Vec<Value> = pushes.iter().map(SealedPush::request).collect();
        let body = json!({ "realm_uuid": realm_uuid, "push_requests": requests });
        ask(self.post("e2ee/notify").json(&body)).await
    }

    /// Whether the service answers and knows this server: sends no notifications for no organization.
    ///
    /// # Errors
    /// Those of a request. A refusal of its content with an error code shows that the service knows the request and the key.
    pub async fn probe(&self) -> Result<(), PushFailure> {
        match self.notify(NO_ORGANIZATION, &[]).await {
            Ok(_) | Err(PushFailure::Refused { status: 400 | 404 | 422, code: Some(_) }) => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    /// Registers a legacy token.
    pub async fn register_token(&self, account: &Account, token: &PushToken) -> Result<(), PushFailure> {
        let form = [
            ("realm_uuid", account.realm_uuid.as_str()),
            ("user_uuid", &account.user_uuid),
            ("token", &token.token.0),
            ("token_kind", kind_code(token.kind)),
            ("ios_app_id", token.app.as_deref().unwrap_or_default()),
        ];
        let form = &form[..if token.app.is_some() { 5 } else { 4 }];
        ask::<Value>(self.post("register").form(form)).await.map(drop)
    }

    /// Sends to legacy tokens.
    pub async fn notify_tokens(
        &self,
        account: &Account,
        tokens: &[PushToken],
        payload: &TokenPayload,
    ) -> Result<Sent, PushFailure> {
        let of = |kind| {
            let of_kind = tokens.iter().filter(move |token| token.kind == kind);
            of_kind.map(|token| token.token.0.as_str()).collect::<Vec<_>>()
        };
        let body = json!({
            "realm_uuid": account.realm_uuid,
            "user_uuid": account.user_uuid,
            "android_devices": of(PushTokenKind::Fcm),
            "apple_devices": of(PushTokenKind::Apns),
            "gcm_payload": payload.google,
            "gcm_options": { "priority": if payload.is_urgent { "high" } else { "normal" } },
            "apns_payload": payload.apple,
        });
        ask(self.post("notify").json(&body)).await
    }

    /// Sends a test notification to a legacy token.
    pub async fn test_token(
        &self,
        account: &Account,
        token: &PushToken,
        base_payload: &Value,
    ) -> Result<(), PushFailure> {
        let body = json!({
            "realm_uuid": account.realm_uuid,
            "user_uuid": account.user_uuid,
            "token": token.token.0,
            "token_kind": kind_code(token.kind).parse::<u8>().unwrap_or_default(),
            "base_payload": base_payload,
        });
        ask::<Value>(self.post("test_notification").json(&body)).await.map(drop)
    }
}

/// The content of a legacy notification.
#[derive(Clone, Debug)]
pub struct TokenPayload {
    pub google: Value,
    pub apple: Value,
    pub is_urgent: bool,
}

/// The number of a kind of legacy token.
fn kind_code(kind: PushTokenKind) -> &'static str {
    match kind {
        PushTokenKind::Apns => "1",
        PushTokenKind::Fcm => "2",
    }
}

impl SealedPush<'_> {
    fn request(&self) -> Value {
        let mut payload = json!({
            "push_account_id": self.device.account,
            "encrypted_data": self.encrypted_data,
        });
        match self.device.kind {
            PushTokenKind::Fcm => {
                let priority = if self.is_urgent { "high" } else { "normal" };
                json!({ "device_id": self.service_id, "fcm_priority": priority, "payload": payload })
            }
            PushTokenKind::Apns => {
                // An alert makes Apple's devices wake the app, which decrypts and shows the notification.
                payload["aps"] = match self.is_urgent {
                    true => json!({ "mutable-content": 1, "alert": { "title": "New notification" } }),
                    false => json!({ "content-available": 1 }),
                };
                let headers = match self.is_urgent {
                    true => json!({ "apns_priority": 10, "apns_push_type": "alert" }),
                    false => json!({ "apns_priority": 5, "apns_push_type": "background" }),
                };
                json!({ "device_id": self.service_id, "http_headers": headers, "payload": payload })
            }
        }
    }
}

/// Sends a request, and parses the response of status 200.
async fn ask<T: for<'a> Deserialize<'a>>(request: RequestBuilder) -> Result<T, PushFailure> {
    // The text of reqwest's errors contains the URL, which is not for everyone.
    let unreachable = |error: reqwest::Error| PushFailure::Unreachable(reason(&error.without_url()));
    let response = request.send().await.map_err(unreachable)?;
    let (status, retry_after_secs) = (response.status(), retry_after_secs(response.headers()));
    let body = read_at_most(response, ANSWER_BYTES_MAX).await.map_err(unreachable)?;
    let body = body.ok_or_else(|| PushFailure::Broken("its answer is too long".into()))?;
    if status.is_server_error() {
        return Err(PushFailure::Broken(format!("status {}", status.as_u16())));
    }
    if status == StatusCode::TOO_MANY_REQUESTS {
        return Err(PushFailure::Busy { retry_after_secs });
    }
    if status != StatusCode::OK {
        let code = serde_json::from_slice::<Refusal>(&body).ok().and_then(|refusal| refusal.code);
        return Err(PushFailure::Refused {
            status: status.as_u16(),
            code: code.filter(|code| is_error_code(code)),
        });
    }
    serde_json::from_slice(&body)
        .map_err(|error| PushFailure::Broken(format!("its answer cannot be read: {error}")))
}

/// The seconds in `Retry-After`; 0 without them. A date is not a number of seconds.
fn retry_after_secs(headers: &HeaderMap) -> u64 {
    let value = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    value.and_then(|value| value.trim().parse().ok()).unwrap_or_default()
}

/// Whether a code may be passed on to clients and the log, although another server sent it.
fn is_error_code(code: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    !code.is_empty() && code.len() <= CODE_LENGTH_MAX && code.bytes().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Timestamp;
    use model::push::PushStatus;
    use model::redacted::Redacted;

    fn push(kind: PushTokenKind, is_urgent: bool) -> Value {
        let device = PushDevice {
            account: 10,
            kind,
            key: Redacted([0; 32]),
            bouncer_public_key: String::new(),
            registration: Redacted::default(),
            added: Timestamp(0),
            status: PushStatus::Active(3),
        };
        SealedPush { device: &device, service_id: 3, encrypted_data: "sealed".into(), is_urgent }.request()
    }

    #[test]
    fn request_format_by_token_kind() {
        assert_eq!(
            push(PushTokenKind::Fcm, true),
            json!({
                "device_id": 3,
                "fcm_priority": "high",
                "payload": { "push_account_id": 10, "encrypted_data": "sealed" },
            })
        );
        assert_eq!(
            push(PushTokenKind::Apns, true),
            json!({
                "device_id": 3,
                "http_headers": { "apns_priority": 10, "apns_push_type": "alert" },
                "payload": {
                    "push_account_id": 10,
                    "encrypted_data": "sealed",
                    "aps": { "mutable-content": 1, "alert": { "title": "New notification" } },
                },
            })
        );
        assert_eq!(push(PushTokenKind::Fcm, false)["fcm_priority"], "normal");
        assert_eq!(push(PushTokenKind::Apns, false)["http_headers"]["apns_push_type"], "background");
    }

    #[test]
    fn only_plain_error_codes_are_passed_on() {
        for code in ["REQUEST_EXPIRED", "A1"] {
            assert!(is_error_code(code), "{code}");
        }
        for code in ["", "<b>", "request expired", &"A".repeat(65)] {
            assert!(!is_error_code(code), "{code}");
        }
    }

    #[test]
    fn seconds_until_the_next_request_are_read() {
        for (value, secs) in [("120", 120), (" 7 ", 7), ("Fri, 27 Nov 2026 20:00:00 GMT", 0), ("-1", 0)] {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, value.parse().unwrap())]);
            assert_eq!(retry_after_secs(&headers), secs, "{value}");
        }
        assert_eq!(retry_after_secs(&HeaderMap::new()), 0);
    }

    #[test]
    fn failures_have_client_error_codes() {
        let refused =
            |status, code: Option<&str>| PushFailure::Refused { status, code: code.map(str::to_owned) };
        let cases = [
            (PushFailure::Unreachable("x".into()), "FAILED_TO_CONNECT_BOUNCER", true),
            (PushFailure::Broken("x".into()), "INTERNAL_SERVER_ERROR_ON_BOUNCER", true),
            (refused(401, Some("INVALID")), "ADMIN_ACTION_REQUIRED", false),
            (refused(403, None), "ADMIN_ACTION_REQUIRED", false),
            (PushFailure::Busy { retry_after_secs: 9 }, "BAD_REQUEST", true),
            (refused(400, Some("REQUEST_EXPIRED")), "REQUEST_EXPIRED", false),
            (refused(400, None), "BAD_REQUEST", false),
        ];
        for (failure, code, is_passing) in cases {
            assert_eq!((failure.code(), failure.is_passing()), (code, is_passing), "{failure}");
        }
    }
}
