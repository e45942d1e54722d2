//! Making the organization that a development server begins with.

use crate::dev::seed_store::SeedConflict;
use crate::dev::tools::DevTools;
use crate::dev::{new_seeded, store_files};
use crate::integrations::blobs::Blobs;
use actors::{DomainError, RealmHandle, Server};
use std::io;
use std::sync::Arc;

/// Why a development server cannot begin with its seed.
pub(super) enum SeedingError {
    /// The data folder already has an organization that was made from another seed.
    Conflict(SeedConflict),
    /// The seed cannot be kept in the data folder.
    NotKept(io::Error),
    /// The organization cannot be made, or making it was cancelled.
    NotMade(DomainError),
}

/// Makes the organization of a development server if it is missing, and the files that its seed names, unless it is `cancelled`. An
/// organization that is there keeps its content, so another seed is refused if one was given.
pub(super) async fn seed(
    actors: &Arc<Server>,
    blobs: &Blobs,
    (tools, is_given): (&DevTools, bool),
    cancelled: impl Future<Output = ()>,
) -> Result<(), SeedingError> {
    tokio::select! {
        seeded = seed_whole(actors, blobs, tools, is_given) => seeded,
        () = cancelled => Err(SeedingError::NotMade(DomainError::Stopping)),
    }
}

async fn seed_whole(
    actors: &Server,
    blobs: &Blobs,
    tools: &DevTools,
    is_given: bool,
) -> Result<(), SeedingError> {
    // In a cluster another node may have made it.
    if actors.exists_elsewhere("") {
        return Ok(());
    }
    let seed = &tools.seed;
    let realm = match actors.realm_by_subdomain("") {
        Some(realm) => {
            if is_given {
                tools.seed_store.check(seed).map_err(SeedingError::Conflict)?;
            }
            realm
        }
        None => match make(actors, tools).await {
            Err(SeedingError::NotMade(_)) if actors.is_created_elsewhere("").await => return Ok(()),
            made => made?,
        },
    };
    if let Err(reason) = store_files(blobs, realm.id(), seed).await {
        tracing::warn!(%reason, "the pictures of the sample organization are missing");
    }
    Ok(())
}

/// Makes the organization, after its seed is kept.
async fn make(actors: &Server, tools: &DevTools) -> Result<RealmHandle, SeedingError> {
    tools.seed_store.write(None, &tools.seed).map_err(SeedingError::NotKept)?;
    new_seeded(actors, "", &tools.seed, async |_| Ok(())).await.map_err(SeedingError::NotMade)
}
