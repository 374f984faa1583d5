//! Partition tuples as paths: `day=2024-01-01/name=a+b` (Java `PartitionSpec.partitionToPath`).

use super::partition::PartitionSpec;
use super::types::{PrimitiveType, StructType};
use crate::manifest::data_file::PartitionTuple;

impl PartitionSpec {
    /// The directories of a partition, URL-encoded as Java's `URLEncoder` does; empty without fields. `partition_type` is
    /// that of [`PartitionSpec::partition_type`]. Values that a short tuple lacks count as null.
    pub fn partition_to_path(&self, partition: &PartitionTuple, partition_type: &StructType) -> String {
        let mut path = String::new();
        for (i, field) in self.fields.iter().enumerate() {
            let result = partition_type.fields.get(i).and_then(|f| f.field_type.as_primitive());
            let value = partition.0.get(i).and_then(Option::as_ref);
            let text = field
                .transform
                .to_human_string(value, result.unwrap_or(&PrimitiveType::Unknown));
            if i > 0 {
                path.push('/');
            }
            url_encode(&mut path, &field.name);
            path.push('=');
            url_encode(&mut path, &text);
        }
        path
    }
}

/// The form encoding of Java's `URLEncoder` in UTF-8: letters, digits and `.-*_` stay, a space becomes `+`.
fn url_encode(out: &mut String, text: &str) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            _ => {
                out.push('%');
                out.push(char::from(HEX[usize::from(byte >> 4)]));
                out.push(char::from(HEX[usize::from(byte & 0xf)]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::partition::PartitionField;
    use crate::spec::types::{NestedField, Type};
    use crate::spec::value::Value;
    use crate::transform::Transform;

    fn path(fields: &[(&str, Transform, PrimitiveType, Option<Value>)]) -> String {
        let mut spec = PartitionSpec::unpartitioned();
        let mut types = Vec::new();
        let mut tuple = PartitionTuple::default();
        for (i, (name, transform, result, value)) in fields.iter().enumerate() {
            let field_id = 1000 + i as i32;
            spec.fields.push(PartitionField {
                source_ids: vec![1 + i as i32],
                field_id,
                name: name.to_string(),
                transform: transform.clone(),
                extra: Default::default(),
            });
            types.push(NestedField::optional(field_id, *name, Type::Primitive(result.clone())));
            tuple.0.push(value.clone());
        }
        spec.partition_to_path(&tuple, &StructType::new(types))
    }

    fn text(s: &str) -> Option<Value> {
        Some(Value::String(s.into()))
    }

    /// Expected strings are those of Java's `TestPartitionPaths`, `TestLocationProvider` and the `URLEncoder` contract.
    #[test]
    fn paths() {
        use PrimitiveType as T;
        use Transform::*;
        assert_eq!(path(&[]), "");
        let hour = Some(Value::Int(420_034));
        assert_eq!(
            path(&[
                ("ts_hour", Hour, T::Int, hour),
                ("id_bucket", Bucket(10), T::Int, Some(Value::Int(9))),
            ]),
            "ts_hour=2017-12-01-10/id_bucket=9"
        );
        assert_eq!(
            path(&[("data#1", Identity, T::String, text("val#1"))]),
            "data%231=val%231"
        );
        assert_eq!(
            path(&[("a b", Identity, T::String, text("x/y z%é~\u{1F600}"))]),
            "a+b=x%2Fy+z%25%C3%A9%7E%F0%9F%98%80"
        );
        assert_eq!(path(&[("s", Identity, T::String, text("A-z_0.*"))]), "s=A-z_0.*");
        assert_eq!(path(&[("s", Identity, T::String, text(""))]), "s=");
        assert_eq!(path(&[("s", Identity, T::String, None)]), "s=null");
        assert_eq!(path(&[("v", Void, T::String, None)]), "v=null");
        assert_eq!(path(&[("d", Day, T::Date, Some(Value::Int(17501)))]), "d=2017-12-01");
        let ts = Some(Value::Long(1_512_123_456_000_000));
        assert_eq!(
            path(&[("ts", Identity, T::Timestamptz, ts)]),
            "ts=2017-12-01T10%3A17%3A36%2B00%3A00"
        );
    }

    #[test]
    fn a_climbing_value_cannot_leave_its_directory() {
        let path = path(&[("p", Transform::Identity, PrimitiveType::String, text("../../x"))]);
        assert_eq!(path, "p=..%2F..%2Fx");
    }
}
