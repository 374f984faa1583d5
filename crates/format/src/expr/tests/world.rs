//! A random table: schema, rows, partition specs, and files as a writer groups them.

use std::collections::BTreeMap;

use rand::Rng;
use rand::rngs::StdRng;

use super::metrics;
use super::values::{any_text, any_type, any_value, pick};
use crate::manifest::data_file::{DataContent, DataFile, FileFormat, PartitionTuple};
use crate::manifest::manifest_file::ManifestFile;
use crate::spec::partition::{PartitionField, PartitionSpec};
use crate::spec::schema::Schema;
use crate::spec::types::{FieldId, NestedField, Nullability, PrimitiveType, StructType};
use crate::spec::value::Value;
use crate::transform::Transform;

pub(super) type Row = Vec<(FieldId, Option<Value>)>;

/// A column that predicates and specs may use.
#[derive(Debug, Clone)]
pub(super) struct ColumnInfo {
    pub(super) id: FieldId,
    pub(super) name: String,
    pub(super) path: Vec<FieldId>,
    pub(super) ty: PrimitiveType,
    /// The values that rows draw from.
    pub(super) pool: Vec<Value>,
    nullability: Nullability,
}

#[derive(Debug)]
pub(super) struct File {
    pub(super) spec: usize,
    pub(super) manifest: usize,
    pub(super) rows: Vec<Row>,
    pub(super) data_file: DataFile,
}

#[derive(Debug)]
pub(super) struct World {
    pub(super) schema: Schema,
    pub(super) columns: Vec<ColumnInfo>,
    pub(super) specs: Vec<PartitionSpec>,
    pub(super) files: Vec<File>,
    pub(super) manifests: Vec<ManifestFile>,
}

/// The struct that holds the nested columns.
const STRUCT_ID: FieldId = 100;

impl World {
    pub(super) fn generate(rng: &mut StdRng, rows: usize) -> World {
        let columns: Vec<ColumnInfo> = (1..=rng.random_range(1..6)).map(|id| any_column(rng, id)).collect();
        let holder = if rng.random() {
            Nullability::Optional
        } else {
            Nullability::Required
        };
        let schema = schema(&columns, holder);
        let specs: Vec<PartitionSpec> = (0..3).map(|id| any_spec(rng, id, &columns)).collect();
        let mut world = World {
            schema,
            columns,
            specs,
            files: Vec::new(),
            manifests: Vec::new(),
        };
        for spec in 0..world.specs.len() {
            let rows: Vec<Row> = (0..rows).map(|_| any_row(rng, &world.columns, holder)).collect();
            world.write(rng, spec, rows);
        }
        world
    }

    /// Groups rows by partition into files, and those into manifests.
    fn write(&mut self, rng: &mut StdRng, spec: usize, rows: Vec<Row>) {
        let old_writer = rng.random_bool(0.2);
        let mut groups: BTreeMap<String, (PartitionTuple, Vec<Row>)> = BTreeMap::new();
        for row in rows {
            let tuple = self.partition(rng, spec, &row, old_writer);
            // Zeros of either sign may land in one partition, as `x=0.0` or `x=-0.0`.
            let key = format!("{tuple:?}").replace("(-0.0)", "(0.0)");
            groups.entry(key).or_insert_with(|| (tuple, Vec::new())).1.push(row);
        }
        let mut files = Vec::new();
        for (tuple, rows) in groups.into_values() {
            for rows in rows.chunks(rng.random_range(1..6)) {
                files.push(self.file(rng, spec, tuple.clone(), rows.to_vec()));
            }
        }
        while !files.is_empty() {
            let rest = files.split_off(rng.random_range(1..=files.len()));
            let tuples: Vec<&PartitionTuple> = files.iter().map(|f: &File| &f.data_file.partition).collect();
            let manifest = metrics::manifest(rng, &self.specs[spec], &self.schema, &tuples);
            for mut file in std::mem::replace(&mut files, rest) {
                file.manifest = self.manifests.len();
                self.files.push(file);
            }
            self.manifests.push(manifest);
        }
    }

    fn partition(&self, rng: &mut StdRng, spec: usize, row: &Row, old_writer: bool) -> PartitionTuple {
        let values = self.specs[spec].fields.iter().map(|field| {
            let column = self.columns.iter().find(|c| field.source_ids == [c.id])?;
            let value = crate::expr::evaluator::value_at(row, &column.path);
            if matches!(field.transform, Transform::Unknown(_)) {
                return value.map(|_| Value::String(any_text(rng)));
            }
            let result = field.transform.apply(value, &column.ty).unwrap();
            match (&field.transform, &column.ty, result) {
                (Transform::Day, PrimitiveType::Date, result) => result,
                (Transform::Year | Transform::Month | Transform::Day | Transform::Hour, _, Some(Value::Int(v)))
                    if old_writer && v < 0 =>
                {
                    Some(Value::Int(v + 1))
                }
                (_, _, result) => result,
            }
        });
        PartitionTuple(values.collect())
    }

    fn file(&self, rng: &mut StdRng, spec: usize, partition: PartitionTuple, rows: Vec<Row>) -> File {
        let mut data_file = DataFile::new(DataContent::Data, "f", FileFormat::Parquet);
        data_file.spec_id = self.specs[spec].spec_id;
        data_file.partition = partition;
        data_file.record_count = if rng.random_bool(0.05) { -1 } else { rows.len() as i64 };
        for column in &self.columns {
            metrics::add(rng, column, &rows, &mut data_file);
        }
        File {
            spec,
            manifest: 0,
            rows,
            data_file,
        }
    }
}

fn any_column(rng: &mut StdRng, id: FieldId) -> ColumnInfo {
    let ty = any_type(rng);
    let pool = (0..rng.random_range(1..7))
        .filter_map(|_| any_value(rng, &ty))
        .collect();
    let nested = rng.random_bool(0.3);
    // A required column of type unknown has no rows.
    let optional = rng.random_bool(0.7) || ty == PrimitiveType::Unknown;
    ColumnInfo {
        id,
        name: if nested { format!("s.c{id}") } else { format!("c{id}") },
        path: if nested { vec![STRUCT_ID, id] } else { vec![id] },
        ty,
        pool,
        nullability: if optional {
            Nullability::Optional
        } else {
            Nullability::Required
        },
    }
}

fn schema(columns: &[ColumnInfo], holder: Nullability) -> Schema {
    let (mut top, mut nested) = (Vec::new(), Vec::new());
    for column in columns {
        let field = |name: String| NestedField::new(column.id, name, column.ty.clone(), column.nullability);
        match column.path.len() {
            1 => top.push(field(column.name.clone())),
            _ => nested.push(field(format!("c{}", column.id))),
        }
    }
    top.push(NestedField::new(STRUCT_ID, "s", StructType::new(nested), holder));
    Schema::new(0, StructType::new(top), vec![]).unwrap()
}

fn any_row(rng: &mut StdRng, columns: &[ColumnInfo], holder: Nullability) -> Row {
    let (mut top, mut nested) = (Vec::new(), Vec::new());
    for column in columns {
        let null = column.nullability == Nullability::Optional && rng.random_bool(0.25);
        let value = if null || column.pool.is_empty() {
            None
        } else {
            Some(pick(rng, &column.pool))
        };
        match column.path.len() {
            1 => top.push((column.id, value)),
            _ => nested.push((column.id, value)),
        }
    }
    let null = holder == Nullability::Optional && rng.random_bool(0.2);
    top.push((STRUCT_ID, (!null).then_some(Value::Struct(nested))));
    top
}

/// Up to three fields; several of one column, void, unknown and dropped sources among them.
fn any_spec(rng: &mut StdRng, spec_id: i32, columns: &[ColumnInfo]) -> PartitionSpec {
    let fields = (0..rng.random_range(0..4)).map(|i| {
        let column = pick(rng, columns);
        let (source, transform) = match rng.random_range(0..12) {
            0 => (column.id, Transform::Unknown("zorder".to_string())),
            1 => (column.id, Transform::Void),
            2 => (999, Transform::Identity),
            _ => (column.id, any_transform(rng, &column.ty)),
        };
        PartitionField {
            source_ids: vec![source],
            field_id: 1000 + spec_id * 10 + i,
            name: format!("p{i}"),
            transform,
            extra: Default::default(),
        }
    });
    PartitionSpec {
        spec_id,
        fields: fields.collect(),
        extra: Default::default(),
    }
}

/// A transform that takes the type.
pub(super) fn any_transform(rng: &mut StdRng, ty: &PrimitiveType) -> Transform {
    let legal: Vec<Transform> = [
        Transform::Identity,
        Transform::Identity,
        Transform::Bucket(3),
        Transform::Truncate(1),
        Transform::Truncate(3),
        Transform::Truncate(10),
        Transform::Truncate(i32::MAX as u32),
        Transform::Year,
        Transform::Month,
        Transform::Day,
        Transform::Hour,
        Transform::Void,
    ]
    .into_iter()
    .filter(|t| t.can_transform(ty))
    .collect();
    pick(rng, &legal)
}
