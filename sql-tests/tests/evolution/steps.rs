//! Random steps: what is done to a table, and the same to its model.

use super::history::{History, KEY, MAIN, PartitionField, SortField};
use super::model::{Column, Kind, Value};

/// Whether something is possible for values of a kind.
type Allows = fn(&Kind) -> bool;

/// Transforms of partition fields, with the types that have them.
const TRANSFORMS: [(&str, Allows); 4] = [
    ("{}", |k| k.is_simple() && !matches!(k, Kind::Float | Kind::Double)),
    ("bucket(4, {})", |k| {
        matches!(k, Kind::Int | Kind::Long | Kind::Text | Kind::Day | Kind::Decimal(_))
    }),
    ("truncate(2, {})", |k| {
        matches!(k, Kind::Int | Kind::Long | Kind::Text | Kind::Decimal(_))
    }),
    ("days({})", |k| matches!(k, Kind::Day)),
];

impl History {
    /// Does one random thing.
    pub async fn step(&mut self) -> Result<(), String> {
        match self.random.below(100) {
            0..12 => self.add_column().await,
            12..15 => self.add_field().await,
            15..21 => self.drop_column().await,
            21..27 => self.rename_column().await,
            27..32 => self.move_column().await,
            32..38 => self.widen_column().await,
            38..45 => self.add_partition_field().await,
            45..49 => self.drop_partition_field().await,
            49..52 => self.set_default().await,
            52..56 => self.set_order().await,
            56..58 => self.set_identifier().await,
            58..75 => self.insert().await,
            75..83 => self.delete().await,
            83..91 => self.update().await,
            91..95 => self.create_branch().await,
            95..98 => self.create_tag().await,
            _ => self.roll_back().await,
        }
    }

    async fn add_column(&mut self) -> Result<(), String> {
        if self.random.happens(10)
            && let Some(column) = self.random.pick(&self.columns).cloned()
        {
            let taken = column.name.to_uppercase();
            return self.refused(&format!("ALTER TABLE t ADD COLUMN {taken} int")).await;
        }
        let columns = self.columns.clone();
        let Some(name) = self.unused_name(&columns) else {
            return Ok(());
        };
        let kind = self.kind();
        let mut column = self.column(name, kind);
        let mut sql = format!("ALTER TABLE t ADD COLUMN {name} {}", column.kind.sql());
        let has_default = self.version == 3 && column.kind.is_simple() && self.random.happens(50);
        if has_default {
            column.initial = self.some_value(&column.kind);
            column.default = column.initial.clone();
            sql.push_str(&format!(" DEFAULT {}", default_literal(&column, &column.initial)));
        }
        let mut at = self.columns.len();
        match self.random.below(3) {
            0 => {
                at = 0;
                sql.push_str(" FIRST");
            }
            1 => {
                at = self.random.below(self.columns.len()) + 1;
                sql.push_str(&format!(" AFTER {}", self.columns[at - 1].name));
            }
            _ => {}
        }
        self.run(&sql).await?;
        self.columns.insert(at, column);
        Ok(())
    }

    /// Adds a field to a struct, which may lie in a list or a map.
    async fn add_field(&mut self) -> Result<(), String> {
        let Some(at) = self.place_of(|c| c.kind.clone().fields().is_some()) else {
            return Ok(());
        };
        let mut column = self.columns[at].clone();
        let Some((way, fields)) = column.kind.fields() else {
            return Ok(());
        };
        let Some(name) = self.unused_name(fields) else {
            return Ok(());
        };
        let kind = self.simple_kind();
        let field = self.column(name, kind);
        self.run(&format!(
            "ALTER TABLE t ADD COLUMN {}{way}.{name} {}",
            column.name,
            field.kind.sql()
        ))
        .await?;
        fields.push(field);
        self.columns[at] = column;
        Ok(())
    }

    async fn drop_column(&mut self) -> Result<(), String> {
        let partition = self.partition.iter().map(|f| f.source);
        let needed: Vec<_> = partition.chain(self.order.iter().map(|f| f.source)).collect();
        if let Some(source) = self.random.pick(&needed).copied()
            && self.random.happens(30)
            && let Some(at) = self.place_of(|c| c.id == source)
        {
            let name = self.columns[at].name.clone();
            return self.refused(&format!("ALTER TABLE t DROP COLUMN {name}")).await;
        }
        let Some(at) = self.place_of(|c| c.id != KEY && !needed.contains(&c.id)) else {
            return Ok(());
        };
        let mut column = self.columns[at].clone();
        let name = column.name.clone();
        if let Some((way, fields)) = column.kind.fields()
            && fields.len() > 1
        {
            let nth = self.random.below(fields.len());
            let field = fields.remove(nth).name;
            self.columns[at] = column;
            self.run(&format!("ALTER TABLE t DROP COLUMN {name}{way}.{field}"))
                .await?;
            return Ok(());
        }
        self.columns.remove(at);
        self.run(&format!("ALTER TABLE t DROP COLUMN {name}")).await?;
        Ok(())
    }

    async fn rename_column(&mut self) -> Result<(), String> {
        let columns = self.columns.clone();
        let (Some(at), Some(to)) = (self.place_of(|_| true), self.unused_name(&columns)) else {
            return Ok(());
        };
        let name = self.columns[at].name.clone();
        let mut column = self.columns[at].clone();
        if let Some((way, fields)) = column.kind.fields()
            && self.random.happens(60)
        {
            let nth = self.random.below(fields.len());
            let Some(to) = self.unused_name(fields) else {
                return Ok(());
            };
            self.run(&format!(
                "ALTER TABLE t RENAME COLUMN {name}{way}.{} TO {to}",
                fields[nth].name
            ))
            .await?;
            fields[nth].name = to.to_string();
            self.columns[at] = column;
            return Ok(());
        }
        self.run(&format!("ALTER TABLE t RENAME COLUMN {name} TO {to}")).await?;
        self.columns[at].name = to.to_string();
        Ok(())
    }

    async fn move_column(&mut self) -> Result<(), String> {
        let Some(at) = self.place_of(|_| true) else {
            return Ok(());
        };
        let name = self.columns[at].name.clone();
        if self.random.happens(40) {
            self.run(&format!("ALTER TABLE t ALTER COLUMN {name} FIRST")).await?;
            let column = self.columns.remove(at);
            self.columns.insert(0, column);
            return Ok(());
        }
        let Some(after) = self.place_of(|c| c.name != name) else {
            return Ok(());
        };
        let other = self.columns[after].name.clone();
        self.run(&format!("ALTER TABLE t ALTER COLUMN {name} AFTER {other}"))
            .await?;
        let column = self.columns.remove(at);
        let after = self.columns.iter().position(|c| c.name == other);
        self.columns.insert(after.map_or(0, |i| i + 1), column);
        Ok(())
    }

    async fn widen_column(&mut self) -> Result<(), String> {
        let wider = |column: &Column| {
            let mut kind = column.kind.clone();
            let wider = |kind: &Kind| kind.wider();
            match kind.inner() {
                Some((way, inner)) => wider(&inner.kind).map(|kind| (format!(".{way}"), kind)),
                None => wider(&kind).map(|kind| (String::new(), kind)),
            }
        };
        let Some(at) = self.place_of(|c| wider(c).is_some()) else {
            return Ok(());
        };
        let Some((way, kind)) = wider(&self.columns[at]) else {
            return Ok(());
        };
        let name = format!("{}{way}", self.columns[at].name);
        self.run(&format!("ALTER TABLE t ALTER COLUMN {name} TYPE {}", kind.sql()))
            .await?;
        match self.columns[at].kind.inner() {
            Some((_, inner)) => inner.kind = kind,
            None => self.columns[at].kind = kind,
        }
        if self.random.happens(20) {
            return self
                .refused(&format!("ALTER TABLE t ALTER COLUMN {name} TYPE date"))
                .await;
        }
        Ok(())
    }

    async fn set_default(&mut self) -> Result<(), String> {
        if self.version < 3 {
            return Ok(());
        }
        let Some(at) = self.place_of(|c| c.kind.is_simple()) else {
            return Ok(());
        };
        let column = self.columns[at].clone();
        let value = self.some_value(&column.kind);
        let literal = default_literal(&column, &value);
        self.run(&format!(
            "ALTER TABLE t ALTER COLUMN {} SET DEFAULT {literal}",
            column.name
        ))
        .await?;
        self.columns[at].default = value;
        Ok(())
    }

    async fn add_partition_field(&mut self) -> Result<(), String> {
        let Some(&(transform, fits)) = self.random.pick(&TRANSFORMS) else {
            return Ok(());
        };
        let Some(at) = self.place_of(|c| fits(&c.kind)) else {
            return Ok(());
        };
        let source = self.columns[at].id;
        let term = transform.replace("{}", &self.columns[at].name);
        let is_there = |f: &PartitionField| f.source == source && f.transform == transform;
        if self.partition.iter().any(is_there) {
            return self.refused(&format!("ALTER TABLE t ADD PARTITION FIELD {term}")).await;
        }
        // A name that no earlier field has: those of dropped columns could clash.
        let name = format!("p{}", self.done.len());
        self.run(&format!("ALTER TABLE t ADD PARTITION FIELD {term} AS {name}"))
            .await?;
        self.partition.push(PartitionField { source, transform });
        Ok(())
    }

    async fn drop_partition_field(&mut self) -> Result<(), String> {
        if self.partition.is_empty() {
            return Ok(());
        }
        let nth = self.random.below(self.partition.len());
        let field = self.partition.remove(nth);
        let Some(source) = self.columns.iter().find(|c| c.id == field.source) else {
            return Err("the model has lost the source of a partition field".to_string());
        };
        let term = field.transform.replace("{}", &source.name);
        self.run(&format!("ALTER TABLE t DROP PARTITION FIELD {term}")).await?;
        Ok(())
    }

    /// The order of the files to come, by one or two columns, or none.
    async fn set_order(&mut self) -> Result<(), String> {
        if self.random.happens(25) {
            self.run("ALTER TABLE t WRITE UNORDERED").await?;
            self.order.clear();
            return Ok(());
        }
        let mut order = Vec::new();
        let mut terms = Vec::new();
        for _ in 0..1 + self.random.below(2) {
            let Some(&(transform, fits)) = self.random.pick(&TRANSFORMS) else {
                return Ok(());
            };
            let Some(at) = self.place_of(|c| fits(&c.kind)) else {
                return Ok(());
            };
            let column = &self.columns[at];
            let is_there = |f: &SortField| f.source == column.id && f.transform == transform;
            if order.iter().any(is_there) {
                continue;
            }
            let (source, term) = (column.id, transform.replace("{}", &column.name));
            let direction = if self.random.happens(50) { "ASC" } else { "DESC" };
            let nulls = if self.random.happens(50) { "FIRST" } else { "LAST" };
            terms.push(format!("{term} {direction} NULLS {nulls}"));
            order.push(SortField {
                source,
                transform,
                direction,
                nulls,
            });
        }
        self.run(&format!("ALTER TABLE t WRITE ORDERED BY {}", terms.join(", ")))
            .await?;
        self.order = order;
        Ok(())
    }

    /// Makes the key identify rows, or no more; meanwhile it must stay as it is.
    async fn set_identifier(&mut self) -> Result<(), String> {
        let Some(at) = self.place_of(|c| c.id == KEY) else {
            return Ok(());
        };
        let name = self.columns[at].name.clone();
        if !self.is_identified {
            self.run(&format!("ALTER TABLE t SET IDENTIFIER FIELDS {name}")).await?;
            self.is_identified = true;
        } else if self.random.happens(50) {
            self.refused(&format!("ALTER TABLE t DROP COLUMN {name}")).await?;
            self.refused(&format!("ALTER TABLE t ALTER COLUMN {name} DROP NOT NULL"))
                .await?;
        } else {
            self.run(&format!("ALTER TABLE t DROP IDENTIFIER FIELDS {name}"))
                .await?;
            self.is_identified = false;
        }
        Ok(())
    }

    async fn insert(&mut self) -> Result<(), String> {
        let branch = self.branch();
        let columns = self.columns.clone();
        let mut named: Vec<Column> = columns.clone();
        if self.random.happens(40) {
            named.retain(|c| c.id == KEY || self.random.happens(60));
        }
        let count = 1 + self.random.below(3);
        let mut rows = Vec::new();
        let mut tuples = Vec::new();
        for _ in 0..count {
            let given = self.row(&named);
            let literals: Vec<String> = named.iter().map(|c| c.literal(&c.of(&given))).collect();
            tuples.push(format!("({})", literals.join(", ")));
            let defaults = columns.iter().map(|c| (c.id, c.default.clone()));
            rows.push(defaults.chain(given).collect());
        }
        let names: Vec<&str> = named.iter().map(|c| c.name.as_str()).collect();
        let target = History::target(&branch);
        let list = if named.len() < columns.len() {
            format!(" ({})", names.join(", "))
        } else {
            String::new()
        };
        self.run(&format!("INSERT INTO {target}{list} VALUES {}", tuples.join(", ")))
            .await?;
        self.branches.entry(branch.clone()).or_default().extend(rows);
        self.written(&branch).await
    }

    async fn delete(&mut self) -> Result<(), String> {
        let branch = self.branch();
        let state = self.state(&branch);
        let Some(condition) = self.condition_on(&state) else {
            return Ok(());
        };
        let target = History::target(&branch);
        self.run(&format!("DELETE FROM {target} WHERE {}", condition.sql()))
            .await?;
        if let Some(rows) = self.branches.get_mut(&branch) {
            rows.retain(|row| !condition.holds(row));
        }
        self.written(&branch).await
    }

    async fn update(&mut self) -> Result<(), String> {
        let branch = self.branch();
        let state = self.state(&branch);
        let (Some(condition), Some(at)) = (self.condition_on(&state), self.place_of(|_| true)) else {
            return Ok(());
        };
        let column = self.columns[at].clone();
        let value = self.value_of(&column);
        let target = History::target(&branch);
        let assignment = format!("{} = {}", column.name, column.literal(&value));
        self.run(&format!("UPDATE {target} SET {assignment} WHERE {}", condition.sql()))
            .await?;
        for row in self.branches.get_mut(&branch).into_iter().flatten() {
            if condition.holds(row) {
                row.insert(column.id, value.clone());
            }
        }
        self.written(&branch).await
    }

    async fn create_branch(&mut self) -> Result<(), String> {
        if self.line.is_empty() || self.branches.len() > 3 {
            return Ok(());
        }
        let name = format!("b{}", self.branches.len());
        self.run(&format!("ALTER TABLE t CREATE BRANCH {name}")).await?;
        let rows = self.branches.get(MAIN).cloned().unwrap_or_default();
        self.branches.insert(name, rows);
        Ok(())
    }

    async fn create_tag(&mut self) -> Result<(), String> {
        let Some(id) = self.line.last().copied() else {
            return Ok(());
        };
        let name = format!("v{}", self.tags.len());
        self.run(&format!("ALTER TABLE t CREATE TAG {name}")).await?;
        self.tags.insert(name, id);
        Ok(())
    }

    /// Back to an earlier snapshot of main; columns and partitioning stay as they are.
    async fn roll_back(&mut self) -> Result<(), String> {
        if self.line.is_empty() {
            return Ok(());
        }
        let keep = 1 + self.random.below(self.line.len());
        let id = self.line[keep - 1];
        self.run(&format!("CALL system.rollback_to_snapshot('db.t', {id})"))
            .await?;
        self.line.truncate(keep);
        let rows = self.snapshots.get(&id).map(|state| state.rows.clone());
        self.branches.insert(MAIN.to_string(), rows.unwrap_or_default());
        self.check("t", &self.state(MAIN), None).await
    }

    /// After a write: what the branch holds is what it should hold.
    async fn written(&mut self, branch: &str) -> Result<(), String> {
        let state = self.state(branch);
        self.check(&History::target(branch), &state, None).await?;
        self.remember(branch).await
    }

    fn branch(&mut self) -> String {
        let branches: Vec<String> = self.branches.keys().cloned().collect();
        let other = self.random.pick(&branches).cloned();
        match self.random.happens(30) {
            true => other.unwrap_or_else(|| MAIN.to_string()),
            false => MAIN.to_string(),
        }
    }

    /// The place of one of the columns that are wanted.
    fn place_of(&mut self, is_wanted: impl Fn(&Column) -> bool) -> Option<usize> {
        let places: Vec<usize> = (0..self.columns.len())
            .filter(|i| is_wanted(&self.columns[*i]))
            .collect();
        self.random.pick(&places).copied()
    }
}

/// A literal where DEFAULT takes one.
fn default_literal(column: &Column, value: &Value) -> String {
    match value {
        Value::Quarters(n) => format!("{}", *n as f64 / 4.0),
        _ => column.literal(value),
    }
}
