//! Decoding gzip-compressed manifests: 20 columns of bounds of which 2 are projected.
//!
//! Compares, on one thread and over the same bytes: inflating the blocks and nothing else (with libdeflate, which the
//! decoder uses, and with zlib-rs), Tarn's decoder, and apache-avro's generic one; with `TARN_PYTHON` set to an
//! interpreter that has PyIceberg, that too. Environment: `ENTRIES` (100000), `RUNS` (5).

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tarn_format::manifest::avro::codec::Codec;
use tarn_format::manifest::columns::MetricsProjection;
use tarn_format::manifest::data_file::{DataContent, DataFile, FileFormat, PartitionTuple};
use tarn_format::manifest::reader;
use tarn_format::manifest::writer::{ManifestWriter, ManifestWriterOptions};
use tarn_format::spec::partition::{PartitionField, PartitionSpec};
use tarn_format::spec::schema::{Schema, SchemaRef};
use tarn_format::spec::table_metadata::FormatVersion;
use tarn_format::spec::types::{NestedField, PrimitiveType, StructType};
use tarn_format::spec::value::Value;
use tarn_format::transform::Transform;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Java's target size of a manifest.
const MANIFEST_BYTES: usize = 8 << 20;
const COLUMNS: i32 = 20;
const PROJECTED: [i32; 2] = [3, 11];

fn main() -> Outcome<()> {
    let entries = number("ENTRIES", 100_000)?;
    let runs = number("RUNS", 5)?;
    let manifests = manifests(entries)?;
    let compressed: usize = manifests.iter().map(Vec::len).sum();
    let blocks: Vec<&[u8]> = manifests
        .iter()
        .map(|m| blocks(m))
        .collect::<Outcome<Vec<_>>>()?
        .concat();
    let inflated = inflate_flate2(&blocks)?;
    println!(
        "{entries} entries in {} manifests, {} blocks: {:.1} MB compressed, {:.1} MB inflated",
        manifests.len(),
        blocks.len(),
        mb(compressed),
        mb(inflated)
    );

    let zlib_rs = best(runs, || inflate_flate2(&blocks))?;
    report("inflate, zlib-rs", zlib_rs, inflated);
    let projection = MetricsProjection::fields(PROJECTED);
    // By turns, so that a noisy machine disturbs both alike.
    let (mut inflate, mut ours) = (Duration::MAX, Duration::MAX);
    for _ in 0..runs {
        inflate = inflate.min(best(1, || inflate_libdeflate(&blocks))?);
        ours = ours.min(best(1, || decode(&manifests, &projection))?);
    }
    report("inflate, libdeflate", inflate, inflated);
    report("tarn, 2 columns projected", ours, inflated);
    for (name, projection) in [
        ("tarn, none projected", MetricsProjection::None),
        ("tarn, all", MetricsProjection::All),
    ] {
        report(name, best(runs, || decode(&manifests, &projection))?, inflated);
    }
    memory(&manifests, &projection)?;
    println!(
        "ratio tarn / inflate: {:.2}",
        ours.as_secs_f64() / inflate.as_secs_f64()
    );

    let generic = best(1, || apache_avro(&manifests))?;
    report("apache-avro, generic", generic, inflated);
    println!("apache-avro / tarn: {:.1}", generic.as_secs_f64() / ours.as_secs_f64());
    if let Some(python) = std::env::var_os("TARN_PYTHON") {
        let dir = tempfile::tempdir()?;
        for (i, bytes) in manifests.iter().enumerate() {
            std::fs::write(dir.path().join(format!("{i}.avro")), bytes)?;
        }
        let pyiceberg = pyiceberg(Path::new(&python), dir.path())?;
        report("PyIceberg", pyiceberg, inflated);
        println!("PyIceberg / tarn: {:.0}", pyiceberg.as_secs_f64() / ours.as_secs_f64());
    }
    Ok(())
}

fn number(name: &str, default: usize) -> Outcome<usize> {
    match std::env::var(name) {
        Ok(text) => Ok(text.parse()?),
        Err(_) => Ok(default),
    }
}

fn mb(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

fn report(name: &str, time: Duration, inflated: usize) {
    let ms = time.as_secs_f64() * 1e3;
    println!(
        "{name:<28} {ms:>10.1} ms  {:>8.0} MB/s inflated",
        mb(inflated) / time.as_secs_f64()
    );
}

fn best<T>(runs: usize, mut run: impl FnMut() -> Outcome<T>) -> Outcome<Duration> {
    let mut best = Duration::MAX;
    for _ in 0..runs {
        let start = now();
        black_box(run()?);
        best = best.min(now().saturating_sub(start));
    }
    Ok(best)
}

/// Time on the processor of this thread, where the system tells; otherwise time passed.
fn now() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    match spent.and_then(|s| s.split(' ').next()?.parse().ok()) {
        Some(nanos) => Duration::from_nanos(nanos),
        None => START.get_or_init(Instant::now).elapsed(),
    }
}

fn decode(manifests: &[Vec<u8>], projection: &MetricsProjection) -> Outcome<usize> {
    let mut entries = 0;
    for bytes in manifests {
        entries += black_box(reader::decode(bytes, None, projection)?).len;
    }
    Ok(entries)
}

fn memory(manifests: &[Vec<u8>], projection: &MetricsProjection) -> Outcome<()> {
    let (mut entries, mut all, mut paths, mut metrics) = (0, 0, 0, 0);
    for bytes in manifests {
        let columns = reader::decode(bytes, None, projection)?;
        entries += columns.len;
        all += columns.size_bytes();
        paths += (0..columns.len).map(|i| columns.path(i).len()).sum::<usize>();
        metrics += columns.metrics.values().map(|m| m.size_bytes()).sum::<usize>();
    }
    let per = |bytes: usize| bytes as f64 / entries as f64;
    println!(
        "memory per file: {:.0} bytes, of which paths {:.0}, projected metrics {:.0}, all else {:.0}",
        per(all),
        per(paths),
        per(metrics),
        per(all - paths - metrics)
    );
    Ok(())
}

/// The compressed blocks of a container file, found without the decoder under test.
fn blocks(file: &[u8]) -> Outcome<Vec<&[u8]>> {
    let mut rest = &file[4..];
    loop {
        let pairs = long(&mut rest)?;
        if pairs == 0 {
            break;
        }
        for _ in 0..2 * pairs {
            let len = long(&mut rest)? as usize;
            rest = &rest[len..];
        }
    }
    rest = &rest[16..];
    let mut blocks = Vec::new();
    while !rest.is_empty() {
        let _count = long(&mut rest)?;
        let len = long(&mut rest)? as usize;
        blocks.push(&rest[..len]);
        rest = &rest[len + 16..];
    }
    Ok(blocks)
}

fn long(rest: &mut &[u8]) -> Outcome<i64> {
    let (mut value, mut shift) = (0_u64, 0);
    loop {
        let (byte, after) = rest.split_first().ok_or("the file is cut short")?;
        *rest = after;
        value |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Ok((value >> 1) as i64 ^ -((value & 1) as i64));
        }
        shift += 7;
    }
}

fn inflate_flate2(blocks: &[&[u8]]) -> Outcome<usize> {
    let mut state = flate2::Decompress::new(false);
    let mut out = vec![0; 1 << 20];
    let mut total = 0;
    for block in blocks {
        state.reset(false);
        let status = state.decompress(block, &mut out, flate2::FlushDecompress::Finish)?;
        assert_eq!(status, flate2::Status::StreamEnd);
        total += state.total_out() as usize;
    }
    black_box(&out);
    Ok(total)
}

fn inflate_libdeflate(blocks: &[&[u8]]) -> Outcome<usize> {
    let mut state = libdeflater::Decompressor::new();
    let mut out = vec![0; 1 << 20];
    let mut total = 0;
    for block in blocks {
        total += state.deflate_decompress(block, &mut out)?;
    }
    black_box(&out);
    Ok(total)
}

fn apache_avro(manifests: &[Vec<u8>]) -> Outcome<usize> {
    let mut entries = 0;
    for bytes in manifests {
        for value in apache_avro::Reader::new(bytes.as_slice())? {
            black_box(value?);
            entries += 1;
        }
    }
    Ok(entries)
}

fn pyiceberg(python: &Path, manifests: &Path) -> Outcome<Duration> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/manifest_decode.py");
    let output = Command::new(python).arg(script).arg(manifests).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    println!("{answer}");
    Ok(Duration::from_secs_f64(answer["seconds"].as_f64().ok_or("no time")?))
}

fn schema() -> Outcome<SchemaRef> {
    let types = [
        PrimitiveType::Long,
        PrimitiveType::Int,
        PrimitiveType::Timestamp,
        PrimitiveType::Double,
        PrimitiveType::String,
    ];
    let fields = (1..=COLUMNS).zip(types.iter().cycle());
    let fields = fields.map(|(id, t)| NestedField::optional(id, format!("column_{id}"), t.clone()));
    Ok(Arc::new(Schema::new(0, StructType::new(fields.collect()), Vec::new())?))
}

/// Numbers that look random and are the same in every run.
struct Noise(u64);

impl Noise {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

fn manifests(entries: usize) -> Outcome<Vec<Vec<u8>>> {
    let schema = schema()?;
    let spec = Arc::new(PartitionSpec {
        spec_id: 0,
        fields: vec![PartitionField {
            source_ids: vec![3],
            field_id: 1000,
            name: "column_3_day".to_string(),
            transform: Transform::Day,
            extra: Default::default(),
        }],
        extra: Default::default(),
    });
    let options = ManifestWriterOptions::new(FormatVersion::V2, spec, Arc::clone(&schema))
        .with_snapshot_id(6_051_871_225_091_813_111)
        .with_codec(Codec::Deflate(9));
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    let mut files = Vec::new();
    let mut writer = ManifestWriter::new(options.clone())?;
    for i in 0..entries {
        writer.added(&file(i, &schema, &mut noise), None)?;
        if writer.bytes_written() >= MANIFEST_BYTES {
            let full = std::mem::replace(&mut writer, ManifestWriter::new(options.clone())?);
            files.push(full.finish("m.avro")?.0.to_vec());
        }
    }
    files.push(writer.finish("m.avro")?.0.to_vec());
    Ok(files)
}

fn file(i: usize, schema: &Schema, noise: &mut Noise) -> DataFile {
    let day = 19_000 + (i / 200) as i32;
    let path = format!(
        "s3://warehouse/analytics/events/data/column_3_day={day}/{:05}-{}-{:016x}{:016x}-00001.parquet",
        i % 200,
        noise.next(100_000),
        noise.next(u64::MAX),
        noise.next(u64::MAX)
    );
    let mut file = DataFile::new(DataContent::Data, path, FileFormat::Parquet);
    file.partition = PartitionTuple(vec![Some(Value::Int(day))]);
    file.record_count = 900_000 + noise.next(200_000) as i64;
    file.file_size_in_bytes = 120_000_000 + noise.next(20_000_000) as i64;
    file.split_offsets = vec![4, 60_000_000 + noise.next(4_000_000) as i64];
    file.sort_order_id = Some(0);
    for field in schema.fields() {
        file.column_sizes.insert(field.id, noise.next(8_000_000) as i64);
        file.value_counts.insert(field.id, file.record_count);
        let nulls = if field.id % 4 == 0 { noise.next(5000) as i64 } else { 0 };
        file.null_value_counts.insert(field.id, nulls);
        let (lower, upper) = match field.field_type.as_primitive() {
            Some(PrimitiveType::Int) => int_bounds(noise),
            Some(PrimitiveType::Double) => {
                file.nan_value_counts.insert(field.id, 0);
                double_bounds(noise)
            }
            Some(PrimitiveType::String) => string_bounds(noise),
            Some(PrimitiveType::Timestamp) => long_bounds(i64::from(day) * 86_400_000_000, 86_400_000_000, noise),
            _ => long_bounds(i as i64 * 1_000_000, 1_000_000, noise),
        };
        file.lower_bounds.insert(field.id, lower);
        file.upper_bounds.insert(field.id, upper);
    }
    file
}

fn long_bounds(from: i64, span: u64, noise: &mut Noise) -> (Vec<u8>, Vec<u8>) {
    let lower = from + noise.next(span / 10) as i64;
    let upper = from + (span - noise.next(span / 10)) as i64;
    (lower.to_le_bytes().to_vec(), upper.to_le_bytes().to_vec())
}

fn int_bounds(noise: &mut Noise) -> (Vec<u8>, Vec<u8>) {
    let lower = noise.next(1000) as i32;
    let upper = 1_000_000 + noise.next(1000) as i32;
    (lower.to_le_bytes().to_vec(), upper.to_le_bytes().to_vec())
}

fn double_bounds(noise: &mut Noise) -> (Vec<u8>, Vec<u8>) {
    let lower = noise.next(1_000_000) as f64 / 1e4;
    let upper = 1e4 + noise.next(1_000_000) as f64 / 1e4;
    (lower.to_le_bytes().to_vec(), upper.to_le_bytes().to_vec())
}

fn string_bounds(noise: &mut Noise) -> (Vec<u8>, Vec<u8>) {
    let lower = format!("aa{:014x}", noise.next(1 << 56));
    let upper = format!("zz{:014x}", noise.next(1 << 56));
    (lower.into_bytes(), upper.into_bytes())
}
