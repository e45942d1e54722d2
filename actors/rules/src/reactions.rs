//! Resolving and validating emoji of reactions and statuses (docs/api/reactions.md#emoji-names-and-codes).
//!
//! Custom emoji of the organization are an argument; the standard ones are in `emoji`.

use crate::emoji;
use crate::error::{EmojiError, RuleError};
use model::{Message, Reaction, UserId};

/// Maximum number of reactions of one user to one message.
const REACTIONS_PER_USER_MAX: usize = 100;
/// Maximum number of reactions to one message; a fetched message has all of them.
const REACTIONS_MAX: usize = 20_000;

/// The extra emoji of Zulip; its code is its name.
const EXTRA_EMOJI: &str = "zulip";

/// The kind of an emoji.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmojiKind {
    /// `unicode_emoji`: the code is code points in hexadecimal.
    Unicode,
    /// `realm_emoji`: the code is the id of a custom emoji.
    Realm,
    /// `zulip_extra_emoji`: the code is the name.
    Extra,
}

impl EmojiKind {
    /// The value in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unicode => "unicode_emoji",
            Self::Realm => "realm_emoji",
            Self::Extra => "zulip_extra_emoji",
        }
    }

    /// Parses an API value: `EmojiError::TypeInvalid`.
    pub fn parse(word: &str) -> Result<Self, EmojiError> {
        let found = [Self::Unicode, Self::Realm, Self::Extra].into_iter().find(|kind| kind.as_str() == word);
        found.ok_or(EmojiError::TypeInvalid)
    }
}

/// A custom emoji of the organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CustomEmoji<'e> {
    pub id: u32,
    pub name: &'e str,
    pub is_deactivated: bool,
}

/// An emoji as sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProposedEmoji<'e> {
    pub name: &'e str,
    pub code: Option<&'e str>,
    pub kind: Option<&'e str>,
}

/// An emoji with name, code and kind; the latter as in the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenEmoji {
    pub name: String,
    pub code: String,
    pub kind: String,
}

/// Finds an emoji by name: an active custom one, the extra one, or a standard one. `EmojiError::Unknown`.
pub fn find_emoji(name: &str, custom: &[CustomEmoji]) -> Result<ChosenEmoji, EmojiError> {
    let chosen = |code: String, kind: EmojiKind| ChosenEmoji {
        name: name.to_owned(),
        code,
        kind: kind.as_str().to_owned(),
    };
    if let Some(own) = custom.iter().find(|own| own.name == name && !own.is_deactivated) {
        return Ok(chosen(own.id.to_string(), EmojiKind::Realm));
    }
    if name == EXTRA_EMOJI {
        return Ok(chosen(EXTRA_EMOJI.to_owned(), EmojiKind::Extra));
    }
    match emoji::code_of(name) {
        Some(code) => Ok(chosen(code.to_owned(), EmojiKind::Unicode)),
        None => Err(EmojiError::Unknown { name: name.to_owned() }),
    }
}

/// Completes an emoji as sent by looking up its name. Whether the parts fit together is checked by `check_emoji`.
pub fn complete_emoji(proposed: ProposedEmoji, custom: &[CustomEmoji]) -> Result<ChosenEmoji, EmojiError> {
    let ProposedEmoji { name, code, kind } = proposed;
    if let (Some(code), Some(kind)) = (code, kind) {
        return Ok(ChosenEmoji { name: name.to_owned(), code: code.to_owned(), kind: kind.to_owned() });
    }
    let found = find_emoji(name, custom)?;
    Ok(ChosenEmoji {
        code: code.map_or(found.code, str::to_owned),
        kind: kind.map_or(found.kind, str::to_owned),
        name: found.name,
    })
}

/// Whether name, code and kind belong together.
pub fn check_emoji(chosen: &ChosenEmoji, custom: &[CustomEmoji]) -> Result<(), EmojiError> {
    match EmojiKind::parse(&chosen.kind)? {
        EmojiKind::Realm => {
            // Comparing numbers is faster than formatting the ids of possibly thousands of emoji.
            let id = chosen.code.parse::<u32>().ok().filter(|id| id.to_string() == chosen.code);
            let own = custom.iter().find(|own| Some(own.id) == id);
            match own.ok_or(EmojiError::CustomInvalid)? {
                own if own.name != chosen.name => Err(EmojiError::CustomNameInvalid),
                own if own.is_deactivated => Err(EmojiError::CustomDeactivated),
                _ => Ok(()),
            }
        }
        EmojiKind::Extra if chosen.code != EXTRA_EMOJI => Err(EmojiError::CodeInvalid),
        EmojiKind::Extra if chosen.name != chosen.code => Err(EmojiError::NameInvalid),
        EmojiKind::Extra => Ok(()),
        EmojiKind::Unicode => match emoji::names_of(&chosen.code) {
            None => Err(EmojiError::CodeInvalid),
            Some(names) if !names.contains(&chosen.name.as_str()) => Err(EmojiError::NameInvalid),
            Some(_) => Ok(()),
        },
    }
}

/// Decides a reaction to a message that the user can read. An emoji that the message already has as a reaction keeps its
/// name there, even if that is no longer valid.
pub fn check_reaction(
    message: &Message,
    user: UserId,
    proposed: ProposedEmoji,
    custom: &[CustomEmoji],
) -> Result<Reaction, RuleError> {
    let chosen = complete_emoji(proposed, custom)?;
    let same =
        |reaction: &&Reaction| reaction.emoji_code == chosen.code && reaction.reaction_type == chosen.kind;
    if message.reactions.iter().filter(same).any(|reaction| reaction.user == user) {
        return Err(EmojiError::ReactionExists.into());
    }
    if message.reactions.iter().filter(|reaction| reaction.user == user).count() >= REACTIONS_PER_USER_MAX {
        return Err(EmojiError::TooManyOfUser { limit: REACTIONS_PER_USER_MAX }.into());
    }
    if message.reactions.len() >= REACTIONS_MAX {
        return Err(EmojiError::TooManyReactions { limit: REACTIONS_MAX }.into());
    }
    let emoji_name = match message.reactions.iter().find(same) {
        Some(first) => first.emoji_name.clone(),
        None => {
            check_emoji(&chosen, custom)?;
            chosen.name
        }
    };
    Ok(Reaction { emoji_name, emoji_code: chosen.code, reaction_type: chosen.kind, user })
}

/// Finds a reaction that a user removes. Without a kind it is a standard emoji, whatever the name.
pub fn find_own_reaction<'m>(
    message: &'m Message,
    user: UserId,
    name: Option<&str>,
    code: Option<&str>,
    kind: Option<&str>,
    custom: &[CustomEmoji],
) -> Result<&'m Reaction, RuleError> {
    let code = match (code, name) {
        (Some(code), _) => code.to_owned(),
        (None, Some(name)) => find_emoji(name, custom)?.code,
        (None, None) => return Err(EmojiError::ReactionUnnamed.into()),
    };
    let kind = kind.unwrap_or(EmojiKind::Unicode.as_str());
    let mut own = message.reactions.iter().filter(|reaction| reaction.user == user);
    let found = own.find(|reaction| reaction.emoji_code == code && reaction.reaction_type == kind);
    found.ok_or_else(|| EmojiError::ReactionMissing.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    const CUSTOM: [CustomEmoji; 3] = [
        CustomEmoji { id: 5, name: "blob", is_deactivated: false },
        CustomEmoji { id: 6, name: "gone", is_deactivated: true },
        CustomEmoji { id: 7, name: "tada", is_deactivated: false },
    ];

    fn proposed<'e>(name: &'e str, code: Option<&'e str>, kind: Option<&'e str>) -> ProposedEmoji<'e> {
        ProposedEmoji { name, code, kind }
    }

    #[test]
    fn emoji_are_completed_and_checked() {
        let (unicode, realm, extra) = (Some("unicode_emoji"), Some("realm_emoji"), Some("zulip_extra_emoji"));
        for (name, code, kind, expected) in [
            ("heart", None, None, Ok("heart 2764 unicode_emoji")),
            ("thumbs_up", Some("1f44d"), unicode, Ok("thumbs_up 1f44d unicode_emoji")),
            ("thumbs_up", None, unicode, Ok("thumbs_up 1f44d unicode_emoji")),
            ("blob", None, None, Ok("blob 5 realm_emoji")),
            // A custom emoji hides the standard one of its name, which is still available by code.
            ("tada", None, None, Ok("tada 7 realm_emoji")),
            ("tada", Some("1f389"), unicode, Ok("tada 1f389 unicode_emoji")),
            ("zulip", None, None, Ok("zulip zulip zulip_extra_emoji")),
            ("nopenope", None, None, Err("Emoji 'nopenope' does not exist")),
            ("gone", None, None, Err("Emoji 'gone' does not exist")),
            ("nopenope", Some("1f44d"), None, Err("Emoji 'nopenope' does not exist")),
            ("heart", Some("zzz"), unicode, Err("Invalid emoji code.")),
            ("heart", Some("1f44d"), unicode, Err("Invalid emoji name.")),
            ("heart", Some("2764"), Some("x"), Err("Invalid emoji type.")),
            ("blob", Some("99"), realm, Err("Invalid custom emoji.")),
            ("blob", Some("05"), realm, Err("Invalid custom emoji.")),
            ("bloob", Some("5"), realm, Err("Invalid custom emoji name.")),
            ("gone", Some("6"), realm, Err("This custom emoji has been deactivated.")),
            ("zulip", Some("x"), extra, Err("Invalid emoji code.")),
            ("x", Some("zulip"), extra, Err("Invalid emoji name.")),
        ] {
            let found = complete_emoji(proposed(name, code, kind), &CUSTOM)
                .and_then(|chosen| check_emoji(&chosen, &CUSTOM).map(|()| chosen))
                .map(|chosen| format!("{} {} {}", chosen.name, chosen.code, chosen.kind))
                .map_err(|error| error.to_string());
            assert_eq!(
                found.as_deref().map_err(|error| error.as_str()),
                expected,
                "{name} {code:?} {kind:?}"
            );
        }
    }

    #[test]
    fn reactions_are_added_once_and_keep_their_name() {
        let mut message = fixture::message(1, fixture::OWNER, fixture::in_channel(1, "a"));
        let thumbs = proposed("+1", None, None);
        let reaction = check_reaction(&message, fixture::MEMBER, thumbs, &CUSTOM).unwrap();
        message.reactions.push(reaction);
        let again = proposed("nonsense", Some("1f44d"), Some("unicode_emoji"));
        let exists = Err(EmojiError::ReactionExists.into());
        assert_eq!(check_reaction(&message, fixture::MEMBER, again, &CUSTOM), exists);
        let other = check_reaction(&message, fixture::OTHER_MEMBER, again, &CUSTOM).unwrap();
        assert_eq!((other.emoji_name.as_str(), other.user), ("+1", fixture::OTHER_MEMBER));
        message.reactions.push(Reaction {
            emoji_name: "gone".into(),
            emoji_code: "6".into(),
            reaction_type: "realm_emoji".into(),
            user: fixture::OWNER,
        });
        let gone = proposed("gone", Some("6"), Some("realm_emoji"));
        assert!(check_reaction(&message, fixture::MEMBER, gone, &CUSTOM).is_ok(), "others had it before");
    }

    #[test]
    fn reactions_are_bounded_by_user_and_by_message() {
        let mut message = fixture::message(1, fixture::OWNER, fixture::in_channel(1, "a"));
        let own = |number: usize, user| Reaction {
            emoji_name: "x".into(),
            emoji_code: number.to_string(),
            reaction_type: "realm_emoji".into(),
            user,
        };
        message.reactions = (0..REACTIONS_PER_USER_MAX).map(|number| own(number, fixture::MEMBER)).collect();
        let heart = |message: &Message, user| {
            let reaction = check_reaction(message, user, proposed("heart", None, None), &CUSTOM);
            reaction.map(drop).map_err(|error| error.to_string())
        };
        let refused = Err("You can add at most 100 reactions to a message.".to_owned());
        assert_eq!(heart(&message, fixture::MEMBER), refused);
        assert_eq!(heart(&message, fixture::OTHER_MEMBER), Ok(()));
        message.reactions = (0..REACTIONS_MAX).map(|number| own(0, UserId(1000 + number as u32))).collect();
        let refused = Err("A message can have at most 20000 reactions.".to_owned());
        assert_eq!(heart(&message, fixture::MEMBER), refused);
    }

    #[test]
    fn users_remove_only_their_own_reactions() {
        let mut message = fixture::message(1, fixture::OWNER, fixture::in_channel(1, "a"));
        for (name, user) in [("heart", fixture::MEMBER), ("blob", fixture::MEMBER)] {
            let reaction = check_reaction(&message, user, proposed(name, None, None), &CUSTOM).unwrap();
            message.reactions.push(reaction);
        }
        let find = |user, name, code, kind| {
            let found = find_own_reaction(&message, user, name, code, kind, &CUSTOM);
            found.map(|reaction| reaction.emoji_name.clone()).map_err(|error| error.to_string())
        };
        let missing = Err("Reaction doesn't exist.".to_owned());
        assert_eq!(find(fixture::MEMBER, Some("heart"), None, None), Ok("heart".into()));
        assert_eq!(find(fixture::MEMBER, None, Some("2764"), None), Ok("heart".into()));
        assert_eq!(find(fixture::MEMBER, Some("blob"), None, Some("realm_emoji")), Ok("blob".into()));
        assert_eq!(find(fixture::MEMBER, Some("blob"), None, None), missing);
        assert_eq!(find(fixture::OWNER, Some("heart"), None, None), missing);
        assert_eq!(
            find(fixture::MEMBER, Some("nopenope"), None, None),
            Err("Emoji 'nopenope' does not exist".into())
        );
        assert!(find(fixture::MEMBER, None, None, None).unwrap_err().starts_with("At least one"));
    }
}
