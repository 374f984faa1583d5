//! The tables that one statement has loaded, so that it sees one state of each however often it names it.

use std::sync::{Arc, Mutex, PoisonError};

use tarn_format::catalog::{Catalog, Table, TableIdent};
use tarn_format::{ErrorKind, Result};
use tokio::sync::OnceCell;

/// What one statement knows of the tables that it names. Clones share everything.
#[derive(Debug, Clone, Default)]
pub struct LoadedTables {
    asked: Arc<Mutex<Vec<Asked>>>,
}

/// A name that a catalog was asked for.
#[derive(Debug)]
struct Asked {
    catalog: Arc<dyn Catalog>,
    ident: TableIdent,
    /// `None` where there is no such table.
    answer: Arc<OnceCell<Option<Table>>>,
}

impl LoadedTables {
    /// The table of a catalog, loaded when it is named for the first time; `None` when there is none.
    ///
    /// # Errors
    /// Those of loading it, such as `NotFound` for a file of a table that is there.
    pub async fn load(&self, catalog: &Arc<dyn Catalog>, ident: &TableIdent) -> Result<Option<Table>> {
        let answer = self.answer(catalog, ident);
        let table = answer.get_or_try_init(|| async {
            match catalog.load_table(ident).await {
                Ok(table) => Ok(Some(table)),
                Err(e) if e.kind() == ErrorKind::NotFound && !e.context().iter().any(|(k, _)| *k == "file") => Ok(None),
                Err(e) => Err(e),
            }
        });
        table.await.cloned()
    }

    /// Lets the statement see this state of a table from now on, such as one with columns that it is about to add.
    pub(crate) fn put(&self, catalog: &Arc<dyn Catalog>, table: Table) {
        let ident = table.ident.clone();
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.retain(|a| !(Arc::ptr_eq(&a.catalog, catalog) && a.ident == ident));
        asked.push(Asked {
            catalog: Arc::clone(catalog),
            ident,
            answer: Arc::new(OnceCell::new_with(Some(Some(table)))),
        });
    }

    fn answer(&self, catalog: &Arc<dyn Catalog>, ident: &TableIdent) -> Arc<OnceCell<Option<Table>>> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let known = asked
            .iter()
            .find(|a| Arc::ptr_eq(&a.catalog, catalog) && a.ident == *ident);
        if let Some(known) = known {
            return Arc::clone(&known.answer);
        }
        let answer = Arc::new(OnceCell::new());
        asked.push(Asked {
            catalog: Arc::clone(catalog),
            ident: ident.clone(),
            answer: Arc::clone(&answer),
        });
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::{Name, Statement};
    use crate::commands::plan_context_with;
    use crate::names::find_table;
    use crate::planner::plan_query;
    use crate::planner::tests::render;
    use crate::session::tests::session;

    #[tokio::test]
    async fn a_statement_sees_one_state_while_others_commit() {
        let session = session().await;
        for sql in ["CREATE TABLE t (id int)", "INSERT INTO t VALUES (1)"] {
            session.sql(sql).await.unwrap();
        }
        let tables = LoadedTables::default();
        let located = session.locate_table(&Name(vec!["t".to_string()])).await.unwrap();
        let first = find_table(&located, &tables).await.unwrap().table;
        session.sql("INSERT INTO t VALUES (2), (3)").await.unwrap();
        let again = find_table(&located, &tables).await.unwrap().table;
        assert!(Arc::ptr_eq(&first.metadata, &again.metadata));

        let sql = "SELECT count(*), (SELECT count(*) FROM lake.db.t) FROM t a CROSS JOIN t b";
        let count = async |tables: &LoadedTables| {
            let Statement::Query(query) = session.parse(sql).unwrap().remove(0) else {
                panic!("no query");
            };
            let context = plan_context_with(&session, tables);
            let plan = plan_query(&context, *query).await.unwrap();
            let frame = datafusion::dataframe::DataFrame::new(context.state, plan);
            let batches = frame.collect().await.unwrap();
            batches.iter().flat_map(render::rows).collect::<Vec<_>>()
        };
        assert_eq!(count(&tables).await, ["1 1"]);
        assert_eq!(count(&LoadedTables::default()).await, ["9 3"]);
    }

    #[tokio::test]
    async fn what_was_missing_stays_so_for_the_statement() {
        let session = session().await;
        let tables = LoadedTables::default();
        let located = session.locate_table(&Name(vec!["t".to_string()])).await.unwrap();
        assert!(find_table(&located, &tables).await.is_err());
        session.sql("CREATE TABLE t (id int)").await.unwrap();
        assert!(find_table(&located, &tables).await.is_err());
        assert!(find_table(&located, &LoadedTables::default()).await.is_ok());
    }
}
