//! [`IcebergTable`]: an Iceberg table at one state as a DataFusion table.

use std::sync::Arc;

use arrow::datatypes::{Schema as ArrowSchema, SchemaRef as ArrowSchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::dml::InsertOp;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use tarn_format::Error;
use tarn_format::catalog::{Catalog, Table};
use tarn_format::metrics::{LoggingReporter, MetricsReporter};
use tarn_format::scan::snapshots::SnapshotSelector;
use tarn_format::spec::schema::SchemaRef;

use crate::arrow::parent_nulls::with_parents_nulls;
use crate::arrow::schema::{UTC, schema_to_arrow};
use crate::arrow::time_zone::in_zone;
use crate::caches::Caches;
use crate::external;
use crate::scan::plan::{ScanRequest, plan_scan};
use crate::scan::{MetadataColumn, ReadOptions};
use crate::write::append::full_name;
use crate::write::{WriteTarget, append};

/// A table at one state: immutable, so that every plan that holds it sees one snapshot.
#[derive(Debug, Clone)]
pub struct IcebergTable {
    table: Table,
    selector: SnapshotSelector,
    schema: SchemaRef,
    metadata_columns: Vec<MetadataColumn>,
    arrow_schema: ArrowSchemaRef,
    time_zone: Arc<str>,
    read: ReadOptions,
    caches: Caches,
    catalog: Option<Arc<dyn Catalog>>,
    reporter: Arc<dyn MetricsReporter>,
}

impl IcebergTable {
    /// A table at the state that `selector` names, with the schema that belongs to it: the table's own for the current
    /// state and branches, the snapshot's for ids, times and tags.
    ///
    /// # Errors
    /// `NotFound` when there is no such snapshot or ref.
    pub fn new(table: Table, selector: SnapshotSelector, caches: Caches) -> tarn_format::Result<Self> {
        let selected = selector.select(&table.metadata)?;
        Ok(IcebergTable {
            arrow_schema: with_parents_nulls(&schema_to_arrow(&selected.schema)),
            schema: selected.schema,
            metadata_columns: Vec::new(),
            table,
            selector,
            time_zone: Arc::from(UTC),
            read: ReadOptions::default(),
            caches,
            catalog: None,
            reporter: Arc::new(LoggingReporter),
        })
    }

    /// The table with the catalog that it was loaded from, which makes it writable.
    #[must_use]
    pub fn with_catalog(mut self, catalog: Arc<dyn Catalog>) -> Self {
        self.catalog = Some(catalog);
        self
    }

    /// The table whose scans and commits are reported there; by default they are logged.
    #[must_use]
    pub fn with_reporter(mut self, reporter: Arc<dyn MetricsReporter>) -> Self {
        self.reporter = reporter;
        self
    }

    /// The table with metadata columns behind its own, in the order of [`MetadataColumn::ALL`].
    #[must_use]
    pub fn with_metadata_columns(mut self, columns: &[MetadataColumn]) -> Self {
        self.metadata_columns = MetadataColumn::ALL
            .into_iter()
            .filter(|c| columns.contains(c))
            .collect();
        self.arrow_schema = self.make_arrow_schema();
        self
    }

    /// The table with timestamps that have a zone in this one. They are the same instants in any zone.
    #[must_use]
    pub fn with_time_zone(mut self, zone: &str) -> Self {
        self.time_zone = Arc::from(zone);
        self.arrow_schema = self.make_arrow_schema();
        self
    }

    /// The table read with these options. Rows that were appended are read with the table's current schema.
    ///
    /// # Errors
    /// `InvalidInput` when both appended rows and a state of the table are asked for.
    pub fn with_read_options(mut self, read: ReadOptions) -> tarn_format::Result<Self> {
        if read.appended.is_some() && self.selector != SnapshotSelector::Current {
            return Err(Error::invalid(format!(
                "appended rows are those of a range of snapshots: {} cannot be given too",
                self.selector
            )));
        }
        self.read = read;
        Ok(self)
    }

    fn make_arrow_schema(&self) -> ArrowSchemaRef {
        let own = schema_to_arrow(&self.schema);
        let added = self
            .metadata_columns
            .iter()
            .map(|c| c.arrow_field(&self.table.metadata));
        let fields: Vec<_> = own.fields().iter().cloned().chain(added).collect();
        in_zone(
            &with_parents_nulls(&Arc::new(ArrowSchema::new(fields))),
            &self.time_zone,
        )
    }

    /// The table as its catalog loaded it.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Which state is read.
    pub fn selector(&self) -> &SnapshotSelector {
        &self.selector
    }

    /// The schema that rows are read with.
    pub fn iceberg_schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// That schema in Arrow's terms, followed by the metadata columns. Required fields of structs that may be null are
    /// nullable, because they are null where the struct is.
    pub fn arrow_schema(&self) -> &ArrowSchemaRef {
        &self.arrow_schema
    }

    /// The metadata columns that can be read.
    pub fn metadata_columns(&self) -> &[MetadataColumn] {
        &self.metadata_columns
    }

    /// The catalog that commits changes; `None` for tables that are only read.
    pub fn catalog(&self) -> Option<&Arc<dyn Catalog>> {
        self.catalog.as_ref()
    }

    /// How it is read.
    pub fn read_options(&self) -> &ReadOptions {
        &self.read
    }

    pub(crate) fn reporter(&self) -> &dyn MetricsReporter {
        self.reporter.as_ref()
    }

    /// The table's name with its catalog's, as far as that is known.
    pub(crate) fn full_name(&self) -> String {
        match &self.catalog {
            Some(catalog) => full_name(catalog.as_ref(), &self.table.ident),
            None => self.table.ident.to_string(),
        }
    }

    pub(crate) fn caches(&self) -> &Caches {
        &self.caches
    }
}

#[async_trait]
impl TableProvider for IcebergTable {
    fn schema(&self) -> ArrowSchemaRef {
        Arc::clone(&self.arrow_schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let request = ScanRequest {
            projection,
            filters,
            limit,
        };
        plan_scan(self, state, request).await
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        // Iceberg prunes files by them; rows are filtered by the engine.
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }

    /// Appends. Other changes of rows must go through plans that keep their meaning: by the time DataFusion calls its
    /// hooks for them, filters are lost or changed, so those hooks stay refused.
    async fn insert_into(
        &self,
        _state: &dyn Session,
        input: Arc<dyn ExecutionPlan>,
        insert_op: InsertOp,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let target = self.write_target(insert_op);
        let target = target.map_err(|e| external(e.with_context("table", self.table.ident.to_string())))?;
        append(input, target)
    }
}

impl IcebergTable {
    fn write_target(&self, insert_op: InsertOp) -> tarn_format::Result<WriteTarget> {
        if insert_op != InsertOp::Append {
            return Err(Error::unsupported(format!("{insert_op} is not supported yet")));
        }
        let Some(catalog) = &self.catalog else {
            return Err(Error::unsupported(
                "the table belongs to no catalog and can only be read",
            ));
        };
        if self.read.appended.is_some() {
            return Err(Error::unsupported("a range of snapshots cannot be written to"));
        }
        if !self.metadata_columns.is_empty() {
            return Err(Error::unsupported(
                "rows cannot be inserted where metadata columns are shown",
            ));
        }
        let branch = match &self.selector {
            SnapshotSelector::Current => None,
            SnapshotSelector::Ref(name) => Some(name.clone()),
            _ => return Err(Error::unsupported("an earlier state of a table cannot be written to")),
        };
        let mut target = WriteTarget::new(Arc::clone(catalog), self.table.clone())?;
        target.branch = branch;
        target.commit.cache = self.caches.manifests.clone();
        target.commit.reporter = Arc::clone(&self.reporter);
        Ok(target)
    }
}
