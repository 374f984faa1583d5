//! Skipping values without looking at them.

use std::collections::HashMap;
use std::sync::Arc;

use super::cursor::{Cursor, Malformed};
use super::schema::{AvroSchema, AvroType};

/// How to skip values of one type. Every variant but [`Skip::Nothing`] takes at least one byte, so that no
/// count can make a loop run longer than the block is.
#[derive(Debug, Clone, PartialEq)]
pub enum Skip {
    /// No bytes.
    Nothing,
    /// That many varints.
    Varints(usize),
    /// That many bytes.
    Fixed(usize),
    /// A length and so many bytes.
    Sized,
    /// Blocks of items.
    Items(Box<Skip>),
    /// Key and value of a metrics map of bytes: an int and sized bytes.
    IntAndSized,
    /// One after the other.
    Sequence(Vec<Skip>),
    /// One of them.
    Union(Vec<Skip>),
    /// A named type, used in several places.
    Shared(Arc<Skip>),
}

/// Compiles types, each named one once.
#[derive(Debug, Default)]
pub struct SkipCompiler {
    named: HashMap<usize, Arc<Skip>>,
}

impl SkipCompiler {
    /// How to skip values of `schema`.
    pub fn compile(&mut self, schema: &Arc<AvroSchema>) -> Skip {
        match &schema.avro_type {
            AvroType::Null => Skip::Nothing,
            AvroType::Boolean => Skip::Fixed(1),
            AvroType::Int | AvroType::Long | AvroType::Enum => Skip::Varints(1),
            AvroType::Float => Skip::Fixed(4),
            AvroType::Double => Skip::Fixed(8),
            AvroType::Bytes | AvroType::String => Skip::Sized,
            AvroType::Fixed(0) => Skip::Nothing,
            AvroType::Fixed(size) => Skip::Fixed(*size),
            AvroType::Array(items) => Skip::Items(Box::new(self.compile(items))),
            AvroType::Map(values) => {
                let entry = sequence(vec![Skip::Sized, self.compile(values)]);
                Skip::Items(Box::new(entry))
            }
            AvroType::Union(branches) => Skip::Union(branches.iter().map(|b| self.compile(b)).collect()),
            AvroType::Record(fields) => {
                let key = Arc::as_ptr(schema) as usize;
                if let Some(shared) = self.named.get(&key) {
                    return match shared.as_ref() {
                        Skip::Nothing => Skip::Nothing,
                        _ => Skip::Shared(Arc::clone(shared)),
                    };
                }
                let skip = sequence(fields.iter().map(|f| self.compile(&f.schema)).collect());
                self.named.insert(key, Arc::new(skip.clone()));
                skip
            }
        }
    }
}

/// The steps as one, neighbours merged.
pub fn sequence(steps: Vec<Skip>) -> Skip {
    let mut all = Skip::Nothing;
    steps.into_iter().for_each(|step| all.then(step));
    all
}

impl Skip {
    /// Adds a step that comes after. A sequence grows in place: it never nests, however many steps are added.
    pub fn then(&mut self, next: Skip) {
        match (&mut *self, next) {
            (_, Skip::Nothing) => {}
            (first, Skip::Sequence(steps)) => steps.into_iter().for_each(|step| first.then(step)),
            (Skip::Varints(n), Skip::Varints(m)) => *n = n.saturating_add(m),
            (Skip::Fixed(n), Skip::Fixed(m)) => *n = n.saturating_add(m),
            (Skip::Sequence(steps), next) => match (steps.last_mut(), next) {
                (Some(Skip::Varints(n)), Skip::Varints(m)) => *n = n.saturating_add(m),
                (Some(Skip::Fixed(n)), Skip::Fixed(m)) => *n = n.saturating_add(m),
                (_, next) => steps.push(next),
            },
            (first, next) => {
                *first = match (std::mem::replace(first, Skip::Nothing), next) {
                    (Skip::Nothing, next) => next,
                    (Skip::Varints(1), Skip::Sized) => Skip::IntAndSized,
                    (first, next) => Skip::Sequence(vec![first, next]),
                };
            }
        }
    }

    /// Moves the cursor behind one value.
    #[inline]
    pub fn skip(&self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        match self {
            Skip::Nothing => Ok(()),
            Skip::Varints(n) => cursor.skip_varints(*n),
            Skip::Fixed(n) => cursor.skip_bytes(*n),
            Skip::Sized => cursor.skip_sized(),
            Skip::IntAndSized => cursor.skip_int_and_sized(1),
            Skip::Items(item) => skip_items(item, cursor),
            Skip::Union(branches) => {
                let branch = usize::try_from(cursor.long()?).map_err(|_| Malformed::Branch)?;
                branches.get(branch).ok_or(Malformed::Branch)?.skip(cursor)
            }
            Skip::Sequence(steps) => steps.iter().try_for_each(|s| s.skip(cursor)),
            Skip::Shared(skip) => skip.skip(cursor),
        }
    }
}

fn skip_items(item: &Skip, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
    if *item == Skip::Nothing {
        return skip_empty_items(cursor);
    }
    loop {
        let items = cursor.items()?;
        if items.count == 0 {
            return Ok(());
        }
        if cursor.skip_sized_items(items) {
            continue;
        }
        match item {
            Skip::Varints(n) => cursor.skip_varints(n.saturating_mul(items.count))?,
            Skip::Fixed(n) => cursor.skip_bytes(n.saturating_mul(items.count))?,
            Skip::IntAndSized => cursor.skip_int_and_sized(items.count)?,
            item => {
                for _ in 0..items.count {
                    item.skip(cursor)?;
                    cursor.check()?;
                }
            }
        }
    }
}

/// Items without bytes may be any number; only the counts are read.
fn skip_empty_items(cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
    loop {
        match cursor.long()? {
            0 => return Ok(()),
            count if count < 0 => cursor.skip_varint()?,
            _ => {}
        }
        cursor.check()?;
    }
}
