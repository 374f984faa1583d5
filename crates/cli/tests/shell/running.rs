//! Runs the binary in a directory of its own.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A directory to run in; its tables are in `tarn-lake` below.
pub struct Place {
    directory: TempDir,
}

/// What a run left.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Place {
    pub fn new() -> Self {
        Place {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The binary, away from what this machine's user has configured.
    pub fn tarn(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tarn"));
        command.current_dir(self.path()).env("HOME", self.path());
        for variable in [
            "TARN_HOME",
            "TARN_CONFIG",
            "XDG_CONFIG_HOME",
            "XDG_STATE_HOME",
            "TARN_HISTORY",
            "TARN_LOG",
        ] {
            command.env_remove(variable);
        }
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with_input(arguments, "")
    }

    pub fn run_with_input(&self, arguments: &[&str], input: &str) -> Ran {
        let mut command = self.tarn();
        command.args(arguments).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // A run that ends early does not read it.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The output of a run that must succeed and say nothing else.
    pub fn stdout(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{arguments:?}: {ran:?}");
        ran.stdout
    }
}
