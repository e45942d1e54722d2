//! Custom profile fields: what an organization asks its people to say about themselves.

use crate::ids::ProfileFieldId;
use serde::{Deserialize, Serialize};

/// What the value of a field is (api.md, Custom profile field); codes as on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FieldKind {
    /// 1: at most 50 characters.
    ShortText,
    /// 2: at most 500 characters, with Markdown.
    LongText,
    /// 3: one of the choices in the field's data.
    Choice,
    /// 4: `YYYY-MM-DD`.
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

    /// The code on the wire.
    pub fn code(self) -> u8 {
        self as u8 + 1
    }

    /// The kind with a wire code.
    pub fn from_code(code: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| i64::from(kind.code()) == code)
    }

    /// Whether values are Markdown, with HTML beside them.
    pub fn is_markdown(self) -> bool {
        matches!(self, Self::ShortText | Self::LongText)
    }
}

/// One field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileField {
    /// Unique in the organization, never given out again.
    pub id: ProfileFieldId,
    /// Label, unique in the organization.
    pub name: String,
    /// Explains what is asked for.
    pub hint: String,
    /// What its values are.
    pub kind: FieldKind,
    /// JSON text: the choices, or which external account; empty when the kind has none.
    pub data: String,
    /// Smaller is earlier.
    pub order: u32,
    /// Shown in the summary of a profile; at most two fields are.
    pub is_in_summary: bool,
    /// Clients ask for it until it is filled in.
    pub is_required: bool,
    /// People may fill it in themselves; otherwise only administrators do.
    pub is_editable_by_user: bool,
}

/// All fields of an organization.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileFields {
    /// In their order.
    pub list: Vec<ProfileField>,
    /// The newest id that was ever given out.
    pub last: ProfileFieldId,
}

impl ProfileFields {
    /// The field with an id.
    pub fn get(&self, id: ProfileFieldId) -> Option<&ProfileField> {
        self.list.iter().find(|field| field.id == id)
    }
}

/// What somebody filled in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileValue {
    /// As typed; never empty.
    pub text: String,
    /// HTML, where the field's values are Markdown.
    pub html: Option<String>,
}
