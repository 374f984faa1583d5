use tarn_format::catalog::{Catalog, Purge, Table, TableCommit};
use tarn_format::io::FileIo;
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::{Error, ErrorKind};
use tempfile::TempDir;

use super::*;
use crate::hadoop::HadoopCatalog;
use crate::hadoop::tests::{FORGETFUL, after, catalog_at, commit_times, with_versions};
use crate::testkit::fixture::{append_snapshot, ident, set_property};

/// A catalog of the table `db.t` in a directory that goes with it.
struct Site {
    catalog: HadoopCatalog,
    name: TableIdent,
    place: String,
    _directory: Option<TempDir>,
}

impl Site {
    fn objects() -> Self {
        Site {
            catalog: catalog_at("s3://b/wh", FileIo::memory()),
            name: ident("db.t"),
            place: "s3://b/wh/db/t".to_owned(),
            _directory: None,
        }
    }

    fn local() -> Self {
        let directory = TempDir::new().unwrap();
        let warehouse = directory.path().to_str().unwrap();
        Site {
            catalog: catalog_at(warehouse, FileIo::local()),
            name: ident("db.t"),
            place: format!("{warehouse}/db/t"),
            _directory: Some(directory),
        }
    }

    /// A commit of `metadata` made from version `number`.
    fn version<'a>(&'a self, number: u64, base: &'a Table, metadata: &'a TableMetadata) -> NewVersion<'a> {
        NewVersion {
            io: &self.catalog.io,
            ident: &self.name,
            table_location: &self.place,
            base: Some(Base {
                number,
                metadata: &base.metadata,
            }),
            metadata,
            grace: self.catalog.grace,
        }
    }

    async fn put(&self, number: u64, metadata: &TableMetadata) -> String {
        let location = version_location(&self.place, number);
        metadata.create_file(&self.catalog.io, &location).await.unwrap();
        location
    }

    async fn hint(&self) -> String {
        let location = versions::hint_location(&self.place);
        String::from_utf8(self.catalog.io.read(&location).await.unwrap().to_vec()).unwrap()
    }
}

#[tokio::test]
async fn a_base_that_another_late_writer_made_again_is_not_the_base() {
    let site = Site::objects();
    let tables = with_versions(&site.catalog, &FORGETFUL, 7).await;
    let zombie = after(&tables[2], &set_property(&site.name, "zombie", "yes"));
    let mut metadata = after(&tables[3], &set_property(&site.name, "late", "yes"));
    // Not by chance the time of the version 5 that was deleted.
    metadata.last_updated_ms += 1000;
    let late = site.version(4, &tables[3], &metadata);
    site.put(4, &zombie).await;
    assert_eq!(late.commit().await.unwrap_err().kind(), ErrorKind::Conflict);
    assert!(!site.catalog.io.exists(&version_location(&site.place, 5)).await.unwrap());
    // Had the base been made again only after the first look:
    let location = site.put(5, &metadata).await;
    assert_eq!(late.fate(&location).await.unwrap(), Fate::Lost);
    assert_eq!(site.hint().await, "7");
}

#[tokio::test]
async fn a_late_writer_does_not_commit_to_the_next_table_of_the_name() {
    let site = Site::objects();
    let old = with_versions(&site.catalog, &[], 3).await;
    site.catalog.drop_table(&site.name, Purge::Delete).await.unwrap();
    let new = with_versions(&site.catalog, &[], 3).await;
    let metadata = after(&old[2], &set_property(&site.name, "late", "yes"));
    let late = site.version(3, &old[2], &metadata);
    assert_eq!(late.commit().await.unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(
        site.catalog.load_table(&site.name).await.unwrap().metadata,
        new[2].metadata
    );
    let location = site.put(4, &metadata).await;
    assert_eq!(late.settle(&location).await.unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(
        site.catalog.load_table(&site.name).await.unwrap().metadata,
        new[2].metadata
    );
}

#[tokio::test]
async fn the_hint_is_not_lowered_below_a_version_that_stands() {
    let site = Site::objects();
    with_versions(&site.catalog, &[], 3).await;
    versions::raise_hint(&site.catalog.io, &site.place, 2).await;
    assert_eq!(site.hint().await, "3");
    let hint = versions::hint_location(&site.place);
    site.catalog.io.write(&hint, "99".into()).await.unwrap();
    versions::raise_hint(&site.catalog.io, &site.place, 3).await;
    assert_eq!(site.hint().await, "3");
}

/// What a writer is told whose creation of version 3 on local files answered with an I/O error after it happened, when
/// others have gone on by `times` commits.
async fn told_after_broken_create(change: impl Fn(&Table) -> TableCommit, times: u32) -> Result<Created> {
    let site = Site::local();
    let tables = with_versions(&site.catalog, &FORGETFUL, 2).await;
    let metadata = after(&tables[1], &change(&tables[1]));
    let writer = site.version(2, &tables[1], &metadata);
    let location = site.put(3, &metadata).await;
    commit_times(&site.catalog, times).await;
    let broken = Error::new(ErrorKind::Io, "the directory could not be synced");
    writer.resolve_failed_create(&location, broken).await
}

#[tokio::test]
async fn a_broken_create_whose_version_was_deleted_since_is_not_called_a_failure() {
    let property = |_: &Table| set_property(&ident("db.t"), "a", "b");
    let error = told_after_broken_create(property, 5).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CommitStateUnknown);
    let append = |base: &Table| append_snapshot(&ident("db.t"), &base.metadata, 5);
    assert_eq!(told_after_broken_create(append, 5).await.unwrap(), Created::Continued);
}

#[tokio::test]
async fn a_create_that_surely_did_not_happen_is_a_failure() {
    let site = Site::local();
    let tables = with_versions(&site.catalog, &FORGETFUL, 2).await;
    let metadata = after(&tables[1], &set_property(&site.name, "a", "b"));
    let writer = site.version(2, &tables[1], &metadata);
    let full = Error::new(ErrorKind::Io, "the disk is full");
    let location = version_location(&site.place, 3);
    let error = writer.resolve_failed_create(&location, full).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
}
