//! What the Parquet files hold beside the rows: codecs, sizes, filters, schema.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringViewArray};
use parquet::basic::{Compression, ConvertedType, Encoding, LogicalType, PageType, Repetition, Type as PhysicalType};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::properties::ReaderProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::serialized_reader::ReadOptionsBuilder;
use parquet::schema::types::Type as ParquetType;
use tarn_format::spec::schema::Schema;
use tarn_format::spec::table_metadata::FormatVersion;
use tarn_format::spec::types::{NestedField, PrimitiveType};
use tarn_format::{ErrorKind, Result};

use super::values::{positions, samples};
use super::{Making, Site};

const ROWS: i64 = 30_000;

fn columns() -> Vec<NestedField> {
    vec![
        NestedField::required(1, "id", PrimitiveType::Long),
        NestedField::optional(2, "s", PrimitiveType::String),
    ]
}

/// All ids differ, and so do the texts.
async fn append(site: &Site) -> Result<()> {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..ROWS));
    let text: ArrayRef = Arc::new(StringViewArray::from_iter_values(
        (0..ROWS).map(|id| format!("text {id}")),
    ));
    site.append(site.batch(vec![ids, text]).await).await.map(drop)
}

async fn footer(making: Making) -> ParquetMetaData {
    let site = Site::new(columns(), making).await;
    append(&site).await.unwrap();
    site.footer(&site.file().await).await
}

async fn refusal(making: Making) -> tarn_format::Error {
    let site = Site::new(columns(), making).await;
    append(&site).await.unwrap_err()
}

fn codec_of(footer: &ParquetMetaData) -> String {
    let mut names: Vec<String> = footer
        .row_groups()
        .iter()
        .flat_map(|g| g.columns())
        .map(|c| codec_name(c.compression()))
        .collect();
    names.dedup();
    assert_eq!(names.len(), 1, "{names:?}");
    names.remove(0)
}

/// Without the level, which a footer doesn't hold.
fn codec_name(codec: Compression) -> String {
    let shown = format!("{codec:?}");
    shown.split('(').next().unwrap().to_string()
}

#[tokio::test]
async fn codecs() {
    assert_eq!(codec_of(&footer(Making::new()).await), "ZSTD");
    for (name, codec) in [
        ("zstd", "ZSTD"),
        ("GZIP", "GZIP"),
        ("snappy", "SNAPPY"),
        ("brotli", "BROTLI"),
        ("lz4", "LZ4_RAW"),
        ("uncompressed", "UNCOMPRESSED"),
    ] {
        let making = Making::new().property("write.parquet.compression-codec", name);
        assert_eq!(codec_of(&footer(making).await), codec, "{name}");
    }
}

#[tokio::test]
async fn higher_levels_make_smaller_files() {
    for codec in ["zstd", "gzip"] {
        let mut sizes = Vec::new();
        for level in ["1", if codec == "zstd" { "19" } else { "9" }] {
            let making = Making::new()
                .property("write.parquet.compression-codec", codec)
                .property("write.parquet.compression-level", level);
            let site = Site::new(columns(), making).await;
            append(&site).await.unwrap();
            sizes.push(site.file().await.file_size_in_bytes);
        }
        assert!(sizes[0] > sizes[1], "{codec}: {sizes:?}");
    }
}

/// Java encrypts the data files of such a table: in plain text they must not be written.
#[tokio::test]
async fn encrypted_tables_are_not_written() {
    let error = refusal(Making::new().property("encryption.key-id", "k1")).await;
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert!(error.to_string().contains("encryption.key-id"), "{error}");
}

#[tokio::test]
async fn senseless_settings_are_refused_by_name() {
    for (key, value) in [
        ("write.parquet.compression-codec", "lzo2"),
        ("write.parquet.compression-level", "high"),
        ("write.parquet.compression-level", "99"),
        ("write.parquet.row-group-size-bytes", "0"),
        ("write.parquet.page-size-bytes", "-1"),
        ("write.parquet.page-row-limit", "many"),
        ("write.parquet.dict-size-bytes", ""),
        ("write.target-file-size-bytes", "0"),
        ("write.distribution-mode", "shuffle"),
        ("write.spark.fanout.enabled", "perhaps"),
        ("write.parquet.bloom-filter-enabled.column.id", "yes"),
        ("write.format.default", "csv"),
    ] {
        let error = refusal(Making::new().property(key, value)).await;
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{key}={value}: {error}");
        assert!(error.to_string().contains(key), "{key}={value}: {error}");
    }
    let making = Making::new()
        .property("write.parquet.bloom-filter-enabled.column.id", "true")
        .property("write.parquet.bloom-filter-fpp.column.id", "1.5");
    let error = refusal(making).await;
    assert!(error.to_string().contains("bloom-filter-fpp"), "{error}");
}

#[tokio::test]
async fn row_groups_end_at_their_size() {
    let whole = footer(Making::new()).await;
    assert_eq!(whole.num_row_groups(), 1);
    let making = Making::new().property("write.parquet.row-group-size-bytes", 100_000);
    let cut = footer(making).await;
    assert!(cut.num_row_groups() > 2, "{}", cut.num_row_groups());
    assert_eq!(cut.row_groups().iter().map(|g| g.num_rows()).sum::<i64>(), ROWS);
}

/// Data pages of the first column chunk of a column: (values, encoding).
async fn pages(making: Making, column: usize) -> Vec<(u32, Encoding)> {
    let site = Site::new(columns(), making).await;
    append(&site).await.unwrap();
    let bytes = site.table().await.io.read(&site.file().await.file_path).await.unwrap();
    let reader = SerializedFileReader::new(bytes).unwrap();
    let group = reader.get_row_group(0).unwrap();
    let pages = group.get_column_page_reader(column).unwrap().map(|p| p.unwrap());
    pages
        .filter(|p| p.page_type() != PageType::DICTIONARY_PAGE)
        .map(|p| (p.num_values(), p.encoding()))
        .collect()
}

#[tokio::test]
async fn pages_end_at_their_rows_and_bytes() {
    // The default is 20,000 rows.
    let found = pages(Making::new().property("write.parquet.dict-size-bytes", 1), 0).await;
    assert!(found.iter().all(|(rows, _)| *rows <= 20_000 + 1024), "{found:?}");
    let found = pages(Making::new().property("write.parquet.page-row-limit", 100), 0).await;
    // Where an input batch ends, a short run of values comes first.
    assert!(
        found.iter().all(|(rows, _)| *rows < 200) && found.len() > 250,
        "{found:?}"
    );
    let found = pages(Making::new().property("write.parquet.page-row-limit", 1000), 0).await;
    assert!(
        found.iter().all(|(rows, _)| *rows < 2000) && found.len() >= 29,
        "{found:?}"
    );
    let making = Making::new()
        .property("write.parquet.page-size-bytes", 8 * 1024)
        .property("write.parquet.dict-size-bytes", 1);
    let found = pages(making, 0).await;
    // 1,024 plain longs make 8 KiB; the writer looks at the size after every batch of 1,024 values.
    assert!(
        found.iter().skip(1).all(|(rows, _)| *rows <= 2 * 1024) && found.len() >= 14,
        "{found:?}"
    );
}

#[tokio::test]
async fn dictionaries_end_at_their_size() {
    let is_dictionary = |e: &Encoding| matches!(e, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY);
    let of_dictionary = |found: &[(u32, Encoding)]| {
        let dictionary = found.iter().filter(|(_, e)| is_dictionary(e)).count();
        (dictionary, found.len() - dictionary)
    };
    // 30,000 different longs take 240,000 bytes, which the default of 2 MiB holds.
    let (dictionary, plain) = of_dictionary(&pages(Making::new(), 0).await);
    assert!(dictionary > 0 && plain == 0, "{dictionary}, {plain}");
    let making = Making::new().property("write.parquet.dict-size-bytes", 16 * 1024);
    let (dictionary, plain) = of_dictionary(&pages(making, 0).await);
    assert!(dictionary > 0 && plain > 0, "{dictionary}, {plain}");
}

#[tokio::test]
async fn bloom_filters_stand_where_they_are_asked_for() {
    let making = Making::new()
        .property("write.parquet.bloom-filter-enabled.column.s", "true")
        .property("write.parquet.bloom-filter-fpp.column.s", "0.05")
        .property("write.parquet.bloom-filter-max-bytes", 64 * 1024);
    let site = Site::new(columns(), making).await;
    append(&site).await.unwrap();
    let bytes = site.table().await.io.read(&site.file().await.file_path).await.unwrap();
    let options = ReadOptionsBuilder::new()
        .with_reader_properties(ReaderProperties::builder().set_read_bloom_filter(true).build())
        .build();
    let reader = SerializedFileReader::new_with_options(bytes, options).unwrap();
    let group = reader.get_row_group(0).unwrap();
    assert!(group.get_column_bloom_filter(0).is_none());
    let filter = group.get_column_bloom_filter(1).unwrap();
    let length = reader.metadata().row_group(0).column(1).bloom_filter_length().unwrap();
    assert!((1024..=64 * 1024 + 64).contains(&length), "{length}");
    assert!((0..ROWS).all(|id| filter.check(format!("text {id}").as_str())));
    let wrong = (0..10_000)
        .filter(|id| filter.check(format!("other {id}").as_str()))
        .count();
    // 5 % are allowed; a filter that says yes to everything, or one far too small, is none.
    assert!(wrong < 1_000, "{wrong} of 10,000");
    assert!(
        footer(Making::new())
            .await
            .row_group(0)
            .columns()
            .iter()
            .all(|c| c.bloom_filter_offset().is_none())
    );
}

#[tokio::test]
async fn statistics_are_left_out_where_they_are_switched_off() {
    let making = Making::new().property("write.parquet.stats-enabled.column.s", "false");
    let footer = footer(making).await;
    let group = footer.row_group(0);
    assert!(group.column(0).statistics().is_some());
    assert!(group.column(1).statistics().is_none());
}

#[tokio::test]
async fn the_footer_names_the_schema_and_the_writer() {
    let site = Site::new(columns(), Making::new()).await;
    append(&site).await.unwrap();
    let footer = site.footer(&site.file().await).await;
    let file = footer.file_metadata();
    assert!(
        file.created_by().unwrap().starts_with("tarn version "),
        "{:?}",
        file.created_by()
    );
    let pairs = file.key_value_metadata().unwrap();
    let json = pairs
        .iter()
        .find(|kv| kv.key == "iceberg.schema")
        .unwrap()
        .value
        .clone()
        .unwrap();
    let schema: Schema = serde_json::from_str(&json).unwrap();
    assert_eq!(schema.fields(), site.table().await.metadata.current_schema().fields());
    // Arrow's own copy of the schema would win over field ids in some readers.
    assert!(pairs.iter().all(|kv| kv.key != "ARROW:schema"));
}

/// Spec, Appendix A, "Parquet": how each type is stored.
#[tokio::test]
async fn types_are_stored_as_the_specification_says() {
    use PhysicalType as P;
    let fixed = P::FIXED_LEN_BYTE_ARRAY;
    let decimal = |precision: i32, scale: i32| Some(LogicalType::decimal(scale, precision));
    let timestamp = |utc: bool, unit| Some(LogicalType::timestamp(utc, unit));
    use parquet::basic::TimeUnit::{MICROS, NANOS};
    let expected: Vec<(&str, PhysicalType, i32, Option<LogicalType>)> = vec![
        ("boolean", P::BOOLEAN, -1, None),
        ("int", P::INT32, -1, None),
        ("long", P::INT64, -1, None),
        ("float", P::FLOAT, -1, None),
        ("double", P::DOUBLE, -1, None),
        ("decimal(1, 0)", P::INT32, -1, decimal(1, 0)),
        ("decimal(9, 2)", P::INT32, -1, decimal(9, 2)),
        ("decimal(10, 10)", P::INT64, -1, decimal(10, 10)),
        ("decimal(18, 3)", P::INT64, -1, decimal(18, 3)),
        ("decimal(19, 0)", fixed, 9, decimal(19, 0)),
        ("decimal(38, 10)", fixed, 16, decimal(38, 10)),
        ("date", P::INT32, -1, Some(LogicalType::Date)),
        ("time", P::INT64, -1, Some(LogicalType::time(false, MICROS))),
        ("timestamp", P::INT64, -1, timestamp(false, MICROS)),
        ("timestamptz", P::INT64, -1, timestamp(true, MICROS)),
        ("timestamp_ns", P::INT64, -1, timestamp(false, NANOS)),
        ("timestamptz_ns", P::INT64, -1, timestamp(true, NANOS)),
        ("string", P::BYTE_ARRAY, -1, Some(LogicalType::String)),
        ("uuid", fixed, 16, Some(LogicalType::Uuid)),
        ("fixed[1]", fixed, 1, None),
        ("fixed[20]", fixed, 20, None),
        ("binary", P::BYTE_ARRAY, -1, None),
    ];
    let mut fields = vec![NestedField::required(1, "position", PrimitiveType::Int)];
    let mut arrays = vec![positions()];
    for (i, (p, _, array)) in samples().into_iter().enumerate() {
        fields.push(NestedField::optional(i as i32 + 2, p.to_string(), p));
        arrays.push(array);
    }
    let site = Site::new(fields, Making::new().version(FormatVersion::V3)).await;
    site.append(site.batch(arrays).await).await.unwrap();
    let footer = site.footer(&site.file().await).await;
    let stored = footer.file_metadata().schema().get_fields().to_vec();
    let found: Vec<(&str, PhysicalType, i32, Option<LogicalType>)> = stored
        .iter()
        .skip(1)
        .map(|t| {
            (
                t.name(),
                t.get_physical_type(),
                length(t),
                t.get_basic_info().logical_type_ref().cloned(),
            )
        })
        .collect();
    // Values of type unknown are not stored.
    assert_eq!(found, expected);
    assert_eq!(stored[0].get_basic_info().repetition(), Repetition::REQUIRED);
    assert_eq!(stored[1].get_basic_info().repetition(), Repetition::OPTIONAL);
    // Readers from before logical types need the converted one.
    let text = stored.iter().find(|t| t.name() == "string").unwrap();
    assert_eq!(text.get_basic_info().converted_type(), ConvertedType::UTF8);
}

fn length(parquet: &ParquetType) -> i32 {
    match parquet {
        ParquetType::PrimitiveType {
            type_length,
            physical_type,
            ..
        } if *physical_type == PhysicalType::FIXED_LEN_BYTE_ARRAY => *type_length,
        _ => -1,
    }
}
