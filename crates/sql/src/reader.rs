//! Reading tables and files as DataFrames, with Spark's read options.

use std::sync::Arc;

use datafusion::dataframe::DataFrame;
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::LogicalPlanBuilder;
use tarn_format::Result;

use crate::ast::PropertyList;
use crate::commands::plan_context;
use crate::error::from_engine;
use crate::parser::parse_name;
use crate::planner::{RelationRequest, RelationSource, table_reference};
use crate::session::Session;

/// Reads one table as a DataFrame; [`Session::read`] makes it.
///
/// Options are those of Spark's `DataFrameReader` on Iceberg: `snapshot-id`, `as-of-timestamp` (milliseconds since 1970),
/// `branch`, `tag`, `start-snapshot-id` with `end-snapshot-id` for the rows appended between them, `split-size`,
/// `lookback`, `file-open-cost` (bytes) and `aggregate-push-down-enabled`. A later value of a key replaces an earlier one.
#[derive(Debug, Clone)]
pub struct Reader {
    session: Session,
    options: PropertyList,
}

impl Reader {
    pub(crate) fn new(session: Session) -> Self {
        Reader {
            session,
            options: Vec::new(),
        }
    }

    /// Sets an option.
    #[must_use]
    pub fn option(mut self, key: impl Into<String>, value: impl ToString) -> Self {
        self.options.push((key.into(), value.to_string()));
        self
    }

    /// The table of a name, as SQL writes it: `t`, `lake.db.t`, `` db.`my table` ``, `t.branch_b`, `t.snapshots`.
    ///
    /// # Errors
    /// `NotFound` when there is no such table or state; `InvalidInput` for options that make no sense or exclude each
    /// other.
    pub async fn table(self, name: &str) -> Result<DataFrame> {
        let name = parse_name(name, &self.session.dialect())?;
        self.open(RelationSource::Name(name)).await
    }

    /// Files (`x.parquet`, `folder/*.csv`), or a table by its directory or metadata file.
    ///
    /// # Errors
    /// `NotFound` when nothing is there; `InvalidInput` when the format cannot be told, and for options of files.
    pub async fn load(self, path: &str) -> Result<DataFrame> {
        self.open(RelationSource::Path(path.to_string())).await
    }

    async fn open(self, source: RelationSource) -> Result<DataFrame> {
        let context = plan_context(&self.session);
        let request = RelationRequest {
            source,
            version: None,
            options: self.options,
        };
        let relation = context.loader.load(request).await?;
        let source = provider_as_source(Arc::clone(&relation.provider));
        let scan = LogicalPlanBuilder::scan(table_reference(&relation.name), source, None);
        let plan = scan.and_then(LogicalPlanBuilder::build).map_err(from_engine)?;
        Ok(DataFrame::new(context.state, plan))
    }
}
