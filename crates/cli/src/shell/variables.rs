//! Values that `\let` keeps, and `${name}` in later statements.

use std::collections::BTreeMap;

use futures::StreamExt;
use tarn::Output;
use tarn::sql::error::from_engine;
use tarn::sql::script::Position;

use super::Shell;
use super::failure::Failure;

/// Values by name.
#[derive(Debug, Clone, Default)]
pub struct Variables(BTreeMap<String, String>);

impl Variables {
    /// Puts values in place of `${name}`. Names that were never given stay as they are.
    pub fn substitute(&self, sql: &str) -> String {
        let mut out = String::with_capacity(sql.len());
        let mut rest = sql;
        while let Some((before, after)) = rest.split_once("${") {
            out.push_str(before);
            let named = after.split_once('}');
            match named.and_then(|(name, after)| Some((self.0.get(name.trim())?, after))) {
                Some((value, after)) => {
                    out.push_str(value);
                    rest = after;
                }
                None => {
                    out.push_str("${");
                    rest = after;
                }
            }
        }
        out + rest
    }
}

impl Shell {
    /// `\let NAME QUERY`: keeps the first value of the query's result.
    pub(super) async fn let_variable(&mut self, argument: &str) -> Result<(), Failure> {
        let (name, sql) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
        let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || !name.chars().all(is_name) || sql.trim().is_empty() {
            let message = "\\let needs a name and a query: \\let latest SELECT max(snapshot_id) FROM t.snapshots";
            return Err(Failure::Other(message.to_string()));
        }
        let interrupts = self.interrupts.clone();
        let value = tokio::select! {
            value = self.first_value(sql) => value?,
            () = interrupts.next() => return Err(Failure::Interrupted),
        };
        let Some(value) = value else {
            return Err(Failure::Other(format!("\\let {name}: the query gave no value")));
        };
        self.say(&format!("{name} = {value}"))?;
        self.variables.0.insert(name.to_string(), value);
        Ok(())
    }

    async fn first_value(&self, sql: &str) -> Result<Option<String>, Failure> {
        let sql = self.variables.substitute(sql);
        let statements = self.session.parse_at(&sql, Position::START)?;
        let [statement] = statements.as_slice() else {
            return Err(Failure::Other("\\let takes one query".to_string()));
        };
        let Output::Rows(mut stream) = self.session.execute(statement).await? else {
            return Ok(None);
        };
        let values = self.style()?.values;
        while let Some(batch) = stream.next().await {
            let batch = batch.map_err(from_engine)?;
            if batch.num_rows() > 0 && batch.num_columns() > 0 {
                return Ok(values.text(&batch, 0, 0));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_are_replaced() {
        let variables = Variables(BTreeMap::from([("a".to_string(), "${a}1".to_string())]));
        assert_eq!(
            variables.substitute("x ${a} ${ a }${b} $ {a} ${"),
            "x ${a}1 ${a}1${b} $ {a} ${"
        );
        assert_eq!(variables.substitute("${b ${a}"), "${b ${a}1");
    }
}
