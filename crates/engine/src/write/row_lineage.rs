//! Row lineage as rows are written: rows that were in the table keep their ids, which their new files store (spec, "Row
//! Lineage"; Java: `MetadataColumns.schemaWithRowLineage`).

use std::sync::Arc;

use tarn_format::Result;
use tarn_format::spec::schema::{Schema, SchemaRef};
use tarn_format::spec::table_metadata::{FormatVersion, TableMetadata};
use tarn_format::spec::types::{NestedField, PrimitiveType, StructType};

use crate::scan::MetadataColumn;

/// Where rows have their lineage from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowLineage {
    /// The commit: all rows are new, or the table has none.
    Assigned,
    /// Two columns behind the table's, [`MetadataColumn::LINEAGE`], NULL where the commit assigns it.
    Stored,
}

impl RowLineage {
    /// Where rows that are changed have it from.
    pub(crate) fn of_changes(metadata: &TableMetadata) -> Self {
        match metadata.format_version >= FormatVersion::V3 {
            true => RowLineage::Stored,
            false => RowLineage::Assigned,
        }
    }

    /// What files store: the table's current schema, and lineage behind it where rows bring theirs.
    ///
    /// # Errors
    /// Those of [`Schema::new`].
    pub(crate) fn stored_schema(self, metadata: &TableMetadata) -> Result<SchemaRef> {
        let schema = metadata.current_schema();
        if self == RowLineage::Assigned {
            return Ok(Arc::clone(schema));
        }
        let own = schema.fields().iter().map(|f| NestedField::clone(f));
        let lineage =
            MetadataColumn::LINEAGE.map(|c| NestedField::optional(c.field_id(), c.name(), PrimitiveType::Long));
        let fields = StructType::new(own.chain(lineage).collect());
        let stored = Schema::new(schema.schema_id(), fields, schema.identifier_field_ids().to_vec())?;
        Ok(Arc::new(stored))
    }
}
