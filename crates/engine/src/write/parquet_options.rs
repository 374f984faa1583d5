//! `write.parquet.*`: codecs, sizes of row groups, pages and dictionaries, bloom filters, statistics.

use std::collections::BTreeMap;

use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::schema::types::{ColumnPath, SchemaDescriptor};
use tarn_format::spec::schema::Schema;
use tarn_format::spec::types::FieldId;
use tarn_format::{Error, Result};

use super::options::{Setting, Settings, boolean, invalid};

const CODEC: Setting = Setting {
    statement: "compression-codec",
    session: "spark.sql.iceberg.compression-codec",
    table: "write.parquet.compression-codec",
};
const LEVEL: Setting = Setting {
    statement: "compression-level",
    session: "spark.sql.iceberg.compression-level",
    table: "write.parquet.compression-level",
};
const BLOOM_ENABLED: &str = "write.parquet.bloom-filter-enabled.column.";
const BLOOM_FPP: &str = "write.parquet.bloom-filter-fpp.column.";
const STATISTICS_ENABLED: &str = "write.parquet.stats-enabled.column.";
const DEFAULT_FPP: f64 = 0.01;

/// Rows after which a row group ends even when it is small: readers split their work by row groups.
const MAX_ROW_GROUP_ROWS: usize = 1024 * 1024;

/// Values between two looks at the size of a page.
const MAX_WRITE_BATCH_VALUES: usize = 1024;

/// How Parquet files are written.
#[derive(Debug, Clone)]
pub struct ParquetOptions {
    compression: Compression,
    row_group_size_bytes: usize,
    page_size_bytes: usize,
    page_row_limit: usize,
    dictionary_size_bytes: usize,
    bloom_filter_max_bytes: usize,
    bloom_filters: BTreeMap<FieldId, f64>,
    without_statistics: Vec<FieldId>,
}

impl ParquetOptions {
    pub(super) fn new(settings: &Settings<'_>, schema: &Schema) -> Result<Self> {
        let size = |table: &'static str, default: usize| settings.positive(settings.table_property(table), default);
        Ok(ParquetOptions {
            compression: compression(settings)?,
            row_group_size_bytes: size("write.parquet.row-group-size-bytes", 128 << 20)?,
            page_size_bytes: size("write.parquet.page-size-bytes", 1 << 20)?,
            page_row_limit: size("write.parquet.page-row-limit", 20_000)?,
            dictionary_size_bytes: size("write.parquet.dict-size-bytes", 2 << 20)?,
            bloom_filter_max_bytes: size("write.parquet.bloom-filter-max-bytes", 1 << 20)?,
            bloom_filters: bloom_filters(settings, schema)?,
            without_statistics: columns_set_to(Switch::Off, STATISTICS_ENABLED, settings, schema)?,
        })
    }

    /// The same for Parquet's writer. `statistics_bytes` bounds the length of minima and maxima in the footer.
    pub(super) fn writer_properties(
        &self,
        parquet: &SchemaDescriptor,
        statistics_bytes: Option<usize>,
        key_values: Vec<KeyValue>,
    ) -> Result<WriterProperties> {
        let mut builder = WriterProperties::builder()
            .set_writer_version(WriterVersion::PARQUET_1_0)
            .set_created_by(format!("tarn version {}", env!("CARGO_PKG_VERSION")))
            .set_compression(self.compression)
            .set_max_row_group_bytes(Some(self.row_group_size_bytes))
            .set_max_row_group_row_count(Some(MAX_ROW_GROUP_ROWS))
            .set_data_page_size_limit(self.page_size_bytes)
            .set_data_page_row_count_limit(self.page_row_limit)
            // The writer looks at a page's size after every batch of values.
            .set_write_batch_size(self.page_row_limit.min(MAX_WRITE_BATCH_VALUES))
            .set_dictionary_page_size_limit(self.dictionary_size_bytes)
            .set_statistics_truncate_length(statistics_bytes)
            .set_key_value_metadata(Some(key_values));
        for column in parquet.columns() {
            let info = column.self_type().get_basic_info();
            if info.has_id() {
                builder = self.column(builder, info.id(), column.path());
            }
        }
        Ok(builder.build())
    }

    fn column(&self, mut builder: WriterPropertiesBuilder, id: FieldId, path: &ColumnPath) -> WriterPropertiesBuilder {
        if let Some(fpp) = self.bloom_filters.get(&id) {
            let values = values_that_fit(self.bloom_filter_max_bytes, *fpp);
            builder = builder
                .set_column_bloom_filter_enabled(path.clone(), true)
                .set_column_bloom_filter_fpp(path.clone(), *fpp)
                .set_column_bloom_filter_max_ndv(path.clone(), values);
        }
        if self.without_statistics.contains(&id) {
            builder = builder.set_column_statistics_enabled(path.clone(), EnabledStatistics::None);
        }
        builder
    }
}

/// Distinct values for which a split block bloom filter of this size keeps the false positive probability.
fn values_that_fit(bytes: usize, fpp: f64) -> u64 {
    let bits = bytes as f64 * 8.0;
    let values = -bits * (1.0 - fpp.powf(1.0 / 8.0)).ln() / 8.0;
    (values as u64).max(1)
}

fn compression(settings: &Settings<'_>) -> Result<Compression> {
    let (name, codec) = settings.get(CODEC).unwrap_or((CODEC.table, "zstd"));
    let level = match settings.get(LEVEL) {
        None => None,
        Some((name, text)) => Some((
            name,
            text,
            text.trim()
                .parse::<i32>()
                .map_err(|_| invalid(name, text, "a whole number"))?,
        )),
    };
    let refused = |e: parquet::errors::ParquetError| match level {
        Some((name, text, _)) => invalid(name, text, "a level of the codec").with_source(e),
        None => Error::invalid("the codec has no default level").with_source(e),
    };
    let unsigned = |level: i32| u32::try_from(level).unwrap_or(u32::MAX);
    let number = level.map(|(_, _, n)| n);
    Ok(match codec.trim().to_ascii_lowercase().as_str() {
        "zstd" => Compression::ZSTD(ZstdLevel::try_new(number.unwrap_or(3)).map_err(refused)?),
        "gzip" => Compression::GZIP(GzipLevel::try_new(number.map_or(6, unsigned)).map_err(refused)?),
        "brotli" => Compression::BROTLI(BrotliLevel::try_new(number.map_or(1, unsigned)).map_err(refused)?),
        "snappy" => Compression::SNAPPY,
        "lz4" | "lz4_raw" => Compression::LZ4_RAW,
        "uncompressed" | "none" => Compression::UNCOMPRESSED,
        _ => {
            let expected = "zstd, gzip, brotli, snappy, lz4 or uncompressed";
            return Err(invalid(name, codec, expected));
        }
    })
}

fn bloom_filters(settings: &Settings<'_>, schema: &Schema) -> Result<BTreeMap<FieldId, f64>> {
    let mut filters = BTreeMap::new();
    for id in columns_set_to(Switch::On, BLOOM_ENABLED, settings, schema)? {
        let name = schema.full_name(id).unwrap_or_default();
        let property = format!("{BLOOM_FPP}{name}");
        let fpp = match settings.table.get(&property) {
            None => DEFAULT_FPP,
            Some(text) => match text.trim().parse::<f64>() {
                Ok(fpp) if fpp > 0.0 && fpp < 1.0 => fpp,
                _ => return Err(invalid(property, text, "a number between 0 and 1")),
            },
        };
        filters.insert(id, fpp);
    }
    Ok(filters)
}

/// How something is set for a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Switch {
    On,
    Off,
}

/// The columns for which `prefix` + name is set to `wanted`. Names that are no columns are passed over: a property
/// outlives the column it was made for.
fn columns_set_to(wanted: Switch, prefix: &str, settings: &Settings<'_>, schema: &Schema) -> Result<Vec<FieldId>> {
    let mut ids = Vec::new();
    for (key, text) in settings.table {
        let Some(column) = key.strip_prefix(prefix) else {
            continue;
        };
        let set = match boolean(key, text)? {
            true => Switch::On,
            false => Switch::Off,
        };
        match schema.field_by_name(column) {
            Some(field) if set == wanted => ids.push(field.id),
            Some(_) => {}
            None => tracing::warn!(property = %key, "the property names no column of the table"),
        }
    }
    Ok(ids)
}
