//! Columns by field id: rewrites expressions over the table's schema to expressions over one file's schema.
//!
//! A column of the table becomes, in this order: the file's constant (identity partition values, metadata columns), the
//! file's column of the same id (cast where it was promoted or its children differ), the initial default, or null.
//! DataFusion's own adapter matches by name and is wrong for Iceberg (DESIGN trap 11).

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, Field, FieldRef, Schema as ArrowSchema, SchemaRef as ArrowSchemaRef};
use arrow::record_batch::RecordBatch;
use datafusion::common::ScalarValue;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{CastExpr, Column, Literal};
use datafusion::physical_expr_adapter::{PhysicalExprAdapter, PhysicalExprAdapterFactory};
use tarn_format::spec::name_mapping::NameMapping;
use tarn_format::spec::schema::Schema;
use tarn_format::spec::types::FieldId;

use super::adapt_array::adapt;
use super::metadata_columns::MetadataColumn;
use super::name_mapping::assign_ids;
use super::nan_guard::NanGuard;
use super::row_lineage::{InheritedLineage, inherited_where_null};
use crate::arrow::schema::field_id;
use crate::arrow::value::to_scalar;
use crate::external;

/// Values that one file has in every row, by field id.
pub(crate) type FileConstants = HashMap<FieldId, ScalarValue>;

/// Makes the adapters of one file.
#[derive(Debug, Clone)]
pub(crate) struct FieldIdAdapterFactory {
    /// The table's schema, for initial defaults.
    pub(crate) schema: Arc<Schema>,
    /// Ids of files without any.
    pub(crate) name_mapping: Arc<NameMapping>,
    /// What the file has in every row.
    pub(crate) constants: Arc<FileConstants>,
    /// Floating-point columns of which the manifest says that no value is NaN.
    pub(crate) without_nan: Arc<HashSet<FieldId>>,
    /// What rows inherit.
    pub(crate) lineage: InheritedLineage,
}

impl PhysicalExprAdapterFactory for FieldIdAdapterFactory {
    fn create(&self, logical: ArrowSchemaRef, physical: ArrowSchemaRef) -> Result<Arc<dyn PhysicalExprAdapter>> {
        let ids = assign_ids(&physical, &self.name_mapping);
        let by_id = ids
            .fields()
            .iter()
            .enumerate()
            .filter_map(|(i, f)| field_id(f).map(|id| (id, i)))
            .collect();
        Ok(Arc::new(FieldIdAdapter {
            factory: self.clone(),
            logical,
            physical,
            identified: ids,
            by_id,
        }))
    }
}

#[derive(Debug)]
struct FieldIdAdapter {
    factory: FieldIdAdapterFactory,
    logical: ArrowSchemaRef,
    /// The file's schema as the reader sees it.
    physical: ArrowSchemaRef,
    /// The same with ids from the name mapping, where the file has none.
    identified: ArrowSchemaRef,
    by_id: HashMap<FieldId, usize>,
}

impl PhysicalExprAdapter for FieldIdAdapter {
    fn rewrite(&self, expr: Arc<dyn PhysicalExpr>) -> Result<Arc<dyn PhysicalExpr>> {
        // A projected column is no comparison.
        if let Some(column) = expr.downcast_ref::<Column>() {
            return self.column(column);
        }
        expr.transform(|expr| match expr.downcast_ref::<Column>() {
            Some(column) => self.compared_column(column).map(Transformed::yes),
            None => Ok(Transformed::no(expr)),
        })
        .data()
    }
}

impl FieldIdAdapter {
    /// A column inside an expression, by which row groups may be pruned.
    fn compared_column(&self, column: &Column) -> Result<Arc<dyn PhysicalExpr>> {
        let own = self.column(column)?;
        let Ok(logical) = self.logical.field_with_name(column.name()) else {
            return Ok(own);
        };
        let is_known = |id| self.factory.without_nan.contains(&id);
        let may_hold_nan = logical.data_type().is_floating() && !field_id(logical).is_some_and(is_known);
        if may_hold_nan && !own.is::<Literal>() {
            return Ok(Arc::new(NanGuard::new(own)));
        }
        Ok(own)
    }

    fn column(&self, column: &Column) -> Result<Arc<dyn PhysicalExpr>> {
        let Ok(logical) = self.logical.field_with_name(column.name()) else {
            return self.by_name(column);
        };
        let Some(id) = field_id(logical) else {
            return self.by_name(column);
        };
        if let Some(constant) = self.factory.constants.get(&id) {
            return Ok(Arc::new(Literal::new(constant.cast_to(logical.data_type())?)));
        }
        let stored = self.by_id.get(&id).map(|index| self.file_column(*index, logical));
        if let Some(inherited) = self.factory.lineage.of_column(id, || self.position())? {
            return inherited_where_null(stored, inherited);
        }
        stored.map_or_else(|| self.absent(id, logical), Ok)
    }

    fn position(&self) -> Result<Arc<dyn PhysicalExpr>> {
        let name = MetadataColumn::Pos.name();
        Ok(Arc::new(Column::new(name, self.physical.index_of(name)?)))
    }

    /// Columns that the reader itself makes (row numbers) have no id: both schemas hold them by name.
    fn by_name(&self, column: &Column) -> Result<Arc<dyn PhysicalExpr>> {
        let index = self.physical.index_of(column.name())?;
        Ok(Arc::new(Column::new(column.name(), index)))
    }

    fn file_column(&self, index: usize, logical: &Field) -> Arc<dyn PhysicalExpr> {
        let physical = self.physical.field(index);
        let column: Arc<dyn PhysicalExpr> = Arc::new(Column::new(physical.name(), index));
        let target = logical.data_type();
        // Nullability counts among children only, where it is part of the type.
        if physical.data_type() == target {
            return column;
        }
        if target.is_nested() {
            return Arc::new(AdaptExpr {
                input: column,
                from: Arc::clone(&self.identified.fields()[index]),
                to: Arc::new(logical.clone()),
                schema: Arc::clone(&self.factory.schema),
            });
        }
        // A plain cast is understood by statistics pruning and moved to the literal's side.
        Arc::new(CastExpr::new(column, target.clone(), None))
    }

    fn absent(&self, id: FieldId, logical: &Field) -> Result<Arc<dyn PhysicalExpr>> {
        let field = self.factory.schema.field_by_id(id);
        let default = field.and_then(|f| f.initial_default.as_ref().map(|v| (v, &f.field_type)));
        if let Some((value, field_type)) = default {
            let scalar = to_scalar(Some(value), field_type).map_err(external)?;
            return Ok(Arc::new(Literal::new(scalar.cast_to(logical.data_type())?)));
        }
        if !logical.is_nullable() {
            let message = format!(
                "required column '{}' is missing in the file and has no default",
                logical.name()
            );
            return Err(DataFusionError::Execution(message));
        }
        Ok(Arc::new(Literal::new(ScalarValue::try_from(logical.data_type())?)))
    }
}

/// A nested column turned into the table's shape.
#[derive(Debug, Clone)]
struct AdaptExpr {
    input: Arc<dyn PhysicalExpr>,
    from: FieldRef,
    to: FieldRef,
    schema: Arc<Schema>,
}

impl PartialEq for AdaptExpr {
    fn eq(&self, other: &Self) -> bool {
        self.input.eq(&other.input) && self.from == other.from && self.to == other.to
    }
}

impl Eq for AdaptExpr {}

impl Hash for AdaptExpr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.input.hash(state);
        self.to.hash(state);
    }
}

impl fmt::Display for AdaptExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "by_field_id({})", self.input)
    }
}

impl PhysicalExpr for AdaptExpr {
    fn data_type(&self, _input_schema: &ArrowSchema) -> Result<DataType> {
        Ok(self.to.data_type().clone())
    }

    fn nullable(&self, input_schema: &ArrowSchema) -> Result<bool> {
        self.input.nullable(input_schema)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let array: ArrayRef = self.input.evaluate(batch)?.into_array(batch.num_rows())?;
        Ok(ColumnarValue::Array(adapt(&array, &self.from, &self.to, &self.schema)?))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.input]
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn PhysicalExpr>>) -> Result<Arc<dyn PhysicalExpr>> {
        let [input] = <[Arc<dyn PhysicalExpr>; 1]>::try_from(children)
            .map_err(|_| DataFusionError::Internal("one child was expected".to_string()))?;
        Ok(Arc::new(AdaptExpr {
            input,
            ..self.as_ref().clone()
        }))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.input.fmt_sql(f)
    }
}
