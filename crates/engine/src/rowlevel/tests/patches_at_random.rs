//! Random changes of random tables: whether files are taken apart or written anew, and whether new values come alone or
//! with all columns, the rows are the same.

use arrow::array::Float64Array;
use datafusion::logical_expr::{col, lit, when};
use tarn_format::transform::Transform;

use super::patches::{change, ids, rows_and_lineage};
use super::*;

const SEEDS: u64 = 8;
const CHANGES: usize = 3;

/// Numbers that a seed gives (a linear congruential generator).
#[derive(Debug, Clone)]
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % end
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

fn columns() -> Vec<NestedField> {
    vec![
        NestedField::required(1, "id", PrimitiveType::Int),
        NestedField::optional(2, "a", PrimitiveType::Double),
        NestedField::optional(3, "b", PrimitiveType::String),
    ]
}

/// A file of row groups of random lengths; returns how many rows it has.
async fn append(site: &Site, random: &mut Random, first: i32) -> i32 {
    let mut batches = Vec::new();
    let mut next = first;
    for _ in 0..1 + random.below(4) {
        let rows = 1 + random.below(40) as i32;
        let ids: Vec<i32> = (next..next + rows).collect();
        next += rows;
        let numbers = [Some(-0.0), Some(0.0), Some(1.5), Some(-7.25), Some(f64::NAN), None];
        let some = 1 + random.below(numbers.len());
        let a: Float64Array = ids.iter().map(|_| numbers[random.below(some)]).collect();
        let texts = ["", "x", "a text of more than sixteen code points"];
        let b: Vec<Option<&str>> = ids
            .iter()
            .map(|_| (!random.one_in(4)).then(|| texts[random.below(3)]))
            .collect();
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int32Array::from(ids)),
            Arc::new(a),
            Arc::new(StringViewArray::from(b)),
        ];
        batches.push(site.batch(columns).await);
    }
    site.append_partitions(&[batches]).await.unwrap();
    next
}

async fn random_change(site: &Site, random: &mut Random, rows: i32) -> Change {
    let chosen: Vec<i32> = match random.below(3) {
        0 => (0..1 + random.below(4))
            .map(|_| random.below(rows as usize) as i32)
            .collect(),
        1 => {
            let start = random.below(rows as usize) as i32;
            (start..rows.min(start + random.below(80) as i32)).collect()
        }
        _ => (0..rows).filter(|_| random.one_in(3)).collect(),
    };
    let filter = match random.one_in(8) {
        true => lit(true),
        false => ids(chosen.into_iter().chain([-1])),
    };
    let numbers = [
        lit(f64::NAN),
        lit(-0.0),
        lit(-9.5),
        cast(col("id"), arrow::datatypes::DataType::Float64),
    ];
    let text = cast(lit("new text"), arrow::datatypes::DataType::Utf8View);
    let mut new = Vec::new();
    if !random.one_in(3) {
        new.push(("a", numbers[random.below(numbers.len())].clone()));
    }
    if random.one_in(3) {
        new.push(("b", text));
    }
    let (delete, update) = (lit(RowAction::Delete as i32), lit(RowAction::Update as i32));
    let odd = (col("id") % lit(2)).eq(lit(1));
    let action = match random.below(3) {
        0 => delete,
        1 => update,
        _ => when(odd, delete).otherwise(update).unwrap(),
    };
    change(site, filter, action, &new).await
}

/// How a statement goes about it.
type Way = (Patching, Alone);

async fn run(seed: u64, version: FormatVersion, (patching, alone): Way) -> (Vec<RecordBatch>, usize) {
    let mut random = Random(seed);
    let mut making = Making::new()
        .version(version)
        .property("write.parquet.row-group-size-bytes", 1);
    if random.one_in(3) {
        making = making.partitioned_by(1, Transform::Bucket(2));
    }
    let site = Site::new(columns(), making).await;
    let mut rows = 0;
    for _ in 0..1 + random.below(3) {
        rows = append(&site, &mut random, rows).await;
    }
    let (mut states, mut apart) = (Vec::new(), 0);
    for _ in 0..CHANGES {
        if version > FormatVersion::V1 && random.one_in(4) {
            // Files with deletes beside them.
            let some = ids([random.below(rows as usize) as i32, -1]);
            delete(RowLevelMode::MergeOnRead, some).run(&site).await.unwrap();
        }
        let change = Change {
            patching,
            alone,
            ..random_change(&site, &mut random, rows).await
        };
        let report = change.run(&site).await.unwrap();
        apart += report.copied_row_groups + report.encoded_chunks;
        states.push(rows_and_lineage(&site).await);
    }
    (states, apart)
}

#[tokio::test]
async fn files_taken_apart_have_the_rows_of_files_written_anew() {
    let mut apart = 0;
    for seed in 0..SEEDS {
        for version in [FormatVersion::V1, FormatVersion::V2, FormatVersion::V3] {
            let (patched, copied) = run(seed, version, (Patching::Always, Alone::Planned)).await;
            let (anew, none) = run(seed, version, (Patching::Never, Alone::NotPlanned)).await;
            let (values, _) = run(seed, version, (Patching::Never, Alone::Planned)).await;
            assert_eq!(none, 0);
            assert_eq!(patched, anew, "seed {seed}, {version:?}");
            assert_eq!(values, anew, "seed {seed}, {version:?}");
            apart += copied;
        }
    }
    assert!(apart > 50, "only {apart} row groups and chunks");
}
