//! How this worker shows itself at the coordinator's door: its token, whom it believes to be the coordinator, its
//! certificate.
//!
//! A token is never printed. Its file is read again when the door no longer takes it, so that a token can be renewed
//! without a restart.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use thiserror::Error;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::transport::{Certificate, ClientTlsConfig, Identity};
use tonic::{Request, Status};

/// What a worker shows, and whom it believes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Door {
    /// Its token.
    pub token: Option<TokenSource>,
    /// Authorities that the coordinator's certificate must come from, as PEM; `None`: the public ones.
    pub ca: Option<PathBuf>,
    /// Its own certificate and key, as PEM.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// The name that the coordinator's certificate is for; `None`: the one in its address.
    pub server_name: Option<String>,
}

/// Where the token comes from.
#[derive(Clone, PartialEq, Eq)]
pub enum TokenSource {
    /// A file that holds it alone.
    File(PathBuf),
    /// It was given.
    Given(String),
}

impl fmt::Debug for TokenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TokenSource::File(path) => f.debug_tuple("File").field(path).finish(),
            TokenSource::Given(_) => f.write_str("Given(..)"),
        }
    }
}

/// Why there is no way to the door.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DoorError {
    /// A file of it.
    #[error("{path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The token does not read as one. It is not repeated.
    #[error("the token {from} is empty or holds characters that no token has")]
    Token {
        /// Where it came from.
        from: String,
    },
}

/// The token as calls show it; clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Badge {
    source: Option<TokenSource>,
    shown: Arc<RwLock<Option<MetadataValue<Ascii>>>>,
}

impl Badge {
    pub(crate) fn read(source: Option<TokenSource>) -> Result<Badge, DoorError> {
        let badge = Badge {
            source,
            shown: Arc::default(),
        };
        badge.read_again()?;
        Ok(badge)
    }

    /// Reads the token again. True: it is another one.
    pub(crate) fn read_again(&self) -> Result<bool, DoorError> {
        let Some(source) = &self.source else {
            return Ok(false);
        };
        let read = Some(value_of(source)?);
        let mut shown = self.shown.write().unwrap_or_else(PoisonError::into_inner);
        let is_other = *shown != read;
        *shown = read;
        Ok(is_other)
    }
}

impl Interceptor for Badge {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(value) = &*self.shown.read().unwrap_or_else(PoisonError::into_inner) {
            request.metadata_mut().insert("authorization", value.clone());
        }
        Ok(request)
    }
}

fn value_of(source: &TokenSource) -> Result<MetadataValue<Ascii>, DoorError> {
    let (text, from) = match source {
        TokenSource::File(path) => {
            let text = String::from_utf8_lossy(&read(path)?).into_owned();
            (text, format!("in {}", path.display()))
        }
        TokenSource::Given(text) => (text.clone(), "given".to_owned()),
    };
    let token = text.trim();
    let is_plain = !token.is_empty() && token.bytes().all(|b| b.is_ascii_graphic());
    let value = is_plain
        .then(|| format!("Bearer {token}").parse::<MetadataValue<Ascii>>().ok())
        .flatten();
    let mut value = value.ok_or(DoorError::Token { from })?;
    value.set_sensitive(true);
    Ok(value)
}

impl Door {
    /// What the connection is encrypted with.
    pub(crate) fn tls(&self) -> Result<ClientTlsConfig, DoorError> {
        let mut tls = ClientTlsConfig::new();
        tls = match &self.ca {
            Some(path) => tls.ca_certificate(Certificate::from_pem(read(path)?)),
            None => tls.with_webpki_roots(),
        };
        if let Some((certificate, key)) = &self.certificate {
            tls = tls.identity(Identity::from_pem(read(certificate)?, read(key)?));
        }
        if let Some(name) = &self.server_name {
            tls = tls.domain_name(name.clone());
        }
        Ok(tls)
    }
}

fn read(path: &Path) -> Result<Vec<u8>, DoorError> {
    fs::read(path).map_err(|source| DoorError::Read {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_again_from_its_file_and_never_printed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        fs::write(&path, "hound\n").unwrap();
        let badge = Badge::read(Some(TokenSource::File(path.clone()))).unwrap();
        assert!(!badge.read_again().unwrap());
        fs::write(&path, "fox").unwrap();
        assert!(badge.read_again().unwrap());
        assert!(!format!("{badge:?}").contains("fox"), "{badge:?}");
        assert!(!format!("{:?}", TokenSource::Given("fox".into())).contains("fox"));
    }

    #[test]
    fn a_token_that_is_none_is_refused_without_repeating_it() {
        for text in ["", "two words", "ümlaut"] {
            let error = Badge::read(Some(TokenSource::Given(text.into())))
                .unwrap_err()
                .to_string();
            assert!(text.is_empty() || !error.contains(text), "{error}");
        }
    }
}
