//! Random statements of a writer, the same every time, and what each makes of the table's rows.

/// `id`, `grp`, `n`
pub type Row = [i64; 3];

/// Rows before anybody writes: ids 0 to 23 in three groups.
pub fn first_rows() -> Vec<Row> {
    (0..24).map(|id| [id, id % 3, id]).collect()
}

/// Which statements there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mix {
    /// Any: each is as if it were alone.
    Serializable,
    /// Those that look at rows of one id, which nobody inserts twice.
    SingleRows,
}

impl Mix {
    /// Those that an isolation level can bear.
    pub fn of(isolation: &str) -> Self {
        match isolation {
            "serializable" => Mix::Serializable,
            _ => Mix::SingleRows,
        }
    }
}

#[derive(Debug, Clone)]
pub enum Statement {
    Insert(Row),
    DeleteId(i64),
    UpdateId(i64, i64),
    /// Of a group, below a value.
    DeleteBelow(i64, i64),
    /// Of a group, from a value on.
    UpdateFrom(i64, i64),
    /// Adds to what is there.
    MergeMatched(Vec<[i64; 2]>),
    /// Adds to what is there, and inserts what is not.
    Merge(Vec<[i64; 2]>),
}

impl Statement {
    /// The statement of a writer at a step.
    pub fn random(mix: Mix, writer: u64, step: u64) -> Self {
        let mut seed = writer * 1_000 + step + 1;
        let mut below = |end: i64| {
            // SplitMix64
            seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = seed;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            i64::try_from((z ^ (z >> 31)) >> 33).unwrap_or(0) % end
        };
        let own = 1_000 + i64::try_from(writer * 100 + step).unwrap_or(0);
        let kind = below(match mix {
            Mix::Serializable => 10,
            Mix::SingleRows => 7,
        });
        match kind {
            0 | 1 => Statement::Insert([own, below(3), below(20)]),
            2 => Statement::DeleteId(below(24)),
            3 | 4 => Statement::UpdateId(below(24), 100),
            5 | 6 => {
                let first = below(12);
                Statement::MergeMatched(vec![[first, 1_000], [first + 5, 1_000], [900, 1]])
            }
            7 => Statement::DeleteBelow(below(3), below(8)),
            8 => Statement::UpdateFrom(below(3), 10 + below(10)),
            _ => Statement::Merge(vec![[500 + below(3), 7], [503, 1], [below(24), 10_000]]),
        }
    }

    pub fn sql(&self) -> String {
        let source = |rows: &[[i64; 2]]| {
            let rows: Vec<String> = rows.iter().map(|[id, n]| format!("({id}, {n})")).collect();
            format!("(VALUES {}) AS s (id, n)", rows.join(", "))
        };
        match self {
            Statement::Insert([id, grp, n]) => format!("INSERT INTO t VALUES ({id}, {grp}, {n})"),
            Statement::DeleteId(id) => format!("DELETE FROM t WHERE id = {id}"),
            Statement::UpdateId(id, add) => format!("UPDATE t SET n = n + {add} WHERE id = {id}"),
            Statement::DeleteBelow(grp, end) => format!("DELETE FROM t WHERE grp = {grp} AND n < {end}"),
            Statement::UpdateFrom(grp, begin) => format!("UPDATE t SET n = n + 1 WHERE grp = {grp} AND n >= {begin}"),
            Statement::MergeMatched(rows) => format!(
                "MERGE INTO t USING {} ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = t.n + s.n",
                source(rows)
            ),
            Statement::Merge(rows) => format!(
                "MERGE INTO t USING {} ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = t.n + s.n \
                 WHEN NOT MATCHED THEN INSERT (id, grp, n) VALUES (s.id, 0, s.n)",
                source(rows)
            ),
        }
    }

    pub fn apply(&self, mut rows: Vec<Row>) -> Vec<Row> {
        let add = |rows: &mut Vec<Row>, source: &[[i64; 2]]| {
            for row in rows.iter_mut() {
                row[2] += source
                    .iter()
                    .filter(|[id, _]| *id == row[0])
                    .map(|[_, n]| n)
                    .sum::<i64>();
            }
        };
        match self {
            Statement::Insert(row) => rows.push(*row),
            Statement::DeleteId(id) => rows.retain(|row| row[0] != *id),
            Statement::UpdateId(id, n) => add(&mut rows, &[[*id, *n]]),
            Statement::DeleteBelow(grp, end) => rows.retain(|row| row[1] != *grp || row[2] >= *end),
            Statement::UpdateFrom(grp, begin) => {
                for row in rows.iter_mut().filter(|row| row[1] == *grp && row[2] >= *begin) {
                    row[2] += 1;
                }
            }
            Statement::MergeMatched(source) => add(&mut rows, source),
            Statement::Merge(source) => {
                let new: Vec<Row> = source
                    .iter()
                    .filter(|[id, _]| rows.iter().all(|row| row[0] != *id))
                    .map(|[id, n]| [*id, 0, *n])
                    .collect();
                add(&mut rows, source);
                rows.extend(new);
            }
        }
        rows
    }
}
