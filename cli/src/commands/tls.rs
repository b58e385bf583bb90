//! `parforce tls`: certificates of an authority of one's own, for a farm without a public name.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};

use super::Outcome;
use super::token::write_secret;

/// The name by which a certificate made here can always be asked for (--tls-name), whatever the address.
pub(crate) const NAME: &str = "parforce";

/// Days that a certificate is good for.
const DAYS: i64 = 825;
/// Days that the authority is good for.
const AUTHORITY_DAYS: i64 = 3_650;
/// A clock that runs a little slow is not to find a new certificate of tomorrow.
const DAYS_BEFORE: i64 = 1;

/// Make certificates for a farm that has no public name.
///
/// Makes an authority in the folder if there is none (ca.pem, and its key, ca.key, which stays where it is), and by it the
/// coordinator's certificate and key (coordinator.pem, coordinator.key), made anew each time: a coordinator that runs takes
/// it within half a minute. Workers need ca.pem alone. With --client one more certificate, for a worker or an operator
/// where the coordinator asks for one (--tls-client-ca ca.pem).
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  parforce tls --dir tls --name coordinator.example --name 10.0.0.5
  parforce-coordinator --tls-cert tls/coordinator.pem --tls-key tls/coordinator.key
  parforce tls --dir tls --client node-3")]
pub(crate) struct Arguments {
    /// Folder of the authority
    #[arg(long, value_name = "DIR", default_value = "tls")]
    dir: PathBuf,
    /// Names and addresses by which the coordinator is reached; localhost, 127.0.0.1, ::1 and parforce always are
    #[arg(long, value_name = "NAME")]
    name: Vec<String>,
    /// Make a certificate NAME.pem with NAME.key for a client, and leave the coordinator's as it is
    #[arg(long, value_name = "NAME", conflicts_with = "name", value_parser = parse_file_name)]
    client: Option<String>,
}

fn parse_file_name(text: &str) -> Result<String, String> {
    let is_name = !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    let is_taken = ["ca", "coordinator"].contains(&text) || text.starts_with('.');
    (is_name && !is_taken).then(|| text.to_owned()).ok_or_else(|| {
        String::from("expected letters, digits, hyphens and dots, and neither ca nor coordinator")
    })
}

/// Files of a coordinator's certificate.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    pub(crate) ca: PathBuf,
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let mut out = std::io::stdout();
    if let Some(client) = &arguments.client {
        let (certificate, key) = make_client(&arguments.dir, client)?;
        writeln!(out, "{}\n{}", certificate.display(), key.display())?;
        return Ok(Outcome::Done);
    }
    let files = make_server(&arguments.dir, &arguments.name)?;
    writeln!(
        out,
        "{}\n{}\n{}",
        files.ca.display(),
        files.certificate.display(),
        files.key.display()
    )?;
    Ok(Outcome::Done)
}

/// Makes a coordinator's certificate for these names, and an authority if the folder has none.
pub(crate) fn make_server(dir: &Path, names: &[String]) -> anyhow::Result<Files> {
    let issuer = authority(dir)?;
    let mut all: Vec<String> = [NAME, "localhost", "127.0.0.1", "::1"].map(String::from).to_vec();
    all.extend(
        names
            .iter()
            .filter(|name| !all.contains(name))
            .cloned()
            .collect::<Vec<_>>(),
    );
    let key = KeyPair::generate().context("cannot make a key")?;
    let params = leaf(&all, NAME, ExtendedKeyUsagePurpose::ServerAuth)?;
    let certificate = params
        .signed_by(&key, &issuer)
        .context("cannot sign a certificate")?;
    let files = Files {
        ca: dir.join("ca.pem"),
        certificate: dir.join("coordinator.pem"),
        key: dir.join("coordinator.key"),
    };
    // The key first, and both by renaming: a coordinator that reads them in between keeps what it has.
    replace(&files.key, &key.serialize_pem())?;
    replace(&files.certificate, &certificate.pem())?;
    Ok(files)
}

fn make_client(dir: &Path, name: &str) -> anyhow::Result<(PathBuf, PathBuf)> {
    let issuer = authority(dir)?;
    let key = KeyPair::generate().context("cannot make a key")?;
    let params = leaf(&[name.to_owned()], name, ExtendedKeyUsagePurpose::ClientAuth)?;
    let certificate = params
        .signed_by(&key, &issuer)
        .context("cannot sign a certificate")?;
    let (certificate_path, key_path) = (dir.join(format!("{name}.pem")), dir.join(format!("{name}.key")));
    replace(&key_path, &key.serialize_pem())?;
    replace(&certificate_path, &certificate.pem())?;
    Ok((certificate_path, key_path))
}

fn leaf(
    names: &[String],
    called: &str,
    purpose: ExtendedKeyUsagePurpose,
) -> anyhow::Result<CertificateParams> {
    let mut params = CertificateParams::new(names.to_vec()).with_context(|| format!("names {names:?}"))?;
    params.distinguished_name.push(DnType::CommonName, called);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![purpose];
    params.use_authority_key_identifier_extension = true;
    date(&mut params, DAYS);
    Ok(params)
}

/// The folder's authority, made if there is none.
fn authority(dir: &Path) -> anyhow::Result<CertifiedIssuer<'static, KeyPair>> {
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let (ca_path, key_path) = (dir.join("ca.pem"), dir.join("ca.key"));
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params
        .distinguished_name
        .push(DnType::CommonName, "Parforce farm");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    date(&mut params, AUTHORITY_DAYS);
    if key_path.exists() {
        let pem = std::fs::read_to_string(&key_path)
            .with_context(|| format!("cannot read {}", key_path.display()))?;
        let key = KeyPair::from_pem(&pem).with_context(|| format!("{} holds no key", key_path.display()))?;
        // What signs is the key and the name; the certificate in the folder stays as it is.
        return CertifiedIssuer::self_signed(params, key).context("cannot use the authority");
    }
    let key = KeyPair::generate().context("cannot make a key")?;
    let pem = key.serialize_pem();
    let issuer = CertifiedIssuer::self_signed(params, key).context("cannot make an authority")?;
    write_secret(&key_path, &pem)?;
    replace(&ca_path, &issuer.pem())?;
    Ok(issuer)
}

fn date(params: &mut CertificateParams, days: i64) {
    #[expect(clippy::disallowed_methods, reason = "a certificate is good from now on")]
    let now = time::OffsetDateTime::from(std::time::SystemTime::now());
    params.not_before = now - time::Duration::days(DAYS_BEFORE);
    params.not_after = now + time::Duration::days(days);
}

/// Puts a file in the place of the former one, whole; only its owner may read it.
fn replace(path: &Path, text: &str) -> anyhow::Result<()> {
    let temporary = path.with_extension("new");
    // What an interrupted call left there is nobody's.
    let _ = std::fs::remove_file(&temporary);
    write_secret(&temporary, text)?;
    std::fs::rename(&temporary, path).with_context(|| format!("cannot write {}", path.display()))
}
