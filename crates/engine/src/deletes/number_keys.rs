//! Keys of one column of numbers: whole numbers, dates, times and instants, and floating-point numbers by their bits.

use std::fmt;
use std::ops::RangeInclusive;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::{
    DataType, Date32Type, Float32Type, Float64Type, Int32Type, Int64Type, Time64MicrosecondType, TimeUnit,
    TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow::error::ArrowError;
use datafusion::common::HashMap;

/// Whether values of the type can be keys of [`NumberKeys`].
pub(super) fn is_number(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Int32
            | DataType::Int64
            | DataType::Date32
            | DataType::Time64(TimeUnit::Microsecond)
            | DataType::Timestamp(TimeUnit::Microsecond | TimeUnit::Nanosecond, _)
            | DataType::Float32
            | DataType::Float64
    )
}

/// The keys, each with the highest sequence number of the files that delete it.
#[derive(Default)]
pub(crate) struct NumberKeys {
    sequence_numbers: HashMap<i64, i64>,
    null: Option<i64>,
    /// The least and the greatest key.
    range: Option<RangeInclusive<i64>>,
    /// A bit for every number of the range: whether it is a key. Empty when they would be too many.
    bits: Vec<u64>,
}

impl fmt::Debug for NumberKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NumberKeys")
            .field("keys", &self.sequence_numbers.len())
            .field("range", &self.range)
            .finish_non_exhaustive()
    }
}

/// Does something with the values of an array and how each becomes a key.
macro_rules! with_numbers {
    ($array:expr, $own:ident, $key:ident => $body:expr) => {
        match $array.data_type() {
            DataType::Int32 => with_numbers!(@ $array, Int32Type, i64::from, $own, $key, $body),
            DataType::Int64 => with_numbers!(@ $array, Int64Type, |v| v, $own, $key, $body),
            DataType::Date32 => with_numbers!(@ $array, Date32Type, i64::from, $own, $key, $body),
            DataType::Time64(TimeUnit::Microsecond) => {
                with_numbers!(@ $array, Time64MicrosecondType, |v| v, $own, $key, $body)
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                with_numbers!(@ $array, TimestampMicrosecondType, |v| v, $own, $key, $body)
            }
            DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                with_numbers!(@ $array, TimestampNanosecondType, |v| v, $own, $key, $body)
            }
            DataType::Float32 => {
                with_numbers!(@ $array, Float32Type, |v: f32| i64::from(v.to_bits()), $own, $key, $body)
            }
            DataType::Float64 => {
                with_numbers!(@ $array, Float64Type, |v: f64| v.to_bits().cast_signed(), $own, $key, $body)
            }
            other => Err(ArrowError::InvalidArgumentError(format!("{other} was no number among keys"))),
        }
    };
    (@ $array:expr, $primitive:ty, $to_key:expr, $own:ident, $key:ident, $body:expr) => {{
        let $own = $array.as_primitive::<$primitive>();
        let $key = $to_key;
        Ok($body)
    }};
}

impl NumberKeys {
    /// Adds the keys of a file with this sequence number.
    ///
    /// # Errors
    /// `InvalidArgumentError` for values that are no numbers.
    pub(super) fn add(&mut self, keys: &ArrayRef, sequence_number: i64) -> Result<(), ArrowError> {
        with_numbers!(keys, own, key => {
            for value in own {
                self.insert(value.map(key), sequence_number);
            }
        })
    }

    fn insert(&mut self, key: Option<i64>, sequence_number: i64) {
        let Some(key) = key else {
            self.null = self.null.max(Some(sequence_number));
            return;
        };
        let known = self.sequence_numbers.entry(key).or_insert(sequence_number);
        *known = sequence_number.max(*known);
        self.range = Some(match self.range.take() {
            None => key..=key,
            Some(range) => key.min(*range.start())..=key.max(*range.end()),
        });
        self.bits.clear();
    }

    /// Makes bits for the numbers between the keys, if they take at most so many bytes and not many more than the keys.
    pub(super) fn index(&mut self, room_bytes: usize) {
        const ALWAYS_BYTES: usize = 1 << 20;
        let Some(range) = self.range.clone() else {
            return;
        };
        let most = room_bytes.min(ALWAYS_BYTES.max(self.size_bytes()));
        let words = (range.end().abs_diff(*range.start()) / 64) as usize + 1;
        if words > most / size_of::<u64>() {
            return;
        }
        self.bits = vec![0; words];
        for key in self.sequence_numbers.keys() {
            let at = key.abs_diff(*range.start());
            if let Some(word) = self.bits.get_mut((at / 64) as usize) {
                *word |= 1 << (at % 64);
            }
        }
    }

    /// Memory in bytes, by estimate.
    pub(super) fn size_bytes(&self) -> usize {
        self.sequence_numbers.capacity() * (size_of::<(i64, i64)>() + 1) + self.bits.capacity() * size_of::<u64>()
    }

    /// Which of the rows with these keys are deleted in a data file of this sequence number.
    ///
    /// # Errors
    /// `InvalidArgumentError` for values that are no numbers.
    pub(super) fn deleted(&self, keys: &ArrayRef, sequence_number: i64) -> Result<BooleanBuffer, ArrowError> {
        with_numbers!(keys, own, key => self.deleted_of(own, key, sequence_number))
    }

    fn deleted_of<T: ArrowPrimitiveType>(
        &self,
        keys: &PrimitiveArray<T>,
        key: impl Fn(T::Native) -> i64,
        sequence_number: i64,
    ) -> BooleanBuffer {
        let values: &[T::Native] = keys.values();
        let is_null_deleted = self.null.is_some_and(|by| by > sequence_number);
        let nulls = keys.nulls().filter(|nulls| nulls.null_count() > 0);
        let mut deleted = match self.range.clone().filter(|range| any_within(values, &key, range)) {
            None => BooleanBuffer::new_unset(values.len()),
            Some(range) => {
                let is_deleted = |i: usize| self.is_deleted(key(values[i]), &range, sequence_number);
                BooleanBuffer::collect_bool(values.len(), is_deleted)
            }
        };
        // What lies below a null is no value.
        if let Some(nulls) = nulls {
            deleted = match is_null_deleted {
                true => &deleted | &!nulls.inner(),
                false => &deleted & nulls.inner(),
            };
        }
        deleted
    }

    fn is_deleted(&self, key: i64, range: &RangeInclusive<i64>, sequence_number: i64) -> bool {
        if !self.bits.is_empty() {
            let at = key.wrapping_sub(*range.start()).cast_unsigned();
            let word = self.bits.get((at / 64) as usize).copied().unwrap_or(0);
            if word >> (at % 64) & 1 == 0 {
                return false;
            }
        } else if !range.contains(&key) {
            return false;
        }
        self.sequence_numbers.get(&key).is_some_and(|by| *by > sequence_number)
    }
}

/// Whether the keys of values reach into the range.
fn any_within<N: Copy>(values: &[N], key: impl Fn(N) -> i64, range: &RangeInclusive<i64>) -> bool {
    let bounds = values.iter().fold((i64::MAX, i64::MIN), |(low, high), value| {
        let key = key(*value);
        (low.min(key), high.max(key))
    });
    bounds.0 <= *range.end() && bounds.1 >= *range.start()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Date32Array, Float64Array, Int32Array, Int64Array, TimestampMicrosecondArray};
    use proptest::prelude::*;

    use super::*;

    type Deletes = Vec<(i64, Vec<Option<i64>>)>;

    /// The specification, file by file.
    fn model(deletes: &Deletes, key: Option<i64>, sequence_number: i64) -> bool {
        let applies = |(by, keys): &(i64, Vec<Option<i64>>)| *by > sequence_number && keys.contains(&key);
        deletes.iter().any(applies)
    }

    fn keys() -> impl Strategy<Value = Vec<Option<i64>>> {
        let key = prop_oneof![
            8 => (-40..40_i64).prop_map(Some),
            1 => prop::sample::select(vec![i64::MIN, i64::MIN + 1, i64::MAX, 1 << 40]).prop_map(Some),
            1 => Just(None),
        ];
        prop::collection::vec(key, 0..30)
    }

    proptest! {
        #[test]
        fn keys_are_found_as_in_a_list(
            deletes in prop::collection::vec((0..5_i64, keys()), 0..4),
            rows in keys(),
            sequence_number in 0..5_i64,
            room_bytes in prop::sample::select(vec![0_usize, 64, 1 << 20]),
        ) {
            let mut table = NumberKeys::default();
            for (by, keys) in &deletes {
                table.add(&(Arc::new(Int64Array::from(keys.clone())) as ArrayRef), *by).unwrap();
            }
            table.index(room_bytes);
            prop_assert!(table.bits.capacity() * 8 <= room_bytes);
            let array: ArrayRef = Arc::new(Int64Array::from(rows.clone()));
            let found: Vec<bool> = table.deleted(&array, sequence_number).unwrap().iter().collect();
            let expected: Vec<bool> = rows.iter().map(|key| model(&deletes, *key, sequence_number)).collect();
            prop_assert_eq!(found, expected);
        }
    }

    fn found(deleted: ArrayRef, rows: ArrayRef) -> Vec<bool> {
        let mut table = NumberKeys::default();
        table.add(&deleted, 2).unwrap();
        table.index(1 << 20);
        table.deleted(&rows, 1).unwrap().iter().collect()
    }

    #[test]
    fn all_kinds_of_numbers_are_keys() {
        let ints = Int32Array::from(vec![Some(i32::MIN), Some(7), None]);
        let rows = Int32Array::from(vec![Some(8), None, Some(7), Some(i32::MIN)]);
        assert_eq!(found(Arc::new(ints), Arc::new(rows)), [false, true, true, true]);
        let dates = |v: Vec<i32>| -> ArrayRef { Arc::new(Date32Array::from(v)) };
        assert_eq!(
            found(dates(vec![-1, 20_000]), dates(vec![20_000, 0, -1])),
            [true, false, true]
        );
        let times = |v: Vec<i64>| -> ArrayRef { Arc::new(TimestampMicrosecondArray::from(v).with_timezone("UTC")) };
        assert_eq!(
            found(times(vec![1 << 50]), times(vec![1 << 50, (1 << 50) + 1])),
            [true, false]
        );
    }

    #[test]
    fn the_two_zeros_differ_and_nan_is_itself() {
        let doubles = |v: Vec<f64>| -> ArrayRef { Arc::new(Float64Array::from(v)) };
        let rows = doubles(vec![0.0, -0.0, f64::NAN, f64::INFINITY, -1.5]);
        let deleted = found(doubles(vec![-0.0, f64::NAN, -1.5]), rows);
        assert_eq!(deleted, [false, true, true, false, true]);
    }
}
