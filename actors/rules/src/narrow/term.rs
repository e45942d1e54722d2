//! Terms of a narrow as a client writes them, aliases resolved, nothing looked up.

/// What a term is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `channel`, `stream`
    Channel,
    /// `channels`, `streams`
    Channels,
    /// `topic`
    Topic,
    /// `dm`, `pm-with`, `pm_with`
    Direct,
    /// `dm-including`
    DirectIncluding,
    /// `group-pm-with`, `group_pm_with`
    GroupDirectWith,
    /// `sender`
    Sender,
    /// `is`
    Is,
    /// `has`
    Has,
    /// `in`
    In,
    /// `id`
    Id,
    /// `near`
    Near,
    /// `with`
    With,
    /// `search`
    Search,
    /// Anything else; refused when it is resolved.
    Other(String),
}

impl Operator {
    /// The operator with a wire word.
    pub fn from_name(word: &str) -> Self {
        match word {
            "channel" | "stream" => Self::Channel,
            "channels" | "streams" => Self::Channels,
            "topic" => Self::Topic,
            "dm" | "pm-with" | "pm_with" => Self::Direct,
            "dm-including" => Self::DirectIncluding,
            "group-pm-with" | "group_pm_with" => Self::GroupDirectWith,
            "sender" => Self::Sender,
            "is" => Self::Is,
            "has" => Self::Has,
            "in" => Self::In,
            "id" => Self::Id,
            "near" => Self::Near,
            "with" => Self::With,
            "search" => Self::Search,
            other => Self::Other(other.to_owned()),
        }
    }
}

/// What a term compares with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A word, a name, an address or several, digits.
    Text(String),
    /// An id.
    Id(i64),
    /// Ids of users.
    Ids(Vec<i64>),
}

impl Operand {
    /// The operand as error texts repeat it.
    pub fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Id(id) => id.to_string(),
            Self::Ids(ids) => {
                let words: Vec<String> = ids.iter().map(i64::to_string).collect();
                format!("[{}]", words.join(", "))
            }
        }
    }

    /// A number, also written as digits.
    pub fn number(&self) -> Option<i64> {
        match self {
            Self::Id(id) => Some(*id),
            Self::Text(text) => text.trim().parse().ok(),
            Self::Ids(_) => None,
        }
    }
}

/// One condition of a narrow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// What it is about.
    pub operator: Operator,
    /// What it compares with.
    pub operand: Operand,
    /// Messages that do not match are wanted.
    pub negated: bool,
}
