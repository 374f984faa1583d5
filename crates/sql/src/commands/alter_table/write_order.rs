//! WRITE ORDERED BY, LOCALLY ORDERED BY, DISTRIBUTED BY PARTITION, UNORDERED (Java: `SetWriteDistributionAndOrderingExec`).

use tarn_format::spec::schema::CaseSensitivity;
use tarn_format::spec::snapshot::Properties;
use tarn_format::update::sort::SortOrderUpdate;
use tarn_format::update::table_facts::change_properties;

use super::Changer;
use crate::ast::alter::WriteOrder;

const DISTRIBUTION_MODE: &str = "write.distribution-mode";

/// Replaces the table's sort order, and sets how rows are distributed where the statement says.
pub(super) fn write_order(order: WriteOrder, case: CaseSensitivity) -> Changer {
    Box::new(move |base| {
        let mut update = SortOrderUpdate::new(base).case_sensitivity(case);
        for field in &order.fields {
            let (column, transform) = (field.term.column.to_string(), field.term.transform.clone());
            update.sort_by(&column, transform, field.direction, field.null_order)?;
        }
        let (mut updates, _) = update.finish();
        if let Some(mode) = order.distribution {
            let set = Properties::from([(DISTRIBUTION_MODE.to_string(), mode.to_string())]);
            updates.extend(change_properties(base, set, Vec::new())?.0);
        }
        Ok(updates)
    })
}
