//! Tokens: drawn, read, digested; and what they are for.

use std::fmt;

use sha2::{Digest, Sha256};

/// What a token opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The workers' service.
    Worker,
    /// The operators' service, and the pages with everything that they do.
    Operator,
    /// The questions of the operators' service, and the pages to look at.
    Analyst,
    /// The pages to look at.
    Viewer,
}

impl Role {
    /// All of them.
    pub const ALL: [Role; 4] = [Role::Worker, Role::Operator, Role::Analyst, Role::Viewer];

    /// As the database and the command line spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Worker => "worker",
            Role::Operator => "operator",
            Role::Analyst => "analyst",
            Role::Viewer => "viewer",
        }
    }

    /// The role of this spelling.
    pub fn parse(text: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.as_str() == text)
    }

    /// Whether the pages may be looked at.
    pub fn may_look(self) -> bool {
        self != Role::Worker
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A token, to be shown once to who asked for it. Never printed by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Draws a token of 256 random bits. Its beginning says what it is, for people and for programs that look for secrets
    /// where none should be.
    ///
    /// # Panics
    /// If the system gives no random bytes.
    pub fn draw() -> Secret {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).expect("a system without random bytes is none to run a farm on");
        Secret(format!("parforce_{}", hex::encode(bytes)))
    }

    /// The token itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What is kept of it.
    pub fn digest(&self) -> TokenDigest {
        TokenDigest::of(&self.0)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// What is kept of a token: its SHA-256. A token has 256 random bits, so there is nothing to guess and no need of a slow
/// digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TokenDigest([u8; 32]);

impl TokenDigest {
    /// The digest of a token that was shown.
    pub fn of(token: &str) -> TokenDigest {
        TokenDigest(Sha256::digest(token.as_bytes()).into())
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_drawn_long_and_never_printed() {
        let (one, two) = (Secret::draw(), Secret::draw());
        assert_ne!(one, two);
        assert_eq!(one.reveal().len(), "parforce_".len() + 64);
        assert_eq!(format!("{one:?}"), "Secret(..)");
        assert_eq!(one.digest(), TokenDigest::of(one.reveal()));
    }

    #[test]
    fn roles_are_read_back() {
        assert!(
            Role::ALL
                .into_iter()
                .all(|role| Role::parse(role.as_str()) == Some(role))
        );
        assert_eq!(Role::parse("admin"), None);
    }
}
