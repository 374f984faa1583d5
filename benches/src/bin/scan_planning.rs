//! Scan planning over tables of metadata only: 10,000 and 200,000 data files with bounds of 20 columns, both again with
//! a deletion vector for every second file, 200,000 files of one column, and one file of 10,000 columns.
//!
//! Prints for each table: the time to inflate the manifests' blocks alone (on one thread and on all), wall and CPU time to
//! plan a selective predicate with an empty cache and with a full one, with feature `sql` to make DataFusion's plan of all
//! columns too, the cache's bytes per file and the most memory that planning took (on Linux). With `TARN_PYTHON`
//! set to a Python that has PyIceberg, the same scan is planned there too.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tarn_benches::timing::{Cost, Stopwatch};
use tarn_format::expr::Predicate;
use tarn_format::io::FileIo;
use tarn_format::manifest;
use tarn_format::manifest::avro::codec::Codec;
use tarn_format::manifest::avro::container::ContainerReader;
use tarn_format::manifest::cache::ManifestCache;
use tarn_format::manifest::data_file::{DataContent, DataFile, FileFormat, PartitionTuple};
use tarn_format::manifest::list::ManifestListWriterOptions;
use tarn_format::manifest::manifest_file::{ManifestContent, ManifestFile};
use tarn_format::manifest::writer::{ManifestWriter, ManifestWriterOptions};
use tarn_format::scan::{ScanPlan, ScanSetup, TableScan};
use tarn_format::spec::partition::{PartitionField, PartitionSpec};
use tarn_format::spec::schema::Schema;
use tarn_format::spec::table_metadata::{FormatVersion, TableMetadata};
use tarn_format::spec::types::{NestedField, PrimitiveType, StructType, Type};
use tarn_format::spec::value::Value;
use tarn_format::spec::value_binary::to_bytes;
use tarn_format::transform::Transform;

type Failure = Box<dyn std::error::Error>;

const ROWS_PER_FILE: i64 = 1000;
const MANIFEST_TARGET_BYTES: usize = 8 << 20;
const SNAPSHOT_ID: i64 = 7_000_000_000_000_000_001;

fn column_type(id: i32) -> PrimitiveType {
    if id % 4 == 0 {
        PrimitiveType::String
    } else {
        PrimitiveType::Long
    }
}

fn schema(columns: i32) -> Result<Schema, Failure> {
    let fields = (1..=columns)
        .map(|id| NestedField::optional(id, format!("c{id}"), Type::Primitive(column_type(id))))
        .collect();
    Ok(Schema::new(0, StructType::new(fields), vec![])?)
}

/// Partitioned by a bucket of `c2`, so that partitions prune nothing of a filter on `c1`; of `c1` where it is alone.
fn spec(columns: i32) -> PartitionSpec {
    PartitionSpec {
        spec_id: 0,
        fields: vec![PartitionField {
            source_ids: vec![columns.min(2)],
            field_id: 1000,
            name: "c2_bucket".into(),
            transform: Transform::Bucket(16),
            extra: Default::default(),
        }],
        extra: Default::default(),
    }
}

/// Pseudo-random, the same in every run (splitmix64).
fn scrambled(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// File `n`: `c1` holds `n * ROWS_PER_FILE ..`, the others are scattered.
fn data_file(location: &str, columns: i32, n: u64) -> Result<DataFile, Failure> {
    let id = scrambled(n);
    let path = format!("{location}/data/c2_bucket={}/{n:05}-{id:016x}-00001.parquet", n % 16);
    let mut file = DataFile::new(DataContent::Data, path, FileFormat::Parquet);
    file.partition = PartitionTuple(vec![Some(Value::Int((n % 16) as i32))]);
    file.record_count = ROWS_PER_FILE;
    file.file_size_in_bytes = 100_000 + (id % 1_000_000) as i64;
    file.split_offsets = vec![4];
    file.sort_order_id = Some(0);
    for column in 1..=columns {
        let r = scrambled(id ^ column as u64);
        file.column_sizes.insert(column, (r % 100_000) as i64);
        file.value_counts.insert(column, ROWS_PER_FILE);
        file.null_value_counts.insert(column, (r % 5) as i64);
        let ty = column_type(column);
        let (lower, upper) = match (column, &ty) {
            (1, _) => {
                let first = n as i64 * ROWS_PER_FILE;
                (Value::Long(first), Value::Long(first + ROWS_PER_FILE - 1))
            }
            (_, PrimitiveType::String) => (
                Value::string(format!("a{:015x}", r >> 4)),
                Value::string(format!("z{:015x}", r >> 4)),
            ),
            _ => (Value::Long((r >> 20) as i64), Value::Long((r >> 20) as i64 + 1_000_000)),
        };
        file.lower_bounds.insert(column, to_bytes(&lower, &ty)?);
        file.upper_bounds.insert(column, to_bytes(&upper, &ty)?);
    }
    Ok(file)
}

/// The deletion vector of file `n`.
fn deletion_vector(location: &str, columns: i32, n: u64) -> Result<DataFile, Failure> {
    let target = data_file(location, columns, n)?;
    let path = format!("{location}/data/deletes-{:016x}.puffin", scrambled(n / 100));
    let mut file = DataFile::new(DataContent::PositionDeletes, path, FileFormat::Puffin);
    file.partition = target.partition;
    file.record_count = 10;
    file.file_size_in_bytes = 5_000;
    file.referenced_data_file = Some(target.file_path);
    file.content_offset = Some(4 + (n % 100) as i64 * 46);
    file.content_size_in_bytes = Some(46);
    Ok(file)
}

/// What a table holds.
#[derive(Debug, Clone, Copy)]
struct Size {
    data_files: u64,
    /// Of the first so many even files.
    deletion_vectors: u64,
    columns: i32,
}

impl Size {
    /// Deletion vectors need version 3, which PyIceberg does not plan.
    fn format_version(self) -> FormatVersion {
        match self.deletion_vectors {
            0 => FormatVersion::V2,
            _ => FormatVersion::V3,
        }
    }
}

struct Table {
    metadata: Arc<TableMetadata>,
    metadata_location: String,
    manifests: Vec<ManifestFile>,
}

async fn write_table(io: &FileIo, location: &str, size: Size) -> Result<Table, Failure> {
    let spec = Arc::new(spec(size.columns));
    let schema = Arc::new(schema(size.columns)?);
    let options = ManifestWriterOptions::new(size.format_version(), Arc::clone(&spec), Arc::clone(&schema));
    let options = options.with_snapshot_id(SNAPSHOT_ID);
    let mut manifests = Vec::new();
    for (content, count) in [
        (ManifestContent::Data, size.data_files),
        (ManifestContent::Deletes, size.deletion_vectors),
    ] {
        let mut n = 0;
        while n < count {
            let mut writer = ManifestWriter::new(options.clone().with_content(content))?;
            while n < count && writer.bytes_written() < MANIFEST_TARGET_BYTES {
                let file = match content {
                    ManifestContent::Data => data_file(location, size.columns, n)?,
                    ManifestContent::Deletes => deletion_vector(location, size.columns, n * 2)?,
                };
                writer.added(&file, None)?;
                n += 1;
            }
            let (bytes, manifest) = writer.finish(format!("{location}/metadata/m{}.avro", manifests.len()))?;
            io.write(&manifest.manifest_path, bytes).await?;
            manifests.push(manifest);
        }
    }
    let list = manifest::list::encode(
        ManifestListWriterOptions {
            format_version: size.format_version(),
            snapshot_id: SNAPSHOT_ID,
            parent_snapshot_id: None,
            sequence_number: 1,
            first_row_id: 0,
            codec: Codec::default(),
        },
        &manifests,
    )?;
    let list_location = format!("{location}/metadata/snap-{SNAPSHOT_ID}.avro");
    io.write(&list_location, list.bytes).await?;
    let metadata_location = format!("{location}/metadata/v1.metadata.json");
    let json = metadata_json(size.format_version(), location, &list_location, (&schema, &spec))?;
    io.write(&metadata_location, json.clone().into()).await?;
    Ok(Table {
        metadata: Arc::new(TableMetadata::from_json(&json)?),
        metadata_location,
        manifests: list.manifests,
    })
}

fn metadata_json(
    version: FormatVersion,
    location: &str,
    list: &str,
    (schema, spec): (&Schema, &PartitionSpec),
) -> Result<Vec<u8>, Failure> {
    let mut snapshot = json!({
        "snapshot-id": SNAPSHOT_ID, "sequence-number": 1, "timestamp-ms": 1_700_000_000_000_i64,
        "manifest-list": list, "schema-id": 0, "summary": {"operation": "append"},
    });
    let mut metadata = json!({
        "format-version": version.number(), "table-uuid": "6f1b5d0e-3c59-4b1d-8d0c-0c5f1c3b2a10", "location": location,
        "last-sequence-number": 1, "last-updated-ms": 1_700_000_000_000_i64, "last-column-id": schema.highest_field_id(),
        "schemas": [serde_json::to_value(schema)?], "current-schema-id": 0,
        "partition-specs": [serde_json::to_value(spec)?], "default-spec-id": 0, "last-partition-id": 1000,
        "sort-orders": [{"order-id": 0, "fields": []}], "default-sort-order-id": 0, "properties": {},
        "current-snapshot-id": SNAPSHOT_ID,
        "snapshot-log": [{"snapshot-id": SNAPSHOT_ID, "timestamp-ms": 1_700_000_000_000_i64}],
        "metadata-log": [], "refs": {"main": {"snapshot-id": SNAPSHOT_ID, "type": "branch"}},
    });
    if version == FormatVersion::V3 {
        metadata["next-row-id"] = json!(i64::from(u32::MAX));
        snapshot["first-row-id"] = json!(0);
        snapshot["added-rows"] = json!(i64::from(u32::MAX));
    }
    metadata["snapshots"] = json!([snapshot]);
    Ok(serde_json::to_vec(&metadata)?)
}

/// Inflates all blocks of a manifest and looks at nothing.
fn inflate(bytes: &[u8]) -> Result<u64, Failure> {
    let mut container = ContainerReader::new(bytes)?;
    let mut entries = 0;
    while let Some(block) = container.next_block()? {
        entries += block.record_count;
    }
    Ok(entries)
}

fn inflate_in_turn(files: &[bytes::Bytes]) -> Result<Duration, Failure> {
    let started = Instant::now();
    for bytes in files {
        inflate(bytes)?;
    }
    Ok(started.elapsed())
}

fn inflate_on_all_cores(files: &[bytes::Bytes]) -> Result<Duration, Failure> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let started = Instant::now();
    std::thread::scope(|scope| {
        let work = || {
            while let Some(bytes) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                inflate(bytes).map_err(|e| e.to_string())?;
            }
            Ok::<(), String>(())
        };
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .try_for_each(|t| t.join().map_err(|_| "a thread died".to_string())?)
    })?;
    Ok(started.elapsed())
}

async fn timed_plan(scan: &TableScan) -> Result<(Cost, ScanPlan), Failure> {
    let started = Stopwatch::start();
    let plan = scan.plan().await?;
    Ok((started.stop(), plan))
}

/// By wall time.
fn median(mut times: Vec<Cost>) -> Cost {
    times.sort_unstable_by_key(|cost| cost.wall);
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn line(what: &str, cost: Cost, more: &str) {
    println!(
        "  {what:22}{:9.2} ms {:9.2} ms CPU  {more}",
        ms(cost.wall),
        ms(cost.cpu)
    );
}

/// Forgets the most memory that the process has had so far.
fn forget_peak() {
    // Only Linux has it.
    std::fs::write("/proc/self/clear_refs", "5").ok();
}

/// The most memory that the process has had, in MB.
fn peak_megabytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes / 1024.0)
}

/// DataFusion's plan of all columns and files, from cached manifests.
#[cfg(feature = "sql")]
async fn engine_plan(table: &Table, io: &FileIo, cache: &ManifestCache) -> Result<Cost, Failure> {
    use tarn::datafusion::prelude::SessionContext;
    use tarn::engine::{Caches, IcebergTable};
    use tarn_format::catalog::{Namespace, Table as CatalogTable, TableIdent};
    let loaded = CatalogTable {
        ident: TableIdent::new(Namespace::new(["db"]), "t"),
        metadata: Arc::clone(&table.metadata),
        metadata_location: Some(table.metadata_location.clone()),
        io: io.clone(),
    };
    let caches = Caches {
        manifests: cache.clone(),
        ..Caches::default()
    };
    let context = SessionContext::new();
    let provider = IcebergTable::new(loaded, tarn_format::scan::snapshots::SnapshotSelector::Current, caches)?;
    context.register_table("t", Arc::new(provider))?;
    let started = Stopwatch::start();
    context.sql("SELECT * FROM t").await?.create_physical_plan().await?;
    Ok(started.stop())
}

async fn measure(location: &str, size: Size) -> Result<(), Failure> {
    let io = FileIo::local();
    let table = write_table(&io, location, size).await?;
    let files = size.data_files;
    let mut stored = Vec::new();
    for manifest in &table.manifests {
        stored.push(io.read(&manifest.manifest_path).await?);
    }
    let bytes: usize = stored.iter().map(bytes::Bytes::len).sum();
    println!(
        "{files} files of {} columns, {} deletion vectors, {} manifests, {:.1} MB",
        size.columns,
        size.deletion_vectors,
        stored.len(),
        bytes as f64 / 1e6
    );
    println!("  inflate, one thread   {:9.2} ms", ms(inflate_in_turn(&stored)?));
    println!("  inflate, all cores    {:9.2} ms", ms(inflate_on_all_cores(&stored)?));

    let (low, high) = (
        files as i64 / 2 * ROWS_PER_FILE,
        (files as i64 / 2 + 100) * ROWS_PER_FILE,
    );
    let filter = Predicate::gt_eq("c1", low).and(Predicate::lt("c1", high));
    let cache = ManifestCache::default();
    let setup = ScanSetup::new(Arc::clone(&table.metadata), io.clone(), cache.clone()).filter(filter);
    let scan = TableScan::new(setup);
    drop(stored);
    forget_peak();
    let (cold, plan) = timed_plan(&scan).await?;
    line("plan, empty cache", cold, &format!("{} files", plan.tasks.len()));
    let mut warm = Vec::new();
    for _ in 0..21 {
        warm.push(timed_plan(&scan).await?.0);
    }
    line("plan, full cache", median(warm), "(median of 21)");
    let all = TableScan::new(ScanSetup::new(Arc::clone(&table.metadata), io.clone(), cache.clone()));
    let (everything, plan) = timed_plan(&all).await?;
    line("plan of all files", everything, &format!("{} files", plan.tasks.len()));
    drop(plan);
    #[cfg(feature = "sql")]
    line(
        "DataFusion's plan",
        engine_plan(&table, &io, &cache).await?,
        "(of all files and columns)",
    );
    if let Some(peak) = peak_megabytes() {
        println!("  most memory           {peak:9.1} MB");
    }
    println!(
        "  cache                 {:9.1} bytes per file",
        cache.size_bytes().await as f64 / files as f64
    );
    if let (Ok(python), FormatVersion::V2) = (std::env::var("TARN_PYTHON"), size.format_version()) {
        peer(&python, &table.metadata_location, low, high)?;
    }
    Ok(())
}

fn peer(python: &str, metadata: &str, low: i64, high: i64) -> Result<(), Failure> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/scan_planning.py");
    let output = Command::new(python)
        .args([script, metadata, &low.to_string(), &high.to_string()])
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    println!(
        "  PyIceberg             {}  (ms cold, ms again, files)",
        String::from_utf8_lossy(&output.stdout).trim()
    );
    Ok(())
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    for (data_files, deletion_vectors, columns) in [
        (10_000, 0, 20),
        (10_000, 5_000, 20),
        (200_000, 0, 20),
        (200_000, 100_000, 20),
        (200_000, 0, 1),
        (1, 0, 10_000),
    ] {
        let directory = tempfile::tempdir()?;
        let location = directory
            .path()
            .to_str()
            .ok_or("the temporary directory is not UTF-8")?;
        let size = Size {
            data_files,
            deletion_vectors,
            columns,
        };
        measure(location, size).await?;
    }
    Ok(())
}
