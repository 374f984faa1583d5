//! The shell as somebody uses it: typed at, on a pseudo-terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::running::Place;

/// Longer than anything here takes, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(120);

/// A shell on a terminal of its own.
struct Typist {
    keys: File,
    shell: Child,
    shown: Arc<Mutex<String>>,
    /// How much of what is shown was looked at.
    seen: usize,
}

impl Typist {
    fn begin(place: &Place) -> Self {
        let size = Winsize {
            ws_row: 40,
            ws_col: 160,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        let terminal = openpty(Some(&size), None).unwrap();
        let side = || Stdio::from(terminal.slave.try_clone().unwrap());
        let mut command = place.tarn();
        command.env("TERM", "xterm").stdin(side()).stdout(side()).stderr(side());
        let shell = command.spawn().unwrap();
        drop(command);
        let keys = File::from(terminal.master);
        let mut screen = keys.try_clone().unwrap();
        let shown = Arc::new(Mutex::new(String::new()));
        let reading = Arc::clone(&shown);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // The terminal is gone when the shell is.
            while let Ok(n) = screen.read(&mut bytes) {
                reading.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..n]));
            }
        });
        let mut typist = Typist {
            keys,
            shell,
            shown,
            seen: 0,
        };
        typist.expect("tarn> ");
        typist
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Types a statement and waits for what only its result shows, then for the next prompt.
    fn run(&mut self, keys: &str, result: &str) {
        self.press(keys);
        self.press("\r");
        self.expect(result);
        self.expect("tarn> ");
    }

    /// Waits until a text is shown behind all that was waited for before.
    fn expect(&mut self, text: &str) {
        let start = Instant::now();
        loop {
            let shown = self.shown.lock().unwrap().clone();
            if let Some(at) = shown[self.seen..].find(text) {
                self.seen += at + text.len();
                return;
            }
            assert!(
                start.elapsed() < PATIENCE,
                "{text:?} is not shown behind {:?}",
                &shown[self.seen..]
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn interrupt(&self) {
        let shell = i32::try_from(self.shell.id()).unwrap();
        kill(Pid::from_raw(shell), Signal::SIGINT).unwrap();
    }
}

impl Drop for Typist {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

#[test]
fn statements_are_typed_completed_interrupted_and_remembered() {
    let place = Place::new();
    let mut typist = Typist::begin(&place);
    typist.run("CREATE TABLE trips (id INT, city STRING);", "created");
    typist.run(
        "INSERT INTO tri\t VALUES (41, 'Oslo'), (1, 'Bergen');",
        "2 rows in 1 file",
    );
    // Enter goes on until the semicolon.
    typist.run("SELECT sum(id)\r+ 100 AS answer\rFROM trips;", "142");
    typist.press("SELECT 'never run");
    typist.expect("never run");
    typist.press("\x03");
    typist.expect("tarn> ");
    typist.run("SELECT 6 * 7 AS answer;", "42");
    typist.run("SET x.password = 'hidden';", "redacted");
    typist.run("\\h drop table", "[PURGE]");

    // A statement that takes forever is cancelled; the shell goes on.
    typist.run(
        "CREATE TABLE n AS SELECT a.id + b.id AS id FROM trips a, trips b, trips c, trips d, trips e, trips f;",
        "64 rows",
    );
    typist.press("SELECT sum(a.id * b.id + c.id * d.id + e.id * f.id) FROM n a, n b, n c, n d, n e, n f;\r");
    std::thread::sleep(Duration::from_secs(2));
    typist.interrupt();
    typist.expect("interrupted");
    typist.expect("tarn> ");
    typist.run("SELECT 8 * 9 AS answer;", "72");

    typist.press("\x04");
    assert!(typist.shell.wait().unwrap().success());
    let history = std::fs::read_to_string(place.path().join(".local/state/tarn/history")).unwrap();
    assert!(history.contains("INSERT INTO trips VALUES"), "{history}");
    assert!(
        !history.contains("hidden") && !history.contains("never run"),
        "{history}"
    );

    // The next shell remembers: the arrow brings the last statement back.
    let mut next = Typist::begin(&place);
    next.run("\x1b[A", "72");
}
