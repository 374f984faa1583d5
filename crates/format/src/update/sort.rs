//! [`SortOrderUpdate`]: replacing a table's sort order (Java: `ReplaceSortOrder`).

use std::sync::Arc;

use super::requirements::{TableChange, requirements_for_update};
use super::{LAST_ADDED, TableUpdate};
use crate::error::{Error, Result};
use crate::spec::schema::CaseSensitivity;
use crate::spec::sort::{NullOrder, SortDirection, SortField, SortOrder};
use crate::spec::table_metadata::TableMetadataRef;
use crate::transform::Transform;

/// A new sort order, collected field by field; without fields the table becomes unsorted.
#[derive(Debug)]
pub struct SortOrderUpdate {
    base: TableMetadataRef,
    case: CaseSensitivity,
    fields: Vec<SortField>,
}

impl SortOrderUpdate {
    /// Starts a new order for a table.
    pub fn new(base: &TableMetadataRef) -> Self {
        SortOrderUpdate {
            base: Arc::clone(base),
            case: CaseSensitivity::Sensitive,
            fields: Vec::new(),
        }
    }

    /// Whether column names must match in case; they must by default.
    #[must_use]
    pub fn case_sensitivity(mut self, case: CaseSensitivity) -> Self {
        self.case = case;
        self
    }

    /// Sorts next by a transform of a column.
    ///
    /// # Errors
    /// `InvalidInput` when the column does not exist or the transform does not take it.
    pub fn sort_by(
        &mut self,
        source: &str,
        transform: Transform,
        direction: SortDirection,
        null_order: NullOrder,
    ) -> Result<&mut Self> {
        let schema = self.base.current_schema();
        let field = schema
            .find_field(source, self.case)?
            .ok_or_else(|| Error::invalid(format!("column '{source}' does not exist")))?;
        let takes = field
            .field_type
            .as_primitive()
            .is_some_and(|p| transform.can_transform(p));
        if !takes || matches!(transform, Transform::Unknown(_)) {
            let message = format!(
                "cannot sort by {transform} of column '{source}' of type {}",
                field.field_type
            );
            return Err(Error::invalid(message));
        }
        self.fields.push(SortField {
            source_ids: vec![field.id],
            transform,
            direction,
            null_order,
            extra: Default::default(),
        });
        Ok(self)
    }

    /// The order. Its id is 0 when it is unsorted and else means nothing yet.
    pub fn apply(&self) -> SortOrder {
        SortOrder {
            order_id: i32::from(!self.fields.is_empty()),
            fields: self.fields.clone(),
            extra: Default::default(),
        }
    }

    /// The change to commit; empty when the table is sorted so already.
    pub fn finish(self) -> TableChange {
        let order = self.apply();
        if order.fields == self.base.default_sort_order().fields {
            return (Vec::new(), Vec::new());
        }
        let updates = vec![
            TableUpdate::AddSortOrder(order),
            TableUpdate::SetDefaultSortOrder(LAST_ADDED),
        ];
        let requirements = requirements_for_update(&self.base, &updates);
        (updates, requirements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::update::TableRequirement;
    use crate::update::test_tables::{self, changed};

    #[test]
    fn an_order_is_replaced_and_reused() {
        let base = test_tables::two_columns();
        let mut update = SortOrderUpdate::new(&base).case_sensitivity(CaseSensitivity::Insensitive);
        update
            .sort_by("ID", Transform::Bucket(4), SortDirection::Asc, NullOrder::First)
            .unwrap();
        update
            .sort_by("ts", Transform::Identity, SortDirection::Desc, NullOrder::Last)
            .unwrap();
        let change = update.finish();
        assert!(change.1.contains(&TableRequirement::DefaultSortOrderIdMatch(0)));
        let sorted = changed(&base, &change);
        assert_eq!((sorted.default_sort_order_id, sorted.sort_orders.len()), (1, 2));
        assert_eq!(sorted.default_sort_order().fields[0].source_ids, [1]);
        let unsorted = changed(&sorted, &SortOrderUpdate::new(&sorted).finish());
        assert_eq!((unsorted.default_sort_order_id, unsorted.sort_orders.len()), (0, 2));
        assert!(SortOrderUpdate::new(&unsorted).finish().0.is_empty());
    }

    #[test]
    fn unfit_columns_are_refused() {
        let base = test_tables::two_columns();
        let mut update = SortOrderUpdate::new(&base);
        for (column, transform) in [
            ("ID", Transform::Identity),
            ("id", Transform::Day),
            ("id", Transform::Unknown("x".into())),
        ] {
            let refused = update.sort_by(column, transform, SortDirection::Asc, NullOrder::First);
            assert!(refused.is_err(), "{column}");
        }
    }
}
