//! Random tables and filters against the rows themselves: no file that holds a matching row is left out, none is said
//! to match in full that doesn't, and a residual keeps exactly the filter's rows of its file.

use proptest::prelude::*;

use super::filter::RowMatch;
use super::table_scan::{ScanPlan, TableScan};
use super::testing::{MemoryTable, data};
use crate::expr::{BoundPredicate, BoundTerm, CaseSensitivity, Predicate, evaluator};
use crate::manifest::data_file::{DataFile, PartitionTuple};
use crate::manifest::manifest_file::ManifestContent;
use crate::spec::snapshot::Operation;
use crate::spec::types::PrimitiveType;
use crate::spec::value::Value;
use crate::spec::value_binary::to_bytes;
use crate::spec::value_order;

/// `id`, `part`, `score`: fields 1, 3 and 4 of the test table.
#[derive(Debug, Clone)]
struct Row {
    id: Option<Value>,
    part: Option<Value>,
    score: Option<Value>,
}

#[derive(Debug, Clone)]
struct ModelFile {
    spec_id: i32,
    rows: Vec<Row>,
    has_stats: bool,
}

fn int() -> impl Strategy<Value = Option<Value>> {
    prop::option::weighted(0.85, (0..6i32).prop_map(Value::Int))
}

fn double() -> impl Strategy<Value = Option<Value>> {
    let values = vec![-1.5, -0.0, 0.0, 2.0, f64::INFINITY, f64::NAN];
    prop::option::weighted(0.85, prop::sample::select(values).prop_map(Value::Double))
}

fn model_file() -> impl Strategy<Value = ModelFile> {
    let rows = prop::collection::vec((int(), int(), double()), 1..4);
    (0..3i32, rows, any::<bool>()).prop_map(|(spec_id, rows, has_stats)| {
        let mut rows: Vec<Row> = rows
            .into_iter()
            .map(|(id, part, score)| Row { id, part, score })
            .collect();
        let first = rows[0].clone();
        for row in &mut rows {
            match spec_id {
                1 => row.part = first.part.clone(),
                2 => row.score = first.score.clone(),
                _ => {}
            }
        }
        ModelFile {
            spec_id,
            rows,
            has_stats,
        }
    })
}

fn leaf() -> impl Strategy<Value = Predicate> {
    let on_int = (prop::sample::select(vec!["id", "part"]), 0..6i32, 0..8usize).prop_map(|(name, v, op)| match op {
        0 => Predicate::lt(name, v),
        1 => Predicate::lt_eq(name, v),
        2 => Predicate::gt(name, v),
        3 => Predicate::gt_eq(name, v),
        4 => Predicate::eq(name, v),
        5 => Predicate::not_eq(name, v),
        6 => Predicate::is_in(name, [v, v + 2]),
        _ => Predicate::not_in(name, [v, v + 2]),
    });
    let on_double = (prop::sample::select(vec![-1.5, 0.0, 2.0]), 0..4usize).prop_map(|(v, op)| match op {
        0 => Predicate::lt("score", v),
        1 => Predicate::gt_eq("score", v),
        2 => Predicate::eq("score", v),
        _ => Predicate::not_eq("score", v),
    });
    let unary = (prop::sample::select(vec!["id", "part", "score"]), any::<bool>()).prop_map(|(name, null)| {
        if null {
            Predicate::is_null(name)
        } else {
            Predicate::not_null(name)
        }
    });
    let nan = any::<bool>().prop_map(|nan| {
        if nan {
            Predicate::is_nan("score")
        } else {
            Predicate::not_nan("score")
        }
    });
    prop_oneof![4 => on_int, 2 => on_double, 1 => unary, 1 => nan]
}

fn filter() -> impl Strategy<Value = Predicate> {
    leaf().prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a.and(b)),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a.or(b)),
            inner.prop_map(|p| !p),
        ]
    })
}

impl Row {
    fn get(&self, field_id: i32) -> Option<Value> {
        match field_id {
            1 => self.id.clone(),
            3 => self.part.clone(),
            4 => self.score.clone(),
            other => panic!("no field {other}"),
        }
    }

    fn matches(&self, predicate: &BoundPredicate) -> bool {
        evaluator::evaluate(predicate, &|term: &BoundTerm| self.get(term.field_id)).unwrap()
    }
}

impl ModelFile {
    fn build(&self, n: usize) -> DataFile {
        let mut file = data(&format!("f{n}"));
        file.record_count = self.rows.len() as i64;
        file.spec_id = self.spec_id;
        match self.spec_id {
            1 => file.partition = PartitionTuple(vec![self.rows[0].part.clone()]),
            2 => file.partition = PartitionTuple(vec![self.rows[0].score.clone()]),
            _ => {}
        }
        if self.has_stats {
            for (id, ty) in [
                (1, PrimitiveType::Int),
                (3, PrimitiveType::Int),
                (4, PrimitiveType::Double),
            ] {
                self.add_stats(&mut file, id, &ty);
            }
        }
        file
    }

    fn add_stats(&self, file: &mut DataFile, id: i32, ty: &PrimitiveType) {
        let values: Vec<Value> = self.rows.iter().filter_map(|r| r.get(id)).collect();
        let is_nan = |v: &Value| matches!(v, Value::Double(d) if d.is_nan());
        file.value_counts.insert(id, self.rows.len() as i64);
        file.null_value_counts
            .insert(id, (self.rows.len() - values.len()) as i64);
        if *ty == PrimitiveType::Double {
            let nans = values.iter().filter(|v| is_nan(v)).count();
            file.nan_value_counts.insert(id, nans as i64);
        }
        let mut bounded: Vec<Value> = values.into_iter().filter(|v| !is_nan(v)).collect();
        bounded.sort_by(|a, b| value_order::compare(a, b, ty));
        if let (Some(lower), Some(upper)) = (bounded.first(), bounded.last()) {
            file.lower_bounds.insert(id, to_bytes(lower, ty).unwrap());
            file.upper_bounds.insert(id, to_bytes(upper, ty).unwrap());
        }
    }
}

async fn plan(files: &[ModelFile], filter: &Predicate) -> ScanPlan {
    let mut table = MemoryTable::new();
    for spec_id in 0..3 {
        let of_spec = files.iter().enumerate().filter(|(_, f)| f.spec_id == spec_id);
        let built: Vec<DataFile> = of_spec.map(|(n, f)| f.build(n)).collect();
        if !built.is_empty() {
            table.added(ManifestContent::Data, spec_id, built).await;
        }
    }
    table.commit(Operation::Append).await;
    TableScan::new(table.setup().filter(filter.clone()))
        .plan()
        .await
        .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn plans_agree_with_the_rows(files in prop::collection::vec(model_file(), 1..6), filter in filter()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let plan = runtime.block_on(plan(&files, &filter));
        let bound = filter.bind(&plan.schema, CaseSensitivity::Sensitive).unwrap();
        for (n, file) in files.iter().enumerate() {
            let task = plan.tasks.iter().find(|t| t.path() == format!("f{n}"));
            let matching = file.rows.iter().filter(|r| r.matches(&bound)).count();
            let Some(task) = task else {
                prop_assert_eq!(matching, 0, "{:?} was left out", file);
                continue;
            };
            if task.row_match() == RowMatch::All {
                prop_assert_eq!(matching, file.rows.len(), "{:?} does not match in full", file);
            }
            for row in &file.rows {
                let residual = row.matches(task.residual());
                prop_assert_eq!(residual, row.matches(&bound), "{:?} of {:?} under {:?}", row, file, task.residual());
            }
        }
        if let Some(count) = plan.exact_row_count() {
            let all: usize = files.iter().flat_map(|f| &f.rows).filter(|r| r.matches(&bound)).count();
            prop_assert_eq!(count, all as u64);
        }
    }
}
