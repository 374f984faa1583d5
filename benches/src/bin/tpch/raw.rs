//! The yardstick: DataFusion with its defaults on the very data files of the Iceberg tables.

use tarn::Session;
use tarn::datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};

use crate::Failure;
use crate::lake::{self, DERIVED, TABLES};

/// A context with every table registered as a folder of Parquet files.
pub async fn context(session: &Session, partitions: usize) -> Result<SessionContext, Failure> {
    let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(partitions));
    for table in TABLES.iter().chain(DERIVED) {
        let location = lake::load(session, table).await?.metadata.location.clone();
        let files = format!("{location}/data/");
        context
            .register_parquet(*table, &files, ParquetReadOptions::default())
            .await?;
    }
    Ok(context)
}
