//! How much memory queries may use, and what is said when they want more.

use datafusion::error::{DataFusionError, Result as EngineResult};
use datafusion::execution::memory_pool::{
    FairSpillPool, MemoryConsumer, MemoryLimit as PoolLimit, MemoryPool, MemoryReservation, human_readable_size,
};
use tarn_format::{Error, Result};

/// The most memory that queries may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryLimit {
    /// So many bytes.
    Bytes(usize),
    /// So many hundredths of the memory of the machine, or of the container.
    Percent(u8),
    /// No limit.
    Unlimited,
}

impl MemoryLimit {
    /// Reads `2GiB`, `500MB`, a number of bytes, `70%` or `unlimited`.
    ///
    /// # Errors
    /// `InvalidInput` for anything else, and for no memory at all.
    pub fn parse(text: &str) -> Result<MemoryLimit> {
        let text = text.trim();
        let wrong = || Error::invalid("a memory limit is a size such as 2GiB, a share such as 50%, or 'unlimited'");
        if text.eq_ignore_ascii_case("unlimited") {
            return Ok(MemoryLimit::Unlimited);
        }
        if let Some(percent) = text.strip_suffix('%') {
            return match percent.trim().parse() {
                Ok(percent) if (1..=100).contains(&percent) => Ok(MemoryLimit::Percent(percent)),
                _ => Err(wrong()),
            };
        }
        let digits = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let unit = match unit.trim().to_ascii_lowercase().as_str() {
            "" | "b" => 1.0,
            "kb" => 1e3,
            "mb" => 1e6,
            "gb" => 1e9,
            "tb" => 1e12,
            "k" | "kib" => 1024.0,
            "m" | "mib" => 1024.0 * 1024.0,
            "g" | "gib" => 1024.0 * 1024.0 * 1024.0,
            "t" | "tib" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
            _ => return Err(wrong()),
        };
        let bytes = number.parse::<f64>().map_err(|_| wrong())? * unit;
        if bytes < 1.0 {
            return Err(wrong());
        }
        // A size beyond the largest is the largest.
        Ok(MemoryLimit::Bytes(bytes as usize))
    }

    /// The limit in bytes; `None` when there is none, or a share of a memory whose size is not known.
    pub fn bytes(self) -> Option<usize> {
        match self {
            MemoryLimit::Bytes(bytes) => Some(bytes),
            MemoryLimit::Percent(percent) => Some(available_bytes()? / 100 * usize::from(percent)),
            MemoryLimit::Unlimited => None,
        }
    }
}

/// Memory of the machine, or of the container where that has less. Only Linux tells without further libraries.
fn available_bytes() -> Option<usize> {
    let read = |path| std::fs::read_to_string(path).ok();
    let machine = read("/proc/meminfo").and_then(|text| {
        let total = text.lines().find_map(|l| l.strip_prefix("MemTotal:"))?;
        let kib: usize = total.trim().strip_suffix("kB")?.trim().parse().ok()?;
        kib.checked_mul(1024)
    });
    let container = [
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    ];
    let container = container.into_iter().find_map(read);
    let container = container.and_then(|text| text.trim().parse().ok());
    match (machine, container) {
        (Some(machine), Some(container)) => Some(machine.min(container)),
        (machine, container) => machine.or(container),
    }
}

/// Shares memory evenly among those that can spill, and says in one line what to do when it is used up.
#[derive(Debug)]
pub(crate) struct SharedPool {
    pool: FairSpillPool,
    limit_bytes: usize,
}

impl SharedPool {
    pub(crate) fn new(limit_bytes: usize) -> Self {
        SharedPool {
            pool: FairSpillPool::new(limit_bytes),
            limit_bytes,
        }
    }
}

impl std::fmt::Display for SharedPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "shared pool of {}", human_readable_size(self.limit_bytes))
    }
}

impl MemoryPool for SharedPool {
    fn name(&self) -> &str {
        "shared"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        self.pool.register(consumer);
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        self.pool.unregister(consumer);
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        self.pool.grow(reservation, additional);
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        self.pool.shrink(reservation, shrink);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> EngineResult<()> {
        self.pool.try_grow(reservation, additional).map_err(|_| {
            DataFusionError::ResourcesExhausted(format!(
                "out of memory: {} needs {} more, and {} of the limit of {} are in use; raise --memory-limit \
                 (memory-limit in tarn.toml), or lower --parallelism",
                reservation.consumer().name(),
                human_readable_size(additional),
                human_readable_size(self.pool.reserved()),
                human_readable_size(self.limit_bytes),
            ))
        })
    }

    fn reserved(&self) -> usize {
        self.pool.reserved()
    }

    fn memory_limit(&self) -> PoolLimit {
        PoolLimit::Finite(self.limit_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_shares_and_none_are_understood() {
        let bytes = |text: &str| MemoryLimit::parse(text).unwrap();
        assert_eq!(bytes("2GiB"), MemoryLimit::Bytes(2 << 30));
        assert_eq!(bytes(" 1.5 k "), MemoryLimit::Bytes(1536));
        assert_eq!(bytes("500MB"), MemoryLimit::Bytes(500_000_000));
        assert_eq!(bytes("1024"), MemoryLimit::Bytes(1024));
        assert_eq!(bytes("50%"), MemoryLimit::Percent(50));
        assert_eq!(bytes("Unlimited"), MemoryLimit::Unlimited);
        for wrong in ["", "0", "-1", "2 parrots", "101%", "0%", "1.2.3", "GiB", "0.5"] {
            assert!(MemoryLimit::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_share_is_one_of_what_there_is() {
        assert_eq!(MemoryLimit::Unlimited.bytes(), None);
        let (half, all) = (MemoryLimit::Percent(50).bytes(), MemoryLimit::Percent(100).bytes());
        if let (Some(half), Some(all)) = (half, all) {
            assert!(half > 1 << 20 && half <= all / 2 + 100, "{half} of {all}");
        }
    }
}
