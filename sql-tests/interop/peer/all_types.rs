//! A table with all types, all transforms, three partition specs, two schemas, a sort order, a branch, a tag and
//! statistics. Its data files are only metadata: no engine reads rows of it.

use std::sync::Arc;

use tarn_format::Result;
use tarn_format::catalog::{Catalog, TableCreation, TableIdent};
use tarn_format::commit::append::{fast_append, merge_append};
use tarn_format::commit::delete::DeleteFiles;
use tarn_format::commit::row_delta::RowDelta;
use tarn_format::commit::{Change, CommitOptions, Transaction};
use tarn_format::deletes::puffin::{Blob, FooterCompression, PuffinWriter, THETA_SKETCH_V1};
use tarn_format::manifest::data_file::{DataContent, DataFile, FileFormat, PartitionTuple};
use tarn_format::spec::partition::{PartitionField, PartitionSpec};
use tarn_format::spec::schema::Schema;
use tarn_format::spec::snapshot::{Properties, RefKind, SnapshotRef, SnapshotRetention};
use tarn_format::spec::sort::{NullOrder, SortDirection};
use tarn_format::spec::table_metadata::{FormatVersion, StatisticsFile, TableMetadata};
use tarn_format::spec::types::{EdgeAlgorithm, ListType, MapType, NestedField, PrimitiveType, StructType, Type};
use tarn_format::spec::value::Value;
use tarn_format::transform::Transform;
use tarn_format::update::refs::RefsUpdate;
use tarn_format::update::schema::{NewColumn, SchemaUpdate};
use tarn_format::update::sort::SortOrderUpdate;
use tarn_format::update::spec::SpecUpdate;
use tarn_format::update::table_facts;
use tarn_format::update::{TableChange, TableUpdate};

/// 2024-01-01 as days, and its first hour as hours, since 1970.
const DAY: i32 = 19_723;
const HOUR: i32 = DAY * 24;
/// 2024, and January 2024, since 1970.
const YEAR: i32 = 54;
const MONTH: i32 = 648;

/// Makes the table, step by step as a user would.
pub async fn make(catalog: &dyn Catalog, table: &TableIdent, version: FormatVersion) -> Result<()> {
    let creation = TableCreation {
        schema: schema(version)?,
        partition_spec: Some(first_spec()),
        sort_order: None,
        location: None,
        properties: Properties::from([("owner".to_string(), "tarn".to_string())]),
        format_version: version,
    };
    let created = catalog.create_table(table, creation).await?;
    let location = created.metadata.location.clone();
    let file = |name: &str, partition: Vec<Option<Value>>, records: i64, spec_id: i32| {
        let mut file = DataFile::new(
            DataContent::Data,
            format!("{location}/data/{name}.parquet"),
            FileFormat::Parquet,
        );
        file.partition = PartitionTuple(partition);
        file.record_count = records;
        file.file_size_in_bytes = records * 100;
        file.spec_id = spec_id;
        file.value_counts.insert(4, records);
        file.null_value_counts.insert(4, 1);
        file.lower_bounds.insert(4, (-5i64).to_le_bytes().to_vec());
        file.upper_bounds.insert(4, 9i64.to_le_bytes().to_vec());
        Arc::new(file)
    };
    let text = |s: &str| Some(Value::string(s));

    let first = file(
        "f0",
        vec![Some(Value::Int(3)), text("abcd"), Some(Value::Boolean(true))],
        10,
        0,
    );
    let nulls = file("f1", vec![None, None, None], 1, 0);
    land(catalog, table, fast_append([first, Arc::clone(&nulls)])).await?;

    update(catalog, table, |base| {
        let mut update = SchemaUpdate::new(base);
        update.rename_column("l", "big")?;
        update.add_column(NewColumn::optional("added", PrimitiveType::String).with_doc("came later"))?;
        update.finish()
    })
    .await?;
    update(catalog, table, |base| {
        let mut update = SpecUpdate::new(base)?;
        update.add_field("dt", Transform::Year, None)?;
        update.add_field("ts", Transform::Month, None)?;
        update.finish()
    })
    .await?;
    update(catalog, table, |base| {
        let mut update = SortOrderUpdate::new(base);
        update.sort_by("s", Transform::Identity, SortDirection::Asc, NullOrder::First)?;
        update.sort_by("id", Transform::Bucket(8), SortDirection::Desc, NullOrder::Last)?;
        Ok(update.finish())
    })
    .await?;
    let tail = [Some(Value::Int(YEAR)), Some(Value::Int(MONTH))];
    let mut second = vec![Some(Value::Int(0)), text("x"), Some(Value::Boolean(false))];
    second.extend(tail.clone());
    land(catalog, table, merge_append([file("f2", second.clone(), 20, 1)])).await?;

    let loaded = catalog.load_table(table).await?;
    let first_snapshot = loaded.metadata.snapshots[0].snapshot_id;
    update(catalog, table, move |base| {
        let mut update = RefsUpdate::new(base);
        update.create("v1", reference(first_snapshot, RefKind::Tag))?;
        update.create("audit", reference(first_snapshot, RefKind::Branch))?;
        Ok(update.finish())
    })
    .await?;
    land(
        catalog,
        table,
        fast_append([file("f4", second, 5, 1)]).on_branch("audit"),
    )
    .await?;

    update(catalog, table, |base| {
        let mut update = SpecUpdate::new(base)?;
        update.remove_field("b")?;
        update.add_field("tz", Transform::Day, None)?;
        update.add_field("ts2", Transform::Hour, None)?;
        update.finish()
    })
    .await?;
    // A dropped field of v1 stays as a void one.
    let mut third = vec![Some(Value::Int(7)), text("zzzz")];
    third.extend((version == FormatVersion::V1).then_some(None));
    third.extend(tail);
    third.extend([Some(Value::Int(DAY)), Some(Value::Int(HOUR))]);
    land(catalog, table, fast_append([file("f3", third, 30, 2)])).await?;
    land(catalog, table, DeleteFiles::new().file(nulls).build()).await?;
    if version == FormatVersion::V2 {
        let partition = vec![Some(Value::Int(3)), text("abcd"), Some(Value::Boolean(true))];
        let path = format!("{location}/data/d0.parquet");
        let mut deletes = DataFile::new(DataContent::PositionDeletes, path, FileFormat::Parquet);
        deletes.partition = PartitionTuple(partition);
        deletes.record_count = 2;
        deletes.file_size_in_bytes = 200;
        land(catalog, table, RowDelta::new().add_deletes(Arc::new(deletes)).build()).await?;
    }
    statistics(catalog, table).await
}

async fn land(catalog: &dyn Catalog, table: &TableIdent, change: Change) -> Result<()> {
    let transaction = Transaction::on(table.clone()).change(change);
    transaction.commit(catalog, &CommitOptions::default()).await.map(drop)
}

async fn update(
    catalog: &dyn Catalog,
    table: &TableIdent,
    change: impl Fn(&Arc<TableMetadata>) -> Result<TableChange> + Send + Sync + 'static,
) -> Result<()> {
    let updates = move |base: &TableMetadata| -> Result<Vec<TableUpdate>> { Ok(change(&Arc::new(base.clone()))?.0) };
    let transaction = Transaction::on(table.clone()).update(updates);
    transaction.commit(catalog, &CommitOptions::default()).await.map(drop)
}

fn reference(snapshot_id: i64, kind: RefKind) -> SnapshotRef {
    SnapshotRef {
        snapshot_id,
        kind,
        retention: SnapshotRetention {
            max_ref_age_ms: Some(86_400_000),
            min_snapshots_to_keep: (kind == RefKind::Branch).then_some(3),
            max_snapshot_age_ms: (kind == RefKind::Branch).then_some(3_600_000),
        },
        extra: Default::default(),
    }
}

/// Writes a puffin file with one sketch and notes it as the current snapshot's statistics.
async fn statistics(catalog: &dyn Catalog, table: &TableIdent) -> Result<()> {
    let loaded = catalog.load_table(table).await?;
    let Some(snapshot) = loaded.metadata.current_snapshot() else {
        return Ok(());
    };
    let path = format!("{}/metadata/statistics.puffin", loaded.metadata.location);
    let mut writer = PuffinWriter::new(&loaded.io, &path, FooterCompression::None)?;
    let blob = writer
        .add(&Blob {
            blob_type: THETA_SKETCH_V1,
            fields: vec![1],
            snapshot_id: snapshot.snapshot_id,
            sequence_number: snapshot.sequence_number,
            data: b"not really a sketch",
            codec: Default::default(),
            properties: Properties::from([("ndv".to_string(), "60".to_string())]),
        })
        .await?;
    let end = writer.finish().await?;
    let file = StatisticsFile {
        snapshot_id: snapshot.snapshot_id,
        statistics_path: path,
        file_size_bytes: i64::try_from(end.file_size).unwrap_or(i64::MAX),
        file_footer_size_bytes: i64::try_from(end.footer_size).unwrap_or(i64::MAX),
        key_metadata: None,
        blob_metadata: vec![tarn_format::spec::table_metadata::BlobMetadata {
            blob_type: blob.blob_type,
            snapshot_id: blob.snapshot_id,
            sequence_number: blob.sequence_number,
            fields: blob.fields,
            properties: blob.properties,
            extra: Default::default(),
        }],
        extra: Default::default(),
    };
    update(catalog, table, move |base| {
        Ok(table_facts::set_statistics(base, file.clone()))
    })
    .await
}

fn first_spec() -> PartitionSpec {
    let field = |source_id, name: &str, transform| PartitionField {
        source_ids: vec![source_id],
        field_id: 0,
        name: name.to_string(),
        transform,
        extra: Default::default(),
    };
    PartitionSpec {
        spec_id: 0,
        fields: vec![
            field(1, "id_bucket", Transform::Bucket(8)),
            field(12, "s_trunc", Transform::Truncate(4)),
            field(2, "b", Transform::Identity),
        ],
        extra: Default::default(),
    }
}

fn schema(version: FormatVersion) -> Result<Schema> {
    use PrimitiveType as P;
    let decimal = P::Decimal { precision: 9, scale: 2 };
    let point = StructType::new(vec![
        NestedField::optional(21, "x", P::Int),
        NestedField::required(22, "y", P::String).with_doc("nested"),
    ]);
    let list = ListType {
        element: Arc::new(NestedField::required(23, "element", P::Double)),
    };
    let map = MapType {
        key: Arc::new(NestedField::required(24, "key", P::String)),
        value: Arc::new(NestedField::optional(25, "value", P::Long)),
    };
    let mut fields = vec![
        NestedField::required(1, "id", P::Long).with_doc("the key"),
        NestedField::optional(2, "b", P::Boolean),
        NestedField::optional(3, "i", P::Int),
        NestedField::optional(4, "l", P::Long),
        NestedField::optional(5, "f", P::Float),
        NestedField::optional(6, "d", P::Double),
        NestedField::optional(7, "dec", decimal),
        NestedField::optional(8, "dt", P::Date),
        NestedField::optional(9, "tm", P::Time),
        NestedField::optional(10, "ts", P::Timestamp),
        NestedField::optional(11, "tz", P::Timestamptz),
        NestedField::optional(12, "s", P::String),
        NestedField::optional(13, "u", P::Uuid),
        NestedField::optional(14, "fx", P::Fixed(8)),
        NestedField::optional(15, "bin", P::Binary),
        NestedField::optional(16, "ts2", P::Timestamp),
        NestedField::optional(17, "st", Type::Struct(point)),
        NestedField::optional(18, "li", Type::List(list)),
        NestedField::optional(19, "ma", Type::Map(map)),
    ];
    if version == FormatVersion::V3 {
        let geography = P::Geography {
            crs: Some("srid:4326".to_string()),
            algorithm: Some(EdgeAlgorithm::Karney),
        };
        let mut defaulted = NestedField::required(31, "def", P::Int);
        defaulted.initial_default = Some(Value::Int(7));
        defaulted.write_default = Some(Value::Int(8));
        fields.extend([
            NestedField::optional(26, "tsn", P::TimestampNs),
            NestedField::optional(27, "tzn", P::TimestamptzNs),
            NestedField::optional(28, "unk", P::Unknown),
            NestedField::optional(29, "var", Type::Variant),
            NestedField::optional(30, "geom", P::Geometry { crs: None }),
            NestedField::optional(32, "geog", geography),
            defaulted,
        ]);
    }
    Schema::new(0, StructType::new(fields), vec![1])
}
