//! The equality deletes of a scan: one set of keys per partition and list of key columns, so that a row is looked up once
//! however many delete files there are.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use tarn_format::deletes::{DeleteKind, DeleteTask, PartitionKey};
use tarn_format::io::FileIo;
use tarn_format::scan::FileScanTask;
use tarn_format::spec::schema::Schema;
use tarn_format::spec::table_metadata::TableMetadata;
use tarn_format::spec::types::{FieldId, NestedField, StructType};
use tarn_format::{Result, ResultExt};

use crate::arrow::schema::field_id;
use crate::deletes::key_column::KeyColumn;
use crate::deletes::key_set::KeySet;

/// The sets of a scan.
#[derive(Debug, Default)]
pub(crate) struct EqualityDeletes {
    /// All key columns, in order of their ids. They are read besides the columns of the query.
    columns: Vec<KeyColumn>,
    sets: Vec<KeySet>,
    /// Which set a delete file belongs to.
    set_of: HashMap<Place, usize>,
}

/// A delete file as its manifest's entries in memory and a row of them.
type Place = (usize, usize);

fn place(delete: &DeleteTask) -> Place {
    (Arc::as_ptr(delete.entries()) as usize, delete.row())
}

/// What the deletes of one set have in common. The partition of an unpartitioned spec is all of the table.
type Scope = (PartitionKey, Vec<FieldId>);

fn scope(delete: &DeleteTask) -> Scope {
    let mut ids = delete.equality_ids();
    ids.sort_unstable();
    ids.dedup();
    (PartitionKey::new(delete.spec_id(), delete.partition()), ids)
}

impl EqualityDeletes {
    /// Those that apply to any of the files. `schema` is what rows are read with.
    ///
    /// # Errors
    /// `Corrupt` for key columns that there are not; those of resolving locations.
    pub(crate) fn of(
        tasks: &[FileScanTask],
        metadata: &TableMetadata,
        schema: &Schema,
        io: &FileIo,
    ) -> Result<EqualityDeletes> {
        let mut scopes: HashMap<Scope, usize> = HashMap::new();
        let mut deletes: Vec<Vec<DeleteTask>> = Vec::new();
        let mut found = EqualityDeletes::default();
        for delete in tasks.iter().flat_map(equality) {
            let place = place(delete);
            if found.set_of.contains_key(&place) {
                continue;
            }
            let next = deletes.len();
            let set = *scopes.entry(scope(delete)).or_insert(next);
            if set == next {
                deletes.push(Vec::new());
            }
            if let Some(deletes) = deletes.get_mut(set) {
                deletes.push(delete.clone());
            }
            found.set_of.insert(place, set);
        }
        let mut columns: BTreeMap<FieldId, KeyColumn> = BTreeMap::new();
        let mut ids_of: Vec<Vec<FieldId>> = vec![Vec::new(); deletes.len()];
        for ((_, ids), set) in scopes {
            for id in &ids {
                if !columns.contains_key(id) {
                    let column = KeyColumn::find(metadata, *id, &hidden_name(schema, *id));
                    let file = deletes.get(set).and_then(|d| d.first()).map_or("", DeleteTask::path);
                    columns.insert(*id, column.context("delete file", file)?);
                }
            }
            if let Some(own) = ids_of.get_mut(set) {
                *own = ids;
            }
        }
        for (deletes, ids) in deletes.into_iter().zip(ids_of) {
            let keys = ids.iter().filter_map(|id| columns.get(id).cloned());
            found.sets.push(KeySet::new(io, keys.collect(), deletes)?);
        }
        found.columns = columns.into_values().collect();
        Ok(found)
    }

    /// All key columns.
    pub(crate) fn columns(&self) -> &[KeyColumn] {
        &self.columns
    }

    /// The sets that may delete rows of a file.
    pub(crate) fn sets_of(&self, task: &FileScanTask) -> Vec<&KeySet> {
        let mut sets: Vec<usize> = equality(task)
            .filter_map(|d| self.set_of.get(&place(d)).copied())
            .collect();
        sets.sort_unstable();
        sets.dedup();
        sets.into_iter().filter_map(|set| self.sets.get(set)).collect()
    }

    /// The schema by which files are read: `schema`, and key columns that it lacks, under names of their own.
    ///
    /// # Errors
    /// Those of [`Schema::new`].
    pub(crate) fn with_columns(&self, schema: &Arc<Schema>) -> Result<Arc<Schema>> {
        let mut dropped: BTreeMap<FieldId, NestedField> = BTreeMap::new();
        for column in &self.columns {
            let root = field_id(&column.field).filter(|id| schema.field_by_id(*id).is_none());
            if let Some(field) = root.and_then(|id| column.schema.field_by_id(id)) {
                let mut field = NestedField::clone(field);
                field.name = hidden_name(schema, field.id);
                field.required = false;
                dropped.insert(field.id, field);
            }
        }
        if dropped.is_empty() {
            return Ok(Arc::clone(schema));
        }
        let own = schema.fields().iter().map(|f| NestedField::clone(f));
        let fields = own.chain(dropped.into_values()).collect();
        Ok(Arc::new(Schema::new(
            schema.schema_id(),
            StructType::new(fields),
            Vec::new(),
        )?))
    }
}

fn equality(task: &FileScanTask) -> impl Iterator<Item = &DeleteTask> {
    task.deletes().iter().filter(|d| d.kind() == DeleteKind::Equality)
}

/// A name that no column of the schema has.
fn hidden_name(schema: &Schema, id: FieldId) -> String {
    let mut name = format!("__deleted_by_{id}");
    while schema.field_by_name(&name).is_some() {
        name.push('_');
    }
    name
}
