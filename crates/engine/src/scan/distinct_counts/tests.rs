use arrow::datatypes::{DataType, Field};
use datafusion::common::ColumnStatistics;
use tarn_format::spec::snapshot::Properties;
use tarn_format::spec::table_metadata::BlobMetadata;
use tarn_format::spec::types::{NestedField, PrimitiveType};

use super::*;
use crate::arrow::schema::FIELD_ID_KEY;
use crate::write::tests::{Making, Site};

fn blob(blob_type: &str, fields: &[FieldId], ndv: &str) -> BlobMetadata {
    BlobMetadata {
        blob_type: blob_type.to_string(),
        snapshot_id: 1,
        sequence_number: 1,
        fields: fields.to_vec(),
        properties: Properties::from([(NDV.to_string(), ndv.to_string())]),
        extra: Default::default(),
    }
}

fn file(snapshot_id: i64, blobs: Vec<BlobMetadata>) -> StatisticsFile {
    StatisticsFile {
        snapshot_id,
        statistics_path: "s.puffin".to_string(),
        file_size_bytes: 1,
        file_footer_size_bytes: 1,
        key_metadata: None,
        blob_metadata: blobs,
        extra: Default::default(),
    }
}

#[tokio::test]
async fn the_nearest_snapshot_with_statistics_tells() {
    let site = Site::new(vec![NestedField::optional(1, "a", PrimitiveType::Long)], Making::new()).await;
    for n in 0..3_i64 {
        let rows = std::sync::Arc::new(arrow::array::Int64Array::from(vec![n]));
        site.append(site.batch(vec![rows]).await).await.unwrap();
    }
    let table = site.table().await;
    let mut metadata = (*table.metadata).clone();
    let ids: Vec<i64> = metadata.snapshots.iter().map(|s| s.snapshot_id).collect();
    assert!(distinct_counts(&metadata, ids[2]).is_empty());
    metadata.statistics = vec![
        file(
            ids[0],
            vec![blob(THETA_SKETCH, &[1], "70"), blob(THETA_SKETCH, &[2], "80")],
        ),
        file(
            ids[1],
            vec![
                blob(THETA_SKETCH, &[1], "7"),
                blob(THETA_SKETCH, &[2], "many"),
                blob(THETA_SKETCH, &[3, 4], "9"),
                blob("other", &[5], "9"),
            ],
        ),
    ];
    assert_eq!(distinct_counts(&metadata, ids[2]), HashMap::from([(1, 7)]));
    assert_eq!(distinct_counts(&metadata, ids[0]), HashMap::from([(1, 70), (2, 80)]));
}

#[test]
fn there_are_no_more_values_than_rows() {
    let field = |id: i32| {
        let metadata = HashMap::from([(FIELD_ID_KEY.to_string(), id.to_string())]);
        Field::new(format!("c{id}"), DataType::Int64, true).with_metadata(metadata)
    };
    let columns = ArrowSchema::new(vec![field(1), field(2), field(3)]);
    let mut statistics = Statistics {
        num_rows: Precision::Exact(10),
        total_byte_size: Precision::Absent,
        column_statistics: vec![ColumnStatistics::new_unknown(); 3],
    };
    tell(&mut statistics, &columns, &HashMap::from([(1, 5), (3, 50)]));
    let told: Vec<_> = statistics.column_statistics.iter().map(|c| c.distinct_count).collect();
    assert_eq!(told, [Precision::Inexact(5), Precision::Absent, Precision::Inexact(10)]);
}
