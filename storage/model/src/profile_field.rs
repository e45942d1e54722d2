//! Custom profile fields of an organization, and their values.

use crate::ids::ProfileFieldId;
use serde::{Deserialize, Serialize};

/// The type of a field's value; codes as in the API (docs/api/profile-fields.md#field-object).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FieldKind {
    /// 1: at most 50 characters.
    ShortText,
    /// 2: at most 500 characters, with Markdown.
    LongText,
    /// 3: one of the choices in the field's data.
    Choice,
    /// 4: a date in the form `YYYY-MM-DD`.
    Date,
    /// 5: a URL.
    Link,
    /// 6: a list of user ids as JSON text.
    Person,
    /// 7: a name on another site.
    ExternalAccount,
    /// 8: at most 50 characters.
    Pronouns,
}

impl FieldKind {
    /// All kinds, by code.
    pub const ALL: [Self; 8] = [
        Self::ShortText,
        Self::LongText,
        Self::Choice,
        Self::Date,
        Self::Link,
        Self::Person,
        Self::ExternalAccount,
        Self::Pronouns,
    ];

    /// The code in the API.
    pub fn code(self) -> u8 {
        self as u8 + 1
    }

    /// The kind with an API code.
    pub fn from_code(code: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| i64::from(kind.code()) == code)
    }

    /// Whether values are Markdown and are rendered as HTML.
    pub fn is_markdown(self) -> bool {
        matches!(self, Self::ShortText | Self::LongText)
    }
}

/// A custom profile field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileField {
    /// Unique in the organization; never reused.
    pub id: ProfileFieldId,
    /// Label, unique in the organization.
    pub name: String,
    pub hint: String,
    pub kind: FieldKind,
    /// JSON text: the choices, or which external account; empty when the kind has none.
    pub data: String,
    /// Smaller is earlier.
    pub order: u32,
    /// Shown in the summary of a profile; at most two fields are.
    pub is_in_summary: bool,
    /// Clients prompt users to fill it in.
    pub is_required: bool,
    /// Users may edit their own value; otherwise only administrators may.
    pub is_editable_by_user: bool,
}

/// All fields of an organization.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileFields {
    pub list: Vec<ProfileField>,
    /// The highest id ever assigned.
    pub last: ProfileFieldId,
}

impl ProfileFields {
    /// The field with an id.
    pub fn get(&self, id: ProfileFieldId) -> Option<&ProfileField> {
        self.list.iter().find(|field| field.id == id)
    }
}

/// A user's value of a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileValue {
    /// As typed; never empty.
    pub text: String,
    /// HTML, where the field's values are Markdown.
    pub html: Option<String>,
}
