//! Settings of users and organizations. Only values that were changed are stored.
//!
//! The table of names, types and defaults is in `rules::settings`.

use crate::group::GroupSetting;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The value of one setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SettingValue {
    Bool(bool),
    /// A number, or a choice with numeric codes.
    Int(i64),
    /// Free text, or a choice with names.
    Text(String),
    Group(GroupSetting),
    /// Null, where the setting allows it (for example an unlimited time).
    Null,
}

/// Values of changed settings by name.
pub type Settings = BTreeMap<String, SettingValue>;
