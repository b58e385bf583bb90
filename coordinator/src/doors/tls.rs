//! Certificates: read from their files, and read again while the coordinator runs.
//!
//! A connection keeps what it began with; the next one gets what was read last. Files that do not fit together (a new
//! certificate is there, its key not yet) change nothing.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use thiserror::Error;
use tokio::sync::watch;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use super::TlsFiles;

/// Why there is no encryption.
#[derive(Debug, Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("{path}: {error}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// A file holds something else. What it holds is not repeated.
    #[error("{path}: {what}")]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Certificate and key do not fit together.
    #[error("certificate and key: {0}")]
    Pair(String),
}

/// What the files held when they were read last.
#[derive(PartialEq, Eq)]
struct Contents {
    certificate: Vec<u8>,
    key: Vec<u8>,
    client_ca: Option<Vec<u8>>,
}

/// The certificates of both doors.
pub(crate) struct Certificates {
    files: TlsFiles,
    read: Mutex<Contents>,
    calls: watch::Sender<Arc<ServerConfig>>,
    pages: watch::Sender<Arc<ServerConfig>>,
}

impl fmt::Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificates")
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}

impl Certificates {
    /// Reads the files.
    pub(crate) fn load(files: &TlsFiles) -> Result<Certificates, TlsError> {
        let contents = Contents::read(files)?;
        let (calls, pages) = contents.configs(files)?;
        Ok(Certificates {
            files: files.clone(),
            read: Mutex::new(contents),
            calls: watch::Sender::new(calls),
            pages: watch::Sender::new(pages),
        })
    }

    /// Reads the files again. True: they hold something else than before, which the next connection gets.
    pub(crate) fn reload(&self) -> Result<bool, TlsError> {
        let contents = Contents::read(&self.files)?;
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if *read == contents {
            return Ok(false);
        }
        let (calls, pages) = contents.configs(&self.files)?;
        self.calls.send_replace(calls);
        self.pages.send_replace(pages);
        *read = contents;
        Ok(true)
    }

    /// For workers and operators.
    pub(crate) fn for_calls(&self) -> watch::Receiver<Arc<ServerConfig>> {
        self.calls.subscribe()
    }

    /// For browsers, which are asked for no certificate.
    pub(crate) fn for_pages(&self) -> watch::Receiver<Arc<ServerConfig>> {
        self.pages.subscribe()
    }
}

impl Contents {
    fn read(files: &TlsFiles) -> Result<Contents, TlsError> {
        Ok(Contents {
            certificate: read(&files.certificate)?,
            key: read(&files.key)?,
            client_ca: files.client_ca.as_deref().map(read).transpose()?,
        })
    }

    fn configs(&self, files: &TlsFiles) -> Result<(Arc<ServerConfig>, Arc<ServerConfig>), TlsError> {
        let chain = certificates(&files.certificate, &self.certificate)?;
        let key = PrivateKeyDer::from_pem_slice(&self.key).map_err(|error| TlsError::Content {
            path: files.key.clone(),
            what: format!("no key: {error}"),
        })?;
        let clients = match (&files.client_ca, &self.client_ca) {
            (Some(path), Some(pem)) => Some(roots(path, pem)?),
            _ => None,
        };
        let config = |clients: Option<RootCertStore>, protocols: &[&[u8]]| {
            let provider = Arc::new(ring::default_provider());
            let pair = |error: &dyn fmt::Display| TlsError::Pair(error.to_string());
            let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
                .with_safe_default_protocol_versions()
                .map_err(|error| pair(&error))?;
            let builder = match clients {
                Some(roots) => {
                    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                        .build()
                        .map_err(|error| pair(&error))?;
                    builder.with_client_cert_verifier(verifier)
                }
                None => builder.with_no_client_auth(),
            };
            let mut config = builder
                .with_single_cert(chain.clone(), key.clone_key())
                .map_err(|error| pair(&error))?;
            config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
            Ok::<_, TlsError>(Arc::new(config))
        };
        Ok((config(clients, &[b"h2"])?, config(None, &[b"http/1.1"])?))
    }
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    fs::read(path).map_err(|error| TlsError::Read {
        path: path.to_owned(),
        error,
    })
}

fn certificates(path: &Path, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let content = |what: String| TlsError::Content {
        path: path.to_owned(),
        what,
    };
    let all: Vec<_> = CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(|error| content(format!("no certificate: {error}")))?;
    if all.is_empty() {
        return Err(content("no certificate".to_owned()));
    }
    Ok(all)
}

fn roots(path: &Path, pem: &[u8]) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path, pem)? {
        roots.add(certificate).map_err(|error| TlsError::Content {
            path: path.to_owned(),
            what: error.to_string(),
        })?;
    }
    Ok(roots)
}
