//! Terms of a narrow as sent, with aliases resolved, but names and ids not yet looked up.

/// Operators of terms; `from_name` lists their wire names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operator {
    Channel,
    Channels,
    Topic,
    Direct,
    DirectIncluding,
    GroupDirectWith,
    Sender,
    Is,
    Has,
    In,
    Id,
    Near,
    With,
    Search,
    /// An unknown operator; refused when it is resolved.
    Other(String),
}

impl Operator {
    /// The operator with a wire name.
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

/// The operand of a term: a keyword, a name, addresses or digits as text, or ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    Text(String),
    Id(i64),
    /// Ids of users.
    Ids(Vec<i64>),
}

impl Operand {
    /// The operand as text, as error messages repeat it.
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
    pub operator: Operator,
    pub operand: Operand,
    /// Selects the messages that do not match.
    pub negated: bool,
}
