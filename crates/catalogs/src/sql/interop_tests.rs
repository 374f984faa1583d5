//! PyIceberg and we on one database, in turn and at once.
//!
//! Needs a Python with PyIceberg in `TARN_PYTHON`; says so and stops where there is none.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use serde_json::Value as Json;
use tarn_format::ErrorKind;
use tarn_format::catalog::{Catalog, Namespace, Purge};
use tarn_format::spec::snapshot::Properties;
use tempfile::TempDir;

use crate::load::load_catalog;
use crate::testkit::fixture::{append_snapshot, ident, make_table, namespace, properties, set_property, view};

struct Site {
    python: PathBuf,
    directory: TempDir,
}

impl Site {
    fn new() -> Option<Self> {
        let Some(python) = std::env::var_os("TARN_PYTHON") else {
            println!("skipped: TARN_PYTHON names no Python with PyIceberg");
            return None;
        };
        Some(Site {
            python: python.into(),
            directory: TempDir::new().unwrap(),
        })
    }

    fn database(&self) -> String {
        self.directory.path().join("cat.db").display().to_string()
    }

    fn warehouse(&self) -> String {
        self.directory.path().join("wh").display().to_string()
    }

    async fn ours(&self) -> Arc<dyn Catalog> {
        let uri = format!("sqlite:///{}", self.database());
        let pairs = [
            ("type", "sqlite"),
            ("uri", uri.as_str()),
            ("warehouse", &self.warehouse()),
        ];
        load_catalog("shared", &properties(&pairs)).await.unwrap()
    }

    fn command(&self, step: &[&str]) -> Command {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sql-tests/interop/sqlite_catalog.py");
        let mut command = Command::new(&self.python);
        command
            .arg(script)
            .args([&self.database(), &self.warehouse(), "shared"])
            .args(step);
        command
    }

    fn python(&self, step: &[&str]) -> Json {
        let output = self.command(step).output().unwrap();
        assert!(
            output.status.success(),
            "{step:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

#[tokio::test]
async fn pyiceberg_and_we_commit_in_turn() {
    let Some(site) = Site::new() else { return };
    let (ours, name) = (site.ours().await, ident("db.t"));
    let made = make_table(&*ours, &name, &[("made-by", "us")]).await.unwrap();
    let base = made.metadata.clone();

    let seen = site.python(&["describe", "db.t"]);
    assert_eq!(seen["uuid"], base.table_uuid.unwrap().to_string());
    assert_eq!(seen["location"], base.location);
    assert_eq!(seen["metadata_location"], made.metadata_location.clone().unwrap());
    assert_eq!(
        seen["columns"],
        serde_json::json!([[1, "id", "long", true], [2, "data", "string", false]])
    );
    assert_eq!(seen["properties"]["made-by"], "us");
    assert_eq!(site.python(&["namespaces"]), serde_json::json!(["db"]));
    assert_eq!(site.python(&["tables", "db"]), serde_json::json!(["db.t"]));

    let changed = site.python(&["set", "db.t", "changed-by", "pyiceberg"]);
    let loaded = ours.load_table(&name).await.unwrap();
    assert_eq!(
        loaded.metadata.properties.get("changed-by").map(String::as_str),
        Some("pyiceberg")
    );
    assert_eq!(changed["metadata_location"], loaded.metadata_location.clone().unwrap());
    assert!(loaded.metadata_location.unwrap().contains("/00001-"));
    // What was made on the state before is refused, and lands on the new one.
    let stale = append_snapshot(&name, &base, 1);
    ours.commit_table(stale).await.unwrap();
    let conflict = ours.commit_table(append_snapshot(&name, &base, 2)).await.unwrap_err();
    assert_eq!(conflict.kind(), ErrorKind::Conflict);

    let seen = site.python(&["set", "db.t", "i", "3"]);
    assert_eq!(seen["snapshots"], serde_json::json!([1]));
    assert_eq!(seen["metadata_log"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn we_take_over_what_pyiceberg_made() {
    let Some(site) = Site::new() else { return };
    let made = site.python(&["create", "a.b.t"]);
    let (ours, name) = (site.ours().await, ident("a.b.t"));
    assert_eq!(
        ours.list_namespaces(&Namespace::default()).await.unwrap(),
        vec![namespace(&["a"])]
    );
    assert_eq!(
        ours.list_namespaces(&namespace(&["a"])).await.unwrap(),
        vec![namespace(&["a", "b"])]
    );
    assert_eq!(
        ours.list_tables(&namespace(&["a", "b"])).await.unwrap(),
        vec![name.clone()]
    );
    let found = ours.load_namespace(&namespace(&["a", "b"])).await.unwrap();
    assert_eq!(found.get("made-by").map(String::as_str), Some("pyiceberg"));
    let loaded = ours.load_table(&name).await.unwrap();
    assert_eq!(made["uuid"], loaded.metadata.table_uuid.unwrap().to_string());
    assert_eq!(made["metadata_location"], loaded.metadata_location.unwrap());

    ours.commit_table(set_property(&name, "changed-by", "us"))
        .await
        .unwrap();
    assert_eq!(site.python(&["describe", "a.b.t"])["properties"]["changed-by"], "us");
    ours.create_namespace(&namespace(&["other"]), properties(&[("k", "v")]))
        .await
        .unwrap();
    ours.rename_table(&name, &ident("other.u")).await.unwrap();
    assert_eq!(site.python(&["tables", "a.b"]), serde_json::json!([]));
    assert_eq!(site.python(&["describe", "other.u"])["uuid"], made["uuid"]);
    assert_eq!(site.python(&["namespace", "other"])["k"], "v");
    site.python(&["rename", "other.u", "a.b.back"]);
    assert_eq!(
        ours.list_tables(&namespace(&["a", "b"])).await.unwrap(),
        vec![ident("a.b.back")]
    );
    site.python(&["drop", "a.b.back"]);
    assert!(!ours.table_exists(&ident("a.b.back")).await.unwrap());
    ours.drop_namespace(&namespace(&["a", "b"])).await.unwrap();
    assert_eq!(site.python(&["namespaces"]), serde_json::json!(["other"]));
}

#[tokio::test]
async fn our_views_are_no_tables_to_pyiceberg() {
    let Some(site) = Site::new() else { return };
    let ours = site.ours().await;
    make_table(&*ours, &ident("db.t"), &[]).await.unwrap();
    ours.create_view(&ident("db.v"), view("select 1").unwrap())
        .await
        .unwrap();
    assert_eq!(site.python(&["tables", "db"]), serde_json::json!(["db.t"]));
    site.python(&["set", "db.t", "a", "b"]);
    assert_eq!(ours.list_views(&namespace(&["db"])).await.unwrap(), vec![ident("db.v")]);
    ours.drop_view(&ident("db.v")).await.unwrap();
    ours.drop_table(&ident("db.t"), Purge::Delete).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn racing_pyiceberg_loses_no_commit() {
    const EACH: u32 = 20;
    let Some(site) = Site::new() else { return };
    let (ours, name) = (site.ours().await, ident("db.t"));
    make_table(&*ours, &name, &[]).await.unwrap();
    let count = EACH.to_string();
    let mut rival = site.command(&["race", "db.t", "pyiceberg", &count]).spawn().unwrap();
    // Python takes seconds to start.
    while !ours
        .load_table(&name)
        .await
        .unwrap()
        .metadata
        .properties
        .contains_key("pyiceberg-0")
    {
        assert!(rival.try_wait().unwrap().is_none());
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    for i in 0..EACH {
        loop {
            match ours
                .commit_table(set_property(&name, &format!("us-{i}"), "landed"))
                .await
            {
                Ok(_) => break,
                Err(e) if e.kind() == ErrorKind::Conflict => {}
                Err(e) => panic!("{e:?}"),
            }
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    assert!(rival.wait().unwrap().success());
    let found = ours.load_table(&name).await.unwrap();
    let landed: Properties = found
        .metadata
        .properties
        .clone()
        .into_iter()
        .filter(|(_, v)| v == "landed")
        .collect();
    assert_eq!(landed.len(), 2 * EACH as usize);
    assert!(found.metadata_location.unwrap().contains(&format!("/{:05}-", 2 * EACH)));
}
