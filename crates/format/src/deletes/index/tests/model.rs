//! Random files and deletes against a model that follows the spec's prose row by row.

use proptest::prelude::*;

use super::*;

/// A key of the `id` column.
type Key = Option<i32>;

#[derive(Debug, Clone)]
struct ModelFile {
    path: String,
    partition: (i32, Option<Value>),
    sequence_number: i64,
    keys: Vec<Key>,
    has_stats: bool,
}

#[derive(Debug, Clone)]
enum Scope {
    /// Deletes of the partition's rows.
    Partition,
    /// Deletes of the rows of the data file at this index.
    File(usize),
}

#[derive(Debug, Clone)]
enum ModelDelete {
    Position {
        partition: (i32, Option<Value>),
        scope: Scope,
        sequence_number: i64,
    },
    Equality {
        partition: (i32, Option<Value>),
        sequence_number: i64,
        keys: Vec<Key>,
        has_stats: bool,
    },
    Vector {
        file: usize,
        /// Added to the data file's sequence number.
        later_by: i64,
    },
}

fn partition() -> impl Strategy<Value = (i32, Option<Value>)> {
    prop_oneof![
        Just((UNPARTITIONED, None)),
        prop::option::of(0..2i32).prop_map(|v| (BY_PART, v.map(Value::Int))),
        prop::option::of(prop::sample::select(vec![0.0, -0.0, f64::NAN, -f64::NAN]))
            .prop_map(|v| (BY_SCORE, v.map(Value::Double))),
    ]
}

fn keys() -> impl Strategy<Value = Vec<Key>> {
    prop::collection::vec(prop::option::weighted(0.8, 0..12i32), 1..4)
}

fn model_file() -> impl Strategy<Value = ModelFile> {
    (partition(), 0..5i64, keys(), any::<bool>(), 0..3usize).prop_map(
        |(partition, sequence_number, keys, has_stats, scheme)| ModelFile {
            path: ["s3://b/", "s3a://b/", "/"][scheme].to_string(),
            partition,
            sequence_number,
            keys,
            has_stats,
        },
    )
}

fn model_delete(files: usize) -> impl Strategy<Value = ModelDelete> {
    let scope = prop_oneof![Just(Scope::Partition), (0..files).prop_map(Scope::File)];
    prop_oneof![
        (partition(), scope, 0..6i64).prop_map(|(partition, scope, sequence_number)| ModelDelete::Position {
            partition,
            scope,
            sequence_number
        }),
        (partition(), 0..6i64, keys(), any::<bool>()).prop_map(|(partition, sequence_number, keys, has_stats)| {
            ModelDelete::Equality {
                partition,
                sequence_number,
                keys,
                has_stats,
            }
        }),
        (0..files, 0..2i64).prop_map(|(file, later_by)| ModelDelete::Vector { file, later_by }),
    ]
}

fn case() -> impl Strategy<Value = (Vec<ModelFile>, Vec<ModelDelete>)> {
    prop::collection::vec(model_file(), 1..5).prop_flat_map(|mut files| {
        for (i, file) in files.iter_mut().enumerate() {
            file.path += &format!("f{i}");
        }
        let deletes = prop::collection::vec(model_delete(files.len()), 0..8);
        (Just(files), deletes)
    })
}

/// Counts and bounds as a careful writer would give them.
fn stats(file: DataFile, keys: &[Key]) -> DataFile {
    let values: Vec<i32> = keys.iter().copied().flatten().collect();
    let range = values.iter().min().zip(values.iter().max());
    let range = range.map(|(l, u)| (Value::Int(*l), Value::Int(*u)));
    let nulls = (keys.len() - values.len()) as i64;
    with_stats(file, 1, &PrimitiveType::Int, (keys.len() as i64, nulls, range))
}

fn place(file: DataFile, partition: &(i32, Option<Value>)) -> DataFile {
    match partition {
        (UNPARTITIONED, _) => file,
        (spec_id, value) => in_partition(file, *spec_id, value.clone()),
    }
}

fn same_partition(a: &(i32, Option<Value>), b: &(i32, Option<Value>)) -> bool {
    let bits = |v: &Option<Value>| match v {
        Some(Value::Double(d)) if d.is_nan() => Some(u64::MAX),
        Some(Value::Double(d)) => Some(d.to_bits()),
        Some(Value::Int(i)) => Some(*i as u64),
        _ => None,
    };
    a.0 == b.0 && bits(&a.1) == bits(&b.1)
}

impl ModelFile {
    fn build(&self) -> DataFile {
        let file = place(data(&self.path), &self.partition);
        if self.has_stats { stats(file, &self.keys) } else { file }
    }
}

impl ModelDelete {
    fn build(&self, name: &str, files: &[ModelFile]) -> (DataFile, i64) {
        match self {
            ModelDelete::Position {
                scope: Scope::File(i),
                sequence_number,
                ..
            } => {
                let target = &files[*i];
                let deletes = place(position_of(name, &target.path), &target.partition);
                (deletes, *sequence_number)
            }
            ModelDelete::Position {
                partition,
                sequence_number,
                ..
            } => (place(position(name), partition), *sequence_number),
            ModelDelete::Equality {
                partition,
                sequence_number,
                keys,
                has_stats,
            } => {
                let deletes = place(equality(name, &[1]), partition);
                let deletes = if *has_stats { stats(deletes, keys) } else { deletes };
                (deletes, *sequence_number)
            }
            ModelDelete::Vector { file, later_by } => {
                let target = &files[*file];
                let deletes = place(vector(name, &target.path), &target.partition);
                (deletes, target.sequence_number + later_by)
            }
        }
    }

    /// Whether it must be applied to file `i`, given whether a deletion vector must.
    fn is_in_scope(&self, i: usize, file: &ModelFile, has_vector: bool) -> bool {
        match self {
            ModelDelete::Position {
                partition,
                scope,
                sequence_number,
            } => {
                let in_place = match scope {
                    Scope::Partition => same_partition(partition, &file.partition),
                    Scope::File(target) => *target == i,
                };
                in_place && file.sequence_number <= *sequence_number && !has_vector
            }
            ModelDelete::Equality {
                partition,
                sequence_number,
                ..
            } => {
                let in_place = partition.0 == UNPARTITIONED || same_partition(partition, &file.partition);
                in_place && file.sequence_number < *sequence_number
            }
            ModelDelete::Vector { file: target, .. } => *target == i,
        }
    }

    /// Whether it removes a row of the file. Positions always may.
    fn removes_from(&self, file: &ModelFile) -> bool {
        match self {
            ModelDelete::Equality { keys, .. } => keys.iter().any(|key| file.keys.contains(key)),
            _ => true,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn index_agrees_with_the_spec((files, mut deletes) in case()) {
        let mut with_vector = HashSet::new();
        deletes.retain(|d| !matches!(d, ModelDelete::Vector { file, .. } if !with_vector.insert(*file)));
        let named = deletes.iter().enumerate().map(|(n, d)| d.build(&n.to_string(), &files)).collect();
        let index = index(named).unwrap();
        for (i, file) in files.iter().enumerate() {
            let found = paths(&index, &file.build(), file.sequence_number);
            for (n, delete) in deletes.iter().enumerate() {
                let is_found = found.contains(&n.to_string());
                let is_in_scope = delete.is_in_scope(i, file, with_vector.contains(&i));
                if is_in_scope && delete.removes_from(file) {
                    prop_assert!(is_found, "{delete:?} is missing for {file:?}");
                }
                if !is_in_scope {
                    prop_assert!(!is_found, "{delete:?} must not apply to {file:?}");
                }
            }
            let distinct: HashSet<&String> = found.iter().collect();
            prop_assert_eq!(distinct.len(), found.len());
        }
    }
}
