//! Why a status, navigation view, muted user, profile field or profile value is refused
//! (docs/api/presence-and-status.md#set-the-own-status, docs/api/users.md#navigation-views,
//! docs/api/profile-fields.md#manage-fields).

/// A refusal. The display text is exactly what a client reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PersonalError {
    #[error("Client did not pass any new values.")]
    NoNewValues,
    #[error("Built-in views cannot have a custom name.")]
    BuiltInName,
    #[error("Custom views must have a valid name.")]
    CustomNameMissing,
    /// The user has a view with this fragment or this name.
    #[error("Navigation view already exists.")]
    ViewExists,
    /// The user has no view with this fragment. The edge answers 404 with NOT_FOUND.
    #[error("Navigation view does not exist.")]
    ViewMissing,
    #[error("Unknown onboarding_step: {name}")]
    OnboardingStepUnknown { name: String },
    #[error("Key does not exist.")]
    StorageKeyMissing,
    /// Both in characters, for one account.
    #[error("Request exceeds storage limit by {excess} characters. The limit is {limit} characters.")]
    StorageFull { excess: usize, limit: usize },
    #[error("Too many entries in the bot storage (maximum {limit}).")]
    TooManyStorageEntries { limit: usize },
    #[error("The bot storage of this organization is full (limit: {limit} bytes).")]
    RealmStorageFull { limit: usize },
    #[error("Cannot mute self")]
    MuteSelf,
    #[error("User already muted")]
    AlreadyMuted,
    #[error("User is not muted")]
    NotMuted,
    #[error("Too many custom profile fields (maximum {limit}).")]
    TooManyFields { limit: usize },
    #[error("Only 2 custom profile fields can be displayed in the profile summary.")]
    SummaryFull,
    #[error("Field type not supported for display in profile summary.")]
    KindNotInSummary,
    #[error("Label cannot be blank.")]
    LabelBlank,
    #[error("A field with that label already exists.")]
    LabelExists,
    #[error("Invalid field type.")]
    KindInvalid,
    #[error("Field must have at least one choice.")]
    ChoicesMissing,
    #[error("Field must not have duplicate choices.")]
    ChoicesDuplicate,
    /// `key` is `text` or `order`.
    #[error("{key} key is missing from field_data")]
    ChoiceKeyMissing { key: &'static str },
    #[error("field_data[\"text\"] is not a string")]
    ChoiceTextInvalid,
    #[error("field_data[\"text\"] cannot be blank")]
    ChoiceTextBlank,
    #[error("field_data is not a dict")]
    ChoiceInvalidForm,
    /// The key of an option is empty.
    #[error("'value' cannot be blank.")]
    ChoiceKeyBlank,
    #[error("Invalid external account type")]
    AccountKindInvalid,
    #[error("URL pattern must contain '%(username)s'.")]
    AccountPatternInvalid,
    /// The name and hint of a built-in external account.
    #[error("Default custom field cannot be updated.")]
    DefaultField,
    #[error("Field id {id} not found.")]
    FieldMissing { id: i64 },
    /// The order does not contain every field exactly once.
    #[error("Invalid order mapping.")]
    FieldOrderInvalid,
    #[error("You are not allowed to change this field. Contact an administrator to update it.")]
    FieldNotEditable,
    /// `field` is the field's name, here and below.
    #[error("'{value}' is not a valid choice for '{field}'.")]
    ChoiceInvalid { value: String, field: String },
    #[error("User with ID {id} is deactivated")]
    PersonDeactivated { id: i64 },
    #[error("User with ID {id} is a bot")]
    PersonIsBot { id: i64 },
    /// `detail` is `is not a string`, `is not a date`, …
    #[error("{field} {detail}")]
    ValueInvalid { field: String, detail: String },
}
