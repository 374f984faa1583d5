//! Tables: made, found, staged, registered, renamed and dropped.

use tarn_format::ErrorKind;
use tarn_format::catalog::{Catalog, Purge};
use tarn_format::io::location::join;

use super::case;
use crate::testkit::fixture::{ident, make_table, namespace, set_property, table};
use crate::testkit::{Case, CaseResult, ensure, equal, refused};

pub(super) const CASES: &[Case] = &[
    case!(a_created_table_is_loaded_as_created),
    case!(tables_are_listed_sorted_and_by_namespace),
    case!(a_table_is_created_once),
    case!(a_table_needs_its_namespace),
    case!(missing_tables_are_not_found),
    case!(a_staged_table_is_nowhere),
    case!(odd_names_are_kept),
    case!(a_dropped_table_is_gone_and_can_be_made_again),
    case!(purging_deletes_metadata_files),
    case!(a_table_is_renamed_with_its_history),
    case!(renames_to_taken_or_missing_places_are_refused),
    case!(a_dropped_table_is_registered_again),
    case!(registering_needs_a_free_name_and_a_metadata_file),
    case!(a_table_goes_where_it_is_told),
];

async fn a_created_table_is_loaded_as_created(catalog: &dyn Catalog) -> CaseResult {
    let name = ident("db.t");
    let made = make_table(catalog, &name, &[("owner", "me"), ("format-version", "2")]).await?;
    equal(&made.ident, &name, "ident")?;
    equal(
        made.metadata.properties.get("owner").map(String::as_str),
        Some("me"),
        "property",
    )?;
    equal(
        made.metadata.properties.get("format-version"),
        None,
        "reserved property",
    )?;
    let loaded = catalog.load_table(&name).await?;
    equal(&loaded.metadata, &made.metadata, "metadata")?;
    equal(&loaded.metadata_location, &made.metadata_location, "metadata location")?;
    ensure(loaded.metadata.table_uuid.is_some(), || {
        "the table has no uuid".to_owned()
    })?;
    equal(loaded.metadata.current_schema().fields().len(), 2, "columns")?;
    equal(catalog.table_exists(&name).await?, true, "existence")
}

async fn tables_are_listed_sorted_and_by_namespace(catalog: &dyn Catalog) -> CaseResult {
    for name in ["db.b", "db.a", "db.c", "other.x", "db.deep.y"] {
        make_table(catalog, &ident(name), &[]).await?;
    }
    let listed = catalog.list_tables(&namespace(&["db"])).await?;
    equal(
        listed,
        vec![ident("db.a"), ident("db.b"), ident("db.c")],
        "tables of db",
    )?;
    equal(
        catalog.list_tables(&namespace(&["db", "deep"])).await?,
        vec![ident("db.deep.y")],
        "tables of db.deep",
    )?;
    equal(
        catalog.list_namespaces(&namespace(&["db"])).await?,
        vec![namespace(&["db", "deep"])],
        "namespaces of db",
    )
}

async fn a_table_is_created_once(catalog: &dyn Catalog) -> CaseResult {
    let name = ident("db.t");
    let made = make_table(catalog, &name, &[]).await?;
    refused(
        catalog.create_table(&name, table(&[])?).await,
        ErrorKind::AlreadyExists,
        "creating again",
    )?;
    refused(
        catalog.stage_table(&name, table(&[])?).await,
        ErrorKind::AlreadyExists,
        "staging again",
    )?;
    equal(catalog.load_table(&name).await?.metadata, made.metadata, "metadata")
}

async fn a_table_needs_its_namespace(catalog: &dyn Catalog) -> CaseResult {
    let created = catalog.create_table(&ident("missing.t"), table(&[])?).await;
    refused(created, ErrorKind::NotFound, "creating a table in a missing namespace")?;
    equal(
        catalog.namespace_exists(&namespace(&["missing"])).await?,
        false,
        "existence of the namespace",
    )
}

async fn missing_tables_are_not_found(catalog: &dyn Catalog) -> CaseResult {
    make_table(catalog, &ident("db.t"), &[]).await?;
    for name in ["db.missing", "missing.t", "db.t.x"] {
        let name = ident(name);
        equal(catalog.table_exists(&name).await?, false, "existence")?;
        refused(catalog.load_table(&name).await, ErrorKind::NotFound, "loading")?;
        refused(
            catalog.drop_table(&name, Purge::Keep).await,
            ErrorKind::NotFound,
            "dropping",
        )?;
        refused(
            catalog.drop_table(&name, Purge::Delete).await,
            ErrorKind::NotFound,
            "purging",
        )?;
        refused(
            catalog.commit_table(set_property(&name, "a", "b")).await,
            ErrorKind::NotFound,
            "committing",
        )?;
    }
    Ok(())
}

async fn a_staged_table_is_nowhere(catalog: &dyn Catalog) -> CaseResult {
    let name = ident("db.t");
    make_table(catalog, &ident("db.other"), &[]).await?;
    let staged = catalog.stage_table(&name, table(&[])?).await?;
    equal(staged.metadata_location, None, "metadata location")?;
    equal(catalog.table_exists(&name).await?, false, "existence")?;
    equal(
        catalog.list_tables(&name.namespace).await?,
        vec![ident("db.other")],
        "tables",
    )
}

async fn odd_names_are_kept(catalog: &dyn Catalog) -> CaseResult {
    let db = namespace(&["größe 100%"]);
    for name in ["with space", "100%", "ünï", "a'b", "q?x#y", "metadata", "UPPER"] {
        let name = tarn_format::catalog::TableIdent::new(db.clone(), name);
        make_table(catalog, &name, &[]).await?;
        catalog.commit_table(set_property(&name, "a", "b")).await?;
        let loaded = catalog.load_table(&name).await?;
        equal(
            loaded.metadata.properties.get("a").map(String::as_str),
            Some("b"),
            &name.name,
        )?;
        equal(catalog.list_tables(&db).await?, vec![name.clone()], "tables")?;
        catalog.drop_table(&name, Purge::Delete).await?;
    }
    Ok(())
}

async fn a_dropped_table_is_gone_and_can_be_made_again(catalog: &dyn Catalog) -> CaseResult {
    let name = ident("db.t");
    for purge in [Purge::Keep, Purge::Delete] {
        let first = make_table(catalog, &name, &[]).await?;
        catalog.commit_table(set_property(&name, "a", "b")).await?;
        catalog.drop_table(&name, purge).await?;
        equal(catalog.table_exists(&name).await?, false, "existence")?;
        equal(catalog.list_tables(&name.namespace).await?, vec![], "tables")?;
        equal(catalog.list_namespaces(&name.namespace).await?, vec![], "namespaces")?;
        let second = make_table(catalog, &name, &[]).await?;
        ensure(first.metadata.table_uuid != second.metadata.table_uuid, || {
            "the uuid came back".to_owned()
        })?;
        equal(second.metadata.properties.get("a"), None, "property of the old table")?;
        catalog.drop_table(&name, Purge::Delete).await?;
    }
    Ok(())
}

async fn purging_deletes_metadata_files(catalog: &dyn Catalog) -> CaseResult {
    let name = ident("db.t");
    make_table(catalog, &name, &[]).await?;
    let table = catalog.commit_table(set_property(&name, "a", "b")).await?;
    catalog.drop_table(&name, Purge::Delete).await?;
    let left = table.io.list(&join(&table.metadata.location, "metadata")).await?;
    let left: Vec<String> = left.into_iter().map(|f| f.location).collect();
    equal(left, vec![], "files left behind")
}

async fn a_table_is_renamed_with_its_history(catalog: &dyn Catalog) -> CaseResult {
    let (from, to) = (ident("db.t"), ident("db.other.u"));
    make_table(catalog, &ident("db.other.x"), &[]).await?;
    make_table(catalog, &from, &[]).await?;
    let before = catalog.commit_table(set_property(&from, "a", "b")).await?;
    catalog.rename_table(&from, &to).await?;
    equal(catalog.table_exists(&from).await?, false, "existence of the old name")?;
    let after = catalog.load_table(&to).await?;
    equal(&after.ident, &to, "ident")?;
    equal(after.metadata, before.metadata, "metadata")?;
    catalog.commit_table(set_property(&to, "c", "d")).await?;
    refused(
        catalog.commit_table(set_property(&from, "c", "d")).await,
        ErrorKind::NotFound,
        "committing to the old name",
    )?;
    catalog.rename_table(&to, &to).await?;
    equal(
        catalog.table_exists(&to).await?,
        true,
        "existence after renaming to itself",
    )
}

async fn renames_to_taken_or_missing_places_are_refused(catalog: &dyn Catalog) -> CaseResult {
    make_table(catalog, &ident("db.t"), &[]).await?;
    make_table(catalog, &ident("db.u"), &[]).await?;
    let rename = |from, to| async move { catalog.rename_table(&ident(from), &ident(to)).await };
    refused(
        rename("db.t", "db.u").await,
        ErrorKind::AlreadyExists,
        "renaming to a taken name",
    )?;
    refused(
        rename("db.t", "missing.t").await,
        ErrorKind::NotFound,
        "renaming to a missing namespace",
    )?;
    refused(
        rename("db.missing", "db.x").await,
        ErrorKind::NotFound,
        "renaming a missing table",
    )?;
    equal(
        catalog.list_tables(&namespace(&["db"])).await?,
        vec![ident("db.t"), ident("db.u")],
        "tables",
    )
}

async fn a_dropped_table_is_registered_again(catalog: &dyn Catalog) -> CaseResult {
    let (name, new) = (ident("db.t"), ident("db.again"));
    make_table(catalog, &name, &[]).await?;
    let before = catalog.commit_table(set_property(&name, "a", "b")).await?;
    catalog.drop_table(&name, Purge::Keep).await?;
    let location = before.metadata_location.clone().unwrap_or_default();
    let registered = catalog.register_table(&new, &location).await?;
    equal(&registered.metadata, &before.metadata, "metadata")?;
    equal(
        &registered.metadata_location,
        &before.metadata_location,
        "metadata location",
    )?;
    let after = catalog.commit_table(set_property(&new, "c", "d")).await?;
    equal(after.metadata.table_uuid, before.metadata.table_uuid, "uuid")?;
    equal(
        catalog.load_table(&new).await?.metadata,
        after.metadata,
        "metadata after a commit",
    )
}

async fn registering_needs_a_free_name_and_a_metadata_file(catalog: &dyn Catalog) -> CaseResult {
    let name = ident("db.t");
    let made = make_table(catalog, &name, &[]).await?;
    let location = made.metadata_location.clone().unwrap_or_default();
    refused(
        catalog.register_table(&name, &location).await,
        ErrorKind::AlreadyExists,
        "registering a taken name",
    )?;
    let missing = join(&made.metadata.location, "metadata/missing.metadata.json");
    refused(
        catalog.register_table(&ident("db.u"), &missing).await,
        ErrorKind::NotFound,
        "registering a missing file",
    )?;
    let elsewhere = catalog.register_table(&ident("missing.u"), &location).await;
    refused(elsewhere, ErrorKind::NotFound, "registering in a missing namespace")?;
    equal(
        catalog.list_tables(&name.namespace).await?,
        vec![name.clone()],
        "tables",
    )
}

async fn a_table_goes_where_it_is_told(catalog: &dyn Catalog) -> CaseResult {
    let near = make_table(catalog, &ident("db.near"), &[]).await?;
    let place = format!("{}-elsewhere", near.metadata.location);
    let mut creation = table(&[])?;
    creation.location = Some(format!("{place}/"));
    let far = catalog.create_table(&ident("db.far"), creation).await?;
    equal(&far.metadata.location, &place, "location")?;
    let metadata_location = far.metadata_location.unwrap_or_default();
    ensure(metadata_location.starts_with(&format!("{place}/metadata/")), || {
        metadata_location.clone()
    })
}
