//! Files of position deletes (spec, "Position Delete Files").

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringViewArray};
use tarn_format::deletes::deletion_vector::DeletionVector;
use tarn_format::io::file_names::DataFileNames;
use tarn_format::io::location_provider::LocationProvider;
use tarn_format::manifest::data_file::{DataContent, DataFile, FileFormat, PartitionTuple};
use tarn_format::spec::partition::PartitionSpec;
use tarn_format::spec::schema::Schema;
use tarn_format::spec::snapshot::Properties;
use tarn_format::spec::sort::SortOrder;
use tarn_format::spec::types::{NestedField, PrimitiveType, StructType};
use tarn_format::{Error, Result};
use uuid::Uuid;

use super::append::WriteTarget;
use super::conform::Conform;
use super::metrics_mode::MetricsConfig;
use super::parquet_file::ParquetFiles;
use super::statement_write::StatementWrite;
use crate::deletes::position_reader::{FILE_PATH_ID, POS_ID};

/// Rows of a batch.
const BATCH_ROWS: usize = 8192;

/// Writes files of position deletes for one statement.
pub(crate) struct PositionDeleteWriter<'a> {
    target: &'a WriteTarget,
    write: &'a StatementWrite,
    files: ParquetFiles,
    stored: arrow::datatypes::SchemaRef,
    locations: LocationProvider,
    names: DataFileNames,
}

impl<'a> PositionDeleteWriter<'a> {
    pub(crate) fn new(target: &'a WriteTarget, write: &'a StatementWrite) -> Result<Self> {
        let metadata = &target.table.metadata;
        let columns = vec![
            NestedField::required(FILE_PATH_ID, "file_path", PrimitiveType::String),
            NestedField::required(POS_ID, "pos", PrimitiveType::Long),
        ];
        let schema = Arc::new(Schema::new(0, StructType::new(columns), vec![])?);
        // Whole paths as bounds: readers find the data file by them (Java: `MetricsConfig.forPositionDelete`).
        let full = Properties::from([("write.metadata.metrics.default".to_string(), "full".to_string())]);
        let mut options = target.options.clone();
        options.metrics = MetricsConfig::new(&full, &schema, &SortOrder::unsorted())?;
        let stored = Arc::clone(Conform::new(Arc::clone(&schema)).stored_schema());
        let io = target.table.io.clone();
        Ok(PositionDeleteWriter {
            files: ParquetFiles::new(io, schema, Arc::clone(&stored), &options)?,
            stored,
            locations: LocationProvider::for_table(metadata)?,
            names: DataFileNames::new(0, 0, Uuid::new_v4().to_string()).with_suffix("deletes"),
            target,
            write,
        })
    }

    /// Writes one file that deletes rows of data files of one partition.
    pub(crate) async fn write(
        &self,
        spec: &PartitionSpec,
        partition: &PartitionTuple,
        deleted: &BTreeMap<Arc<str>, DeletionVector>,
    ) -> Result<DataFile> {
        let metadata = &self.target.table.metadata;
        let partition_type = metadata.partition_type_of(spec.spec_id)?;
        let folder = spec.partition_to_path(partition, &partition_type);
        let name = self.names.next_name(FileFormat::Parquet);
        let location = self.locations.new_data_location(&folder, &name)?;
        self.write.begin(&location);
        let mut file = self.files.create(location)?;
        for (path, vector) in deleted {
            let mut positions = vector.iter();
            loop {
                let batch: Vec<i64> = positions.by_ref().take(BATCH_ROWS).map(|p| p as i64).collect();
                if batch.is_empty() {
                    break;
                }
                file.write(&self.batch(path, batch)?).await?;
            }
        }
        let mut written = self.files.finish(file).await?;
        written.content = DataContent::PositionDeletes;
        written.spec_id = spec.spec_id;
        written.partition = partition.clone();
        describe(&mut written, deleted);
        Ok(written)
    }

    fn batch(&self, path: &str, positions: Vec<i64>) -> Result<RecordBatch> {
        let paths = std::iter::repeat_n(path, positions.len());
        let columns: Vec<ArrayRef> = vec![
            Arc::new(StringViewArray::from_iter_values(paths)),
            Arc::new(Int64Array::from(positions)),
        ];
        RecordBatch::try_new(Arc::clone(&self.stored), columns)
            .map_err(|e| Error::invalid("position deletes cannot be written").with_source(e))
    }
}

/// Counts tell nothing here, and bounds only where all rows are of one data file, which is then named (Java:
/// `PositionDeleteWriter.metrics`).
fn describe(file: &mut DataFile, deleted: &BTreeMap<Arc<str>, DeletionVector>) {
    file.value_counts.clear();
    file.null_value_counts.clear();
    file.nan_value_counts.clear();
    match deleted.keys().next() {
        Some(path) if deleted.len() == 1 => file.referenced_data_file = Some(Arc::clone(path)),
        _ => {
            file.lower_bounds.clear();
            file.upper_bounds.clear();
        }
    }
}
