//! Nested columns of files as Spark reads them: everything nullable, children null where their struct is.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, StructArray};
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;

use crate::arrow::parent_nulls::masked;

/// The type with all that is nested in it nullable, but for the keys of maps (Spark: `DataType.asNullable`).
pub(super) fn nullable(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(nullable_field).collect()),
        DataType::List(element) => DataType::List(nullable_field(element)),
        DataType::Map(entries, sorted) => match entries.data_type() {
            DataType::Struct(pair) if pair.len() == 2 => {
                let key = Field::clone(&pair[0]).with_data_type(nullable(pair[0].data_type()));
                let pair = DataType::Struct(vec![Arc::new(key), nullable_field(&pair[1])].into());
                DataType::Map(Arc::new(Field::clone(entries).with_data_type(pair)), *sorted)
            }
            _ => data_type.clone(),
        },
        other => other.clone(),
    }
}

fn nullable_field(field: &FieldRef) -> FieldRef {
    let data_type = nullable(field.data_type());
    Arc::new(Field::clone(field).with_data_type(data_type).with_nullable(true))
}

/// The schema of a file with all its columns as [`nullable`] types.
pub(super) fn all_nullable(schema: &SchemaRef) -> SchemaRef {
    let fields = schema.fields().iter();
    let fields = fields.map(|f| Field::clone(f).with_data_type(nullable(f.data_type())));
    let fields: Vec<Field> = fields.collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// An array of the type that [`nullable`] made of its own.
fn as_nullable(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    if array.data_type() == to {
        return Ok(Arc::clone(array));
    }
    let nulls = array.nulls().cloned();
    Ok(match to {
        DataType::Struct(fields) => {
            let children = array.as_struct().columns().iter().zip(fields);
            let children = children.map(|(child, f)| as_nullable(&masked(child, nulls.as_ref())?, f.data_type()));
            let children = children.collect::<Result<Vec<_>>>()?;
            Arc::new(StructArray::try_new_with_length(
                fields.clone(),
                children,
                nulls,
                array.len(),
            )?)
        }
        DataType::List(element) => {
            let list = array.as_list::<i32>();
            let values = as_nullable(list.values(), element.data_type())?;
            Arc::new(ListArray::try_new(
                Arc::clone(element),
                list.offsets().clone(),
                values,
                nulls,
            )?)
        }
        DataType::Map(entries, sorted) => {
            let map = array.as_map();
            let pairs: ArrayRef = Arc::new(map.entries().clone());
            let pairs = as_nullable(&pairs, entries.data_type())?.as_struct().clone();
            Arc::new(MapArray::try_new(
                Arc::clone(entries),
                map.offsets().clone(),
                pairs,
                nulls,
                *sorted,
            )?)
        }
        other => {
            let message = format!("a column of {} is no column of {other}", array.data_type());
            return Err(DataFusionError::Internal(message));
        }
    })
}

/// A nested column with everything in it nullable.
#[derive(Debug, Clone)]
pub(super) struct Nullable {
    input: Arc<dyn PhysicalExpr>,
    to: DataType,
}

impl Nullable {
    /// `None` when the column, of type `stored`, is so already.
    pub(super) fn of(input: &Arc<dyn PhysicalExpr>, stored: &DataType) -> Option<Self> {
        let to = nullable(stored);
        (to != *stored).then(|| Nullable {
            input: Arc::clone(input),
            to,
        })
    }
}

impl PartialEq for Nullable {
    fn eq(&self, other: &Self) -> bool {
        self.input.eq(&other.input) && self.to == other.to
    }
}

impl Eq for Nullable {}

impl Hash for Nullable {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.input.hash(state);
        self.to.hash(state);
    }
}

impl fmt::Display for Nullable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "nullable({})", self.input)
    }
}

impl PhysicalExpr for Nullable {
    fn data_type(&self, _input_schema: &Schema) -> Result<DataType> {
        Ok(self.to.clone())
    }

    fn nullable(&self, input_schema: &Schema) -> Result<bool> {
        self.input.nullable(input_schema)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let array = self.input.evaluate(batch)?.into_array(batch.num_rows())?;
        Ok(ColumnarValue::Array(as_nullable(&array, &self.to)?))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.input]
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn PhysicalExpr>>) -> Result<Arc<dyn PhysicalExpr>> {
        let [input] = <[Arc<dyn PhysicalExpr>; 1]>::try_from(children)
            .map_err(|_| DataFusionError::Internal("one child was expected".to_string()))?;
        Ok(Arc::new(Nullable {
            input,
            to: self.to.clone(),
        }))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.input.fmt_sql(f)
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::Int32Array;
    use arrow::buffer::NullBuffer;
    use arrow::util::pretty::pretty_format_batches;
    use datafusion::prelude::SessionContext;
    use parquet::arrow::ArrowWriter;

    use crate::files::{DataFormat, FileOptions, open_files};

    use super::*;

    fn structure(name: &str, child: FieldRef, is_nullable: bool) -> FieldRef {
        Arc::new(Field::new(name, DataType::Struct(vec![child].into()), is_nullable))
    }

    fn wrapped(child: FieldRef, values: ArrayRef, nulls: Option<Vec<bool>>) -> ArrayRef {
        Arc::new(StructArray::new(
            vec![child].into(),
            vec![values],
            nulls.map(NullBuffer::from),
        ))
    }

    // Spark reads required fields of files as optional ones: below a NULL struct there is NULL.
    #[tokio::test]
    async fn required_fields_of_null_structs_are_null() {
        let x: FieldRef = Arc::new(Field::new("x", DataType::Int32, false));
        let d = structure("d", Arc::clone(&x), false);
        let s = structure("s", Arc::clone(&d), true);
        let inner = wrapped(x, Arc::new(Int32Array::from(vec![7, 8])), None);
        let outer = wrapped(d, inner, Some(vec![false, true]));
        let schema = Arc::new(Schema::new(vec![s]));
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![outer]).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("f.parquet");
        let mut writer = ArrowWriter::try_new(std::fs::File::create(&path).unwrap(), schema, None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();

        let context = SessionContext::new();
        let options = FileOptions::default();
        let path = path.to_str().unwrap();
        let files = open_files(&context.state(), path, DataFormat::Parquet, &options)
            .await
            .unwrap();
        context.register_table("f", Arc::new(files)).unwrap();
        for (sql, expected) in [
            ("SELECT count(s['d']) AS n FROM f", ["| 1 |"]),
            ("SELECT max(s['d']['x']) AS n FROM f WHERE s['d']['x'] > 0", ["| 8 |"]),
            ("SELECT count(*) AS n FROM f WHERE s['d']['x'] IS NULL", ["| 1 |"]),
            ("SELECT count(s['d']['x']) AS n FROM f WHERE s['d']['x'] > 0", ["| 1 |"]),
        ] {
            let batches = context.sql(sql).await.unwrap().collect().await.unwrap();
            let shown = pretty_format_batches(&batches).unwrap().to_string();
            for row in expected {
                assert!(shown.contains(row), "{sql}: {shown}");
            }
        }
    }
}
