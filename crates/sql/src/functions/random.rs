//! `rand` and `randn` with a seed: the numbers that Spark draws in a query's first partition
//! (Java: `XORShiftRandom`, `Rand`, `Randn`).
//!
//! A query that runs in one partition gives the same rows each time, Spark's. With more partitions they share one
//! generator, and which row gets which number depends on who comes first, as Spark's depend on how files are split.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::Float64Array;
use arrow::datatypes::DataType;
use datafusion::common::plan_err;
use datafusion::error::Result;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::scalar::ScalarValue;

/// How the numbers are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Spread {
    /// Between 0 and 1, without 1.
    Uniform,
    /// Around 0 with a standard deviation of 1.
    Normal,
}

impl Spread {
    fn name(self) -> &'static str {
        match self {
            Spread::Uniform => "rand",
            Spread::Normal => "randn",
        }
    }
}

/// The function of one argument, a constant; each call in a query has a generator of its own.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Seeded {
    signature: Signature,
    spread: Spread,
}

impl Seeded {
    pub(super) fn new(spread: Spread) -> Self {
        let signature = Signature::exact(vec![DataType::Int64], Volatility::Volatile);
        Seeded { signature, spread }
    }
}

impl ScalarUDFImpl for Seeded {
    fn name(&self) -> &str {
        self.spread.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn simplify(&self, arguments: Vec<Expr>, _info: &SimplifyContext) -> Result<ExprSimplifyResult> {
        let [Expr::Literal(ScalarValue::Int64(seed), _)] = arguments.as_slice() else {
            return Ok(ExprSimplifyResult::Original(arguments));
        };
        let generator = Generator {
            signature: Signature::nullary(Volatility::Volatile),
            spread: self.spread,
            random: Arc::new(Mutex::new(XorShift::new(seed.unwrap_or(0)))),
        };
        Ok(ExprSimplifyResult::Simplified(
            ScalarUDF::from(generator).call(Vec::new()),
        ))
    }

    fn invoke_with_args(&self, _args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        plan_err!("the seed of {} must be a constant", self.spread.name())
    }
}

/// The numbers of one call.
#[derive(Debug)]
struct Generator {
    signature: Signature,
    spread: Spread,
    random: Arc<Mutex<XorShift>>,
}

impl PartialEq for Generator {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.random, &other.random)
    }
}

impl Eq for Generator {}

impl Hash for Generator {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.random).hash(state);
    }
}

impl ScalarUDFImpl for Generator {
    fn name(&self) -> &str {
        self.spread.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let mut random = self.random.lock().unwrap_or_else(PoisonError::into_inner);
        let numbers: Float64Array = (0..args.number_rows)
            .map(|_| match self.spread {
                Spread::Uniform => random.uniform(),
                Spread::Normal => random.normal(),
            })
            .map(Some)
            .collect();
        Ok(ColumnarValue::Array(Arc::new(numbers)))
    }
}

/// Marsaglia's generator with Spark's shifts, read as `java.util.Random` reads its bits.
#[derive(Debug)]
struct XorShift {
    state: i64,
    /// The second number of a pair of normal ones.
    spare: Option<f64>,
}

impl XorShift {
    fn new(seed: i64) -> Self {
        /// `MurmurHash3.arraySeed` of Scala.
        const ARRAY_SEED: u32 = 0x3c07_4a61;
        let bytes = seed.to_be_bytes();
        let low = murmur3(bytes, ARRAY_SEED);
        let high = murmur3(bytes, low);
        XorShift {
            state: (i64::from(high) << 32) | i64::from(low),
            spare: None,
        }
    }

    /// The lowest bits of the next state.
    fn next(&mut self, bits: u32) -> i64 {
        let mut state = self.state ^ (self.state << 21);
        state ^= (state as u64 >> 35) as i64;
        state ^= state << 4;
        self.state = state;
        state & ((1 << bits) - 1)
    }

    fn uniform(&mut self) -> f64 {
        let (high, low) = (self.next(26), self.next(27));
        ((high << 27) + low) as f64 / (1_i64 << 53) as f64
    }

    /// The polar method: two numbers from each pair that lies in the unit circle.
    fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (a, b) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = a * a + b * b;
            if square < 1.0 && square != 0.0 {
                let factor = (-2.0 * square.ln() / square).sqrt();
                self.spare = Some(b * factor);
                return a * factor;
            }
        }
    }
}

/// MurmurHash3 (x86, 32 bits) of eight bytes with a seed.
fn murmur3(bytes: [u8; 8], seed: u32) -> u32 {
    let mut hash = seed;
    for word in bytes.chunks_exact(4) {
        let word = word.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
        let mixed = word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
        hash = (hash ^ mixed).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    hash ^= 8;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    // Spark's documentation: rand(0) of SQL, and the first 13 digits of randn(42) in PySpark.
    #[test]
    fn the_first_numbers_are_sparks() {
        assert_eq!(XorShift::new(0).uniform(), 0.760_495_375_828_591_5);
        let mut random = XorShift::new(42);
        for expected in [2.384_479_054_241, 0.192_093_404_129_3] {
            let number = random.normal();
            assert!(
                (0.0..1e-12).contains(&(number - expected)),
                "{number} is not {expected}…"
            );
        }
    }
}
