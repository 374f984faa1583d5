//! The one error type of the format, the catalogs and everything above them.
//!
//! An error carries a [`ErrorKind`] on which callers decide (retry, refuse, clean up), one line for
//! the user, and context pairs naming the table, ref or file. It must not be turned into a string on
//! its way up.

use std::error::Error as StdError;
use std::fmt;

/// The result of anything that can fail in Tarn.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, as far as a caller needs to decide what to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Another writer changed the table first. The commit may be tried again on the newer state.
    Conflict,
    /// The change contradicts what other writers committed, or an invariant of the table. Retrying does not help.
    Validation,
    /// The commit may or may not have happened. Nothing it wrote may be deleted.
    CommitStateUnknown,
    /// A table, view, namespace, ref, snapshot or file does not exist.
    NotFound,
    /// A table, view, namespace, ref or file exists already.
    AlreadyExists,
    /// A namespace still holds tables or views.
    NotEmpty,
    /// Legal, but not done by this engine, catalog or format version.
    Unsupported,
    /// A file or catalog row breaks the specification.
    Corrupt,
    /// What the caller asked for makes no sense: a bad argument, name, type or option.
    InvalidInput,
    /// The object store or the operating system failed.
    Io,
    /// The operation would exceed a memory or size budget.
    ResourcesExhausted,
}

impl ErrorKind {
    /// The kind's name as it is shown to users.
    pub fn as_str(self) -> &'static str {
        match self {
            ErrorKind::Conflict => "commit conflict",
            ErrorKind::Validation => "validation failed",
            ErrorKind::CommitStateUnknown => "commit state unknown",
            ErrorKind::NotFound => "not found",
            ErrorKind::AlreadyExists => "already exists",
            ErrorKind::NotEmpty => "not empty",
            ErrorKind::Unsupported => "unsupported",
            ErrorKind::Corrupt => "corrupt",
            ErrorKind::InvalidInput => "invalid input",
            ErrorKind::Io => "i/o error",
            ErrorKind::ResourcesExhausted => "resources exhausted",
        }
    }
}

/// A failure: its kind, one line for the user, context pairs, and the error beneath.
pub struct Error {
    kind: ErrorKind,
    message: String,
    context: Vec<(&'static str, String)>,
    source: Option<Box<dyn StdError + Send + Sync>>,
    told: ToldCause,
}

/// What [`Error`]'s line says of its source.
enum ToldCause {
    /// All of its own line.
    Source,
    /// This; nothing where the message says it all.
    Text(Option<String>),
}

impl Error {
    /// An error of `kind` with one line (no trailing period) that says what failed.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error {
            kind,
            message: message.into(),
            context: Vec::new(),
            source: None,
            told: ToldCause::Source,
        }
    }

    /// Shorthand for [`ErrorKind::Corrupt`].
    pub fn corrupt(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corrupt, message)
    }

    /// Shorthand for [`ErrorKind::InvalidInput`].
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidInput, message)
    }

    /// Shorthand for [`ErrorKind::NotFound`].
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, message)
    }

    /// Shorthand for [`ErrorKind::Unsupported`].
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// Shorthand for [`ErrorKind::Validation`].
    pub fn validation(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Validation, message)
    }

    /// Shorthand for [`ErrorKind::Conflict`].
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Conflict, message)
    }

    /// Adds a context pair, such as `("table", "db.t")` or `("file", path)`.
    ///
    /// A key that is already present is kept: the innermost layer knows best.
    #[must_use]
    pub fn with_context(mut self, key: &'static str, value: impl Into<String>) -> Self {
        if !self.context.iter().any(|(k, _)| *k == key) {
            self.context.push((key, value.into()));
        }
        self
    }

    /// Adds the error that caused this one.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self.told = ToldCause::Source;
        self
    }

    /// Adds the error that this one retells: it stays the source, but the line does not repeat it. Behind the message stands
    /// `cause` instead, where there is more to say.
    #[must_use]
    pub fn retelling(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>, cause: Option<String>) -> Self {
        self.source = Some(source.into());
        self.told = ToldCause::Text(cause);
        self
    }

    /// What the line says behind message and context; `None` when nothing.
    pub fn cause(&self) -> Option<String> {
        match &self.told {
            ToldCause::Source => self.source.as_ref().map(ToString::to_string),
            ToldCause::Text(text) => text.clone(),
        }
    }

    /// Replaces the kind and keeps the rest: for a layer that knows what a lower failure means.
    #[must_use]
    pub fn with_kind(mut self, kind: ErrorKind) -> Self {
        self.kind = kind;
        self
    }

    /// What went wrong, for decisions.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The line for the user, without context.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The context pairs, innermost first.
    pub fn context(&self) -> &[(&'static str, String)] {
        &self.context
    }

    /// Whether trying the same commit again on the newer table state may succeed.
    pub fn is_retryable(&self) -> bool {
        self.kind == ErrorKind::Conflict
    }
}

impl fmt::Display for Error {
    /// One line: the message, then the context in parentheses, then the cause.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        if !self.context.is_empty() {
            f.write_str(" (")?;
            for (i, (key, value)) in self.context.iter().enumerate() {
                if i > 0 {
                    f.write_str(", ")?;
                }
                write!(f, "{key}: {value}")?;
            }
            f.write_str(")")?;
        }
        match (&self.told, &self.source) {
            (ToldCause::Source, Some(source)) => write!(f, ": {source}"),
            (ToldCause::Text(Some(text)), _) => write!(f, ": {text}"),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.kind)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|e| e as &(dyn StdError + 'static))
    }
}

/// Adds context to the error of a result.
pub trait ResultExt<T> {
    /// Adds a context pair to the error, see [`Error::with_context`].
    fn context(self, key: &'static str, value: impl Into<String>) -> Result<T>;
}

impl<T> ResultExt<T> for Result<T> {
    fn context(self, key: &'static str, value: impl Into<String>) -> Result<T> {
        self.map_err(|e| e.with_context(key, value))
    }
}
