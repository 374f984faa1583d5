//! The table that a statement changes.

use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion::dataframe::DataFrame;
use datafusion::logical_expr::{Expr as PlannedExpr, LogicalPlan, LogicalPlanBuilder, lit};
use sqlparser::ast::{Expr, Ident, ObjectName, Query, SelectItem, SetExpr, TableFactor, TableWithJoins, With};
use tarn_engine::IcebergTable;
use tarn_engine::rowlevel::{RowAction, RowLevelMode, RowLevelOptions, RowStatement, RowTarget, row_change};
use tarn_engine::scan::MetadataColumn;
use tarn_engine::write::{OptionSources, SchemaGrowth, WriteTarget};
use tarn_format::expr::Predicate;
use tarn_format::scan::snapshots::SnapshotSelector;
use tarn_format::spec::schema::{CaseSensitivity, SchemaRef};
use tarn_format::spec::snapshot::{MAIN_BRANCH, Properties};
use tarn_format::spec::types::{FieldId, NestedFieldRef};
use tarn_format::{Error, Result, ResultExt};

use crate::ast::Name;
use crate::commands::insert::write_branch;
use crate::commands::query::plan_context_with;
use crate::commands::write_audit_publish;
use crate::commands::write_plan::{WritePlan, write_target};
use crate::error::from_engine;
use crate::loaded_tables::LoadedTables;
use crate::names::{FoundTable, find_table};
use crate::planner::PlanContext;
use crate::planner::builders::{alias, plain_query, quoted, select_star_from, table_named};
use crate::relations::full_name;
use crate::session::Session;

/// Metadata columns that say where a row is.
pub(super) const FILE: &str = "_file";
pub(super) const POSITION: &str = "_pos";

/// A table to change, as a statement names it.
pub(super) struct Target {
    pub(super) context: PlanContext,
    /// Its name with catalog and namespace.
    pub(super) name: Name,
    pub(super) case: CaseSensitivity,
    alias: Option<String>,
    branch: Option<String>,
    /// Options of the statement.
    pub(super) options: Properties,
    found: FoundTable,
    /// What the statement has loaded.
    tables: LoadedTables,
    growth: Option<SchemaGrowth>,
    /// The columns that updates may change; `None` is all.
    pub(super) updated_columns: Option<BTreeSet<FieldId>>,
    /// The rows of the statement with the updated columns alone, see [`RowTarget::updates`].
    pub(super) updates: Option<LogicalPlan>,
}

impl Target {
    /// Finds a table that can be changed.
    ///
    /// # Errors
    /// `NotFound` when there is none; `InvalidInput` for tags, past states and metadata tables.
    pub(super) async fn find(session: &Session, table: &Name, alias: Option<&str>) -> Result<Target> {
        let tables = LoadedTables::default();
        let found = find_table(&session.locate_table(table).await?, &tables).await?;
        let name = full_name(&found);
        Ok(Target {
            context: plan_context_with(session, &tables),
            case: session.settings().case_sensitivity(),
            alias: alias.map(str::to_string),
            branch: write_branch(&found).context("table", name.to_string())?,
            name,
            options: Properties::new(),
            found,
            tables,
            growth: None,
            updated_columns: None,
            updates: None,
        })
    }

    /// Adds the columns of rows which the table lacks: from here on it has them, and the statement commits them with what
    /// it changes.
    ///
    /// # Errors
    /// As [`SchemaGrowth::of`].
    pub(super) fn grow(&mut self, rows: &[NestedFieldRef]) -> Result<()> {
        let grown = SchemaGrowth::of(&self.found.table, rows, self.case).context("table", self.name.to_string())?;
        if let Some((table, growth)) = grown {
            self.tables.put(&self.found.entry.catalog, table.clone());
            self.found.table = table;
            self.growth = Some(growth);
        }
        Ok(())
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        self.found.table.metadata.current_schema()
    }

    pub(super) fn properties(&self) -> &Properties {
        &self.found.table.metadata.properties
    }

    /// The column that identifies a row; `None` where the table has no row lineage.
    pub(super) fn row_id(&self) -> Option<Expr> {
        let row_id = MetadataColumn::of_table(&self.found.table.metadata).find(|c| *c == MetadataColumn::RowId);
        row_id.map(|c| self.column(c.name()))
    }

    /// What columns may be qualified by: the alias, or ends of the table's name.
    pub(super) fn path(&self) -> Vec<String> {
        match &self.alias {
            Some(alias) => vec![alias.clone()],
            None => self.name.0.clone(),
        }
    }

    /// The last part of [`Self::path`].
    pub(super) fn last_name(&self) -> String {
        self.path().pop().unwrap_or_default()
    }

    /// A column, qualified.
    pub(super) fn column(&self, name: &str) -> Expr {
        let path = self.path().into_iter().chain([name.to_string()]);
        Expr::CompoundIdentifier(path.map(quoted).collect())
    }

    /// The table in FROM. Its name is whole, so that no common table expression hides it.
    pub(super) fn factor(&self) -> TableFactor {
        let branch = self.branch.as_ref().map(|b| format!("branch_{b}"));
        let parts: Vec<Ident> = self.name.0.iter().cloned().chain(branch).map(quoted).collect();
        table_named(ObjectName::from(parts), self.alias.as_deref().map(alias))
    }

    /// `WITH … SELECT items FROM the table WHERE condition`
    pub(super) fn query(&self, with: Option<With>, items: Vec<SelectItem>, condition: Option<Expr>) -> Query {
        let mut select = select_star_from(vec![TableWithJoins {
            relation: self.factor(),
            joins: Vec::new(),
        }]);
        select.projection = items;
        select.selection = condition;
        query(with, SetExpr::Select(Box::new(select)))
    }

    /// Where the statement writes to, with what the session's settings say of publishing.
    pub(super) fn write(&self, session: &Session) -> Result<WriteTarget> {
        let (entry, table) = (&self.found.entry, self.found.table.clone());
        let mut target = write_target(session, entry, table, &self.options)?;
        target.branch.clone_from(&self.branch);
        target.growth.clone_from(&self.growth);
        write_audit_publish::aim(&mut target, &session.settings())?;
        Ok(target)
    }

    /// The state that the statement reads.
    pub(super) fn read(&self, write: &WriteTarget) -> Result<IcebergTable> {
        let table = self.found.table.clone();
        let is_there = |branch: &&String| *branch != MAIN_BRANCH && table.metadata.refs.contains_key(*branch);
        let selector = match write.branch.as_ref().filter(is_there) {
            Some(branch) => SnapshotSelector::Ref(branch.clone()),
            None => SnapshotSelector::Current,
        };
        let read = IcebergTable::new(table, selector, self.found.entry.caches.clone())?;
        Ok(read
            .with_catalog(Arc::clone(&write.catalog))
            .with_reporter(Arc::clone(&write.commit.reporter)))
    }

    /// The plan that changes the rows which `rows` gives, whose columns are those of [`row_change`].
    ///
    /// # Errors
    /// Those of planning, and `InvalidInput` for properties that make no sense.
    pub(super) async fn plan(
        self,
        session: &Session,
        statement: RowStatement,
        rows: LogicalPlan,
        keys: Vec<String>,
        conflict_filter: Predicate,
    ) -> Result<WritePlan> {
        let table = self.name.to_string();
        let mut write = self.write(session).context("table", table.as_str())?;
        let settings = session.settings();
        let sources = OptionSources {
            statement: &self.options,
            session: settings.values(),
        };
        let own = write.options.for_row_changes(&write.table.metadata, sources, statement);
        write.options = own.context("table", table.as_str())?;
        let options = RowLevelOptions::of_table(&write.table.metadata, statement);
        let options = options.and_then(|options| options.with_options(&self.options));
        let options = options.context("table", table.as_str())?;
        let updates = match &self.updates {
            Some(rows) if options.mode == RowLevelMode::CopyOnWrite => {
                let frame = DataFrame::new(self.context.state.clone(), rows.clone());
                Some(frame.create_physical_plan().await.map_err(from_engine)?)
            }
            _ => None,
        };
        let target = RowTarget {
            read: self.read(&write).context("table", table.as_str())?,
            write,
            statement,
            options,
            conflict_filter,
            updated_columns: self.updated_columns,
            updates,
            keys,
        };
        let state = self.context.state.clone();
        let frame = DataFrame::new(self.context.state, rows);
        let context = Arc::new(frame.task_ctx());
        let physical = frame.create_physical_plan().await.map_err(from_engine)?;
        let plan = row_change(physical, target, state).map_err(from_engine)?;
        Ok(WritePlan::ready(session, context, plan, table))
    }
}

/// A query that is nothing but this, after WITH.
pub(super) fn query(with: Option<With>, body: SetExpr) -> Query {
    Query {
        with,
        ..plain_query(body)
    }
}

/// `expr AS name` in a select list.
pub(super) fn item(expr: Expr, name: &str) -> SelectItem {
    SelectItem::ExprWithAlias {
        expr,
        alias: quoted(name),
    }
}

/// The leading columns of a change of rows that all have one action, then these.
///
/// # Errors
/// `Corrupt` when the rows do not begin with file and position.
pub(super) fn leading(
    rows: LogicalPlan,
    action: RowAction,
    values: impl IntoIterator<Item = PlannedExpr>,
) -> Result<LogicalPlan> {
    let columns = rows.schema().columns();
    let [file, position, ..] = columns.as_slice() else {
        return Err(Error::corrupt("changed rows have no file and position"));
    };
    let place = [file, position].map(|c| PlannedExpr::Column(c.clone()));
    let [file, position] = place;
    let leading = [
        file.alias(FILE),
        position.alias(POSITION),
        lit(action as i32).alias("_action"),
    ];
    let built = LogicalPlanBuilder::from(rows).project(leading.into_iter().chain(values));
    built.and_then(LogicalPlanBuilder::build).map_err(from_engine)
}
