//! What an incoming webhook bot is for, and the limits of its configuration (docs/api/bots.md#configuration).

use crate::error::{BotError, RuleError};
use model::{BotIntegration, BotKind, Directory};
use std::collections::BTreeMap;

/// Characters of keys and values that one bot may store.
pub const CONFIG_LENGTH_MAX: usize = 10_000;
/// Bytes that all bots of an organization may store.
pub const REALM_CONFIG_BYTES_MAX: usize = 64 << 20;

/// A requested change of what a bot is for.
#[derive(Clone, Debug, Default)]
pub struct IntegrationChange {
    /// The name of an integration as sent; an empty one is none.
    pub name: Option<String>,
    /// Whether the catalog has an integration of this name.
    pub is_known: bool,
    /// The entries of the configuration to set; others stay.
    pub data: BTreeMap<String, String>,
}

impl IntegrationChange {
    /// What a bot of a kind is for after the change.
    ///
    /// # Errors
    /// `NoIntegration` and `NoConfig` for bots of other kinds, `InvalidIntegration`, `ConfigTooLong`, `RealmConfigFull`.
    pub fn apply(
        &self,
        directory: &Directory,
        kind: Option<BotKind>,
        before: &BotIntegration,
    ) -> Result<BotIntegration, RuleError> {
        let is_incoming = kind == Some(BotKind::IncomingWebhook);
        let mut after = before.clone();
        if let Some(name) = &self.name {
            after.name = self.checked_name(name, is_incoming)?;
        }
        if self.data.is_empty() {
            return Ok(after);
        }
        if !is_incoming {
            return Err(BotError::NoConfig.into());
        }
        after.data.extend(self.data.clone());
        let chars = after.chars();
        if chars > CONFIG_LENGTH_MAX {
            return Err(BotError::ConfigTooLong { chars, limit: CONFIG_LENGTH_MAX }.into());
        }
        let others = directory.bot_integration_bytes().saturating_sub(before.bytes());
        if others + after.bytes() > REALM_CONFIG_BYTES_MAX {
            return Err(BotError::RealmConfigFull { limit: REALM_CONFIG_BYTES_MAX }.into());
        }
        Ok(after)
    }

    fn checked_name(&self, name: &str, is_incoming: bool) -> Result<Option<String>, BotError> {
        match (name.is_empty(), is_incoming, self.is_known) {
            (_, false, _) => Err(BotError::NoIntegration),
            (true, true, _) => Ok(None),
            (false, true, true) => Ok(Some(name.to_owned())),
            (false, true, false) => Err(BotError::InvalidIntegration { name: name.to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use model::UserId;

    const INCOMING: Option<BotKind> = Some(BotKind::IncomingWebhook);

    fn set(key: &str, value: &str) -> IntegrationChange {
        let data = [(key.to_owned(), value.to_owned())].into();
        IntegrationChange { data, ..IntegrationChange::default() }
    }

    #[test]
    fn entries_are_merged_and_counted_together() {
        let directory = fixture::directory();
        let none = BotIntegration::default();
        // Characters are counted, not bytes; the whole length is permitted.
        let first = set("a", &"é".repeat(CONFIG_LENGTH_MAX - 3)).apply(&directory, INCOMING, &none).unwrap();
        let second = set("b", "x").apply(&directory, INCOMING, &first).unwrap();
        assert_eq!((second.chars(), second.data.len()), (CONFIG_LENGTH_MAX, 2));
        let error = |chars| Err(BotError::ConfigTooLong { chars, limit: CONFIG_LENGTH_MAX }.into());
        assert_eq!(set("b", "xyz").apply(&directory, INCOMING, &second), error(CONFIG_LENGTH_MAX + 2));
        assert_eq!(set("", "x").apply(&directory, INCOMING, &second), error(CONFIG_LENGTH_MAX + 1));
        // A replaced value is not counted twice.
        let third = set("a", "short").apply(&directory, INCOMING, &second).unwrap();
        assert_eq!(third.chars(), "ashortbx".len());
        for kind in [None, Some(BotKind::Generic), Some(BotKind::OutgoingWebhook), Some(BotKind::Embedded)] {
            assert_eq!(set("a", "b").apply(&directory, kind, &none), Err(BotError::NoConfig.into()));
            assert_eq!(IntegrationChange::default().apply(&directory, kind, &none), Ok(none.clone()));
        }
    }

    #[test]
    fn configuration_of_all_bots_is_bounded() {
        let mut directory = fixture::directory();
        let large = |bytes: usize| BotIntegration {
            data: [(String::new(), "x".repeat(bytes))].into(),
            ..BotIntegration::default()
        };
        directory.put_bot_integration(UserId(77), large(REALM_CONFIG_BYTES_MAX));
        directory.put_bot_integration(UserId(77), large(REALM_CONFIG_BYTES_MAX - 10));
        assert_eq!(directory.bot_integration_bytes(), REALM_CONFIG_BYTES_MAX - 10);
        let own = BotIntegration::default();
        assert!(set("k", "123456789").apply(&directory, INCOMING, &own).is_ok());
        let full = BotError::RealmConfigFull { limit: REALM_CONFIG_BYTES_MAX };
        assert_eq!(set("k", "1234567890").apply(&directory, INCOMING, &own), Err(full.into()));
        // What is replaced makes room.
        directory.put_bot_integration(fixture::BOT, large(10));
        assert!(set("", "0123456789").apply(&directory, INCOMING, &large(10)).is_ok());
    }

    #[test]
    fn names_are_of_the_catalog() {
        let directory = fixture::directory();
        let none = BotIntegration::default();
        let named = |name: &str, is_known| {
            let name = Some(name.to_owned());
            IntegrationChange { name, is_known, ..IntegrationChange::default() }
        };
        let github = named("github", true).apply(&directory, INCOMING, &none).unwrap();
        assert_eq!(github.name.as_deref(), Some("github"));
        let invalid = BotError::InvalidIntegration { name: "tea".to_owned() };
        assert_eq!(named("tea", false).apply(&directory, INCOMING, &github), Err(invalid.into()));
        assert_eq!(named("", false).apply(&directory, INCOMING, &github), Ok(none.clone()));
        let refused = Err(BotError::NoIntegration.into());
        assert_eq!(named("github", true).apply(&directory, Some(BotKind::Generic), &none), refused);
    }
}
