//! What lies behind an error of DataFusion.

use std::error::Error as StdError;
use std::sync::Arc;

use datafusion::error::DataFusionError;

/// The error and what caused it, outermost first.
pub fn causes(error: &DataFusionError) -> impl Iterator<Item = &(dyn StdError + 'static)> {
    let first: &(dyn StdError + 'static) = error;
    std::iter::successors(Some(first), |error| {
        let error = *error;
        match error.downcast_ref::<Arc<DataFusionError>>() {
            // The source of an `Arc` is that of its error, which would be passed over.
            Some(shared) => Some(shared.as_ref()),
            None => error.source(),
        }
    })
}
