//! Commands about what administrators list for the organization.

use super::RealmHandle;
use crate::error::DomainError;
use crate::realm::{ChangeDomains, ChangeLinkifiers, ChangePlaygrounds, LinkifiersChange, PlaygroundsChange};
use model::{RealmDomain, UserId};
use rules::addresses::DomainRequest;

impl RealmHandle {
    /// Changes the domains of people's addresses; gives the domain that is new.
    ///
    /// # Errors
    /// As `rules::addresses::check_domain_request`; only owners may.
    pub async fn change_domains(
        &self,
        by: UserId,
        request: DomainRequest,
    ) -> Result<Option<RealmDomain>, DomainError> {
        self.settle(ChangeDomains { by, request }).await
    }

    /// Adds a linkifier; gives its id.
    ///
    /// # Errors
    /// As `rules::linkifiers::check_new_linkifier`; only administrators may.
    pub async fn add_linkifier(
        &self,
        by: UserId,
        pattern: String,
        url_template: String,
    ) -> Result<u32, DomainError> {
        let change = LinkifiersChange::Add { pattern, url_template };
        self.settle(ChangeLinkifiers { by, change }).await
    }

    /// Changes a linkifier.
    ///
    /// # Errors
    /// As `rules::linkifiers::check_linkifier_update`; only administrators may.
    pub async fn update_linkifier(
        &self,
        by: UserId,
        id: i64,
        pattern: String,
        url_template: String,
    ) -> Result<(), DomainError> {
        let change = LinkifiersChange::Update { id, pattern, url_template };
        self.settle(ChangeLinkifiers { by, change }).await.map(drop)
    }

    /// Takes a linkifier away. Messages that were sent keep their links.
    ///
    /// # Errors
    /// `LinkifierMissing`; only administrators may.
    pub async fn remove_linkifier(&self, by: UserId, id: i64) -> Result<(), DomainError> {
        self.settle(ChangeLinkifiers { by, change: LinkifiersChange::Remove(id) }).await.map(drop)
    }

    /// Puts all linkifiers into an order.
    ///
    /// # Errors
    /// `LinkifierOrderInvalid`; only administrators may.
    pub async fn reorder_linkifiers(&self, by: UserId, order: Vec<i64>) -> Result<(), DomainError> {
        self.settle(ChangeLinkifiers { by, change: LinkifiersChange::Reorder(order) }).await.map(drop)
    }

    /// Adds a playground; gives its id.
    ///
    /// # Errors
    /// As `rules::playgrounds::check_new_playground`; only administrators may.
    pub async fn add_playground(
        &self,
        by: UserId,
        name: String,
        language: String,
        url_template: String,
    ) -> Result<u32, DomainError> {
        let change = PlaygroundsChange::Add { name, language, url_template };
        self.settle(ChangePlaygrounds { by, change }).await
    }

    /// Takes a playground away.
    ///
    /// # Errors
    /// `PlaygroundMissing`; only administrators may.
    pub async fn remove_playground(&self, by: UserId, id: i64) -> Result<(), DomainError> {
        self.settle(ChangePlaygrounds { by, change: PlaygroundsChange::Remove(id) }).await.map(drop)
    }
}
