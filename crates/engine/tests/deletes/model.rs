//! Random mixtures of deletes against a model that asks the specification's rules of every row.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, Int64Array, StringViewArray};
use proptest::prelude::*;
use tarn_engine::scan::{MetadataColumn, ReadOptions};
use tarn_format::commit::row_delta::RowDelta;
use tarn_format::manifest::data_file::{DataFile, PartitionTuple};
use tarn_format::spec::partition::PartitionSpec;
use tarn_format::spec::table_metadata::FormatVersion::{self, V2, V3};
use tarn_format::spec::types::{FieldId, NestedField, PrimitiveType};

use crate::site::{Site, by, partition};

/// Values of partition column `p`.
const PARTITIONS: [&str; 2] = ["x", "y"];

/// A row without its partition: `id` and `n`.
type Row = (Option<i64>, Option<i32>);

/// What one snapshot adds.
#[derive(Debug, Clone)]
struct Step {
    files: Vec<(usize, Vec<Row>)>,
    /// Positions by file, counted over all that were added so far, this step's included.
    positions: Vec<(prop::sample::Index, Vec<u64>)>,
    scope: Naming,
    keys: Option<Keys>,
}

/// Whether position deletes name their data file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Naming {
    Partition,
    File,
}

#[derive(Debug, Clone)]
struct Keys {
    partition: usize,
    columns: Vec<FieldId>,
    keys: Vec<Row>,
}

#[derive(Debug, Clone)]
struct Query {
    filter: Option<(i64, i64)>,
    n: Option<i32>,
    limit: usize,
    split_size_bytes: Option<u64>,
}

fn row() -> impl Strategy<Value = Row> {
    (
        prop::option::weighted(0.9, 0..8_i64),
        prop::option::weighted(0.8, 0..3_i32),
    )
}

fn step() -> impl Strategy<Value = Step> {
    let file = (0..PARTITIONS.len(), prop::collection::vec(row(), 1..14));
    let positions = (any::<prop::sample::Index>(), prop::collection::vec(0..15_u64, 1..5));
    let columns = prop::sample::select(vec![vec![1], vec![2], vec![1, 2], vec![2, 1]]);
    let keys = (0..PARTITIONS.len(), columns, prop::collection::vec(row(), 1..3));
    let keys = keys.prop_map(|(partition, columns, keys)| Keys {
        partition,
        columns,
        keys,
    });
    let scope = prop::sample::select(vec![Naming::Partition, Naming::File]);
    (
        prop::collection::vec(file, 0..3),
        prop::collection::vec(positions, 0..3),
        scope,
        prop::option::weighted(0.4, keys),
    )
        .prop_map(|(files, positions, scope, keys)| Step {
            files,
            positions,
            scope,
            keys,
        })
}

fn query() -> impl Strategy<Value = Query> {
    (
        prop::option::of((0..6_i64, 1..5_i64)),
        prop::option::weighted(0.3, 0..3_i32),
        0..20_usize,
        prop::option::of(1..200_u64),
    )
        .prop_map(|(filter, n, limit, split_size_bytes)| Query {
            filter: filter.map(|(from, len)| (from, from + len)),
            n,
            limit,
            split_size_bytes,
        })
}

/// A data file and all that was deleted from it.
struct ModelFile {
    file: Arc<DataFile>,
    partition: usize,
    sequence_number: usize,
    rows: Vec<Row>,
    /// With the sequence number of their deletes.
    positions: Vec<(usize, u64)>,
    vector: Option<DataFile>,
}

/// The table as the specification sees it.
struct Model {
    version: FormatVersion,
    partitioned: bool,
    files: Vec<ModelFile>,
    keys: Vec<(usize, Keys)>,
}

impl Model {
    /// Spec, "Scan Planning".
    fn is_deleted(&self, file: &ModelFile, pos: usize) -> bool {
        let by_position = |(sequence_number, deleted): &(usize, u64)| {
            *sequence_number >= file.sequence_number && *deleted == pos as u64
        };
        let by_key = |(sequence_number, keys): &(usize, Keys)| {
            let in_scope = !self.partitioned || keys.partition == file.partition;
            let equal = |key: &Row| {
                keys.columns.iter().all(|id| match id {
                    1 => key.0 == file.rows[pos].0,
                    _ => key.1 == file.rows[pos].1,
                })
            };
            *sequence_number > file.sequence_number && in_scope && keys.keys.iter().any(equal)
        };
        file.positions.iter().any(by_position) || self.keys.iter().any(by_key)
    }

    /// All rows as the table shows them, with whether they are deleted.
    fn rows(&self) -> Vec<(Row, String, bool)> {
        let of = |file: &ModelFile| {
            let show = |value: Option<String>| value.unwrap_or("NULL".to_string());
            let row = |(pos, row): (usize, &Row)| {
                let p = PARTITIONS[file.partition];
                let id = show(row.0.map(|id| id.to_string()));
                let n = show(row.1.map(|n| n.to_string()));
                (*row, format!("{id} {n} {p}"), self.is_deleted(file, pos))
            };
            file.rows.iter().enumerate().map(row).collect::<Vec<_>>()
        };
        self.files.iter().flat_map(of).collect()
    }

    fn tuple(&self, index: usize) -> PartitionTuple {
        match self.partitioned {
            true => partition(PARTITIONS[index]),
            false => PartitionTuple::default(),
        }
    }

    async fn apply(&mut self, site: &Site, number: usize, step: &Step) {
        let sequence_number = number + 1;
        let table = site.table().await;
        let base = table.metadata.current_snapshot().map(|s| s.snapshot_id);
        let mut delta = RowDelta::new().from_snapshot(base);
        for (i, (partition, rows)) in step.files.iter().enumerate() {
            let ids = Int64Array::from_iter(rows.iter().map(|r| r.0));
            let ns = Int32Array::from_iter(rows.iter().map(|r| r.1));
            let ps = StringViewArray::from_iter_values(rows.iter().map(|_| PARTITIONS[*partition]));
            let columns: Vec<ArrayRef> = vec![Arc::new(ids), Arc::new(ns), Arc::new(ps)];
            let mut file = Arc::unwrap_or_clone(site.data(&format!("f{number}-{i}"), columns).await);
            file.partition = self.tuple(*partition);
            let file = Arc::new(file);
            delta = delta.add_rows(Arc::clone(&file));
            self.files.push(ModelFile {
                file,
                partition: *partition,
                sequence_number,
                rows: rows.clone(),
                positions: Vec::new(),
                vector: None,
            });
        }
        delta = self.delete_positions(site, delta, number, step).await;
        if let Some(keys) = &step.keys {
            let column = |id: &FieldId| -> (&str, FieldId, ArrayRef) {
                match id {
                    1 => ("id", 1, Arc::new(Int64Array::from_iter(keys.keys.iter().map(|k| k.0)))),
                    _ => ("n", 2, Arc::new(Int32Array::from_iter(keys.keys.iter().map(|k| k.1)))),
                }
            };
            let columns = keys.columns.iter().map(column).collect();
            let mut file = site.keys(&format!("k{number}"), columns).await;
            file.partition = self.tuple(keys.partition);
            delta = delta.add_deletes(Arc::new(file));
            self.keys.push((sequence_number, keys.clone()));
        }
        site.commit(delta.build()).await;
    }

    async fn delete_positions(&mut self, site: &Site, mut delta: RowDelta, number: usize, step: &Step) -> RowDelta {
        let mut touched: Vec<usize> = Vec::new();
        for (index, positions) in &step.positions {
            if self.files.is_empty() {
                continue;
            }
            let index = index.index(self.files.len());
            let file = &mut self.files[index];
            // Position deletes may dangle. A vector's cardinality is taken off the row count: it must not.
            let most = match self.version {
                V3 => file.rows.len() as u64,
                _ => u64::MAX,
            };
            let at = positions
                .iter()
                .filter(|pos| **pos < most)
                .map(|pos| (number + 1, *pos));
            file.positions.extend(at);
            touched.push(index);
        }
        touched.sort_unstable();
        touched.dedup();
        if self.version == V3 {
            for index in touched {
                let file = &mut self.files[index];
                let all: Vec<u64> = file.positions.iter().map(|(_, pos)| *pos).collect();
                if all.is_empty() {
                    continue;
                }
                let vector = site.vector_of(&format!("v{number}-{index}"), &file.file, &all).await;
                if let Some(earlier) = file.vector.replace(vector.clone()) {
                    delta = delta.remove_deletes(Arc::new(earlier));
                }
                delta = delta.add_deletes(Arc::new(vector));
            }
            return delta;
        }
        let groups: Vec<Vec<usize>> = match step.scope {
            Naming::File => touched.into_iter().map(|index| vec![index]).collect(),
            Naming::Partition => (0..PARTITIONS.len())
                .map(|p| {
                    touched
                        .iter()
                        .copied()
                        .filter(|i| self.files[*i].partition == p)
                        .collect()
                })
                .collect(),
        };
        for (i, group) in groups.into_iter().filter(|g| !g.is_empty()).enumerate() {
            let mut rows: Vec<(Option<&str>, i64)> = Vec::new();
            for file in group.iter().map(|index| &self.files[*index]) {
                let new = file
                    .positions
                    .iter()
                    .filter(|(sequence_number, _)| *sequence_number == number + 1);
                rows.extend(new.map(|(_, pos)| (Some(file.file.file_path.as_ref()), *pos as i64)));
            }
            if rows.is_empty() {
                continue;
            }
            let mut deletes = site.positions(&format!("p{number}-{i}"), &rows).await;
            let first = &self.files[group[0]].file;
            deletes.partition = first.partition.clone();
            deletes.referenced_data_file = (step.scope == Naming::File).then(|| Arc::clone(&first.file_path));
            delta = delta.add_deletes(Arc::new(deletes));
        }
        delta
    }
}

impl Query {
    fn matches(&self, row: &Row) -> bool {
        let in_range = |(from, to): (i64, i64)| row.0.is_some_and(|id| from <= id && id < to);
        self.filter.is_none_or(in_range) && self.n.is_none_or(|n| row.1 == Some(n))
    }

    fn condition(&self) -> String {
        let range = self.filter.map(|(from, to)| format!("id >= {from} AND id < {to}"));
        let n = self.n.map(|n| format!("n = {n}"));
        let all: Vec<String> = range.into_iter().chain(n).collect();
        match all.is_empty() {
            true => "true".to_string(),
            false => all.join(" AND "),
        }
    }

    async fn check(&self, site: &Site, model: &Model) {
        let read = ReadOptions {
            split_size_bytes: self.split_size_bytes,
            ..ReadOptions::default()
        };
        let condition = self.condition();
        let run =
            async |sql: String, columns: &[MetadataColumn]| site.try_query(&sql, columns, read.clone()).await.unwrap();
        let all = model.rows();
        let matching = all.iter().filter(|(row, _, _)| self.matches(row));
        let live: Vec<&(Row, String, bool)> = matching.clone().filter(|(_, _, deleted)| !deleted).collect();
        let mut expected: Vec<String> = live.iter().map(|(_, shown, _)| shown.clone()).collect();
        expected.sort();
        let mut found = run(format!("SELECT id, n, p FROM t WHERE {condition}"), &[]).await;
        found.sort();
        assert_eq!(found, expected, "{condition}");

        let count = run(format!("SELECT count(*) FROM t WHERE {condition}"), &[]).await;
        assert_eq!(count, [expected.len().to_string()], "{condition}");
        let least = live.iter().filter_map(|(row, _, _)| row.0).min();
        let least = least.map_or("NULL".to_string(), |id| id.to_string());
        assert_eq!(
            run(format!("SELECT min(id) FROM t WHERE {condition}"), &[]).await,
            [least]
        );

        let limited = run(format!("SELECT p FROM t WHERE {condition} LIMIT {}", self.limit), &[]);
        assert_eq!(limited.await.len(), self.limit.min(expected.len()), "{condition}");
        let mut ids: Vec<i64> = live.iter().filter_map(|(row, _, _)| row.0).collect();
        ids.sort_unstable_by(|a, b| b.cmp(a));
        let top: Vec<String> = ids.iter().take(self.limit).map(i64::to_string).collect();
        let sql = format!(
            "SELECT id FROM t WHERE {condition} AND id IS NOT NULL ORDER BY id DESC LIMIT {}",
            self.limit
        );
        assert_eq!(run(sql, &[]).await, top, "{condition}");

        let mut marked: Vec<String> = matching
            .map(|(_, shown, deleted)| format!("{shown} {deleted}"))
            .collect();
        marked.sort();
        let sql = format!("SELECT id, n, p, _deleted FROM t WHERE {condition}");
        let mut found = run(sql, &[MetadataColumn::Deleted]).await;
        found.sort();
        assert_eq!(found, marked, "{condition}");
    }
}

async fn check(version: FormatVersion, partitioned: bool, steps: &[Step], queries: &[Query]) {
    let columns = vec![
        NestedField::optional(1, "id", PrimitiveType::Long),
        NestedField::optional(2, "n", PrimitiveType::Int),
        NestedField::optional(3, "p", PrimitiveType::String),
    ];
    let spec = match partitioned {
        true => by(3),
        false => PartitionSpec::unpartitioned(),
    };
    let site = Site::with(version, columns, spec).await;
    let mut model = Model {
        version,
        partitioned,
        files: Vec::new(),
        keys: Vec::new(),
    };
    for (number, step) in steps.iter().enumerate() {
        model.apply(&site, number, step).await;
    }
    for query in queries {
        query.check(&site, &model).await;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn rows_are_those_that_the_rules_leave(
        version in prop::sample::select(vec![V2, V3]),
        partitioned: bool,
        steps in prop::collection::vec(step(), 1..6),
        queries in prop::collection::vec(query(), 1..4),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
        runtime.block_on(check(version, partitioned, &steps, &queries));
    }
}
