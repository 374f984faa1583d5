//! Takes the deleted rows out of a batch.
//!
//! Most rows of most batches live. Where nobody else holds a column, its rows are moved together where they are: a copy
//! would touch twice the memory.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray, PrimitiveArray, RecordBatch, RecordBatchOptions,
    downcast_primitive,
};
use arrow::buffer::{BooleanBuffer, Buffer, MutableBuffer, NullBuffer, ScalarBuffer};
use arrow::compute::{FilterBuilder, FilterPredicate, SlicesIterator};
use datafusion::error::Result;

/// The batch without the rows that are set in `deleted`.
///
/// # Errors
/// Arrow's, when there are other than the batch's rows in `deleted`.
pub(super) fn without_rows(batch: RecordBatch, deleted: &BooleanBuffer) -> Result<RecordBatch> {
    let dead = deleted.count_set_bits();
    if dead == 0 {
        return Ok(batch);
    }
    let mask = BooleanArray::new(!deleted, None);
    let live = mask.len() - dead;
    // Of few rows a copy is cheap, and holds no more memory than they need.
    if live < mask.len() / 4 * 3 || mask.len() != batch.num_rows() {
        return Ok(arrow::compute::filter_record_batch(&batch, &mask)?);
    }
    let rows = LiveRows {
        runs: SlicesIterator::new(&mask).collect(),
        count: live,
        predicate: FilterBuilder::new(&mask).optimize().build(),
    };
    let (schema, columns, _) = batch.into_parts();
    let columns = columns.into_iter().map(|column| rows.of(column));
    let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(live));
    Ok(RecordBatch::try_new_with_options(schema, columns, &options)?)
}

/// The rows of a batch that live.
struct LiveRows {
    /// Where each run starts, and where it ends.
    runs: Vec<(usize, usize)>,
    count: usize,
    predicate: FilterPredicate,
}

impl LiveRows {
    fn of(&self, column: ArrayRef) -> Result<ArrayRef> {
        macro_rules! moved {
            ($primitive:ty) => {
                return self.of_primitive::<$primitive>(column)
            };
        }
        downcast_primitive! {
            column.data_type() => (moved),
            _ => Ok(self.predicate.filter(&column)?),
        }
    }

    fn of_primitive<T: ArrowPrimitiveType>(&self, column: ArrayRef) -> Result<ArrayRef> {
        let own: PrimitiveArray<T> = column.as_primitive::<T>().clone();
        let nulls = match own.null_count() {
            0 => None,
            _ => self.of_nulls(own.nulls())?,
        };
        let (data_type, values, old_nulls) = own.into_parts();
        drop((column, old_nulls));
        let values = values.into_inner();
        // What is cut out of a buffer cannot be had for itself.
        let own = match values.ptr_offset() {
            0 => values.into_mutable(),
            _ => Err(values),
        };
        let values: ScalarBuffer<T::Native> = match own {
            Ok(values) => Buffer::from(self.moved::<T>(values)).into(),
            Err(shared) => self.copied::<T>(&ScalarBuffer::from(shared)).into(),
        };
        Ok(Arc::new(
            PrimitiveArray::<T>::try_new(values, nulls)?.with_data_type(data_type),
        ))
    }

    fn moved<T: ArrowPrimitiveType>(&self, mut values: MutableBuffer) -> MutableBuffer {
        let width = size_of::<T::Native>();
        let bytes = values.as_slice_mut();
        let mut end = 0;
        for (from, to) in &self.runs {
            bytes.copy_within(from * width..to * width, end);
            end += (to - from) * width;
        }
        values.truncate(end);
        values
    }

    fn copied<T: ArrowPrimitiveType>(&self, values: &[T::Native]) -> Vec<T::Native> {
        let mut copied = Vec::with_capacity(self.count);
        for (from, to) in &self.runs {
            copied.extend_from_slice(values.get(*from..*to).unwrap_or_default());
        }
        copied
    }

    fn of_nulls(&self, nulls: Option<&NullBuffer>) -> Result<Option<NullBuffer>> {
        let Some(nulls) = nulls else {
            return Ok(None);
        };
        let valid: ArrayRef = Arc::new(BooleanArray::new(nulls.inner().clone(), None));
        let valid = self.predicate.filter(&valid)?;
        Ok(Some(NullBuffer::new(valid.as_boolean().values().clone())))
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{
        Date32Array, Decimal128Array, DictionaryArray, Int16Array, Int64Array, ListArray, StringViewArray, StructArray,
        TimestampMicrosecondArray,
    };
    use arrow::compute::filter_record_batch;
    use arrow::datatypes::{DataType, Field};
    use arrow::datatypes::{Int32Type, Schema, TimeUnit};

    use super::*;

    const ROWS: i64 = 1000;

    fn columns() -> Vec<ArrayRef> {
        let some = |i: &i64| i % 7 != 3;
        let longs = || (0..ROWS).map(|i| some(&i).then_some(i * 31));
        let text: StringViewArray = (0..ROWS)
            .map(|i| some(&i).then(|| format!("text number {i}")))
            .collect();
        let nested: ArrayRef = Arc::new(Int64Array::from_iter(longs()));
        let field = Arc::new(Field::new("n", DataType::Int64, true));
        let lists = (0..ROWS).map(|i| some(&i).then(|| vec![Some(i as i32); (i % 4) as usize]));
        let words: DictionaryArray<Int32Type> = (0..ROWS).map(|i| ["a", "b", "c"][(i % 3) as usize]).collect();
        let decimals = Decimal128Array::from_iter(longs().map(|v| v.map(i128::from)));
        vec![
            Arc::new(Int64Array::from_iter_values(0..ROWS)),
            Arc::new(Int64Array::from_iter(longs())),
            Arc::new(Int16Array::from_iter_values((0..ROWS).map(|i| i as i16))),
            Arc::new(Date32Array::from_iter_values((0..ROWS).map(|i| i as i32))),
            Arc::new(decimals.with_precision_and_scale(12, 2).unwrap()),
            Arc::new(TimestampMicrosecondArray::from_iter_values(0..ROWS).with_timezone("UTC")),
            Arc::new(BooleanArray::from_iter(
                (0..ROWS).map(|i| some(&i).then_some(i % 2 == 0)),
            )),
            Arc::new(text),
            Arc::new(StructArray::new([field].into_iter().collect(), vec![nested], None)),
            Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists)),
            Arc::new(words),
        ]
    }

    fn batch(columns: Vec<ArrayRef>) -> RecordBatch {
        let fields = columns.iter().enumerate();
        let fields = fields.map(|(i, c)| Field::new(format!("c{i}"), c.data_type().clone(), true));
        RecordBatch::try_new(Arc::new(Schema::new(fields.collect::<Vec<_>>())), columns).unwrap()
    }

    /// Arrow's own filter is the model.
    fn check(make: impl Fn() -> RecordBatch) {
        for every in [1000, 100, 9, 2] {
            let deleted = BooleanBuffer::collect_bool(make().num_rows(), |i| i % every == every - 1 || i == 0);
            let expected = filter_record_batch(&make(), &BooleanArray::new(!&deleted, None)).unwrap();
            let found = without_rows(make(), &deleted).unwrap();
            assert_eq!(found, expected, "every {every}");
        }
        let none = BooleanBuffer::new_unset(make().num_rows());
        assert_eq!(without_rows(make(), &none).unwrap(), make());
        let all = BooleanBuffer::new_set(make().num_rows());
        assert_eq!(without_rows(make(), &all).unwrap().num_rows(), 0);
    }

    #[test]
    fn all_kinds_of_columns_lose_the_deleted_rows() {
        check(|| batch(columns()));
    }

    #[test]
    fn columns_that_others_hold_too_are_left_as_they_are() {
        let held = batch(columns());
        let deleted = BooleanBuffer::collect_bool(held.num_rows(), |i| i % 50 == 7);
        let twice = batch(held.columns().iter().chain(held.columns()).cloned().collect());
        let found = without_rows(twice.clone(), &deleted).unwrap();
        assert_eq!(found.num_rows(), 980);
        assert_eq!(held, batch(columns()));
        check(|| twice.clone());
    }

    #[test]
    fn parts_of_columns_lose_their_own_rows() {
        check(|| batch(columns()).slice(13, 700));
        // Nobody else holds the buffers of the part.
        check(|| batch(columns().iter().map(|c| c.slice(100, 899)).collect()));
    }

    #[test]
    fn a_batch_without_columns_keeps_count_of_its_rows() {
        let options = RecordBatchOptions::new().with_row_count(Some(10));
        let make = || RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options).unwrap();
        let deleted = BooleanBuffer::collect_bool(10, |i| i == 4);
        assert_eq!(without_rows(make(), &deleted).unwrap().num_rows(), 9);
        let zoned = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
        assert_eq!(*columns()[5].data_type(), zoned);
    }
}
