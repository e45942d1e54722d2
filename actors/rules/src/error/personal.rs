//! Why a status, navigation view, muted user, profile field or profile value is refused
//! (docs/api/presence-and-status.md#set-the-own-status, docs/api/users.md#navigation-views,
//! docs/api/profile-fields.md#manage-fields).

/// A refusal. The display text is exactly what a client reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PersonalError {
    /// A status that changes nothing.
    #[error("Client did not pass any new values.")]
    NoNewValues,
    /// A built-in view has the name it has.
    #[error("Built-in views cannot have a custom name.")]
    BuiltInName,
    /// Any other view needs one.
    #[error("Custom views must have a valid name.")]
    CustomNameMissing,
    /// The user has a view for this fragment, or one with this name.
    #[error("Navigation view already exists.")]
    ViewExists,
    /// The user has no view for this fragment. The edge answers 404 with NOT_FOUND.
    #[error("Navigation view does not exist.")]
    ViewMissing,
    /// More views than one person may have.
    #[error("Too many navigation views (maximum {limit}).")]
    TooManyViews {
        /// How many there may be.
        limit: usize,
    },
    /// Oneself cannot be muted.
    #[error("Cannot mute self")]
    MuteSelf,
    /// Muted before.
    #[error("User already muted")]
    AlreadyMuted,
    /// There is nobody to unmute.
    #[error("User is not muted")]
    NotMuted,
    /// More fields than a profile may have.
    #[error("Too many custom profile fields (maximum {limit}).")]
    TooManyFields {
        /// How many there may be.
        limit: usize,
    },
    /// No room in the summary of profiles.
    #[error("Only 2 custom profile fields can be displayed in the profile summary.")]
    SummaryFull,
    /// Fields of this kind are too large for it.
    #[error("Field type not supported for display in profile summary.")]
    KindNotInSummary,
    /// A field without a name.
    #[error("Label cannot be blank.")]
    LabelBlank,
    /// Two fields with one name.
    #[error("A field with that label already exists.")]
    LabelExists,
    /// Not one of the eight.
    #[error("Invalid field type.")]
    KindInvalid,
    /// A list of options without any.
    #[error("Field must have at least one choice.")]
    ChoicesMissing,
    /// Two options with the same text.
    #[error("Field must not have duplicate choices.")]
    ChoicesDuplicate,
    /// An option without what it must have.
    #[error("{key} key is missing from field_data")]
    ChoiceKeyMissing {
        /// `text` or `order`.
        key: &'static str,
    },
    /// An option whose text is none.
    #[error("field_data[\"text\"] is not a string")]
    ChoiceTextInvalid,
    /// An option that nobody could read.
    #[error("field_data[\"text\"] cannot be blank")]
    ChoiceTextBlank,
    /// An option that is no object.
    #[error("field_data is not a dict")]
    ChoiceInvalidForm,
    /// An option under a key that says nothing.
    #[error("'value' cannot be blank.")]
    ChoiceKeyBlank,
    /// No such external account.
    #[error("Invalid external account type")]
    AccountKindInvalid,
    /// The address of an external account does not say where the name goes.
    #[error("URL pattern must contain '%(username)s'.")]
    AccountPatternInvalid,
    /// The name and hint of an external account that the server knows.
    #[error("Default custom field cannot be updated.")]
    DefaultField,
    /// No such field.
    #[error("Field id {id} not found.")]
    FieldMissing {
        /// As given.
        id: i64,
    },
    /// An order that does not name every field once.
    #[error("Invalid order mapping.")]
    FieldOrderInvalid,
    /// Only administrators fill in this field.
    #[error("You are not allowed to change this field. Contact an administrator to update it.")]
    FieldNotEditable,
    /// Not one of the choices.
    #[error("'{value}' is not a valid choice for '{field}'.")]
    ChoiceInvalid {
        /// As given.
        value: String,
        /// The field's name.
        field: String,
    },
    /// A person who left.
    #[error("User with ID {id} is deactivated")]
    PersonDeactivated {
        /// As given.
        id: i64,
    },
    /// Not a person.
    #[error("User with ID {id} is a bot")]
    PersonIsBot {
        /// As given.
        id: i64,
    },
    /// A value of the wrong form; `detail` says which is wanted.
    #[error("{field} {detail}")]
    ValueInvalid {
        /// The field's name.
        field: String,
        /// `is not a string`, `is not a date`, …
        detail: String,
    },
}
