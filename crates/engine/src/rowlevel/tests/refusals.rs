//! Changes that fail leave the table and its files as they were.

use arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{cast, col, lit};
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use tarn_format::ErrorKind;

use super::*;

/// The plan of a change whose input gives every row twice.
async fn doubled(site: &Site, change: impl Fn() -> Change) -> (Arc<dyn ExecutionPlan>, SessionContext) {
    let (plan, context) = change().plan(site).await;
    let (again, _) = change().plan(site).await;
    let inputs = [&plan, &again].map(|plan| Arc::clone(plan.children()[0]));
    let both = UnionExec::try_new(inputs.to_vec()).unwrap();
    let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
    (plan.replace_children(vec![both], options).unwrap(), context)
}

/// Runs a change that must fail.
async fn refused(site: &Site, change: Change) -> Error {
    let (before, stored) = (site.table().await, site.stored_files().await);
    let error = change.run(site).await.unwrap_err();
    assert_eq!(site.table().await.metadata, before.metadata);
    assert_eq!(site.stored_files().await, stored, "{error}");
    error
}

#[tokio::test]
async fn a_value_that_cannot_be_stored() {
    for (version, mode) in WAYS {
        let site = site(version).await;
        let change = Change {
            values: vec![cast(lit(ScalarValue::Null), DataType::Int32), col("s")],
            updated_columns: Some([1].into()),
            ..update(mode, col("id").gt(lit(5)))
        };
        let error = refused(&site, change).await;
        assert!(error.to_string().contains("'id' is NOT NULL"), "{error}");
    }
}

#[tokio::test]
async fn a_row_that_comes_twice() {
    for (version, mode) in WAYS {
        let site = site(version).await;
        // Every row of id 7 twice, as two matching source rows give it.
        let twice = |statement| Change {
            statement,
            keys: vec!["id".to_string()],
            action: lit(RowAction::Keep as i32),
            ..update(mode, col("id").eq(lit(7)))
        };
        let (plan, context) = doubled(&site, || twice(RowStatement::Merge)).await;
        let error = execute(&plan, &context).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains("id = 7"), "{error}");

        let (plan, context) = doubled(&site, || delete(mode, col("id").eq(lit(7)))).await;
        assert_eq!(execute(&plan, &context).await.unwrap().deleted_rows, 1);
        assert_eq!(site.rows("id").await.num_rows(), 19);
    }
}

/// Both isolation levels refuse to change rows that others have changed meanwhile; only serializable isolation refuses
/// rows that came in.
#[tokio::test]
async fn what_others_did_meanwhile() {
    for (version, mode) in WAYS {
        for isolation in [IsolationLevel::Serializable, IsolationLevel::Snapshot] {
            let changed = || Change {
                isolation,
                ..update(mode, col("id").eq(lit(4)))
            };
            let site = site(version).await;
            let (plan, context) = changed().plan(&site).await;
            update(mode, col("id").eq(lit(4))).run(&site).await.unwrap();
            let stored = site.stored_files().await;
            let error = execute(&plan, &context).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Validation, "{version:?} {mode:?}: {error}");
            assert_eq!(site.stored_files().await, stored);

            let (plan, context) = changed().plan(&site).await;
            site.append(rows(&site, [(100, "late".to_string())]).await)
                .await
                .unwrap();
            let outcome = execute(&plan, &context).await;
            assert_eq!(outcome.is_ok(), isolation == IsolationLevel::Snapshot, "{outcome:?}");
            assert_eq!(site.rows("id").await.num_rows(), 21);
        }
    }
}
