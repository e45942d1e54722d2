//! Organizations that are being moved from the cluster to a data folder: the node that owns one stops it and says so. Nothing of
//! it is answered from then on, unless the process that moves it ends: then it is opened again like any other.

use super::Cluster;
use super::locate::Located;
use crate::server::Server;
use model::RealmId;
use postgres::{RelocatedOut, Table};
use std::sync::Arc;

impl Cluster {
    /// Where requests for an organization go that no node serves.
    pub(super) fn locate_relocated_out(&self, server: &Server, table: &Table, subdomain: &str) -> Located {
        match table.relocated_out(subdomain) {
            // It may stay after all; and what still runs here must not answer.
            Some((realm, relocated_out))
                if relocated_out.is_leaving || server.realm(RealmId(realm)).is_some() =>
            {
                Located::Moving
            }
            _ => Located::Nowhere,
        }
    }

    fn owns_relocated_out(&self, table: &Table, relocated_out: &RelocatedOut) -> bool {
        table.slots.get(&relocated_out.slot).is_some_and(|slot| self.owns(slot))
    }
}

impl Server {
    /// Stops organizations that are being moved to a data folder, and records it for those that this node owned.
    pub(super) fn close_relocated_out(self: &Arc<Self>, cluster: &Arc<Cluster>, table: &Table) {
        for (realm, relocated_out) in &table.relocated_out {
            let id = RealmId(*realm);
            let is_asked = relocated_out.is_leaving
                && !relocated_out.is_closed
                && cluster.owns_relocated_out(table, relocated_out);
            if !is_asked && self.realm(id).is_none() {
                continue;
            }
            let (server, own) = (self.clone(), cluster.clone());
            cluster.run(relocated_out.slot, async move {
                server.stop_between_requests(&own, &[id]).await;
                tracing::info!(
                    realm = id.0,
                    "the organization is being moved to a data folder; it is closed here"
                );
                if is_asked {
                    note_closed(&own, id).await;
                }
                own.in_flight.open(id);
            });
        }
    }
}

async fn note_closed(cluster: &Arc<Cluster>, realm: RealmId) {
    let own = cluster.clone();
    match tokio::task::spawn_blocking(move || own.control.note_closed(realm.0)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            tracing::warn!(%realm, %error, "the database does not show yet that the organization is closed here")
        }
        Err(error) => {
            tracing::error!(%realm, %error, "the database does not show yet that the organization is closed here")
        }
    }
}
