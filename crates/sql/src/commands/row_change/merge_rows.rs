//! MERGE whose source is a DataFrame.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::TableProvider;
use datafusion::dataframe::DataFrame;
use tarn_format::Result;
use tarn_format::spec::snapshot::Properties;

use super::merge::plan_merge_into;
use super::target::Target;
use crate::ast::{Merge, Name};
use crate::output::Output;
use crate::planner::{FunctionArgument, LoadedRelation, RelationLoader, RelationRequest, RelationSource};
use crate::session::Session;

/// Rows that a MERGE names as its source.
pub(crate) struct MergeRows {
    /// What the statement calls them: nothing else is found by this name.
    pub(crate) name: &'static str,
    /// The rows.
    pub(crate) rows: DataFrame,
    /// Options of the write.
    pub(crate) options: Properties,
}

/// Runs a MERGE of these rows.
///
/// # Errors
/// As [`super::plan_merge`].
pub(crate) async fn merge_rows(session: &Session, merge: &Merge, source: MergeRows) -> Result<Output> {
    let mut target = Target::find(session, &merge.table, merge.alias.as_deref()).await?;
    target.options = source.options;
    target.context.loader = Arc::new(WithRows {
        others: Arc::clone(&target.context.loader),
        name: source.name,
        rows: source.rows.into_view(),
    });
    let plan = Box::pin(plan_merge_into(session, target, merge)).await?;
    plan.run("MERGE").await
}

/// The session's relations, and one more.
#[derive(Debug)]
struct WithRows {
    others: Arc<dyn RelationLoader>,
    name: &'static str,
    rows: Arc<dyn TableProvider>,
}

#[async_trait]
impl RelationLoader for WithRows {
    async fn load(&self, request: RelationRequest) -> Result<LoadedRelation> {
        match &request.source {
            RelationSource::Name(Name(parts)) if *parts == [self.name] => Ok(LoadedRelation {
                provider: Arc::clone(&self.rows),
                name: Name(parts.clone()),
                iceberg: None,
            }),
            _ => self.others.load(request).await,
        }
    }

    async fn load_function(&self, function: &str, arguments: &[FunctionArgument]) -> Result<Option<LoadedRelation>> {
        self.others.load_function(function, arguments).await
    }
}
