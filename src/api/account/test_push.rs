//! `POST /mobile_push/test_notification` and its encrypted variant (docs/api/push.md#test-notifications).
//!
//! Nothing is stored: the request waits for the result of the push service.

use crate::http::{
    ApiError, App, Caller, Code, Fields, FromFields, HandlerResult, Params, RealmUrl, reply_ok,
};
use crate::integrations::push_payload::{PushAccount, test_base, test_push};
use crate::integrations::push_service::{Account, PushFailure, SealedPush};
use crate::integrations::seal::seal;
use actors::commands;
use model::Timestamp;
use model::push::{PushDevice, PushStatus, PushToken};
use rules::push::is_same_token;

/// The legacy token to test; all tokens of the requester without it.
pub struct TestTokens(Option<String>);

impl FromFields for TestTokens {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.optional("token")))
    }
}

/// The device to test; all devices of the requester without it.
pub struct TestDevices(Option<i64>);

impl FromFields for TestDevices {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.optional_int("push_account_id")?))
    }
}

/// Sends a test notification to legacy tokens.
pub async fn test_tokens(
    app: App,
    caller: Caller,
    RealmUrl(url): RealmUrl,
    Params(TestTokens(which)): Params<TestTokens>,
) -> HandlerResult {
    let directory = caller.realm.directory();
    let own = directory.push_tokens(caller.user.id).iter();
    let is_meant =
        |token: &&PushToken| which.as_deref().is_none_or(|which| is_same_token(&token.token.0, which));
    let tokens: Vec<&PushToken> = own.filter(is_meant).collect();
    if tokens.is_empty() && which.is_some() {
        return Err(ApiError::new(Code::INVALID_PUSH_DEVICE_TOKEN, "Device not recognized"));
    }
    let push_account = PushAccount::of(directory.realm(), url, caller.user.id);
    for token in tokens {
        let Some(service) = &app.push else { return Err(admin_action_required()) };
        let account = Account::of(&caller.realm, caller.user.id);
        match service.test_token(&account, token, &test_base(&push_account)).await {
            Ok(()) => {}
            Err(PushFailure::Refused { code: Some(code), .. })
                if code == Code::INVALID_REMOTE_PUSH_DEVICE_TOKEN.name() =>
            {
                return Err(ApiError::new(
                    Code::INVALID_REMOTE_PUSH_DEVICE_TOKEN,
                    "Device not recognized by the push bouncer",
                ));
            }
            Err(failure) => return Err(answer_of(&failure)),
        }
    }
    reply_ok()
}

/// Sends an encrypted test notification to registered devices.
pub async fn test_devices(
    app: App,
    caller: Caller,
    RealmUrl(url): RealmUrl,
    Params(TestDevices(which)): Params<TestDevices>,
) -> HandlerResult {
    let directory = caller.realm.directory();
    let own = directory.push_devices(caller.user.id).iter();
    let is_meant = |device: &&PushDevice| {
        device.service_id().is_some() && which.is_none_or(|which| device.account == which)
    };
    let devices: Vec<&PushDevice> = own.filter(is_meant).collect();
    if devices.is_empty() {
        return Err(no_active_device());
    }
    // The devices may be registered with a service that is no longer configured.
    let Some(service) = &app.push else { return Err(admin_action_required()) };
    let push_account = PushAccount::of(directory.realm(), url, caller.user.id);
    let text = test_push(&push_account, caller.realm.now()).to_string();
    let sealed = devices.iter().map(|device| {
        Some(SealedPush {
            device,
            service_id: device.service_id()?,
            encrypted_data: seal(&device.key, text.as_bytes())?,
            is_urgent: true,
        })
    });
    let pushes = sealed.collect::<Option<Vec<_>>>().ok_or_else(ApiError::internal)?;
    let sent = service.notify(&caller.realm.push_uuid(None), &pushes).await;
    let gone = sent.map_err(|failure| answer_of(&failure))?.delete_device_ids;
    let gone: Vec<(i64, Timestamp)> = devices
        .iter()
        .filter(|device| device.service_id().is_some_and(|id| gone.contains(&id)))
        .map(|device| (device.account, device.added))
        .collect();
    if gone.is_empty() {
        return reply_ok();
    }
    let is_any_left = gone.len() < devices.len();
    let status = PushStatus::Failed(Code::INVALID_REMOTE_PUSH_DEVICE_TOKEN.name().to_owned());
    caller
        .realm
        .execute(commands::SetPushDeviceStatus { user: caller.user.id, devices: gone, status })
        .await?;
    if is_any_left { reply_ok() } else { Err(no_active_device()) }
}

fn no_active_device() -> ApiError {
    ApiError::new(Code::NO_ACTIVE_PUSH_DEVICE, "No active registered push device")
}

fn admin_action_required() -> ApiError {
    ApiError::new(
        Code::ADMIN_ACTION_REQUIRED,
        "Push notification configuration issue on server, contact the server administrator or retry later.",
    )
}

/// The error for the client; the details are only logged.
fn answer_of(failure: &PushFailure) -> ApiError {
    tracing::warn!(%failure, "a test notification was not sent");
    match failure {
        PushFailure::Unreachable(_) => ApiError::new(
            Code::FAILED_TO_CONNECT_BOUNCER,
            "Network error while connecting to Zulip push notification service.",
        ),
        PushFailure::Broken(_) => ApiError::new(
            Code::INTERNAL_SERVER_ERROR_ON_BOUNCER,
            "Internal server error on Zulip push notification service, retry later.",
        ),
        PushFailure::Busy { .. } | PushFailure::Refused { .. } => admin_action_required(),
    }
}
