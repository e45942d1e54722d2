//! Organizations that are carried from the cluster to a data folder: the node that owns one stops it and says so. Nothing of
//! it is answered from then on, unless the process that carries it ends: then it is opened again like any other.

use super::Cluster;
use super::locate::Located;
use crate::server::Server;
use model::RealmId;
use postgres::{Departed, Table};
use std::sync::Arc;

impl Cluster {
    /// Where requests for an organization go that no node serves.
    pub(super) fn locate_departed(&self, server: &Server, table: &Table, subdomain: &str) -> Located {
        match table.departed(subdomain) {
            // It may stay after all; and what still runs here must not answer.
            Some((realm, departed)) if departed.is_leaving || server.realm(RealmId(realm)).is_some() => {
                Located::Moving
            }
            _ => Located::Nowhere,
        }
    }

    fn owns_departed(&self, table: &Table, departed: &Departed) -> bool {
        table.slots.get(&departed.slot).is_some_and(|slot| self.owns(slot))
    }
}

impl Server {
    /// Stops what is carried away, and says so for what this node owned.
    pub(super) fn close_departed(self: &Arc<Self>, cluster: &Arc<Cluster>, table: &Table) {
        for (realm, departed) in &table.departed {
            let id = RealmId(*realm);
            let is_asked =
                departed.is_leaving && !departed.is_closed && cluster.owns_departed(table, departed);
            if !is_asked && self.realm(id).is_none() {
                continue;
            }
            let (server, own) = (self.clone(), cluster.clone());
            cluster.run(departed.slot, async move {
                server.stop_between_requests(&own, &[id]).await;
                tracing::info!(realm = %id, "the organization is carried to a data folder; it is closed here");
                if is_asked {
                    note_closed(&own, id).await;
                }
                own.visits.open(id);
            });
        }
    }
}

async fn note_closed(cluster: &Arc<Cluster>, realm: RealmId) {
    let own = cluster.clone();
    match tokio::task::spawn_blocking(move || own.control.note_closed(realm.0)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%realm, %error, "the others do not know yet that it is closed"),
        Err(error) => tracing::error!(%realm, %error, "the others do not know yet that it is closed"),
    }
}
