//! What the page that starts the app depends on: the placeholders that a request fills in, its variant, and the files.

use std::collections::HashMap;

/// What a request fills in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placeholder {
    /// The language of the texts.
    Language,
    /// The name of the organization.
    Title,
    /// The nonce of the Content-Security-Policy.
    Nonce,
    /// The hidden input with the CSRF token.
    Csrf,
    /// The parameters of the page, as JSON in a quoted attribute.
    Params,
}

/// The beginning of all marks.
pub const MARK: &str = "millhole";

impl Placeholder {
    /// Every placeholder of a page.
    pub const ALL: [Self; 5] = [Self::Language, Self::Title, Self::Nonce, Self::Csrf, Self::Params];

    /// The text that stands for the placeholder while a template is rendered: letters only, so that nothing escapes it.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Language => "millholelanguagez",
            Self::Title => "millholetitlez",
            Self::Nonce => "millholenoncez",
            Self::Csrf => "millholecsrfz",
            Self::Params => "millholeparamsz",
        }
    }
}

/// The colors that a user chose, as the class of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColorScheme {
    Automatic,
    Dark,
    Light,
}

impl ColorScheme {
    /// The scheme of the setting `color_scheme`.
    pub fn of_setting(value: i64) -> Self {
        match value {
            2 => Self::Dark,
            3 => Self::Light,
            _ => Self::Automatic,
        }
    }

    /// The number of the setting, as templates expect it.
    pub fn number(self) -> u8 {
        match self {
            Self::Automatic => 1,
            Self::Dark => 2,
            Self::Light => 3,
        }
    }
}

/// What the page is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Window {
    /// The whole app.
    Whole,
    /// A window for one conversation only.
    Conversation,
}

/// What the skeleton depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageVariant {
    pub colors: ColorScheme,
    pub window: Window,
}

impl PageVariant {
    /// Every combination, of which each has a skeleton.
    pub fn all() -> impl Iterator<Item = Self> {
        [ColorScheme::Automatic, ColorScheme::Dark, ColorScheme::Light]
            .into_iter()
            .flat_map(|colors| [Window::Whole, Window::Conversation].map(|window| Self { colors, window }))
    }
}

/// The files that templates refer to.
#[derive(Clone, Debug, Default)]
pub struct Assets {
    /// The URL paths of the files that start the app, in their order.
    pub app: Vec<String>,
    /// The name with a hash for the plain name of a static file.
    pub names: HashMap<String, String>,
}
