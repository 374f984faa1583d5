//! ALTER TABLE over whole sessions.

mod columns;
mod layout;
mod properties;
mod refs;

use tarn_format::ErrorKind;
use tarn_format::catalog::{Namespace, Table, TableIdent};

use crate::session::Session;
use crate::session::tests::run;

async fn all(session: &Session, statements: &[&str]) {
    for sql in statements {
        if let Err(e) = run(session, sql).await {
            panic!("{sql}: {e}");
        }
    }
}

async fn refused(session: &Session, cases: &[(&str, ErrorKind, &str)]) {
    for (sql, kind, part) in cases {
        let error = run(session, sql).await.expect_err(sql);
        assert_eq!(error.kind(), *kind, "{sql}: {error}");
        assert!(error.to_string().contains(part), "{sql}: {error}");
    }
}

async fn table(session: &Session, namespace: &str, name: &str) -> Table {
    let lake = session.catalogs().get("lake").unwrap();
    let ident = TableIdent::new(Namespace::new([namespace]), name);
    lake.catalog.load_table(&ident).await.unwrap()
}
