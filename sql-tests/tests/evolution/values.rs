//! Random types, values and conditions.

use super::history::{History, KEY};
use super::model::{Column, Condition, Kind, Row, State, Test, Value};

/// Names of columns; dropped ones come back.
const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

impl History {
    /// A name that none of these columns has.
    pub fn unused_name(&mut self, columns: &[Column]) -> Option<&'static str> {
        let is_free = |name: &&&str| columns.iter().all(|c| c.name != **name);
        let free: Vec<&str> = NAMES.iter().filter(is_free).copied().collect();
        self.random.pick(&free).copied()
    }

    /// A type that is no struct.
    pub fn simple_kind(&mut self) -> Kind {
        match self.random.below(7) {
            0 => Kind::Int,
            1 => Kind::Long,
            2 => Kind::Float,
            3 => Kind::Double,
            4 => Kind::Decimal(6),
            5 => Kind::Day,
            _ => Kind::Text,
        }
    }

    /// A type; sometimes a list, a map or a struct.
    pub fn kind(&mut self) -> Kind {
        match self.random.below(100) {
            0..20 => self.struct_kind(),
            20..28 => Kind::List(Box::new(self.inner("element"))),
            28..36 => Kind::Map(Box::new(self.inner("value"))),
            _ => self.simple_kind(),
        }
    }

    /// What lies in a list or map; sometimes a struct.
    fn inner(&mut self, name: &str) -> Column {
        let kind = match self.random.happens(40) {
            true => self.struct_kind(),
            false => self.simple_kind(),
        };
        self.column(name, kind)
    }

    /// A struct of two or three fields.
    fn struct_kind(&mut self) -> Kind {
        let mut fields = Vec::new();
        for name in &NAMES[..2 + self.random.below(2)] {
            let kind = self.simple_kind();
            fields.push(self.column(name, kind));
        }
        Kind::Struct(fields)
    }

    /// A value of a type, small so that values meet again; sometimes NULL.
    pub fn value(&mut self, kind: &Kind) -> Value {
        if self.random.happens(15) {
            return Value::Null;
        }
        self.some_value(kind)
    }

    /// A value of a column; the key is never NULL.
    pub fn value_of(&mut self, column: &Column) -> Value {
        match column.id {
            KEY => self.some_value(&column.kind),
            _ => self.value(&column.kind),
        }
    }

    /// A value of a type that is not NULL.
    pub fn some_value(&mut self, kind: &Kind) -> Value {
        let n = self.random.below(8) as i64;
        match kind {
            Kind::Int => Value::Whole(n - 2),
            Kind::Long if self.random.happens(30) => Value::Whole(5_000_000_000 + n),
            Kind::Long => Value::Whole(n - 2),
            Kind::Float | Kind::Double => Value::Quarters(n - 3),
            Kind::Decimal(_) => Value::Hundredths(n * 75 - 200),
            Kind::Text => Value::Text(["x", "y", "longer text", "ü"][n as usize % 4].to_string()),
            Kind::Day => Value::Day(1 + n as u32),
            Kind::Struct(fields) => {
                let values = fields.iter().map(|f| (f.id, self.value(&f.kind)));
                Value::Struct(values.collect())
            }
            Kind::List(element) => Value::List((0..1 + n % 3).map(|_| self.value(&element.kind)).collect()),
            Kind::Map(value) => {
                let keys = ["x", "y", "z"].into_iter().take(1 + n as usize % 3);
                Value::Map(keys.map(|key| (key.to_string(), self.value(&value.kind))).collect())
            }
        }
    }

    /// A row with a value for each of these columns.
    pub fn row(&mut self, columns: &[Column]) -> Row {
        columns.iter().map(|c| (c.id, self.value_of(c))).collect()
    }

    /// A condition on a column of a state, or on a field of a struct in it.
    pub fn condition_on(&mut self, state: &State) -> Option<Condition> {
        let mut path = vec![self.random.pick(&state.columns)?.clone()];
        if let Some(Column {
            kind: Kind::Struct(fields),
            ..
        }) = path.last()
            && self.random.happens(70)
        {
            path.push(self.random.pick(fields)?.clone());
        }
        let kind = path.last()?.kind.clone();
        let test = match kind {
            kind if !kind.is_simple() => Test::IsNull,
            Kind::Int | Kind::Long if self.random.happens(40) => Test::Below(self.random.below(8) as i64 - 2),
            kind if self.random.happens(75) => Test::Equals(self.some_value(&kind)),
            _ => Test::IsNull,
        };
        Some(Condition { path, test })
    }
}
