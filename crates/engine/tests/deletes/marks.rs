//! Column `_deleted`.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array};
use tarn_engine::scan::MetadataColumn::{Deleted, File, Pos};
use tarn_format::spec::table_metadata::FormatVersion::{V2, V3};

use crate::site::Site;

/// Ids 0 to 5, of which positions delete 1 and a key deletes 2; 10 and 11 are in a file without deletes.
async fn deleted_from(version: tarn_format::spec::table_metadata::FormatVersion) -> Site {
    let site = Site::new(version).await;
    let a = site.numbered("a", 0, 6).await;
    site.append(&[&a]).await;
    let positions = match version {
        V2 => site.positions_of("p", &a, &[1]).await,
        _ => site.vector_of("p", &a, &[1]).await,
    };
    let key: ArrayRef = Arc::new(Int64Array::from(vec![2]));
    site.delete([positions, site.keys("k", vec![("id", 1, key)]).await])
        .await;
    site.append(&[&site.numbered("b", 10, 2).await]).await;
    site
}

#[tokio::test]
async fn deleted_rows_are_shown_where_the_column_is_asked_for() {
    for version in [V2, V3] {
        let site = deleted_from(version).await;
        let query = "SELECT id, _deleted FROM t ORDER BY id";
        let expected = [
            "0 false", "1 true", "2 true", "3 false", "4 false", "5 false", "10 false", "11 false",
        ];
        assert_eq!(site.query_with(query, &[Deleted]).await, expected);
        let query = "SELECT id, _pos, right(_file, 1) FROM t WHERE _deleted ORDER BY id";
        assert_eq!(site.query_with(query, &[Deleted, Pos, File]).await, ["1 1 a", "2 2 a"]);
        let counts = "SELECT _deleted, count(*) FROM t GROUP BY 1 ORDER BY 1";
        assert_eq!(site.query_with(counts, &[Deleted]).await, ["false 6", "true 2"]);
        let query = "SELECT id FROM t WHERE NOT _deleted AND id < 4 ORDER BY id";
        assert_eq!(site.query_with(query, &[Deleted]).await, ["0", "3"]);
        let query = "SELECT NOT _deleted AS live, id FROM t ORDER BY id LIMIT 3";
        assert_eq!(
            site.query_with(query, &[Deleted]).await,
            ["true 0", "false 1", "false 2"]
        );
        let query = "SELECT id FROM t ORDER BY _deleted DESC, id LIMIT 3";
        assert_eq!(site.query_with(query, &[Deleted]).await, ["1", "2", "0"]);
    }
}

#[tokio::test]
async fn it_changes_nothing_for_queries_without_it() {
    let site = deleted_from(V3).await;
    let query = "SELECT id FROM t ORDER BY id";
    let expected = ["0", "3", "4", "5", "10", "11"];
    assert_eq!(site.query_with(query, &[Deleted]).await, expected);
    assert_eq!(site.query_with("SELECT count(*) FROM t", &[Deleted]).await, ["6"]);
}
