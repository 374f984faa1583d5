//! Views: made, changed, renamed and dropped, in one space of names with tables.

use tarn_format::ErrorKind;
use tarn_format::catalog::{Catalog, ViewCommit};
use tarn_format::update::{ViewRequirement, ViewUpdate};

use super::case;
use crate::testkit::fixture::{ident, make_table, namespace, properties, table, view, view_version};
use crate::testkit::{Case, CaseResult, ensure, equal, refused};

pub(super) const CASES: &[Case] = &[
    case!(a_created_view_is_loaded_as_created),
    case!(views_and_tables_share_names),
    case!(views_are_listed_apart_from_tables),
    case!(missing_views_are_not_found),
    case!(a_view_is_changed_by_a_commit),
    case!(a_view_is_renamed),
    case!(a_view_is_dropped),
];

async fn a_created_view_is_loaded_as_created(catalog: &dyn Catalog) -> CaseResult {
    let name = ident("db.v");
    catalog.create_namespace(&name.namespace, properties(&[])).await?;
    let made = catalog.create_view(&name, view("select 1")?).await?;
    let loaded = catalog.load_view(&name).await?;
    equal(&loaded.metadata, &made.metadata, "metadata")?;
    equal(&loaded.metadata_location, &made.metadata_location, "metadata location")?;
    equal(
        &loaded.metadata.current_version().representations,
        &view_version("select 1").representations,
        "text",
    )?;
    equal(catalog.view_exists(&name).await?, true, "existence")?;
    equal(catalog.table_exists(&name).await?, false, "existence as a table")
}

async fn views_and_tables_share_names(catalog: &dyn Catalog) -> CaseResult {
    let (t, v) = (ident("db.t"), ident("db.v"));
    make_table(catalog, &t, &[]).await?;
    catalog.create_view(&v, view("select 1")?).await?;
    refused(
        catalog.create_view(&t, view("select 1")?).await,
        ErrorKind::AlreadyExists,
        "a view named like a table",
    )?;
    refused(
        catalog.create_view(&v, view("select 1")?).await,
        ErrorKind::AlreadyExists,
        "a view again",
    )?;
    refused(
        catalog.create_table(&v, table(&[])?).await,
        ErrorKind::AlreadyExists,
        "a table named like a view",
    )?;
    refused(
        catalog.rename_table(&t, &v).await,
        ErrorKind::AlreadyExists,
        "renaming a table to a view's name",
    )?;
    refused(
        catalog.rename_view(&v, &t).await,
        ErrorKind::AlreadyExists,
        "renaming a view to a table's name",
    )?;
    refused(
        catalog.load_table(&v).await,
        ErrorKind::NotFound,
        "loading a view as a table",
    )?;
    refused(
        catalog.load_view(&t).await,
        ErrorKind::NotFound,
        "loading a table as a view",
    )?;
    refused(
        catalog.drop_view(&t).await,
        ErrorKind::NotFound,
        "dropping a table as a view",
    )?;
    refused(
        catalog.drop_table(&v, tarn_format::catalog::Purge::Keep).await,
        ErrorKind::NotFound,
        "dropping a view as a table",
    )?;
    refused(
        catalog.rename_table(&v, &ident("db.x")).await,
        ErrorKind::NotFound,
        "renaming a view as a table",
    )
}

async fn views_are_listed_apart_from_tables(catalog: &dyn Catalog) -> CaseResult {
    make_table(catalog, &ident("db.t"), &[]).await?;
    catalog.create_view(&ident("db.v2"), view("select 2")?).await?;
    catalog.create_view(&ident("db.v1"), view("select 1")?).await?;
    let db = namespace(&["db"]);
    equal(
        catalog.list_views(&db).await?,
        vec![ident("db.v1"), ident("db.v2")],
        "views",
    )?;
    equal(catalog.list_tables(&db).await?, vec![ident("db.t")], "tables")
}

async fn missing_views_are_not_found(catalog: &dyn Catalog) -> CaseResult {
    let name = ident("db.v");
    catalog.create_namespace(&name.namespace, properties(&[])).await?;
    equal(catalog.view_exists(&name).await?, false, "existence")?;
    refused(catalog.load_view(&name).await, ErrorKind::NotFound, "loading")?;
    refused(catalog.drop_view(&name).await, ErrorKind::NotFound, "dropping")?;
    refused(
        catalog.rename_view(&name, &ident("db.w")).await,
        ErrorKind::NotFound,
        "renaming",
    )?;
    let missing = catalog.create_view(&ident("missing.v"), view("select 1")?).await;
    refused(missing, ErrorKind::NotFound, "creating in a missing namespace")
}

async fn a_view_is_changed_by_a_commit(catalog: &dyn Catalog) -> CaseResult {
    let name = ident("db.v");
    catalog.create_namespace(&name.namespace, properties(&[])).await?;
    let made = catalog.create_view(&name, view("select 1")?).await?;
    let commit = ViewCommit {
        ident: name.clone(),
        requirements: vec![ViewRequirement::UuidMatch(made.metadata.view_uuid)],
        updates: vec![
            ViewUpdate::AddVersion(view_version("select 2")),
            ViewUpdate::SetCurrentVersion(-1),
            ViewUpdate::SetProperties(properties(&[("comment", "two")])),
        ],
    };
    let changed = catalog.commit_view(commit.clone()).await?;
    equal(
        &changed.metadata.current_version().representations,
        &view_version("select 2").representations,
        "text",
    )?;
    equal(changed.metadata.versions.len(), 2, "versions")?;
    equal(
        catalog.load_view(&name).await?.metadata,
        changed.metadata.clone(),
        "metadata",
    )?;
    let wrong = ViewCommit {
        requirements: vec![ViewRequirement::UuidMatch(uuid::Uuid::nil())],
        ..commit
    };
    refused(
        catalog.commit_view(wrong).await,
        ErrorKind::Conflict,
        "committing with a wrong uuid",
    )?;
    equal(
        catalog.load_view(&name).await?.metadata_location,
        changed.metadata_location,
        "metadata location",
    )
}

async fn a_view_is_renamed(catalog: &dyn Catalog) -> CaseResult {
    let (from, to) = (ident("db.v"), ident("other.w"));
    catalog.create_namespace(&from.namespace, properties(&[])).await?;
    catalog.create_namespace(&to.namespace, properties(&[])).await?;
    let made = catalog.create_view(&from, view("select 1")?).await?;
    catalog.rename_view(&from, &to).await?;
    equal(catalog.view_exists(&from).await?, false, "existence of the old name")?;
    equal(catalog.load_view(&to).await?.metadata, made.metadata, "metadata")?;
    refused(
        catalog.rename_view(&to, &ident("missing.w")).await,
        ErrorKind::NotFound,
        "renaming to a missing namespace",
    )
}

async fn a_view_is_dropped(catalog: &dyn Catalog) -> CaseResult {
    let name = ident("db.v");
    catalog.create_namespace(&name.namespace, properties(&[])).await?;
    let made = catalog.create_view(&name, view("select 1")?).await?;
    refused(
        catalog.drop_namespace(&name.namespace).await,
        ErrorKind::NotEmpty,
        "dropping a namespace with a view",
    )?;
    catalog.drop_view(&name).await?;
    equal(catalog.view_exists(&name).await?, false, "existence")?;
    ensure(!catalog.file_io().exists(&made.metadata_location).await?, || {
        "the metadata file was left behind".to_owned()
    })?;
    catalog.create_view(&name, view("select 2")?).await?;
    Ok(())
}
