//! Settings of people and organizations, stored sparsely: only what differs from the default.
//!
//! The table of names, types and defaults is a rule, not a noun: `rules::settings`.

use crate::group::GroupSetting;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The value of one setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SettingValue {
    /// True or false.
    Bool(bool),
    /// A number, or one of a numbered choice.
    Int(i64),
    /// Free text, or one of a worded choice.
    Text(String),
    /// Who holds a permission.
    Group(GroupSetting),
    /// Nothing, where the setting allows it (an unlimited time, for example).
    Null,
}

/// Setting name → value, only those that were ever changed.
pub type Settings = BTreeMap<String, SettingValue>;
