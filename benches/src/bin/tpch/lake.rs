//! The tables: TPC-H's eight, `lineitem` by month, and `lineitem` in 2,000 small files, written by Tarn.

use std::path::Path;
use std::sync::Arc;

use tarn::Session;
use tarn::datafusion::arrow::datatypes::{DataType, Field, Schema};
use tarn::datafusion::physical_plan::{ExecutionPlan, collect};
use tarn::datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use tarn::engine::write::{AppendReport, WriteTarget, append, append_report};
use tarn::format::catalog::{Catalog, Namespace, Table, TableIdent};

use crate::Failure;

/// The eight tables of TPC-H.
pub const TABLES: &[&str] = &[
    "region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem",
];

/// Those made of `lineitem` besides.
pub const DERIVED: &[&str] = &["lineitem_part", "many_small"];

/// About 2,000 files of `lineitem` at scale factor 1.
const SMALL_FILES: &str = "TBLPROPERTIES ('write.target-file-size-bytes' = '165000')";

/// The namespace they lie in.
pub const NAMESPACE: &str = "tpch";

/// A session whose default catalog lies in `directory`.
pub async fn session(directory: &Path, partitions: usize) -> Result<Session, Failure> {
    let builder = Session::builder().home(directory).parallelism(partitions);
    Ok(builder.namespace(Namespace::new([NAMESPACE])).build().await?)
}

/// The catalog of a session.
pub async fn catalog(session: &Session) -> Result<Arc<dyn Catalog>, Failure> {
    let lake = session.catalog("lake").await?;
    Ok(lake.ok_or("no catalog 'lake'")?.catalog)
}

/// The name of a table.
pub fn ident(table: &str) -> TableIdent {
    TableIdent::new(Namespace::new([NAMESPACE]), table)
}

/// Loads a table.
pub async fn load(session: &Session, table: &str) -> Result<Table, Failure> {
    Ok(catalog(session).await?.load_table(&ident(table)).await?)
}

/// Makes the tables that are not there yet from `DIR/TABLE.parquet`.
pub async fn make(session: &Session, raw: &Path) -> Result<(), Failure> {
    session
        .sql(&format!("CREATE NAMESPACE IF NOT EXISTS {NAMESPACE}"))
        .await?;
    for table in TABLES.iter().chain(DERIVED) {
        if catalog(session).await?.table_exists(&ident(table)).await? {
            continue;
        }
        let source = if DERIVED.contains(table) { "lineitem" } else { table };
        // One partition keeps the order of the source, so that files and pages hold ranges of the key.
        let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(1));
        let path = raw.join(format!("{source}.parquet"));
        let frame = context
            .read_parquet(path.to_string_lossy().into_owned(), ParquetReadOptions::default())
            .await?;
        let layout = match *table {
            "lineitem_part" => "PARTITIONED BY (months(l_shipdate))",
            "many_small" => SMALL_FILES,
            _ => "",
        };
        let columns = columns(frame.schema().as_arrow())?;
        session
            .sql(&format!("CREATE TABLE {table} ({columns}) {layout}"))
            .await?;
        let plan = frame.create_physical_plan().await?;
        let report = write(session, &context, table, plan).await?;
        println!(
            "{table}: {} rows in {} files, {} MB, {:.1} s",
            report.rows,
            report.files,
            report.bytes >> 20,
            report.duration.as_secs_f64()
        );
    }
    Ok(())
}

/// Appends the rows of a plan.
pub async fn write(
    session: &Session,
    context: &SessionContext,
    table: &str,
    plan: Arc<dyn ExecutionPlan>,
) -> Result<AppendReport, Failure> {
    let target = WriteTarget::new(catalog(session).await?, load(session, table).await?)?;
    let plan = append(plan, target)?;
    collect(Arc::clone(&plan), context.task_ctx()).await?;
    Ok(append_report(&plan).ok_or("the append left no report")?)
}

/// Columns as Spark SQL declares them.
pub fn columns(schema: &Schema) -> Result<String, Failure> {
    let column = |field: &Arc<Field>| -> Result<String, Failure> {
        let ty = match field.data_type() {
            DataType::Int32 => "int".to_string(),
            DataType::Int64 => "bigint".to_string(),
            DataType::Utf8 | DataType::Utf8View | DataType::LargeUtf8 => "string".to_string(),
            DataType::Date32 => "date".to_string(),
            DataType::Decimal128(precision, scale) => format!("decimal({precision}, {scale})"),
            other => return Err(format!("no column type for {other}").into()),
        };
        Ok(format!("{} {ty}", field.name()))
    };
    let columns = schema.fields().iter().map(column).collect::<Result<Vec<_>, _>>()?;
    Ok(columns.join(", "))
}
