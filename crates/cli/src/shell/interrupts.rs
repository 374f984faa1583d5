//! Ctrl-C, which cancels statements.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures::FutureExt;
use tokio::sync::Notify;

/// So many times Ctrl-C without any effect end the process after all.
const PATIENCE: u32 = 3;

/// Exit code of a process that was interrupted.
const INTERRUPTED: i32 = 130;

/// Tells of Ctrl-C.
#[derive(Debug, Clone, Default)]
pub struct Interrupts {
    pressed: Arc<Notify>,
    unanswered: Arc<AtomicU32>,
}

impl Interrupts {
    /// Begins to listen; Ctrl-C no longer ends the process.
    ///
    /// The handler of the signal stands when this returns: the line editor puts its own in front and later brings back
    /// what it found, which must not be the system's.
    pub fn watch(&self) {
        let interrupts = self.clone();
        let mut pressed = Box::pin(tokio::signal::ctrl_c());
        if pressed.as_mut().now_or_never().is_some() {
            // There is no such signal here: Ctrl-C ends the process.
            return;
        }
        tokio::spawn(async move {
            while pressed.await.is_ok() {
                if interrupts.unanswered.fetch_add(1, Ordering::Relaxed) + 1 >= PATIENCE {
                    std::process::exit(INTERRUPTED);
                }
                interrupts.pressed.notify_one();
                pressed = Box::pin(tokio::signal::ctrl_c());
            }
        });
    }

    /// Waits for the next one, or takes one that nobody waited for.
    pub async fn next(&self) {
        self.pressed.notified().await;
        self.unanswered.store(0, Ordering::Relaxed);
    }

    /// Forgets one that nobody waited for.
    pub fn forget(&self) {
        let _ = self.next().now_or_never();
    }
}
