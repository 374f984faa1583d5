//! Namespaces: nested, with properties, dropped only when empty.

use tarn_format::ErrorKind;
use tarn_format::catalog::{Catalog, Namespace};
use tarn_format::spec::snapshot::Properties;

use super::case;
use crate::testkit::fixture::{ident, make_table, namespace, properties};
use crate::testkit::{Case, CaseResult, equal, refused};

pub(super) const CASES: &[Case] = &[
    case!(an_empty_catalog_has_no_namespaces),
    case!(namespaces_are_created_once),
    case!(nested_namespaces_are_listed_below_their_parents),
    case!(namespaces_with_similar_names_are_apart),
    case!(namespace_properties_are_set_and_removed),
    case!(a_namespace_tells_its_location),
    case!(missing_namespaces_are_not_found),
    case!(only_empty_namespaces_are_dropped),
    case!(names_are_case_sensitive),
    case!(senseless_namespaces_are_refused),
];

async fn an_empty_catalog_has_no_namespaces(catalog: &dyn Catalog) -> CaseResult {
    equal(
        catalog.list_namespaces(&Namespace::default()).await?,
        vec![],
        "namespaces",
    )?;
    equal(
        catalog.namespace_exists(&namespace(&["db"])).await?,
        false,
        "existence of db",
    )
}

async fn namespaces_are_created_once(catalog: &dyn Catalog) -> CaseResult {
    let db = namespace(&["db"]);
    catalog.create_namespace(&db, Properties::new()).await?;
    equal(catalog.namespace_exists(&db).await?, true, "existence of db")?;
    let again = catalog.create_namespace(&db, Properties::new()).await;
    refused(again, ErrorKind::AlreadyExists, "creating db again")?;
    equal(
        catalog.list_namespaces(&Namespace::default()).await?,
        vec![db.clone()],
        "namespaces",
    )?;
    equal(catalog.list_tables(&db).await?, vec![], "tables of a new namespace")?;
    equal(
        catalog.list_namespaces(&db).await?,
        vec![],
        "namespaces of a new namespace",
    )
}

async fn nested_namespaces_are_listed_below_their_parents(catalog: &dyn Catalog) -> CaseResult {
    for levels in [&["a"][..], &["a", "b"], &["a", "b", "c"], &["a", "d"], &["e"]] {
        catalog.create_namespace(&namespace(levels), Properties::new()).await?;
    }
    let top = catalog.list_namespaces(&Namespace::default()).await?;
    equal(top, vec![namespace(&["a"]), namespace(&["e"])], "top namespaces")?;
    let below = catalog.list_namespaces(&namespace(&["a"])).await?;
    equal(
        below,
        vec![namespace(&["a", "b"]), namespace(&["a", "d"])],
        "namespaces of a",
    )?;
    let deep = catalog.list_namespaces(&namespace(&["a", "b"])).await?;
    equal(deep, vec![namespace(&["a", "b", "c"])], "namespaces of a.b")?;
    equal(
        catalog.namespace_exists(&namespace(&["a", "b", "c"])).await?,
        true,
        "existence of a.b.c",
    )?;
    equal(
        catalog.namespace_exists(&namespace(&["a", "c"])).await?,
        false,
        "existence of a.c",
    )
}

async fn namespaces_with_similar_names_are_apart(catalog: &dyn Catalog) -> CaseResult {
    for levels in [&["db"][..], &["db2"], &["d_"], &["d%"], &["dbx", "in"]] {
        catalog.create_namespace(&namespace(levels), Properties::new()).await?;
    }
    for levels in [&["db"][..], &["d_"], &["d%"]] {
        equal(
            catalog.list_namespaces(&namespace(levels)).await?,
            vec![],
            "namespaces below",
        )?;
    }
    equal(
        catalog.namespace_exists(&namespace(&["d"])).await?,
        false,
        "existence of d",
    )?;
    catalog.drop_namespace(&namespace(&["d_"])).await?;
    equal(
        catalog.namespace_exists(&namespace(&["db"])).await?,
        true,
        "existence of db",
    )?;
    equal(
        catalog.namespace_exists(&namespace(&["d%"])).await?,
        true,
        "existence of d%",
    )
}

async fn namespace_properties_are_set_and_removed(catalog: &dyn Catalog) -> CaseResult {
    let db = namespace(&["db"]);
    catalog
        .create_namespace(&db, properties(&[("owner", "me"), ("tier", "1")]))
        .await?;
    let mut found = catalog.load_namespace(&db).await?;
    found.remove("location");
    equal(found, properties(&[("owner", "me"), ("tier", "1")]), "properties")?;
    let updates = properties(&[("tier", "2"), ("empty", ""), ("it's", "a \"quoted\" ?")]);
    catalog
        .update_namespace(&db, &["owner".to_owned(), "absent".to_owned()], updates.clone())
        .await?;
    let mut found = catalog.load_namespace(&db).await?;
    found.remove("location");
    equal(found, updates.clone(), "changed properties")?;
    let all: Vec<String> = updates.into_keys().collect();
    catalog.update_namespace(&db, &all, Properties::new()).await?;
    equal(
        catalog.namespace_exists(&db).await?,
        true,
        "existence without properties",
    )?;
    let both = catalog
        .update_namespace(&db, &["a".to_owned()], properties(&[("a", "1")]))
        .await;
    refused(both, ErrorKind::InvalidInput, "removing and setting a property")
}

async fn a_namespace_tells_its_location(catalog: &dyn Catalog) -> CaseResult {
    let name = ident("a.b.t");
    let table = make_table(catalog, &name, &[]).await?;
    let found = catalog.load_namespace(&name.namespace).await?;
    let location = found.get("location").map(|l| format!("{l}/t"));
    equal(
        location,
        Some(table.metadata.location.clone()),
        "location of a table in the namespace",
    )
}

async fn missing_namespaces_are_not_found(catalog: &dyn Catalog) -> CaseResult {
    let missing = namespace(&["missing"]);
    refused(catalog.load_namespace(&missing).await, ErrorKind::NotFound, "loading")?;
    refused(
        catalog.list_namespaces(&missing).await,
        ErrorKind::NotFound,
        "listing namespaces",
    )?;
    refused(
        catalog.list_tables(&missing).await,
        ErrorKind::NotFound,
        "listing tables",
    )?;
    refused(catalog.list_views(&missing).await, ErrorKind::NotFound, "listing views")?;
    refused(catalog.drop_namespace(&missing).await, ErrorKind::NotFound, "dropping")?;
    let update = catalog.update_namespace(&missing, &[], properties(&[("a", "b")])).await;
    refused(update, ErrorKind::NotFound, "updating")
}

async fn only_empty_namespaces_are_dropped(catalog: &dyn Catalog) -> CaseResult {
    let (a, b) = (namespace(&["a"]), namespace(&["a", "b"]));
    catalog.create_namespace(&a, Properties::new()).await?;
    catalog.create_namespace(&b, Properties::new()).await?;
    refused(
        catalog.drop_namespace(&a).await,
        ErrorKind::NotEmpty,
        "dropping a namespace with a namespace",
    )?;
    make_table(catalog, &ident("a.b.t"), &[]).await?;
    refused(
        catalog.drop_namespace(&b).await,
        ErrorKind::NotEmpty,
        "dropping a namespace with a table",
    )?;
    catalog
        .drop_table(&ident("a.b.t"), tarn_format::catalog::Purge::Delete)
        .await?;
    equal(
        catalog.namespace_exists(&b).await?,
        true,
        "existence after the last table went",
    )?;
    catalog.drop_namespace(&b).await?;
    equal(catalog.namespace_exists(&b).await?, false, "existence of a.b")?;
    catalog.drop_namespace(&a).await?;
    equal(
        catalog.list_namespaces(&Namespace::default()).await?,
        vec![],
        "namespaces",
    )
}

async fn names_are_case_sensitive(catalog: &dyn Catalog) -> CaseResult {
    make_table(catalog, &ident("db.t"), &[]).await?;
    equal(
        catalog.namespace_exists(&namespace(&["DB"])).await?,
        false,
        "existence of DB",
    )?;
    equal(catalog.table_exists(&ident("db.T")).await?, false, "existence of db.T")?;
    make_table(catalog, &ident("DB.T"), &[]).await?;
    let top = catalog.list_namespaces(&Namespace::default()).await?;
    equal(top, vec![namespace(&["DB"]), namespace(&["db"])], "namespaces")
}

async fn senseless_namespaces_are_refused(catalog: &dyn Catalog) -> CaseResult {
    for levels in [&[][..], &[""], &["a", ""]] {
        let created = catalog.create_namespace(&namespace(levels), Properties::new()).await;
        refused(created, ErrorKind::InvalidInput, "creating a namespace without a name")?;
    }
    refused(
        catalog.drop_namespace(&Namespace::default()).await,
        ErrorKind::InvalidInput,
        "dropping the root",
    )
}
