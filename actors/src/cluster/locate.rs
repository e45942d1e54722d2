//! Which node answers for an organization.

use super::{Cluster, RequestGuard};
use crate::server::Server;
use model::RealmId;
use postgres::Slot;
use std::sync::Arc;
use std::time::Duration;

/// Where a request for an organization goes.
pub enum Located {
    /// This node owns it. It is not moved before the request ends.
    Here(RequestGuard),
    /// Another node owns it.
    There(Address),
    /// It is being opened or moved, or its owner is gone and no other node has taken it yet.
    Moving,
    /// This node owns it, but must not answer, because it could not renew its lease.
    Lapsed,
    /// There is no such organization.
    Nowhere,
}

/// Where another node is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub node: String,
    pub url: String,
    /// The epoch of the slot, as this node knows it.
    pub epoch: i64,
}

/// The state of a node, for monitoring.
#[derive(Clone, Debug)]
pub struct NodeStatus {
    pub node: String,
    pub is_ready: bool,
    pub lease: Duration,
    /// Organizations that it owns and that run.
    pub owned: usize,
}

impl Cluster {
    /// Whether this node has its lease, has read the tables, and runs everything that it owned when it ended.
    pub(crate) fn has_caught_up(&self, server: &Server) -> bool {
        let table = self.table();
        let is_done = |slot: &Slot| match &slot.owner {
            Some(owner) if *owner == self.own => {
                self.busy.lock().is_empty()
                    && table.in_slot(slot.slot).all(|realm| server.realm(RealmId(realm)).is_some())
            }
            Some(owner) => owner.name != self.own.name || table.in_slot(slot.slot).next().is_none(),
            None => true,
        };
        self.is_ready() && table.slots.values().all(is_done)
    }

    /// Where requests for the organization with a subdomain go.
    pub fn locate(self: &Arc<Self>, server: &Server, subdomain: &str) -> Located {
        let table = self.table();
        let Some(found) = table.organization(subdomain) else {
            return self.locate_relocated_out(server, &table, subdomain);
        };
        let Some(slot) = table.slots.get(&found.slot) else { return Located::Moving };
        if !self.owns(slot) {
            let owner = slot.owner.as_ref().and_then(|owner| table.live(owner));
            return owner.map_or(Located::Moving, |owner| {
                let (node, url) = (owner.identity.name.clone(), owner.advertise.clone());
                Located::There(Address { node, url, epoch: slot.epoch })
            });
        }
        if !self.is_ready_with(&table) {
            return Located::Lapsed;
        }
        let id = RealmId(found.realm);
        let guard = server.realm(id).and_then(|handle| self.in_flight.enter(handle));
        guard.map_or(Located::Moving, Located::Here)
    }

    /// Whether the cluster has an organization with a subdomain, on whichever node.
    pub fn knows(&self, subdomain: &str) -> bool {
        self.table().organization(subdomain).is_some()
    }

    /// Reads the tables again soon.
    pub fn refresh(&self) {
        self.control.refresh();
    }

    /// The state of this node.
    pub fn status(&self, server: &Server) -> NodeStatus {
        let lease = self.control.lease();
        NodeStatus {
            node: self.own.name.clone(),
            is_ready: self.is_ready(),
            lease: lease.remaining(),
            owned: server.realms().len(),
        }
    }
}
