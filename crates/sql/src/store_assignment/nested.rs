//! Nested values in the type of their column: structs field by field, lists and maps value by value.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, FixedSizeListArray, LargeListArray, ListArray, MapArray, StructArray, new_null_array,
};
use datafusion::arrow::compute::{CastOptions, cast_with_options};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Fields};
use datafusion::arrow::error::ArrowError;
use datafusion::common::exec_err;
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::{Matching, is_text};

/// The expression as a value of this nested type. Fields may be NULL in the result, whatever the type says: the writer
/// refuses NULLs where they may not be, and names the column.
pub(super) fn convert(value: Expr, to: &DataType, matching: Matching) -> Expr {
    let function = ScalarUDF::from(StoreAs {
        signature: Signature::any(1, Volatility::Immutable),
        target: nullable(to),
        matching,
    });
    function.call(vec![value])
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct StoreAs {
    signature: Signature,
    target: DataType,
    matching: Matching,
}

impl ScalarUDFImpl for StoreAs {
    fn name(&self) -> &str {
        "store_as"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(self.target.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Some(value) = args.args.first() else {
            return exec_err!("store_as takes a value");
        };
        let array = value.to_array(args.number_rows)?;
        Ok(ColumnarValue::Array(self.array(&array, &self.target)?))
    }
}

impl StoreAs {
    fn array(&self, array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
        match (array.data_type(), to) {
            (from, to) if from == to => Ok(Arc::clone(array)),
            (DataType::Null, to) => Ok(new_null_array(to, array.len())),
            (DataType::Dictionary(_, values), to) => self.array(&strict(array, values)?, to),
            (DataType::Struct(_), DataType::Struct(fields)) => {
                Ok(Arc::new(self.fields(array.as_struct(), fields, self.matching)?))
            }
            (DataType::List(_), DataType::List(element)) => self.list(array.as_list(), element),
            (DataType::LargeList(_), DataType::List(element)) => {
                let large: &LargeListArray = array.as_list();
                self.list(&plain_list(array, large.value_type())?, element)
            }
            (DataType::FixedSizeList(..), DataType::List(element)) => {
                let fixed: &FixedSizeListArray = array.as_fixed_size_list();
                self.list(&plain_list(array, fixed.value_type())?, element)
            }
            (DataType::ListView(inner), DataType::List(element)) => {
                let inner = inner.data_type().clone();
                self.list(&plain_list(array, inner)?, element)
            }
            (DataType::Map(..), DataType::Map(entries, sorted)) => self.map(array.as_map(), entries, *sorted),
            (DataType::Timestamp(..), to) if is_text(to) => {
                let text = crate::functions::timestamps_as_text(array)?;
                Ok(strict(&text, to)?)
            }
            (_, to) => Ok(strict(array, to)?),
        }
    }

    fn fields(&self, from: &StructArray, to: &Fields, matching: Matching) -> Result<StructArray> {
        let mut columns = Vec::with_capacity(to.len());
        for (i, field) in to.iter().enumerate() {
            let at = match matching {
                Matching::Position => i,
                Matching::Name(_) => match from.fields().iter().position(|f| matching.same(f.name(), field.name())) {
                    Some(at) => at,
                    None => return exec_err!("the value has no field '{}'", field.name()),
                },
            };
            match from.columns().get(at) {
                Some(column) => columns.push(self.array(column, field.data_type())?),
                None => return exec_err!("the value has no field '{}'", field.name()),
            }
        }
        let nulls = from.nulls().cloned();
        Ok(StructArray::try_new_with_length(
            to.clone(),
            columns,
            nulls,
            from.len(),
        )?)
    }

    fn list(&self, list: &ListArray, element: &FieldRef) -> Result<ArrayRef> {
        let values = self.array(list.values(), element.data_type())?;
        let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
        Ok(Arc::new(ListArray::try_new(
            Arc::clone(element),
            offsets,
            values,
            nulls,
        )?))
    }

    /// Keys and values have their places, whatever they are called.
    fn map(&self, map: &MapArray, entries: &FieldRef, sorted: bool) -> Result<ArrayRef> {
        let DataType::Struct(fields) = entries.data_type() else {
            return exec_err!("a map needs keys and values");
        };
        let converted = self.fields(map.entries(), fields, Matching::Position)?;
        let (offsets, nulls) = (map.offsets().clone(), map.nulls().cloned());
        let map = MapArray::try_new(Arc::clone(entries), offsets, converted, nulls, sorted)?;
        Ok(Arc::new(map))
    }
}

fn plain_list(array: &ArrayRef, values: DataType) -> Result<ListArray> {
    let list = strict(array, &DataType::List(Arc::new(Field::new("element", values, true))))?;
    Ok(list.as_list().clone())
}

/// A value that does not fit fails.
fn strict(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    let options = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    cast_with_options(array, to, &options)
}

/// The type with fields that may be NULL, except the keys of maps.
pub(super) fn nullable(data_type: &DataType) -> DataType {
    let may_be_null = |field: &FieldRef| {
        let data_type = nullable(field.data_type());
        Arc::new(field.as_ref().clone().with_data_type(data_type).with_nullable(true))
    };
    match data_type {
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(may_be_null).collect()),
        DataType::List(element) => DataType::List(may_be_null(element)),
        DataType::Map(entries, sorted) => {
            let DataType::Struct(fields) = entries.data_type() else {
                return data_type.clone();
            };
            let fields = fields.iter().enumerate().map(|(i, field)| {
                let nullable = may_be_null(field);
                // The first is the key.
                if i == 0 {
                    Arc::new(nullable.as_ref().clone().with_nullable(false))
                } else {
                    nullable
                }
            });
            let entries = entries.as_ref().clone();
            let entries = entries.with_data_type(DataType::Struct(fields.collect()));
            DataType::Map(Arc::new(entries), *sorted)
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::{Int32Array, Int64Array, StringArray};
    use tarn_format::spec::schema::CaseSensitivity;

    use super::*;

    fn converter(to: &DataType, matching: Matching) -> StoreAs {
        StoreAs {
            signature: Signature::any(1, Volatility::Immutable),
            target: nullable(to),
            matching,
        }
    }

    /// `struct<a bigint, b string>`: (1, x), (2, NULL), NULL
    fn pairs() -> ArrayRef {
        let fields: Fields = vec![
            Field::new("a", DataType::Int64, true),
            Field::new("b", DataType::Utf8, true),
        ]
        .into();
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from(vec![Some(1), Some(2), None])),
            Arc::new(StringArray::from(vec![Some("x"), None, None])),
        ];
        Arc::new(StructArray::new(fields, columns, Some(vec![true, true, false].into())))
    }

    fn target(first: (&str, DataType), second: (&str, DataType)) -> DataType {
        let field = |(name, data_type): (&str, DataType)| Field::new(name, data_type, false);
        DataType::Struct(vec![field(first), field(second)].into())
    }

    #[test]
    fn fields_go_by_position_or_by_name() {
        let to = target(("p", DataType::Int32), ("q", DataType::Utf8));
        let by_position = converter(&to, Matching::Position);
        let array = by_position.array(&pairs(), &by_position.target).unwrap();
        let array = array.as_struct();
        assert_eq!(
            array.column(0).as_ref(),
            &Int32Array::from(vec![Some(1), Some(2), None])
        );
        assert!(array.is_null(2) && array.is_valid(1));

        let to = target(("B", DataType::Utf8), ("a", DataType::Int32));
        let by_name = converter(&to, Matching::Name(CaseSensitivity::Insensitive));
        let array = by_name.array(&pairs(), &by_name.target).unwrap();
        let names: Vec<_> = array.as_struct().fields().iter().map(|f| f.name().as_str()).collect();
        assert_eq!(names, ["B", "a"]);
        assert_eq!(
            array.as_struct().column(0).as_ref(),
            &StringArray::from(vec![Some("x"), None, None])
        );
        let strict = converter(&to, Matching::Name(CaseSensitivity::Sensitive));
        assert!(strict.array(&pairs(), &strict.target).is_err());
    }

    #[test]
    fn values_in_lists_must_fit() {
        let list = |values: Vec<i64>| -> ArrayRef {
            let item = Arc::new(Field::new("item", DataType::Int64, true));
            let offsets = datafusion::arrow::buffer::OffsetBuffer::from_lengths([values.len()]);
            Arc::new(ListArray::new(item, offsets, Arc::new(Int64Array::from(values)), None))
        };
        let to = DataType::List(Arc::new(Field::new("element", DataType::Int32, false)));
        let convert = converter(&to, Matching::Position);
        let array = convert.array(&list(vec![1, 2]), &convert.target).unwrap();
        assert_eq!(array.data_type(), &nullable(&to));
        assert!(convert.array(&list(vec![1 << 40]), &convert.target).is_err());
    }
}
