//! `map(k1, v1, …)` over arrays of keys and values.

use std::sync::Arc;

use datafusion::logical_expr::ScalarUDF;

/// DataFusion's function of two arrays, under a name that its planner does not take for its own syntax.
pub(crate) fn map_of() -> Arc<ScalarUDF> {
    let map = datafusion::functions_nested::map::map_udf();
    Arc::new(map.as_ref().clone().with_aliases(["make_map_of"]))
}
