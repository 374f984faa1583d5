//! Rules of the view builder; expected values follow Java's `ViewMetadata.Builder`.

use super::*;
use crate::spec::snapshot::Properties;
use crate::spec::types::{NestedField, PrimitiveType, StructType};

const NOW: i64 = 1_700_000_000_000;

fn schema(column: &str) -> Schema {
    let columns = vec![NestedField::optional(1, column, PrimitiveType::Long)];
    Schema::new(0, StructType::new(columns), vec![]).unwrap()
}

fn version(queries: &[(&str, &str)]) -> ViewVersion {
    let representations = queries.iter().map(|(dialect, sql)| ViewRepresentation::Sql {
        sql: sql.to_string(),
        dialect: dialect.to_string(),
        extra: Default::default(),
    });
    ViewVersion {
        version_id: 1,
        schema_id: LAST_ADDED,
        timestamp_ms: NOW,
        summary: Properties::new(),
        representations: representations.collect(),
        default_catalog: None,
        default_namespace: vec!["db".into()],
        extra: Default::default(),
    }
}

fn view(properties: &[(&str, &str)]) -> Arc<ViewMetadata> {
    let creation = ViewCreation {
        schema: schema("a"),
        version: version(&[("spark", "SELECT 1")]),
        location: None,
        properties: properties.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect(),
    };
    let builder = ViewMetadataBuilder::new_view(&creation, "s3://b/v/", Uuid::from_u128(3)).unwrap();
    Arc::new(builder.build(NOW).unwrap())
}

fn replaced(base: &Arc<ViewMetadata>, column: &str, queries: &[(&str, &str)]) -> Result<Arc<ViewMetadata>> {
    let mut builder = ViewMetadataBuilder::from_metadata(Arc::clone(base));
    builder.apply_all(&[
        ViewUpdate::AddSchema(schema(column)),
        ViewUpdate::AddVersion(version(queries)),
        ViewUpdate::SetCurrentVersion(LAST_ADDED),
    ])?;
    builder.build(NOW + 1).map(Arc::new)
}

fn log(view: &ViewMetadata) -> Vec<i32> {
    view.version_log.iter().map(|entry| entry.version_id).collect()
}

#[test]
fn a_view_is_made_and_replaced() {
    let first = view(&[]);
    assert_eq!((first.location.as_str(), first.current_version_id), ("s3://b/v", 1));
    assert_eq!(first.current_version().schema_id, 0);
    let second = replaced(&first, "b", &[("spark", "SELECT 2")]).unwrap();
    assert_eq!((second.current_version_id, second.current_version().schema_id), (2, 1));
    assert_eq!(log(&second), [1, 2]);
    // An equal version is found again, and going back to it is dated now.
    let third = replaced(&second, "a", &[("spark", "SELECT 1")]).unwrap();
    assert_eq!((third.current_version_id, third.versions.len()), (1, 2));
    assert_eq!(
        (log(&third), third.version_log[2].timestamp_ms),
        (vec![1, 2, 1], NOW + 1)
    );
    let unchanged = replaced(&third, "a", &[("spark", "SELECT 1")]).unwrap();
    assert_eq!(unchanged, third);
}

#[test]
fn old_versions_expire() {
    let mut view = view(&[("version.history.num-entries", "2")]);
    for n in 2..5 {
        view = replaced(&view, "a", &[("spark", &format!("SELECT {n}"))]).unwrap();
    }
    let ids: Vec<i32> = view.versions.iter().map(|v| v.version_id).collect();
    assert_eq!((ids, log(&view)), (vec![3, 4], vec![3, 4]));
    let mut builder = ViewMetadataBuilder::from_metadata(Arc::clone(&view));
    let zero = Properties::from([("version.history.num-entries".to_string(), "0".to_string())]);
    builder.apply(&ViewUpdate::SetProperties(zero)).unwrap();
    assert_eq!(builder.build(NOW).unwrap_err().kind(), ErrorKind::InvalidInput);
}

#[test]
fn dialects_are_kept_unless_allowed() {
    let view = view(&[]);
    let lost = replaced(&view, "a", &[("trino", "SELECT 1")]);
    assert_eq!(lost.unwrap_err().kind(), ErrorKind::Validation);
    assert!(replaced(&view, "a", &[("trino", "SELECT 1"), ("SPARK", "SELECT 3")]).is_ok());
    let mut builder = ViewMetadataBuilder::from_metadata(Arc::clone(&view));
    let allow = Properties::from([("replace.drop-dialect.allowed".to_string(), "true".to_string())]);
    builder.apply(&ViewUpdate::SetProperties(allow)).unwrap();
    let lenient = Arc::new(builder.build(NOW).unwrap());
    assert!(replaced(&lenient, "a", &[("trino", "SELECT 1")]).is_ok());
    let twice = replaced(&view, "a", &[("spark", "SELECT 1"), ("Spark", "SELECT 2")]);
    assert_eq!(twice.unwrap_err().kind(), ErrorKind::InvalidInput);
}

#[test]
fn what_does_not_exist_is_refused() {
    let view = view(&[]);
    let mut unknown_schema = version(&[("spark", "SELECT 5")]);
    unknown_schema.schema_id = 7;
    for update in [
        ViewUpdate::SetCurrentVersion(LAST_ADDED),
        ViewUpdate::SetCurrentVersion(8),
        ViewUpdate::AddVersion(unknown_schema),
        ViewUpdate::AddVersion(version(&[("spark", "SELECT 6")])),
        ViewUpdate::AssignUuid(Uuid::from_u128(4)),
    ] {
        let mut builder = ViewMetadataBuilder::from_metadata(Arc::clone(&view));
        assert_eq!(
            builder.apply(&update).unwrap_err().kind(),
            ErrorKind::Validation,
            "{update:?}"
        );
    }
    assert!(ViewMetadataBuilder::empty().build(NOW).is_err());
    assert!(
        ViewRequirement::UuidMatch(Uuid::from_u128(3))
            .check(Some(&view))
            .is_ok()
    );
    let other = ViewRequirement::UuidMatch(Uuid::from_u128(4));
    assert_eq!(other.check(Some(&view)).unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(other.check(None).unwrap_err().kind(), ErrorKind::NotFound);
}
