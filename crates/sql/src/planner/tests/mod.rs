//! Queries over tables in memory.

mod names;
pub(crate) mod render;
mod tables;

use std::sync::Arc;

use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use tarn_format::Result;

use super::{PlanContext, QuerySettings, plan_query};
use crate::ast::Statement;
use crate::dialect::TarnDialect;
use crate::error::from_engine;
use crate::parser::parse;
use tables::Tables;

/// A session over tables in memory.
struct TestSession {
    tables: Arc<Tables>,
    context: PlanContext,
    session: SessionContext,
}

impl TestSession {
    fn new() -> Self {
        let mut config = SessionConfig::new().with_target_partitions(1);
        config.options_mut().execution.time_zone = Some("UTC".to_string());
        let builder = SessionStateBuilder::new().with_config(config).with_default_features();
        let state = crate::functions::register(builder).build();
        let tables = Arc::new(Tables::default());
        TestSession {
            context: PlanContext {
                state: state.clone(),
                loader: tables.clone(),
                settings: QuerySettings::default(),
            },
            session: SessionContext::new_with_state(state),
            tables,
        }
    }

    /// The rows of a query.
    async fn rows(&self, sql: &str) -> Result<Vec<String>> {
        let batches = self.batches(sql).await?;
        Ok(batches.iter().flat_map(render::rows).collect())
    }

    async fn batches(&self, sql: &str) -> Result<Vec<arrow::record_batch::RecordBatch>> {
        let statements = parse(sql, &TarnDialect::default())?;
        let [Statement::Query(query)] = statements.as_slice() else {
            return Err(tarn_format::Error::unsupported("no query"));
        };
        let plan = plan_query(&self.context, query.as_ref().clone()).await?;
        let frame = self.session.execute_logical_plan(plan).await.map_err(from_engine)?;
        frame.collect().await.map_err(from_engine)
    }

    /// Runs CREATE TABLE, DROP TABLE, INSERT or a query.
    async fn run(&self, sql: &str) -> Result<()> {
        for statement in parse(sql, &TarnDialect::default())? {
            match statement {
                Statement::CreateTable(create) if create.query.is_none() => self.tables.create(&create),
                Statement::Insert(insert) => {
                    let sql = insert.source.to_string();
                    let batches = self.batches(&sql).await?;
                    self.tables.insert(&insert.table, &batches)?;
                }
                Statement::Query(query) => {
                    self.batches(&query.to_string()).await?;
                }
                other => return Err(tarn_format::Error::unsupported(format!("{other:?}"))),
            }
        }
        Ok(())
    }
}
