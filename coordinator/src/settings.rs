//! Where a coordinator program's configuration comes from: flags over `PARFORCE_` environment over a TOML file over
//! defaults.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use board::StateLimit;
use clap::{Args, Parser};
use coordinator::Config;
use coordinator::config::Demands;
use coordinator::doors::{DoorRules, TlsFiles};
use coordinator::fitness::Version;
use coordinator::web::access::{AccessRules, ProxyRule};
use serde::Deserialize;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Hands out jobs, proves what comes back, keeps it in Postgres.
#[derive(Debug, Parser)]
#[command(name = "parforce-coordinator", version, about)]
pub(crate) struct Arguments {
    /// TOML file with the long names of the options below as keys; unknown keys are refused
    #[arg(long, env = "PARFORCE_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// Bring the database up to date and exit
    #[arg(long)]
    pub(crate) migrate_only: bool,
    #[command(flatten)]
    settings: Settings,
}

/// What can be set, each with its unit.
#[derive(Debug, Default, Args, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct Settings {
    /// Database, e.g. <postgres://parforce@localhost/parforce>
    #[arg(
        long,
        env = "PARFORCE_DATABASE_URL",
        hide_env_values = true,
        value_name = "URL"
    )]
    database_url: Option<String>,
    /// File that holds the database's address, for one with a password
    #[arg(long, env = "PARFORCE_DATABASE_URL_FILE", value_name = "FILE")]
    database_url_file: Option<PathBuf>,
    /// Connections to the database [default: 16]
    #[arg(long, env = "PARFORCE_DATABASE_CONNECTIONS", value_name = "N")]
    database_connections: Option<u32>,
    /// Where workers and operators connect (gRPC) [default: 127.0.0.1:7400]
    #[arg(long, env = "PARFORCE_LISTEN", value_name = "ADDR")]
    listen: Option<SocketAddr>,
    /// Where pages, /healthz, /readyz and /metrics are served [default: 127.0.0.1:7401]
    #[arg(long, env = "PARFORCE_WEB", value_name = "ADDR")]
    web: Option<SocketAddr>,
    /// Certificate of both addresses (PEM), with those between it and its authority; needed off this machine
    #[arg(long, env = "PARFORCE_TLS_CERT", value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// Its key (PEM); the files are read again when they change, or at SIGHUP
    #[arg(long, env = "PARFORCE_TLS_KEY", value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// Authority of which workers and operators must show a certificate too (PEM) [default: they need none]
    #[arg(long, env = "PARFORCE_TLS_CLIENT_CA", value_name = "FILE")]
    tls_client_ca: Option<PathBuf>,
    /// Ask for tokens (parforce token create) on this machine's own addresses too; off this machine they always are
    #[arg(long, env = "PARFORCE_REQUIRE_TOKENS", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    require_tokens: Option<bool>,
    /// Where /healthz, /readyz and /metrics are served without TLS and tokens, to this machine alone, e.g. 127.0.0.1:7402
    #[arg(long, env = "PARFORCE_PROBE", value_name = "ADDR")]
    probe: Option<SocketAddr>,
    /// Who may open the pages besides those who have a token, NAME:ROLE:SHA256 with role viewer or operator, several parted
    /// by commas
    #[arg(
        long,
        env = "PARFORCE_DASHBOARD_TOKENS",
        hide_env_values = true,
        value_name = "RULES",
        value_delimiter = ','
    )]
    dashboard_tokens: Option<Vec<String>>,
    /// File of such rules, one a line
    #[arg(long, env = "PARFORCE_DASHBOARD_TOKENS_FILE", value_name = "FILE")]
    dashboard_tokens_file: Option<PathBuf>,
    /// Header in which a trusted proxy says who opens a page, e.g. x-forwarded-user
    #[arg(long, env = "PARFORCE_PROXY_USER_HEADER", value_name = "HEADER")]
    proxy_user_header: Option<String>,
    /// Addresses from which alone that header is believed, parted by commas
    #[arg(long, env = "PARFORCE_PROXY_FROM", value_name = "IPS", value_delimiter = ',')]
    proxy_from: Option<Vec<IpAddr>>,
    /// Whom the proxy names that may act; others may look, parted by commas
    #[arg(
        long,
        env = "PARFORCE_PROXY_OPERATORS",
        value_name = "NAMES",
        value_delimiter = ','
    )]
    proxy_operators: Option<Vec<String>>,
    /// How long a lease lasts from each beat, in seconds [default: 60]
    #[arg(long, env = "PARFORCE_LEASE_TTL_S", value_name = "SECONDS")]
    lease_ttl_s: Option<u64>,
    /// How often workers beat, in seconds [default: 15]
    #[arg(long, env = "PARFORCE_BEAT_INTERVAL_S", value_name = "SECONDS")]
    beat_interval_s: Option<u64>,
    /// How often expired leases are looked for, in seconds [default: 5]
    #[arg(long, env = "PARFORCE_REAP_INTERVAL_S", value_name = "SECONDS")]
    reap_interval_s: Option<u64>,
    /// How long a job should take its worker, in seconds [default: 180]
    #[arg(long, env = "PARFORCE_JOB_TARGET_S", value_name = "SECONDS")]
    job_target_s: Option<u64>,
    /// Share of new boards that is proved again, 0 to 1; records always are [default: 1]
    #[arg(long, env = "PARFORCE_PROVE_SHARE", value_name = "SHARE")]
    prove_share: Option<f64>,
    /// Share of jobs done that another worker runs again, above 0 to 1; of new and suspect workers it is more [default: 0.05]
    #[arg(long, env = "PARFORCE_AUDIT_SHARE", value_name = "SHARE")]
    audit_share: Option<f64>,
    /// How long a lease's work may stand still, in seconds [default: 600]
    #[arg(long, env = "PARFORCE_STALL_AFTER_S", value_name = "SECONDS")]
    stall_after_s: Option<u64>,
    /// Program version below which nothing is leased [default: none]
    #[arg(long, env = "PARFORCE_MINIMUM_VERSION", value_name = "VERSION")]
    minimum_version: Option<String>,
    /// What the minimum will be, from --next-version-at on
    #[arg(long, env = "PARFORCE_NEXT_VERSION", value_name = "VERSION")]
    next_version: Option<String>,
    /// When, e.g. 2027-01-31T12:00:00Z
    #[arg(long, env = "PARFORCE_NEXT_VERSION_AT", value_name = "TIME")]
    next_version_at: Option<String>,
    /// Threads that prove [default: one a processor]
    #[arg(long, env = "PARFORCE_PROVE_THREADS", value_name = "N")]
    prove_threads: Option<usize>,
    /// Positions of the largest cluster that is proved [default: 20000000]
    #[arg(long, env = "PARFORCE_PROVE_LIMIT", value_name = "POSITIONS")]
    prove_limit: Option<u64>,
    /// What is logged, e.g. debug,sqlx=warn [default: info]
    #[arg(long, env = "PARFORCE_LOG", value_name = "FILTER")]
    log: Option<String>,
}

/// What a coordinator program runs with.
pub(crate) struct Resolved {
    pub(crate) database_url: String,
    pub(crate) database_connections: u32,
    pub(crate) log: Option<String>,
    pub(crate) config: Config,
}

impl Arguments {
    /// Lays flags and environment over the file over the defaults.
    pub(crate) fn resolve(&self) -> anyhow::Result<Resolved> {
        let file = match &self.config {
            Some(path) => {
                let text =
                    std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
                toml::from_str(&text).with_context(|| format!("reading {}", path.display()))?
            }
            None => Settings::default(),
        };
        self.settings.over(file)
    }
}

impl Settings {
    fn over(&self, file: Settings) -> anyhow::Result<Resolved> {
        let defaults = Config::default();
        let seconds = |own: Option<u64>, file: Option<u64>, default: Duration| {
            own.or(file).map_or(default, Duration::from_secs)
        };
        let mut config = Config {
            listen: self.listen.or(file.listen).unwrap_or(defaults.listen),
            web: self.web.or(file.web).or(defaults.web),
            lease_ttl: seconds(self.lease_ttl_s, file.lease_ttl_s, defaults.lease_ttl),
            beat_interval: seconds(self.beat_interval_s, file.beat_interval_s, defaults.beat_interval),
            reap_interval: seconds(self.reap_interval_s, file.reap_interval_s, defaults.reap_interval),
            ..defaults
        };
        config.access = self.access(&file)?;
        config.access.check()?;
        config.doors = self.doors(&file)?;
        config.doors.check(&config)?;
        config.versions = self.versions(&file)?;
        if let Some(after) = self.stall_after_s.or(file.stall_after_s) {
            let beats = Duration::from_secs(after).as_secs_f64() / config.beat_interval.as_secs_f64();
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a quotient of positive times, cut off at the largest number"
            )]
            let beats = beats.ceil() as u32;
            config.stall_beats = beats.max(2);
        }
        config.auditing.share = self
            .audit_share
            .or(file.audit_share)
            .unwrap_or(config.auditing.share);
        ensure!(
            config.auditing.share > 0.0 && config.auditing.share <= 1.0,
            "the share of jobs that are run again lies above 0 and is at most 1: nobody is trusted for good"
        );
        config.sizing.target = seconds(self.job_target_s, file.job_target_s, config.sizing.target);
        config.proving.share = self
            .prove_share
            .or(file.prove_share)
            .unwrap_or(config.proving.share);
        config.proving.n_threads = self
            .prove_threads
            .or(file.prove_threads)
            .unwrap_or(config.proving.n_threads);
        config.proving.limit = self
            .prove_limit
            .or(file.prove_limit)
            .map_or(config.proving.limit, StateLimit::new);
        ensure!(
            config.beat_interval * 2 <= config.lease_ttl,
            "a lease must last two beats at least"
        );
        ensure!(
            (0.0..=1.0).contains(&config.proving.share),
            "the share of boards proved lies between 0 and 1"
        );
        ensure!(
            !config.reap_interval.is_zero(),
            "leases cannot be looked for every 0 seconds"
        );
        let own = database_url(self.database_url.as_deref(), self.database_url_file.as_deref())?;
        let from_file = database_url(file.database_url.as_deref(), file.database_url_file.as_deref())?;
        let Some(database_url) = own.or(from_file) else {
            bail!("no database is named: set --database-url or PARFORCE_DATABASE_URL");
        };
        let database_connections = self
            .database_connections
            .or(file.database_connections)
            .unwrap_or(16);
        ensure!(
            database_connections >= 4,
            "{database_connections} connections to the database are too few: 4 at least"
        );
        Ok(Resolved {
            database_url,
            database_connections,
            log: self.log.clone().or(file.log),
            config,
        })
    }
}

impl Settings {
    fn doors(&self, file: &Settings) -> anyhow::Result<DoorRules> {
        let path = |own: &Option<PathBuf>, file: &Option<PathBuf>| own.clone().or(file.clone());
        let files = (
            path(&self.tls_cert, &file.tls_cert),
            path(&self.tls_key, &file.tls_key),
            path(&self.tls_client_ca, &file.tls_client_ca),
        );
        let tls = match files {
            (Some(certificate), Some(key), client_ca) => Some(TlsFiles {
                certificate,
                key,
                client_ca,
            }),
            (None, None, None) => None,
            _ => bail!("--tls-cert and --tls-key go together, and --tls-client-ca needs both"),
        };
        Ok(DoorRules {
            tls,
            asks_always: self.require_tokens.or(file.require_tokens).unwrap_or(false),
            probe: self.probe.or(file.probe),
            ..DoorRules::default()
        })
    }

    fn versions(&self, file: &Settings) -> anyhow::Result<Demands> {
        let text = |own: &Option<String>, file: &Option<String>| own.clone().or(file.clone());
        let version = |text: Option<String>| text.map(|text| text.parse::<Version>()).transpose();
        let minimum = version(text(&self.minimum_version, &file.minimum_version))?;
        let next = version(text(&self.next_version, &file.next_version))?;
        let at = text(&self.next_version_at, &file.next_version_at);
        let next = match (next, at) {
            (None, None) => None,
            (Some(version), Some(at)) => {
                let at = OffsetDateTime::parse(&at, &Rfc3339)
                    .with_context(|| format!("time {at:?}, expected something like 2027-01-31T12:00:00Z"))?;
                Some((version, at))
            }
            _ => bail!("--next-version and --next-version-at go together"),
        };
        Ok(Demands { minimum, next })
    }

    fn access(&self, file: &Settings) -> anyhow::Result<AccessRules> {
        let mut rules = self
            .dashboard_tokens
            .clone()
            .or(file.dashboard_tokens.clone())
            .unwrap_or_default();
        let path = self
            .dashboard_tokens_file
            .as_ref()
            .or(file.dashboard_tokens_file.as_ref());
        if let Some(path) = path {
            let text =
                std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
            let lines = text.lines().map(str::trim);
            rules.extend(
                lines
                    .filter(|line| !line.is_empty() && !line.starts_with('#'))
                    .map(str::to_owned),
            );
        }
        let header = self.proxy_user_header.clone().or(file.proxy_user_header.clone());
        Ok(AccessRules {
            tokens: rules.iter().map(|rule| rule.parse()).collect::<Result<_, _>>()?,
            proxy: header.map(|header| ProxyRule {
                header: header.to_ascii_lowercase(),
                from: self
                    .proxy_from
                    .clone()
                    .or(file.proxy_from.clone())
                    .unwrap_or_default(),
                operators: self
                    .proxy_operators
                    .clone()
                    .or(file.proxy_operators.clone())
                    .unwrap_or_default(),
            }),
        })
    }
}

fn database_url(url: Option<&str>, file: Option<&Path>) -> anyhow::Result<Option<String>> {
    match (url, file) {
        (Some(_), Some(_)) => bail!("the database is named twice, by its address and by a file"),
        (Some(url), None) => Ok(Some(url.to_owned())),
        (None, Some(path)) => {
            let text =
                std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
            Ok(Some(text.trim().to_owned()))
        }
        (None, None) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> Settings {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn flags_win_over_the_file_and_the_file_over_defaults() {
        let flags = Settings {
            lease_ttl_s: Some(90),
            ..Settings::default()
        };
        let text = "database-url = 'postgres://a@b/c'\nlease-ttl-s = 70\nprove-share = 0.5";
        let resolved = flags.over(file(text)).unwrap();
        assert_eq!(resolved.config.lease_ttl, Duration::from_secs(90));
        assert_eq!(resolved.config.beat_interval, Config::default().beat_interval);
        assert!((resolved.config.proving.share - 0.5).abs() < f64::EPSILON);
        assert_eq!(resolved.database_url, "postgres://a@b/c");
    }

    #[test]
    fn off_this_machine_nothing_is_served_without_a_certificate() {
        let over = |text: &str| Settings::default().over(file(&format!("database-url = 'x'\n{text}")));
        for open in ["web = '0.0.0.0:7401'", "listen = '0.0.0.0:7400'"] {
            let error = over(open).err().unwrap().to_string();
            assert!(
                error.contains("0.0.0.0:740") && error.contains("--tls-cert"),
                "{error}"
            );
            assert!(!error.contains('\n'), "{error}");
            let tls = over(&format!("{open}\ntls-cert = 'c'\ntls-key = 'k'")).unwrap();
            assert!(tls.config.doors.tls.is_some());
        }
        assert!(over("tls-cert = 'c'").is_err());
        let proxied = "web = '0.0.0.0:7401'\nproxy-user-header = 'x-user'";
        assert!(over(proxied).is_err());
        assert!(over(&format!("{proxied}\nproxy-from = ['10.0.0.1']")).is_ok());
        assert!(over("probe = '0.0.0.0:7402'").is_err());
    }

    #[test]
    fn versions_are_read_and_the_next_one_needs_a_date() {
        let over = |text: &str| Settings::default().over(file(&format!("database-url = 'x'\n{text}")));
        let demands = over("minimum-version = '0.1.0'").unwrap().config.versions;
        assert_eq!(demands.minimum.unwrap().to_string(), "0.1.0");
        assert!(over("minimum-version = 'new'").is_err());
        assert!(over("next-version = '0.2.0'").is_err());
        assert!(over("next-version = '0.2.0'\nnext-version-at = '2027-01-31T12:00:00Z'").is_ok());
        assert!(over("next-version = '0.2.0'\nnext-version-at = 'soon'").is_err());
    }

    /// As many inputs as fit `PARFORCE_FUZZ_SECONDS`, or 5,000.
    #[test]
    fn no_configuration_file_makes_the_reader_panic() {
        let good = "database-url = 'postgres://a@b/c'\nlease-ttl-s = 70\nprove-share = 0.5\nweb = '0.0.0.0:7401'\n\
            dashboard-tokens = ['anna:operator:00']\nproxy-from = ['10.0.0.1', '::1']\nprove-limit = 20000000";
        let telling = [
            "\0",
            "'",
            "\"",
            "[",
            "]",
            "=",
            "\n",
            "-1",
            "1e999",
            "18446744073709551616",
            "[[x]]",
            "\u{1f697}",
        ];
        let seconds = std::env::var("PARFORCE_FUZZ_SECONDS").ok();
        let limit = seconds.map(|text| Duration::from_secs(text.parse().unwrap()));
        let begun = std::time::Instant::now();
        let mut draws = board::stream::Stream::new("fuzz", 0, 0);
        let mut n_inputs = 0;
        while limit.map_or(n_inputs < 5_000, |limit| begun.elapsed() < limit) {
            let mut chars: Vec<char> = good.chars().collect();
            for _ in 0..=draws.index(6) {
                let at = draws.index(chars.len() + 1);
                let end = at + draws.index((chars.len() - at).min(8) + 1);
                let piece = telling[draws.index(telling.len())].chars();
                chars.splice(at..end, piece.take(draws.index(24)));
            }
            let text: String = chars.into_iter().collect();
            if let Ok(settings) = toml::from_str::<Settings>(&text) {
                let _ = Settings::default().over(settings);
            }
            n_inputs += 1;
        }
    }

    #[test]
    fn unknown_keys_are_refused() {
        assert!(toml::from_str::<Settings>("lease-tll-s = 70").is_err());
    }

    #[test]
    fn senseless_values_are_refused() {
        let over = |text: &str| Settings::default().over(file(&format!("database-url = 'x'\n{text}")));
        assert!(over("").is_ok());
        assert!(over("prove-share = 1.5").is_err());
        assert!(over("lease-ttl-s = 20").is_err());
        assert!(over("reap-interval-s = 0").is_err());
        assert!(over("audit-share = 0.0").is_err());
        assert!(over("database-connections = 3").is_err());
        assert_eq!(over("stall-after-s = 100").unwrap().config.stall_beats, 7);
        assert!(over("database-url-file = '/x'").is_err());
        assert!(Settings::default().over(Settings::default()).is_err());
    }
}
