//! Variants as arrays: structs of `metadata` and `value`, whose bytes hold the values (Parquet's variant encoding).
//!
//! Files may keep parts of values in typed columns beside the bytes (Parquet's variant shredding). Those are put back into
//! the bytes when a column is read, so that the rest knows one form.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringArray, StructArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Fields};
use arrow::error::ArrowError;
use parquet_variant::Variant;
use parquet_variant_compute::{VariantArray, unshred_variant};
use parquet_variant_json::VariantToJson;

/// What a variant's array is made of: `metadata` and `value`, binary views that are NULL only where the struct is.
pub fn variant_type() -> DataType {
    DataType::Struct(variant_fields())
}

fn variant_fields() -> Fields {
    vec![
        Field::new("metadata", DataType::BinaryView, false),
        Field::new("value", DataType::BinaryView, false),
    ]
    .into()
}

/// Whether a type is that of variants. No struct of a table has it: fields carry ids.
pub fn is_variant_type(data_type: &DataType) -> bool {
    let DataType::Struct(fields) = data_type else {
        return false;
    };
    let is = |field: &Field, name: &str| {
        field.name() == name
            && field.data_type() == &DataType::BinaryView
            && !field.is_nullable()
            && field.metadata().is_empty()
    };
    matches!(fields.as_ref(), [metadata, value] if is(metadata, "metadata") && is(value, "value"))
}

/// A file's column as variants.
///
/// # Errors
/// When it is no variant, or its typed columns contradict the bytes.
pub(crate) fn from_file(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    as_column(&unshred_variant(&VariantArray::try_new(array.as_ref())?)?)
}

/// Variants without typed columns as columns hold them.
///
/// # Errors
/// When a value is missing where there is a variant.
pub fn as_column(array: &VariantArray) -> Result<ArrayRef, ArrowError> {
    let part = |column: &ArrayRef| cast(column, &DataType::BinaryView);
    let columns = vec![part(array.metadata_column())?, part(array.value_column())?];
    Ok(Arc::new(StructArray::try_new(
        variant_fields(),
        columns,
        array.nulls().cloned(),
    )?))
}

/// The variant of a row, checked to the last byte; `None` for NULL.
///
/// # Errors
/// When the array holds no variants, or the bytes are none.
pub fn variant_at(array: &StructArray, row: usize) -> Result<Option<Variant<'_, '_>>, ArrowError> {
    if !is_variant_type(array.data_type()) {
        return Err(ArrowError::InvalidArgumentError(format!(
            "{} is no variant",
            array.data_type()
        )));
    }
    let (metadata, value) = (array.column(0).as_binary_view(), array.column(1).as_binary_view());
    if array.is_null(row) || value.is_null(row) {
        return Ok(None);
    }
    Variant::try_new(metadata.value(row), value.value(row)).map(Some)
}

/// The JSON of a row's variant, compact; `None` for NULL.
///
/// # Errors
/// As [`variant_at`].
pub fn json_at(array: &StructArray, row: usize) -> Result<Option<String>, ArrowError> {
    variant_at(array, row)?
        .map(|variant| variant.to_json_string())
        .transpose()
}

/// Variants as JSON, compact.
///
/// # Errors
/// As [`variant_at`].
pub fn variants_as_json(array: &StructArray) -> Result<StringArray, ArrowError> {
    (0..array.len()).map(|row| json_at(array, row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{BinaryViewArray, Int64Array};
    use parquet_variant_compute::json_to_variant;

    #[test]
    fn typed_columns_go_back_into_the_bytes() {
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("1"), Some("\"a\""), None]));
        let plain = json_to_variant(&texts).unwrap();
        // The second value fits no number and stays in the bytes.
        let typed = Int64Array::from(vec![Some(7), None, None]);
        let value = plain.value_column().as_binary_view();
        let value = BinaryViewArray::from_iter([None, Some(value.value(1)), None]);
        let fields = vec![
            Field::new("metadata", DataType::BinaryView, false),
            Field::new("value", DataType::BinaryView, true),
            Field::new("typed_value", DataType::Int64, true),
        ];
        let columns = vec![
            Arc::clone(plain.metadata_column()),
            Arc::new(value),
            Arc::new(typed) as ArrayRef,
        ];
        let shredded = StructArray::try_new(fields.into(), columns, plain.nulls().cloned()).unwrap();
        let whole = from_file(&(Arc::new(shredded) as ArrayRef)).unwrap();
        assert!(is_variant_type(whole.data_type()));
        let json = variants_as_json(whole.as_struct()).unwrap();
        assert_eq!(json, StringArray::from(vec![Some("7"), Some("\"a\""), None]));
    }

    #[test]
    fn bytes_that_are_no_variant_are_refused() {
        let binary = |bytes: &'static [u8]| Arc::new(BinaryViewArray::from_iter_values([bytes])) as ArrayRef;
        for (metadata, value) in [
            (&[][..], &[0][..]),
            (&[1, 0, 0], &[]),
            (&[1, 0, 0], &[2, 200, 1]),
            (&[9, 9], &[0]),
        ] {
            let array = StructArray::try_new(variant_fields(), vec![binary(metadata), binary(value)], None).unwrap();
            assert!(variants_as_json(&array).is_err(), "{metadata:?} {value:?}");
        }
    }
}
