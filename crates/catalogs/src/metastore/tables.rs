//! Tables of a metastore catalog.

use std::sync::Arc;

use tarn_format::catalog::{Purge, Table, TableCommit, TableCreation, TableIdent};
use tarn_format::io::location_provider::LocationProvider;
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::{Error, ErrorKind, Result, ResultExt};

use super::{MAX_READ_ATTEMPTS, MetastoreCatalog};
use crate::metadata_ops::creation::new_table;
use crate::metadata_ops::file::{discard, next_version, write_unique};
use crate::metadata_ops::next::{self, Next};
use crate::metadata_ops::purge::delete_table_files;
use crate::metadata_ops::retire::delete_removed_metadata;
use crate::metadata_ops::status;
use crate::pointers::{EntryKind, Pointer, Swap, existing_entry, missing_entry};

impl MetastoreCatalog {
    pub(super) async fn create_table_at(&self, ident: &TableIdent, creation: TableCreation) -> Result<Table> {
        let staged = self.stage_table_at(ident, creation).await?;
        self.commit_metadata(ident, None, TableMetadata::clone(&staged.metadata))
            .await
    }

    pub(super) async fn stage_table_at(&self, ident: &TableIdent, creation: TableCreation) -> Result<Table> {
        self.require_free(ident).await?;
        let location = self.new_location(ident, creation.location.as_deref()).await?;
        let metadata = new_table(&self.settings, ident, &location, creation)?;
        Ok(Table {
            ident: ident.clone(),
            metadata: Arc::new(metadata),
            metadata_location: None,
            io: self.io.clone(),
        })
    }

    /// Loads what the pointer names. A later commit may move it on and delete the file before it is read; the pointer
    /// is asked again then.
    pub(super) async fn load_table_at(&self, ident: &TableIdent) -> Result<Table> {
        let mut pointer = self.pointer(ident, EntryKind::Table).await?;
        for _ in 0..MAX_READ_ATTEMPTS {
            match TableMetadata::read(&self.io, &pointer.metadata_location).await {
                Ok(metadata) => return Ok(self.table(ident, metadata, pointer.metadata_location)),
                Err(e) if e.kind() == ErrorKind::NotFound => {
                    let now = self.pointer(ident, EntryKind::Table).await?;
                    if now == pointer {
                        return Err(lost_metadata(e, ident));
                    }
                    pointer = now;
                }
                Err(e) => return Err(e.with_context("table", ident.to_string())),
            }
        }
        Err(Error::conflict("the table changes too fast to be read").with_context("table", ident.to_string()))
    }

    fn table(&self, ident: &TableIdent, metadata: TableMetadata, location: String) -> Table {
        Table {
            ident: ident.clone(),
            metadata: Arc::new(metadata),
            metadata_location: Some(location),
            io: self.io.clone(),
        }
    }

    pub(super) async fn register_table_at(&self, ident: &TableIdent, metadata_location: &str) -> Result<Table> {
        if ident.name.is_empty() {
            return Err(Error::invalid("a table needs a name"));
        }
        self.require_free(ident).await?;
        let metadata = TableMetadata::read(&self.io, metadata_location).await;
        let metadata = metadata.context("table", ident.to_string())?;
        let pointer = Pointer {
            kind: EntryKind::Table,
            metadata_location: metadata_location.to_owned(),
        };
        match self.pointers.insert(ident, &pointer).await? {
            Swap::Done => {}
            Swap::Lost => return Err(existing_entry(EntryKind::Table, ident)),
            Swap::Unknown(cause) => self.settle(ident, &metadata, metadata_location, cause).await?,
        }
        Ok(self.table(ident, metadata, metadata_location.to_owned()))
    }

    pub(super) async fn drop_table_at(&self, ident: &TableIdent, purge: Purge) -> Result<()> {
        let removed = self.pointers.remove(ident, EntryKind::Table).await?;
        let location = removed.ok_or_else(|| missing_entry(EntryKind::Table, ident))?;
        if purge == Purge::Delete {
            // The name is gone first: a failure from here on leaves orphans, never a table without its files.
            match TableMetadata::read(&self.io, &location).await {
                Ok(metadata) => delete_table_files(&self.io, ident, &metadata, &location).await,
                Err(error) => {
                    tracing::warn!(table = %ident, %error, "metadata of a dropped table is unreadable, its files stay behind");
                }
            }
        }
        Ok(())
    }

    pub(super) async fn commit_table_at(&self, commit: TableCommit) -> Result<Table> {
        let ident = commit.ident.clone();
        let current = match self.load_table_at(&ident).await {
            Ok(table) => Some(table),
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            Err(e) => return Err(e),
        };
        if current.is_none() {
            self.require_free(&ident).await?;
        }
        let next = next::table(current.as_ref(), &commit).context("table", ident.to_string())?;
        match (next, current) {
            (Next::Unchanged, Some(table)) => Ok(table),
            (Next::Unchanged, None) => Err(missing_entry(EntryKind::Table, &ident)),
            (Next::Changed(metadata), current) => self.commit_metadata(&ident, current.as_ref(), *metadata).await,
        }
    }

    /// Writes `metadata` and moves the pointer of `base` to it; a new pointer when there is no base.
    async fn commit_metadata(
        &self,
        ident: &TableIdent,
        base: Option<&Table>,
        metadata: TableMetadata,
    ) -> Result<Table> {
        let base_location = base.and_then(|b| b.metadata_location.as_deref());
        let provider = LocationProvider::for_table(&metadata).context("table", ident.to_string())?;
        let location = provider.new_metadata_file_location(next_version(base_location))?;
        write_unique(&self.io, &location, &metadata)
            .await
            .context("table", ident.to_string())?;
        let swapped = match base_location {
            Some(from) => {
                let from = Pointer {
                    kind: EntryKind::Table,
                    metadata_location: from.to_owned(),
                };
                self.pointers.swap(ident, &from, &location).await
            }
            None => {
                let pointer = Pointer {
                    kind: EntryKind::Table,
                    metadata_location: location.clone(),
                };
                self.pointers.insert(ident, &pointer).await
            }
        };
        match swapped {
            Ok(Swap::Done) => {}
            Ok(Swap::Unknown(cause)) => self.settle(ident, &metadata, &location, cause).await?,
            Ok(Swap::Lost) => {
                discard(&self.io, &location).await;
                return Err(Error::conflict("another writer committed to the table first")
                    .with_context("table", ident.to_string()));
            }
            Err(error) => {
                discard(&self.io, &location).await;
                return Err(error);
            }
        }
        if let Some(base) = base {
            delete_removed_metadata(&self.io, &base.metadata, &metadata).await;
        }
        Ok(self.table(ident, metadata, location))
    }

    /// Finds out whether the pointer reached `location`, now or before later commits.
    async fn settle(&self, ident: &TableIdent, metadata: &TableMetadata, location: &str, cause: Error) -> Result<()> {
        let committed = || async {
            let Some(pointer) = self.pointers.get(ident).await? else {
                return Ok(false);
            };
            if pointer.metadata_location == location {
                return Ok(true);
            }
            let current = TableMetadata::read(&self.io, &pointer.metadata_location).await?;
            Ok(current.metadata_log.iter().any(|e| e.metadata_file == location))
        };
        status::check(&metadata.properties, cause, committed)
            .await
            .context("table", ident.to_string())
    }
}

fn lost_metadata(error: Error, ident: &TableIdent) -> Error {
    Error::corrupt("the catalog names a metadata file that does not exist")
        .with_context("table", ident.to_string())
        .with_source(error)
}
