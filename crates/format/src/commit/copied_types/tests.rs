use std::collections::BTreeMap;

use super::*;
use crate::commit::manifest_merge::ManifestMerge;
use crate::commit::manifest_output::ManifestOutput;
use crate::io::FileIo;
use crate::manifest::cache::ManifestCache;
use crate::manifest::data_file::{DataContent, DataFile, FileFormat, PartitionTuple};
use crate::manifest::writer::{ManifestWriter, ManifestWriterOptions};
use crate::spec::partition::{PartitionField, PartitionSpec};
use crate::spec::table_metadata::{FormatVersion, TableMetadata};
use crate::spec::value::Value;

/// Partitioned by an unknown transform of column 1, and by a column that is gone.
fn table() -> TableMetadata {
    let field = |field_id, name: &str, source_id, transform| PartitionField {
        source_ids: vec![source_id],
        field_id,
        name: name.to_string(),
        transform,
        extra: Default::default(),
    };
    let mut table = crate::scan::testing::table();
    table.partition_specs.push(Arc::new(PartitionSpec {
        spec_id: 7,
        fields: vec![
            field(1000, "z", 1, Transform::Unknown("zorder".to_string())),
            field(1001, "gone", 99, Transform::Identity),
        ],
        extra: Default::default(),
    }));
    table.format_version = FormatVersion::V2;
    table.properties = BTreeMap::from([("commit.manifest.min-count-to-merge".to_string(), "2".to_string())]);
    table
}

async fn manifest(
    io: &FileIo,
    table: &TableMetadata,
    name: &str,
    types: [PrimitiveType; 2],
    tuple: Vec<Option<Value>>,
) -> ManifestFile {
    let mut options = ManifestWriterOptions::for_table(table, 7).unwrap().with_snapshot_id(3);
    let [z, gone] = types;
    options.partition_type = StructType::new(vec![
        NestedField::optional(1000, "z", z),
        NestedField::optional(1001, "gone", gone),
    ]);
    let mut writer = ManifestWriter::new(options).unwrap();
    let file = DataFile {
        spec_id: 7,
        partition: PartitionTuple(tuple),
        ..DataFile::new(DataContent::Data, format!("{name}.parquet"), FileFormat::Parquet)
    };
    writer.added(&file, Some(1)).unwrap();
    let location = format!("memory:///t/{name}.avro");
    let (bytes, mut manifest) = writer.finish(location.as_str()).unwrap();
    io.create(&location, bytes).await.unwrap();
    (manifest.sequence_number, manifest.min_sequence_number) = (1, 1);
    manifest
}

async fn merged(io: &FileIo, table: &TableMetadata, manifests: Vec<ManifestFile>) -> Vec<Vec<PartitionTuple>> {
    let cache = ManifestCache::default();
    let attempt = Attempt::new(io, &cache, table).unwrap();
    let mut output = ManifestOutput::new(5);
    let merged = ManifestMerge::default()
        .merge(&attempt, &mut output, manifests)
        .await
        .unwrap();
    let mut found = Vec::new();
    for manifest in merged {
        let entries = attempt.all_entries(&manifest).await.unwrap();
        let columns = &entries.columns;
        found.push((0..columns.len).map(|i| columns.partition(i).clone()).collect());
    }
    found
}

#[tokio::test]
async fn values_whose_type_no_schema_tells_survive_a_merge() {
    let (io, table) = (FileIo::memory(), table());
    let decimal = PrimitiveType::Decimal { precision: 9, scale: 2 };
    let types = || [PrimitiveType::Int, decimal.clone()];
    let first = vec![Some(Value::Int(40)), Some(Value::Decimal(1234))];
    let second = vec![Some(Value::Int(41)), None];
    let nulls = vec![None, None];
    let manifests = vec![
        manifest(&io, &table, "a", types(), first.clone()).await,
        manifest(&io, &table, "b", types(), second.clone()).await,
        manifest(
            &io,
            &table,
            "c",
            [PrimitiveType::String, PrimitiveType::Unknown],
            nulls.clone(),
        )
        .await,
    ];
    let attempt_types = {
        let cache = ManifestCache::default();
        let attempt = Attempt::new(&io, &cache, &table).unwrap();
        let copied = attempt
            .copied_type(7, &[&manifests[0], &manifests[1]])
            .await
            .unwrap()
            .unwrap();
        copied
            .fields
            .iter()
            .map(|f| f.field_type.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(attempt_types, ["int", "decimal(9, 2)"]);
    let found = merged(&io, &table, manifests[..2].to_vec()).await;
    assert_eq!(found, [[PartitionTuple(first.clone()), PartitionTuple(second.clone())]]);
    // Types that do not go together are left apart.
    let found = merged(&io, &table, manifests).await;
    assert_eq!(found.len(), 3);
    assert_eq!(found[2], [PartitionTuple(nulls)]);
}
