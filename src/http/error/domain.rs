//! Maps the errors of the actors and rules to codes, statuses and extra fields. Errors that are not listed are
//! BAD_REQUEST with their own text.

use super::{ApiError, Code, STORAGE_RETRY_SECS};
use crate::background::WorkError;
use crate::fair_queue::TooManyWaiting;
use crate::rate_limit::RateLimited;
use actix_web::http::StatusCode;
use actors::DomainError;
use actors::budget::BudgetFull;
use rules::RuleError;
use rules::error::UploadError;
use rules::error::{
    AccountError, AddressProblem, InvitationError, InvitingRefusal, NotInvited, PictureError,
};
use rules::error::{EditError, EmojiError, GroupError, GroupObjection, OrganizationError, PersonalError};
use rules::text::escape_html;
use rules::topics::EMPTY_TOPIC_DISPLAY_NAME;
use serde_json::{Value, json};

/// `Retry-After` of an overloaded or stopping server, in seconds.
const RETRY_SECS: f64 = 1.0;

/// `Retry-After` while too many e-mails wait to be sent, in seconds.
const MAIL_RETRY_SECS: f64 = 60.0;

/// `Retry-After` while the search index is made, in seconds.
const SEARCH_RETRY_SECS: f64 = 5.0;

/// `Retry-After` while the directory of accounts does not answer, in seconds.
pub const LDAP_RETRY_SECS: f64 = 5.0;

/// The waits that answers with some codes mostly name.
const USUAL_WAITS: [(Code, f64); 8] = [
    (Code::RATE_LIMIT_HIT, RETRY_SECS),
    (Code::SERVER_OVERLOADED, RETRY_SECS),
    (Code::SERVER_STOPPING, RETRY_SECS),
    (Code::STORAGE_FULL, STORAGE_RETRY_SECS),
    (Code::STORAGE_UNAVAILABLE, STORAGE_RETRY_SECS),
    (Code::FILES_UNAVAILABLE, STORAGE_RETRY_SECS),
    (Code::SEARCH_NOT_READY, SEARCH_RETRY_SECS),
    (Code::LDAP_UNAVAILABLE, LDAP_RETRY_SECS),
];

impl Code {
    /// The wait that answers with this code mostly name (`Retry-After`), in seconds; none for those that name none.
    pub fn usual_wait(self) -> Option<f64> {
        USUAL_WAITS.iter().find(|(code, _)| *code == self).map(|(_, secs)| *secs)
    }
}

impl From<BudgetFull> for ApiError {
    fn from(full: BudgetFull) -> Self {
        match full {
            BudgetFull::Total => {
                Self::new(Code::SERVER_OVERLOADED, "The server is busy; try again in a moment")
            }
            // Clients know how to wait after a rate limit.
            BudgetFull::Share => Self::new(
                Code::RATE_LIMIT_HIT,
                "Too much of what this account asked for is waiting to be read",
            ),
        }
        .with("retry-after", RETRY_SECS)
    }
}

impl From<TooManyWaiting> for ApiError {
    fn from(_: TooManyWaiting) -> Self {
        let text = "Too many requests of this account wait for the same kind of work; try again in a moment";
        Self::new(Code::RATE_LIMIT_HIT, text).with("retry-after", RETRY_SECS)
    }
}

impl From<WorkError> for ApiError {
    fn from(error: WorkError) -> Self {
        match error {
            WorkError::Overloaded => DomainError::Overloaded.into(),
            WorkError::Stopping => Self::stopping(),
            WorkError::Failed => Self::internal(),
        }
    }
}

impl From<RateLimited> for ApiError {
    fn from(refused: RateLimited) -> Self {
        Self::rate_limited(refused.retry_after_secs)
    }
}

impl From<DomainError> for ApiError {
    fn from(error: DomainError) -> Self {
        match error {
            DomainError::Rule(rule) => rule.into(),
            DomainError::Overloaded => Self::unavailable("The server is busy; try again in a moment"),
            DomainError::Memory(full) => full.into(),
            DomainError::WriteBudgetSpent { wait } | DomainError::ConversationBudgetSpent { wait } => {
                Self::rate_limited(wait.as_secs_f64())
            }
            DomainError::TooLarge => Self::bad_request(
                "This change is too large for the server to store at once; try with fewer messages or less text",
            ),
            DomainError::Stopping => Self::stopping(),
            DomainError::Storage(reason) => {
                // Details are logged only.
                tracing::error!(%reason, "a request failed because stored data could not be read or written");
                Self::storage_unavailable()
            }
            DomainError::Paused(pause) => Self::paused(pause),
            DomainError::SearchNotReady => Self::retry_later(
                Code::SEARCH_NOT_READY,
                "The search index is not ready yet; try again in a moment",
                SEARCH_RETRY_SECS,
            ),
            DomainError::SearchTooBroad => Self::bad_request(
                "Too many messages have these words; add a word, a channel or a sender to the search",
            ),
            DomainError::BadEventQueue(queue) => {
                Self::new(Code::BAD_EVENT_QUEUE_ID, format!("Bad event queue ID: {queue}"))
                    .with("queue_id", &*queue.0)
            }
            DomainError::EventsPruned(id) => {
                Self::bad_request(format!("An event newer than {id} has already been pruned!"))
            }
            DomainError::EventUnknown(id) => Self::bad_request(format!("Event {id} was not in this queue")),
            DomainError::TooManyQueues => Self::bad_request("Could not allocate event queue"),
            DomainError::InvalidMessages => RuleError::InvalidMessage.into(),
            // The web pages have texts of their own.
            DomainError::LinkUsed => Self::bad_request("The link is no longer good."),
            DomainError::EmailInUse(address) => {
                Self::bad_request(format!("Email '{address}' already in use"))
            }
            DomainError::WrongPassword => {
                Self::new(Code::AUTHENTICATION_FAILED, "Your username or password is incorrect")
            }
            DomainError::UserDeactivated => Self::new(Code::USER_DEACTIVATED, "Account is deactivated"),
            DomainError::RealmDeactivated => {
                Self::new(Code::REALM_DEACTIVATED, "This organization has been deactivated")
            }
            DomainError::NotSeeded => Self::bad_request(
                "This organization was not made from a seed, so there is nothing to reset it to",
            ),
            DomainError::InvalidApiKey => Self::new(Code::UNAUTHORIZED, "Invalid API key"),
        }
    }
}

impl From<RuleError> for ApiError {
    fn from(error: RuleError) -> Self {
        let refusal = Self::new(code_of(&error), error.to_string());
        match error {
            RuleError::LoginRequired => Self::not_logged_in(),
            RuleError::Picture(PictureError::EmojiMissing { .. }) => refusal.status(StatusCode::NOT_FOUND),
            RuleError::Text(error) if error.is_missing() => refusal.status(StatusCode::NOT_FOUND),
            RuleError::ChannelDoesNotExist { name } => Self::channel_does_not_exist(&escape_html(&name)),
            RuleError::ChannelIdDoesNotExist { id } => refusal.with("stream_id", id),
            RuleError::ChannelAlreadyExists { name } => refusal.with("channel_name", name),
            RuleError::EmptyTopicRefused | RuleError::NamedTopicRefused => {
                refusal.with("empty_topic_display_name", EMPTY_TOPIC_DISPLAY_NAME)
            }
            RuleError::SystemGroupRequired { setting } => refusal.with("setting_name", setting),
            RuleError::BadNarrow { desc } => refusal.with("desc", desc),
            RuleError::BadNarrowCombination { desc } => refusal.with("desc", desc),
            RuleError::ExpectationMismatch { field } => refusal.with("field_name", field),
            RuleError::SettingBadValue { name, value } => {
                refusal.with("var_name", name).with("bad_value", value)
            }
            RuleError::RetentionInvalid { value } => {
                refusal.with("var_name", "message_retention_days").with("bad_value", value)
            }
            RuleError::Account(AccountError::LastUser { entity }) => {
                refusal.with("is_last_owner", entity != "user").with("entity", entity)
            }
            RuleError::Edit(EditError::PartOfTopicTimeOver { first_allowed, total, allowed }) => refusal
                .with("first_message_id_allowed_to_move", first_allowed.0)
                .with("total_messages_in_topic", total)
                .with("total_messages_allowed_to_move", allowed),
            RuleError::Organization(OrganizationError::FieldInvalid { field, why }) => {
                refusal.with("errors", json!({ field: [why] }))
            }
            RuleError::Invitation(InvitationError::NotSent { why, problems }) => not_invited(why, &problems),
            RuleError::Invitation(InvitationError::NoRoom) => refusal.with("retry-after", MAIL_RETRY_SECS),
            RuleError::Group(GroupError::InUse { objections }) => {
                refusal.with("objections", objections.iter().map(objection).collect::<Vec<_>>())
            }
            _ => refusal,
        }
    }
}

impl ApiError {
    /// STREAM_DOES_NOT_EXIST. Clients insert both the text and `stream` into HTML, so the name is escaped.
    fn channel_does_not_exist(escaped_name: &str) -> Self {
        Self::new(Code::STREAM_DOES_NOT_EXIST, format!("Channel '{escaped_name}' does not exist"))
            .with("stream", escaped_name)
    }
}

/// INVITATION_FAILED: who was not invited, why, whether the account could be reactivated, and whether others were
/// invited. There are no licenses.
pub(crate) fn not_invited(why: InvitingRefusal, problems: &[NotInvited]) -> ApiError {
    let problem = |(address, problem): &NotInvited| {
        let is_deactivated = *problem == AddressProblem::Deactivated;
        json!([address, problem.to_string(), is_deactivated])
    };
    ApiError::new(Code::INVITATION_FAILED, why.to_string())
        .with("errors", problems.iter().map(problem).collect::<Vec<_>>())
        .with("sent_invitations", why == InvitingRefusal::SomeKnown)
        .with("license_limit_reached", false)
        .with("daily_limit_reached", why == InvitingRefusal::DailyLimit)
}

fn objection(objection: &GroupObjection) -> Value {
    match objection {
        GroupObjection::Subgroup { supergroups } => {
            let ids: Vec<u32> = supergroups.iter().map(|group| group.0).collect();
            json!({ "type": "subgroup", "supergroup_ids": ids })
        }
        GroupObjection::Realm { settings } => json!({ "type": "realm", "settings": settings }),
        GroupObjection::Channel { channel, settings } => {
            json!({ "type": "channel", "channel_id": channel.0, "settings": settings })
        }
        GroupObjection::UserGroup { group, settings } => {
            json!({ "type": "user_group", "group_id": group.0, "settings": settings })
        }
    }
}

fn code_of(error: &RuleError) -> Code {
    match error {
        RuleError::AdministratorRequired | RuleError::OwnerRequired => Code::UNAUTHORIZED_PRINCIPAL,
        RuleError::LoginRequired => Code::UNAUTHORIZED,
        RuleError::ChannelDoesNotExist { .. } | RuleError::ChannelIdDoesNotExist { .. } => {
            Code::STREAM_DOES_NOT_EXIST
        }
        RuleError::ChannelAlreadyExists { .. } => Code::CHANNEL_ALREADY_EXISTS,
        RuleError::ChannelWildcardNotPermitted => Code::STREAM_WILDCARD_MENTION_NOT_ALLOWED,
        RuleError::TopicWildcardNotPermitted => Code::TOPIC_WILDCARD_MENTION_NOT_ALLOWED,
        RuleError::SystemGroupRequired { .. } => Code::SYSTEM_GROUP_REQUIRED,
        RuleError::BadNarrow { .. } | RuleError::BadNarrowCombination { .. } => Code::BAD_NARROW,
        RuleError::ExpectationMismatch { .. } => Code::EXPECTATION_MISMATCH,
        RuleError::RetentionInvalid { .. } | RuleError::SettingBadValue { .. } => {
            Code::REQUEST_VARIABLE_INVALID
        }
        RuleError::Account(AccountError::LastUser { .. }) => Code::CANNOT_DEACTIVATE_LAST_USER,
        RuleError::Edit(EditError::PartOfTopicTimeOver { .. }) => Code::MOVE_MESSAGES_TIME_LIMIT_EXCEEDED,
        RuleError::Emoji(EmojiError::ReactionExists) => Code::REACTION_ALREADY_EXISTS,
        RuleError::Emoji(EmojiError::ReactionMissing) => Code::REACTION_DOES_NOT_EXIST,
        RuleError::Group(GroupError::InUse { .. }) => Code::CANNOT_DEACTIVATE_GROUP_IN_USE,
        RuleError::Invitation(InvitationError::NoRoom) => Code::SERVER_OVERLOADED,
        RuleError::Personal(PersonalError::ViewMissing) => Code::NOT_FOUND,
        RuleError::Upload(UploadError::OverQuota) => Code::REALM_UPLOAD_QUOTA,
        _ => Code::BAD_REQUEST,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actors::Pause;
    use model::QueueId;

    #[test]
    fn errors_have_codes_and_texts() {
        let cases: Vec<(ApiError, u16, &str)> = vec![
            (
                RuleError::ChannelDoesNotExist { name: "<b>'s".into() }.into(),
                400,
                r#"{"result":"error","msg":"Channel '&lt;b&gt;&#x27;s' does not exist","code":"STREAM_DOES_NOT_EXIST","stream":"&lt;b&gt;&#x27;s"}"#,
            ),
            (
                RuleError::ChannelIdDoesNotExist { id: -7 }.into(),
                400,
                r#"{"result":"error","msg":"Channel with ID '-7' does not exist","code":"STREAM_DOES_NOT_EXIST","stream_id":-7}"#,
            ),
            (
                RuleError::ChannelAlreadyExists { name: "Rome".into() }.into(),
                409,
                r#"{"result":"error","msg":"Channel 'Rome' already exists","code":"CHANNEL_ALREADY_EXISTS","channel_name":"Rome"}"#,
            ),
            (
                DomainError::BadEventQueue(QueueId("a:1".into())).into(),
                400,
                r#"{"result":"error","msg":"Bad event queue ID: a:1","code":"BAD_EVENT_QUEUE_ID","queue_id":"a:1"}"#,
            ),
            (
                RuleError::BadNarrow { desc: "unknown operator x".into() }.into(),
                400,
                r#"{"result":"error","msg":"Invalid narrow operator: unknown operator x","code":"BAD_NARROW","desc":"unknown operator x"}"#,
            ),
            (
                RuleError::AdministratorRequired.into(),
                400,
                r#"{"result":"error","msg":"Must be an organization administrator","code":"UNAUTHORIZED_PRINCIPAL"}"#,
            ),
            (
                RuleError::InsufficientPermission.into(),
                400,
                r#"{"result":"error","msg":"Insufficient permission","code":"BAD_REQUEST"}"#,
            ),
            (
                DomainError::WrongPassword.into(),
                401,
                r#"{"result":"error","msg":"Your username or password is incorrect","code":"AUTHENTICATION_FAILED"}"#,
            ),
            (
                RuleError::EmptyTopicRefused.into(),
                400,
                r#"{"result":"error","msg":"Sending messages to the general chat is not allowed in this channel.","code":"BAD_REQUEST","empty_topic_display_name":"general chat"}"#,
            ),
        ];
        for (error, status, body) in cases {
            assert_eq!((error.status_code().as_u16(), error.render_json()), (status, format!("{body}\n")));
        }
        assert_eq!(ApiError::from(RuleError::LoginRequired), ApiError::not_logged_in());
    }

    #[test]
    fn errors_have_extra_fields() {
        let cases: Vec<(ApiError, u16, &str)> = vec![
            (
                RuleError::ExpectationMismatch { field: "old" }.into(),
                400,
                r#"{"result":"error","msg":"'old' value does not match the expected value.","code":"EXPECTATION_MISMATCH","field_name":"old"}"#,
            ),
            (
                RuleError::RetentionInvalid { value: Value::from("soon") }.into(),
                400,
                r#"{"result":"error","msg":"Bad value for 'message_retention_days': soon","code":"REQUEST_VARIABLE_INVALID","var_name":"message_retention_days","bad_value":"soon"}"#,
            ),
            (
                RuleError::Edit(EditError::PartOfTopicTimeOver {
                    first_allowed: model::MessageId(498),
                    total: 5,
                    allowed: 3,
                })
                .into(),
                400,
                r#"{"result":"error","msg":"You only have permission to move the 3/5 most recent messages in this topic.","code":"MOVE_MESSAGES_TIME_LIMIT_EXCEEDED","first_message_id_allowed_to_move":498,"total_messages_in_topic":5,"total_messages_allowed_to_move":3}"#,
            ),
            (
                RuleError::Edit(EditError::NothingToChange).into(),
                400,
                r#"{"result":"error","msg":"Nothing to change","code":"BAD_REQUEST"}"#,
            ),
            (
                RuleError::Personal(PersonalError::ViewMissing).into(),
                404,
                r#"{"result":"error","msg":"Navigation view does not exist.","code":"NOT_FOUND"}"#,
            ),
            (
                RuleError::Emoji(EmojiError::ReactionExists).into(),
                400,
                r#"{"result":"error","msg":"Reaction already exists.","code":"REACTION_ALREADY_EXISTS"}"#,
            ),
            (
                RuleError::Emoji(EmojiError::ReactionMissing).into(),
                400,
                r#"{"result":"error","msg":"Reaction doesn't exist.","code":"REACTION_DOES_NOT_EXIST"}"#,
            ),
            (
                RuleError::Group(GroupError::InUse {
                    objections: vec![
                        GroupObjection::Subgroup { supergroups: vec![model::GroupId(9)] },
                        GroupObjection::Channel {
                            channel: model::ChannelId(3),
                            settings: vec!["can_subscribe_group"],
                        },
                    ],
                })
                .into(),
                400,
                r#"{"result":"error","msg":"Cannot deactivate user group in use.","code":"CANNOT_DEACTIVATE_GROUP_IN_USE","objections":[{"supergroup_ids":[9],"type":"subgroup"},{"channel_id":3,"settings":["can_subscribe_group"],"type":"channel"}]}"#,
            ),
        ];
        for (error, status, body) in cases {
            assert_eq!((error.status_code().as_u16(), error.render_json()), (status, format!("{body}\n")));
        }
    }

    #[test]
    fn every_code_of_status_503_has_a_wait() {
        for code in Code::ALL.iter().filter(|code| code.status() == StatusCode::SERVICE_UNAVAILABLE) {
            assert!(code.usual_wait().is_some(), "{}", code.name());
        }
    }

    #[test]
    fn temporary_errors_have_retry_after() {
        let paused = [Pause::LowSpace, Pause::DiskFull, Pause::JournalFailed, Pause::TreesFailed];
        let errors = paused.map(DomainError::Paused).into_iter().chain([
            DomainError::Overloaded,
            DomainError::Stopping,
            DomainError::Storage("cannot write /srv/data".into()),
        ]);
        for error in errors.map(ApiError::from) {
            let code = error.code().map(Code::name).unwrap_or_default();
            assert!(code.starts_with("SERVER_") || code.starts_with("STORAGE_"), "{error}");
            let response = error.into_response();
            assert_eq!(response.status(), 503);
            let usual = Code::of_name(code).and_then(Code::usual_wait).unwrap();
            assert_eq!(response.headers().get("Retry-After").unwrap(), &format!("{usual:.1}"), "{code}");
        }
    }

    #[test]
    fn overload_has_retry_after_and_storage_errors_hide_details() {
        let busy = ApiError::from(DomainError::Overloaded).into_response();
        assert_eq!(
            (busy.status().as_u16(), busy.headers().get("Retry-After").unwrap()),
            (503, &"1.0".parse().unwrap())
        );
        let full = ApiError::from(BudgetFull::Total);
        assert_eq!((full.code(), full.status_code().as_u16()), (Some(Code::SERVER_OVERLOADED), 503));
        let share = ApiError::from(BudgetFull::Share).into_response();
        assert_eq!(
            (share.status().as_u16(), share.headers().get("Retry-After").unwrap()),
            (429, &"1.0".parse().unwrap())
        );
        let broken = ApiError::from(DomainError::Storage("cannot write /srv/data".into()));
        assert_eq!(broken.status_code(), 503);
        assert!(!broken.render_json().contains("/srv"), "{broken}");
    }

    #[test]
    fn bad_value_is_returned_unchanged() {
        for (value, text) in [
            (Value::from(-5), "-5"),
            (Value::from("soon"), "soon"),
            (Value::from(true), "true"),
            (Value::Null, "null"),
        ] {
            let refused = ApiError::from(RuleError::SettingBadValue { name: "limit", value: value.clone() });
            assert_eq!(refused.msg(), format!("Bad value for 'limit': {text}"));
            assert_eq!(refused.extra("bad_value"), Some(&value));
        }
    }
}
