//! Tables of one column `c` beside an `id`: every type under every transform that takes it, in every format version, with
//! rows that Tarn's engine writes. `values.py` has the same types, transforms and values, written by hand too.

use std::sync::Arc;

use tarn::datafusion::arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, FixedSizeBinaryArray, Float32Array,
    Float64Array, Int32Array, Int64Array, RecordBatch, StringArray, Time64MicrosecondArray, TimestampMicrosecondArray,
    TimestampNanosecondArray,
};
use tarn::datafusion::arrow::datatypes::{DataType, Field, Schema as ArrowSchema};
use tarn::datafusion::arrow::error::ArrowError;
use tarn::datafusion::datasource::memory::MemorySourceConfig;
use tarn::datafusion::physical_plan::collect;
use tarn::datafusion::prelude::SessionContext;
use tarn::engine::write::{WriteTarget, append};
use tarn_format::catalog::{Catalog, TableCreation};
use tarn_format::spec::partition::{PartitionField, PartitionSpec};
use tarn_format::spec::schema::Schema;
use tarn_format::spec::snapshot::Properties;
use tarn_format::spec::table_metadata::FormatVersion;
use tarn_format::spec::types::{NestedField, PrimitiveType, StructType};
use tarn_format::transform::Transform;
use tarn_format::{Error, ErrorKind, Result};

use crate::tables::ident;

/// The transforms that every type takes.
const ANY: [Transform; 2] = [Transform::Identity, Transform::Void];

/// 2017-11-16T22:31:08 in microseconds.
const MOMENT: i64 = 1_510_871_468_000_000;

struct Sample {
    name: &'static str,
    source: PrimitiveType,
    since: FormatVersion,
    values: ArrayRef,
    transforms: Vec<Transform>,
}

fn sample(name: &'static str, source: PrimitiveType, values: ArrayRef, transforms: &[Transform]) -> Sample {
    Sample {
        name,
        source,
        since: FormatVersion::V1,
        values,
        transforms: ANY.iter().chain(transforms).cloned().collect(),
    }
}

fn samples() -> Result<Vec<Sample>, ArrowError> {
    use PrimitiveType as P;
    use Transform as T;
    let hashed = [T::Bucket(4)];
    let numbers = [T::Bucket(4), T::Truncate(10)];
    let text = [T::Bucket(4), T::Truncate(2)];
    let dates = [T::Bucket(4), T::Year, T::Month, T::Day];
    let times = [T::Bucket(4), T::Year, T::Month, T::Day, T::Hour];
    let decimal = |name, precision: u8, scale: u8| -> Result<Sample, ArrowError> {
        // Not all nines: truncation would give such a number one digit more than its type has, which others refuse.
        let lowest = 10 - 10_i128.pow(precision.into());
        let values = Decimal128Array::from(vec![Some(lowest), Some(1420), Some(0), Some(-1), None])
            .with_precision_and_scale(precision, scale as i8)?;
        Ok(sample(
            name,
            P::Decimal { precision, scale },
            Arc::new(values),
            &numbers,
        ))
    };
    let fixed = |values: [&[u8]; 4], length: i32| -> Result<ArrayRef, ArrowError> {
        let values = values.into_iter().map(Some).chain([None]);
        Ok(Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(
            values, length,
        )?))
    };
    let moments = vec![Some(-1), Some(0), Some(MOMENT), Some(MOMENT + 1), None];
    let nanos: Vec<Option<i64>> = vec![Some(-1), Some(0), Some(MOMENT * 1000), Some(MOMENT * 1000 + 1001), None];
    let micros = || TimestampMicrosecondArray::from(moments.clone());
    let v3 = |sample: Sample| Sample {
        since: FormatVersion::V3,
        ..sample
    };
    let uuid = 0xf79c3e09_677c_4bbd_a479_3f349cb785e7_u128.to_be_bytes();
    let days = vec![Some(-719_162), Some(-1), Some(0), Some(17_486), None];
    let bytes = vec![
        Some(&b""[..]),
        Some(b"\0\x01\x02\x03"),
        Some(b"\xff\xff"),
        Some(b"abc"),
        None,
    ];
    Ok(vec![
        sample(
            "boolean",
            P::Boolean,
            Arc::new(BooleanArray::from(vec![
                Some(true),
                Some(false),
                Some(true),
                None,
                None,
            ])),
            &[],
        ),
        sample(
            "int",
            P::Int,
            Arc::new(Int32Array::from(vec![
                Some(i32::MIN),
                Some(-1),
                Some(34),
                Some(i32::MAX),
                None,
            ])),
            &numbers,
        ),
        sample(
            "long",
            P::Long,
            Arc::new(Int64Array::from(vec![
                Some(i64::MIN),
                Some(-1),
                Some(34),
                Some(i64::MAX),
                None,
            ])),
            &numbers,
        ),
        sample(
            "float",
            P::Float,
            Arc::new(Float32Array::from(vec![
                Some(-1.5),
                Some(-0.0),
                Some(f32::NAN),
                Some(f32::INFINITY),
                None,
            ])),
            &[],
        ),
        sample(
            "double",
            P::Double,
            Arc::new(Float64Array::from(vec![
                Some(-1.5),
                Some(-0.0),
                Some(f64::NAN),
                Some(f64::INFINITY),
                None,
            ])),
            &[],
        ),
        decimal("decimal9", 9, 2)?,
        decimal("decimal18", 18, 4)?,
        decimal("decimal38", 38, 10)?,
        sample("date", P::Date, Arc::new(Date32Array::from(days)), &dates),
        sample(
            "time",
            P::Time,
            Arc::new(Time64MicrosecondArray::from(vec![
                Some(0),
                Some(1),
                Some(81_068_000_000),
                Some(86_399_999_999),
                None,
            ])),
            &hashed,
        ),
        sample("timestamp", P::Timestamp, Arc::new(micros()), &times),
        sample(
            "timestamptz",
            P::Timestamptz,
            Arc::new(micros().with_timezone("UTC")),
            &times,
        ),
        v3(sample(
            "timestamp_ns",
            P::TimestampNs,
            Arc::new(TimestampNanosecondArray::from(nanos.clone())),
            &times,
        )),
        v3(sample(
            "timestamptz_ns",
            P::TimestamptzNs,
            Arc::new(TimestampNanosecondArray::from(nanos).with_timezone("UTC")),
            &times,
        )),
        sample(
            "string",
            P::String,
            Arc::new(StringArray::from(vec![
                Some(""),
                Some("a"),
                Some("iceberg"),
                Some("é😀 x/y=z"),
                None,
            ])),
            &text,
        ),
        sample(
            "uuid",
            P::Uuid,
            fixed([&[0; 16], &uuid, &[0x7f; 16], &[0xff; 16]], 16)?,
            &hashed,
        ),
        sample(
            "fixed",
            P::Fixed(4),
            fixed([&[0, 1, 2, 3], &[0xff; 4], &[0x80, 0, 0, 0], b"abcd"], 4)?,
            &hashed,
        ),
        sample("binary", P::Binary, Arc::new(BinaryArray::from(bytes)), &text),
    ])
}

/// The name of a transform in the name of a table.
fn transform_name(transform: &Transform) -> String {
    transform.to_string().replace(['[', ']'], "")
}

/// Makes all tables, `v{version}_{type}_{transform}`, each with five rows.
pub async fn make(catalog: &Arc<dyn Catalog>) -> Result<usize> {
    let samples = samples().map_err(|e| Error::invalid("the samples make no sense").with_source(e))?;
    let mut made = 0;
    for version in [FormatVersion::V1, FormatVersion::V2, FormatVersion::V3] {
        for sample in samples.iter().filter(|s| s.since <= version) {
            for transform in &sample.transforms {
                let name = format!("v{}_{}_{}", version.number(), sample.name, transform_name(transform));
                let table = catalog
                    .create_table(&ident(&name), creation(sample, transform, version)?)
                    .await?;
                write(WriteTarget::new(Arc::clone(catalog), table)?, sample).await?;
                made += 1;
            }
        }
    }
    Ok(made)
}

fn creation(sample: &Sample, transform: &Transform, version: FormatVersion) -> Result<TableCreation> {
    let fields = vec![
        NestedField::required(1, "id", PrimitiveType::Int),
        NestedField::optional(2, "c", sample.source.clone()),
    ];
    let field = PartitionField {
        source_ids: vec![2],
        field_id: 0,
        name: format!("c_{}", transform_name(transform)),
        transform: transform.clone(),
        extra: Default::default(),
    };
    let spec = PartitionSpec {
        spec_id: 0,
        fields: vec![field],
        extra: Default::default(),
    };
    Ok(TableCreation {
        schema: Schema::new(0, StructType::new(fields), vec![])?,
        partition_spec: Some(spec),
        sort_order: None,
        location: None,
        properties: Properties::new(),
        format_version: version,
    })
}

async fn write(target: WriteTarget, sample: &Sample) -> Result<()> {
    let failed = |what: &str| Error::new(ErrorKind::Io, format!("{}: {what}", sample.name));
    let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(0..5));
    let schema = Arc::new(ArrowSchema::new(vec![
        Field::new("id", DataType::Int32, false),
        Field::new("c", sample.values.data_type().clone(), true),
    ]));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![ids, Arc::clone(&sample.values)]);
    let batch = batch.map_err(|e| failed("no batch").with_source(e))?;
    let rows = MemorySourceConfig::try_new_exec(&[vec![batch]], schema, None);
    let rows = rows.map_err(|e| failed("no plan").with_source(e))?;
    let plan = append(rows, target).map_err(|e| failed("cannot be written").with_source(e))?;
    let done = collect(plan, SessionContext::new().task_ctx()).await;
    done.map(drop).map_err(|e| failed("was not written").with_source(e))
}
