//! Tables in memory, in namespace `db` of catalog `lake`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use arrow::compute::cast;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use datafusion::datasource::MemTable;
use tarn_engine::arrow::schema::schema_to_arrow;
use tarn_format::spec::schema::Schema;
use tarn_format::spec::types::StructType;
use tarn_format::{Error, Result};

use crate::ast::{CreateTable, Name};
use crate::planner::{LoadedRelation, RelationLoader, RelationRequest, RelationSource, RelationVersion};

#[derive(Debug, Default)]
pub(in crate::planner) struct Tables {
    tables: Mutex<HashMap<String, (SchemaRef, Vec<RecordBatch>)>>,
    /// The versions that were asked for.
    pub(super) versions: Mutex<Vec<RelationVersion>>,
}

impl Tables {
    pub(super) fn create(&self, create: &CreateTable) {
        let mut next_id = 0;
        let fields = create.columns.iter().map(|c| Arc::new(c.to_iceberg(&mut next_id)));
        let schema = Schema::new(
            0,
            StructType {
                fields: fields.collect(),
            },
            Vec::new(),
        );
        let schema = schema_to_arrow(&schema.expect("a schema"));
        let name = create.name.0.last().expect("a name").to_lowercase();
        self.tables.lock().expect("lock").insert(name, (schema, Vec::new()));
    }

    pub(super) fn insert(&self, name: &Name, batches: &[RecordBatch]) -> Result<()> {
        let mut tables = self.tables.lock().expect("lock");
        let key = name.0.last().expect("a name").to_lowercase();
        let Some((schema, rows)) = tables.get_mut(&key) else {
            return Err(Error::not_found(format!("no table {name}")));
        };
        for batch in batches {
            let columns = batch.columns().iter().zip(schema.fields());
            let columns: Result<Vec<_>, _> = columns.map(|(c, f)| cast(c, f.data_type())).collect();
            let batch = columns.and_then(|c| RecordBatch::try_new(schema.clone(), c));
            rows.push(batch.map_err(|e| Error::invalid(e.to_string()))?);
        }
        Ok(())
    }
}

#[async_trait]
impl RelationLoader for Tables {
    async fn load(&self, request: RelationRequest) -> Result<LoadedRelation> {
        let RelationSource::Name(name) = request.source else {
            return Err(Error::unsupported("no files here"));
        };
        self.versions.lock().expect("lock").extend(request.version);
        let tables = self.tables.lock().expect("lock");
        let prefix: Vec<String> = name.0.iter().map(|p| p.to_lowercase()).collect();
        let known = match prefix.as_slice() {
            [t] => Some(t),
            [db, t] if db == "db" => Some(t),
            [lake, db, t] if lake == "lake" && db == "db" => Some(t),
            _ => None,
        };
        let Some((table, (schema, rows))) = known.and_then(|t| tables.get_key_value(t)) else {
            return Err(Error::not_found(format!("table {name} does not exist")));
        };
        let provider = MemTable::try_new(schema.clone(), vec![rows.clone()]).expect("a table");
        Ok(LoadedRelation {
            provider: Arc::new(provider),
            name: Name(vec!["lake".to_string(), "db".to_string(), table.clone()]),
            iceberg: None,
        })
    }
}
