//! `update_global_notifications`: a notification setting of the user, for clients without `user_settings`.

use super::writer::EventWriter;
use crate::api::wire::settings::{SettingJson, setting};
use model::event::ChangedSetting;
use rules::permissions::users::api_email;
use serde::Serialize;
use std::borrow::Cow;

#[derive(Serialize)]
pub(super) struct UpdateGlobalNotifications<'e> {
    user: Cow<'e, str>,
    notification_name: &'static str,
    setting: SettingJson<'e>,
}

pub(super) fn changed<'e>(
    writer: &EventWriter<'e>,
    changed: &'e ChangedSetting,
) -> UpdateGlobalNotifications<'e> {
    UpdateGlobalNotifications {
        user: api_email(writer.directory, writer.owner),
        notification_name: changed.name,
        setting: setting(writer.directory, &changed.value),
    }
}
