//! Property test: random tables against an independent reading of predicates.
//!
//! Whatever the types, values, specs, metrics and predicates, skipping never loses a file that holds a matching row,
//! strict evaluation never claims a file that holds another, and residuals match the same rows.

mod metrics;
mod oracle;
mod predicates;
mod pruning;
mod values;
mod world;

use proptest::prelude::*;
use rand::SeedableRng;
use rand::rngs::StdRng;

use self::oracle::{Floats, Nulls, Oracle};
use self::predicates::Generated;
use self::world::{File, World};
use super::bound::BoundPredicate;
use super::evaluator::{evaluate, value_at};
use super::inclusive_metrics::InclusiveMetricsEvaluator;
use super::manifest_evaluator::ManifestEvaluator;
use super::partition_evaluator::PartitionEvaluator;
use super::residual::Residual;
use super::strict_metrics::StrictMetricsEvaluator;
use super::{CaseSensitivity, Predicate, project};
use crate::manifest::columns::ManifestColumns;
use crate::manifest::data_file::{ManifestEntry, ManifestStatus};

/// `PROPTEST_CASES`, or few enough to take seconds.
fn cases() -> u32 {
    let wanted = std::env::var("PROPTEST_CASES").ok();
    wanted.and_then(|n| n.parse().ok()).unwrap_or(150)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// The seed and sizes in a failure's report give the same table and predicates again.
    #[test]
    fn pruning_is_sound(seed in any::<u64>(), rows in 1usize..30, depth in 0u32..4) {
        let mut rng = StdRng::seed_from_u64(seed);
        let world = World::generate(&mut rng, rows);
        for _ in 0..12 {
            let generated = predicates::generate(&mut rng, &world, depth);
            check(&world, &generated)?;
        }
    }
}

/// What each stage says of one file.
struct Stages {
    manifest: bool,
    partition: bool,
    metrics: bool,
    strict_partition: bool,
    strict_metrics: bool,
    residual: BoundPredicate,
}

fn check(world: &World, generated: &Generated) -> Result<(), TestCaseError> {
    let bound = generated.predicate.bind(&world.schema, CaseSensitivity::Sensitive);
    let bound = bound.map_err(|e| TestCaseError::fail(format!("{e}: {}", generated.predicate)))?;
    check_vectors(world, &bound)?;
    for file in &world.files {
        let stages = stages(world, file, &bound);
        check_file(world, file, &stages, &bound, generated)
            .map_err(|e| TestCaseError::fail(explain(world, file, &generated.predicate, &bound, &e)))?;
    }
    Ok(())
}

fn stages(world: &World, file: &File, bound: &BoundPredicate) -> Stages {
    let manifest = &world.manifests[file.manifest];
    let spec = &world.specs[file.spec];
    let partition = &file.data_file.partition;
    let inclusive = project::inclusive(bound, spec, &world.schema);
    let strict = project::strict(bound, spec, &world.schema);
    Stages {
        manifest: ManifestEvaluator::for_rows(bound, spec, &world.schema).may_match(manifest),
        partition: PartitionEvaluator::new(inclusive, spec).may_match(partition),
        metrics: InclusiveMetricsEvaluator::new(bound).may_match(&file.data_file),
        strict_partition: PartitionEvaluator::new(strict, spec).all_match(partition),
        strict_metrics: StrictMetricsEvaluator::new(bound).all_match(&file.data_file),
        residual: Residual::new(bound, spec, &world.schema).for_partition(partition),
    }
}

fn check_file(
    world: &World,
    file: &File,
    stages: &Stages,
    bound: &BoundPredicate,
    generated: &Generated,
) -> Result<(), String> {
    let oracle = |floats, nulls| Oracle { world, floats, nulls };
    let sql = oracle(Floats::Total, Nulls::Unknown);
    let ieee = oracle(Floats::Ieee, Nulls::Unknown);
    let java = oracle(Floats::Total, Nulls::MatchNegative);
    let positive = generated.predicate.clone().rewrite_not();
    for row in &file.rows {
        let by_row = |p: &BoundPredicate| {
            let result = evaluate(p, &|term| value_at(row, &term.path).cloned());
            result.map_err(|e| e.to_string())
        };
        let matches = sql.matches(&generated.predicate, row);
        if by_row(bound)? != matches {
            return Err(format!(
                "the bound predicate does not match like the unbound one: {row:?}"
            ));
        }
        if by_row(&stages.residual)? != matches {
            return Err(format!("the residual {} differs for {row:?}", stages.residual));
        }
        let in_ieee = ieee.matches(&generated.predicate, row);
        let in_java = generated.java_nulls && java.matches(&positive, row);
        if matches || in_ieee || in_java {
            for (kept, stage) in [
                (stages.manifest, "manifest"),
                (stages.partition, "partition"),
                (stages.metrics, "metrics"),
            ] {
                if !kept {
                    return Err(format!(
                        "{stage} loses {row:?} (total {matches}, ieee {in_ieee}, java {in_java})"
                    ));
                }
            }
        }
        if !(matches && in_ieee) {
            for (claimed, stage) in [
                (stages.strict_partition, "strict projection"),
                (stages.strict_metrics, "strict metrics"),
            ] {
                if claimed {
                    return Err(format!("{stage} claims {row:?} (total {matches}, ieee {in_ieee})"));
                }
            }
        }
    }
    Ok(())
}

/// Columns of many files answer like the files one by one.
fn check_vectors(world: &World, bound: &BoundPredicate) -> Result<(), TestCaseError> {
    let entries: Vec<ManifestEntry> = world.files.iter().map(entry).collect();
    let columns = ManifestColumns::from_entries(&entries).map_err(|e| TestCaseError::fail(e.to_string()))?;
    let inclusive = InclusiveMetricsEvaluator::new(bound);
    let strict = StrictMetricsEvaluator::new(bound);
    let one_by_one = |ask: &dyn Fn(&File) -> bool| world.files.iter().map(ask).collect::<Vec<bool>>();
    prop_assert_eq!(
        inclusive.evaluate(&columns),
        one_by_one(&|f| inclusive.may_match(&f.data_file)),
        "{}",
        bound
    );
    prop_assert_eq!(
        strict.evaluate(&columns),
        one_by_one(&|f| strict.all_match(&f.data_file)),
        "{}",
        bound
    );
    Ok(())
}

fn entry(file: &File) -> ManifestEntry {
    ManifestEntry {
        status: ManifestStatus::Added,
        snapshot_id: Some(1),
        sequence_number: Some(1),
        file_sequence_number: Some(1),
        data_file: file.data_file.clone().into(),
    }
}

fn explain(world: &World, file: &File, predicate: &Predicate, bound: &BoundPredicate, error: &str) -> String {
    let spec = &world.specs[file.spec];
    format!(
        "{error}\n predicate {predicate}\n bound {bound}\n inclusive {}\n strict {}\n spec {:?}\n columns {:?}\n file {:?}\n summaries {:?}",
        project::inclusive(bound, spec, &world.schema),
        project::strict(bound, spec, &world.schema),
        spec.fields,
        world.columns,
        file.data_file,
        world.manifests[file.manifest].partitions,
    )
}
