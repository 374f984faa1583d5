//! Views of a metastore catalog (Java: `BaseMetastoreViewCatalog`, `BaseViewOperations`).

use std::sync::Arc;

use tarn_format::catalog::{TableIdent, View, ViewCommit, ViewCreation, gc_enabled};
use tarn_format::spec::snapshot::Properties;
use tarn_format::spec::view_metadata::ViewMetadata;
use tarn_format::{Error, ErrorKind, Result, ResultExt};

use super::{MAX_READ_ATTEMPTS, MetastoreCatalog};
use crate::metadata_ops::file::{discard, next_view_location, write_unique};
use crate::metadata_ops::next::{self, Next};
use crate::metadata_ops::status;
use crate::pointers::{EntryKind, Pointer, Swap, missing_entry};

impl MetastoreCatalog {
    pub(super) async fn create_view_at(&self, ident: &TableIdent, mut creation: ViewCreation) -> Result<View> {
        self.require_free(ident).await?;
        let location = self.new_location(ident, creation.location.as_deref()).await?;
        creation.properties = self.settings.view_properties(creation.properties);
        let metadata = next::new_view(&creation, &location).context("view", ident.to_string())?;
        self.commit_view_metadata(ident, None, metadata).await
    }

    /// Loads what the pointer names: see [`Self::load_table_at`].
    pub(super) async fn load_view_at(&self, ident: &TableIdent) -> Result<View> {
        let mut pointer = self.pointer(ident, EntryKind::View).await?;
        for _ in 0..MAX_READ_ATTEMPTS {
            match ViewMetadata::read(&self.io, &pointer.metadata_location).await {
                Ok(metadata) => return Ok(view(ident, metadata, pointer.metadata_location)),
                Err(e) if e.kind() == ErrorKind::NotFound => {
                    let now = self.pointer(ident, EntryKind::View).await?;
                    if now == pointer {
                        return Err(Error::corrupt("the catalog names a metadata file that does not exist")
                            .with_context("view", ident.to_string())
                            .with_source(e));
                    }
                    pointer = now;
                }
                Err(e) => return Err(e.with_context("view", ident.to_string())),
            }
        }
        Err(Error::conflict("the view changes too fast to be read").with_context("view", ident.to_string()))
    }

    /// Removes the name, then the current metadata file (Java: `CatalogUtil.dropViewMetadata`).
    pub(super) async fn drop_view_at(&self, ident: &TableIdent) -> Result<()> {
        let removed = self.pointers.remove(ident, EntryKind::View).await?;
        let location = removed.ok_or_else(|| missing_entry(EntryKind::View, ident))?;
        match ViewMetadata::read(&self.io, &location).await {
            Ok(metadata) if gc_enabled(&metadata.properties) => discard(&self.io, &location).await,
            Ok(_) => {}
            Err(error) => tracing::warn!(view = %ident, %error, "metadata of a dropped view is unreadable"),
        }
        Ok(())
    }

    pub(super) async fn commit_view_at(&self, commit: ViewCommit) -> Result<View> {
        let base = self.load_view_at(&commit.ident).await?;
        let ident = commit.ident.clone();
        match next::view(&base, &commit).context("view", ident.to_string())? {
            Next::Unchanged => Ok(base),
            Next::Changed(metadata) => self.commit_view_metadata(&ident, Some(&base), *metadata).await,
        }
    }

    async fn commit_view_metadata(
        &self,
        ident: &TableIdent,
        base: Option<&View>,
        metadata: ViewMetadata,
    ) -> Result<View> {
        let base_location = base.map(|b| b.metadata_location.as_str());
        let location = next_view_location(&metadata, base_location)?;
        write_unique(&self.io, &location, &metadata)
            .await
            .context("view", ident.to_string())?;
        let swapped = match base_location {
            Some(from) => {
                let from = Pointer {
                    kind: EntryKind::View,
                    metadata_location: from.to_owned(),
                };
                self.pointers.swap(ident, &from, &location).await
            }
            None => {
                let pointer = Pointer {
                    kind: EntryKind::View,
                    metadata_location: location.clone(),
                };
                self.pointers.insert(ident, &pointer).await
            }
        };
        match swapped {
            Ok(Swap::Done) => {}
            Ok(Swap::Unknown(cause)) => self.settle_view(ident, &metadata.properties, &location, cause).await?,
            Ok(Swap::Lost) => {
                discard(&self.io, &location).await;
                return Err(
                    Error::conflict("another writer changed the view first").with_context("view", ident.to_string())
                );
            }
            Err(error) => {
                discard(&self.io, &location).await;
                return Err(error);
            }
        }
        Ok(view(ident, metadata, location))
    }

    /// Views keep no log of their metadata files: only the current one can be recognised.
    async fn settle_view(
        &self,
        ident: &TableIdent,
        properties: &Properties,
        location: &str,
        cause: Error,
    ) -> Result<()> {
        let committed = || async {
            let pointer = self.pointers.get(ident).await?;
            Ok(pointer.is_some_and(|p| p.metadata_location == location))
        };
        status::check(properties, cause, committed)
            .await
            .context("view", ident.to_string())
    }
}

fn view(ident: &TableIdent, metadata: ViewMetadata, metadata_location: String) -> View {
    View {
        ident: ident.clone(),
        metadata: Arc::new(metadata),
        metadata_location,
    }
}
