//! Colours of the terminal, or none.

/// Whether text is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// With escape sequences.
    On,
    /// Plain.
    Off,
}

impl Paint {
    /// Column names.
    pub fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    /// Borders and NULLs.
    pub fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    /// Words of the language.
    pub fn keyword(self, text: &str) -> String {
        self.wrap("1;34", text)
    }

    /// Strings.
    pub fn text(self, text: &str) -> String {
        self.wrap("32", text)
    }

    /// Numbers.
    pub fn number(self, text: &str) -> String {
        self.wrap("36", text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        match self {
            Paint::On if !text.is_empty() => format!("\x1b[{code}m{text}\x1b[0m"),
            _ => text.to_string(),
        }
    }
}
