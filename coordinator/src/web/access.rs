//! Who may look and who may act.
//!
//! A visitor is known by a token (see [`crate::doors`]; or its SHA-256 is configured, never the token), or by a header that
//! a trusted proxy sets. On a loopback address with neither, whoever reaches the page may act: it is their own machine.
//! Off loopback the dashboard refuses to start without one. Forms carry a token that a cookie repeats, and must come from our own pages.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use sha2::{Digest, Sha256};
use thiserror::Error;
use uuid::Uuid;

/// The cookie that holds a visitor's token.
pub(crate) const TOKEN_COOKIE: &str = "parforce_token";
/// The cookie that a form's hidden field must repeat.
pub(crate) const CSRF_COOKIE: &str = "parforce_form";
/// That field.
pub(crate) const CSRF_FIELD: &str = "form_token";

/// What a visitor may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Look.
    Viewer,
    /// Look and act.
    Operator,
}

/// A token that opens the dashboard, as configured: `NAME:ROLE:SHA256`, the role `viewer` or `operator`, the digest of the
/// token in 64 hexadecimal digits (`printf %s TOKEN | sha256sum`).
#[derive(Clone, PartialEq, Eq)]
pub struct TokenRule {
    name: String,
    role: Role,
    digest: [u8; 32],
}

impl fmt::Debug for TokenRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenRule")
            .field("name", &self.name)
            .field("role", &self.role)
            .finish_non_exhaustive()
    }
}

/// A proxy that tells who a visitor is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyRule {
    /// The header that holds the visitor's name, e.g. `x-forwarded-user`.
    pub header: String,
    /// From where alone the header is believed.
    pub from: Vec<IpAddr>,
    /// Who may act; everybody else may look.
    pub operators: Vec<String>,
}

/// Who may look and who may act.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessRules {
    /// Tokens.
    pub tokens: Vec<TokenRule>,
    /// The proxy in front.
    pub proxy: Option<ProxyRule>,
}

/// Why rules were refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AccessError {
    /// A rule for a token does not read as one. What was written is not repeated: it may hold a token.
    #[error("dashboard token rule: {0}, expected NAME:ROLE:SHA256")]
    TokenRule(&'static str),
    /// A header from anywhere would be believed.
    #[error("a trusted proxy's header needs the proxy's addresses")]
    ProxyFromAnywhere,
}

impl FromStr for TokenRule {
    type Err = AccessError;

    fn from_str(text: &str) -> Result<TokenRule, AccessError> {
        let mut parts = text.trim().splitn(3, ':');
        let name = parts
            .next()
            .filter(|name| !name.is_empty())
            .ok_or(AccessError::TokenRule("the name is empty"))?;
        if name.chars().count() > 60 || name.chars().any(char::is_control) {
            return Err(AccessError::TokenRule(
                "the name is longer than 60 characters or holds control characters",
            ));
        }
        let role = match parts.next() {
            Some("viewer") => Role::Viewer,
            Some("operator") => Role::Operator,
            _ => return Err(AccessError::TokenRule("the role is neither viewer nor operator")),
        };
        let mut digest = [0; 32];
        hex::decode_to_slice(parts.next().unwrap_or_default(), &mut digest)
            .map_err(|_| AccessError::TokenRule("the digest is not 64 hexadecimal digits"))?;
        Ok(TokenRule {
            name: name.to_owned(),
            role,
            digest,
        })
    }
}

impl AccessRules {
    /// Whether these rules make sense.
    ///
    /// # Errors
    /// [`AccessError::ProxyFromAnywhere`].
    pub fn check(&self) -> Result<(), AccessError> {
        if self.proxy.as_ref().is_some_and(|proxy| proxy.from.is_empty()) {
            return Err(AccessError::ProxyFromAnywhere);
        }
        Ok(())
    }

    fn are_none(&self) -> bool {
        self.tokens.is_empty() && self.proxy.is_none()
    }

    /// The name and role that a configured token gives.
    pub(crate) fn holder(&self, token: &str) -> Option<(&str, Role)> {
        let digest: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        // Digests, not tokens, are compared: how long it takes tells nothing about a token.
        let rule = self.tokens.iter().find(|rule| rule.digest == digest)?;
        Some((&rule.name, rule.role))
    }

    /// Who asks; `None`: nobody that may look. `known` is whom the token belongs to that they showed, see [`shown`]; with
    /// `asks` nobody passes for being on this machine.
    pub(crate) fn visitor(
        &self,
        headers: &HeaderMap,
        peer: Option<IpAddr>,
        known: Option<(String, Role)>,
        asks: bool,
    ) -> Option<Visitor> {
        let csrf = cookie(headers, CSRF_COOKIE)
            .filter(|csrf| is_csrf(csrf))
            .map(str::to_owned);
        let (csrf, has_cookie) = csrf.map_or_else(|| (new_csrf(), false), |csrf| (csrf, true));
        let visitor = |name: &str, role, how| {
            Some(Visitor {
                name: name.to_owned(),
                role,
                how,
                csrf,
                has_cookie,
            })
        };
        if let Some(proxy) = &self.proxy
            && peer.is_some_and(|peer| proxy.from.contains(&peer.to_canonical()))
            && let Some(name) = headers
                .get(&proxy.header)
                .and_then(|name| name.to_str().ok())
                .filter(|name| !name.is_empty())
        {
            let role = if proxy.operators.iter().any(|operator| operator == name) {
                Role::Operator
            } else {
                Role::Viewer
            };
            return visitor(name, role, How::Proxy);
        }
        if let (Some((name, role)), Some((_, how))) = (known, shown(headers)) {
            return visitor(&name, role, how);
        }
        // Without rules the address is loopback, and so must the name be by which it was reached: a page of the
        // internet whose name was made to point here must not read or act.
        if !asks && self.are_none() && is_local_name(headers) {
            return visitor("local", Role::Operator, How::Local);
        }
        None
    }
}

/// The token that a request shows, and how.
pub(crate) fn shown(headers: &HeaderMap) -> Option<(&str, How)> {
    let bearer = headers
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    bearer
        .map(|token| (token.trim(), How::Bearer))
        .or_else(|| cookie(headers, TOKEN_COOKIE).map(|token| (token, How::Cookie)))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Proxy,
    Bearer,
    Cookie,
    Local,
}

/// Somebody who may look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Visitor {
    name: String,
    role: Role,
    how: How,
    csrf: String,
    has_cookie: bool,
}

impl Visitor {
    /// Whether they may act.
    pub(crate) fn may_act(&self) -> bool {
        self.role == Role::Operator
    }

    /// Whether there is a cookie to take away.
    pub(crate) fn may_leave(&self) -> bool {
        self.how == How::Cookie
    }

    /// As the event log names them.
    pub(crate) fn actor(&self) -> String {
        match self.how {
            How::Local => "operator".to_owned(),
            _ => format!("operator {}", self.name),
        }
    }

    pub(crate) fn in_words(&self) -> String {
        let may = if self.may_act() { "may act" } else { "may look" };
        match self.how {
            How::Local => "You are on this machine and may act".to_owned(),
            _ => format!("You are {} and {may}", self.name),
        }
    }

    /// What a form must show.
    pub(crate) fn csrf(&self) -> &str {
        &self.csrf
    }

    /// The cookie that is still to be set.
    pub(crate) fn new_cookie(&self, is_tls: bool) -> Option<String> {
        let secure = if is_tls { "; Secure" } else { "" };
        (!self.has_cookie).then(|| {
            format!(
                "{CSRF_COOKIE}={}; Path=/; HttpOnly; SameSite=Strict{secure}",
                self.csrf
            )
        })
    }

    /// Whether a form comes from a page of ours. `shown` is its hidden field.
    pub(crate) fn sent(&self, headers: &HeaderMap, shown: Option<&str>) -> bool {
        // A bearer token is no cookie: no page of somebody else can make a browser send it.
        if self.how == How::Bearer {
            return true;
        }
        self.has_cookie && shown == Some(self.csrf.as_str()) && is_same_origin(headers)
    }
}

fn is_same_origin(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(site) = text("sec-fetch-site") {
        return site == "same-origin" || site == "none";
    }
    match (text(ORIGIN.as_str()), text(HOST.as_str())) {
        (Some(origin), Some(host)) => origin.split_once("://").is_some_and(|(_, origin)| origin == host),
        _ => true,
    }
}

fn is_local_name(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(HOST).and_then(|host| host.to_str().ok()) else {
        return true;
    };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost"
        || name.ends_with(".localhost")
        || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .find_map(|pair| pair.trim().strip_prefix(name)?.strip_prefix('='))
}

fn is_csrf(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit())
}

fn new_csrf() -> String {
    Uuid::new_v4().simple().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST_OF_HOUND: &str = "f4d2cd2d0d02cd2cb4a1b0a9c7a4ef9a4b1cbb8e3e1a5e8b31e1b4bdf1b5e0f1";

    fn rules() -> AccessRules {
        let digest = hex::encode(Sha256::digest(b"hound"));
        AccessRules {
            tokens: vec![format!("anna:operator:{digest}").parse().unwrap()],
            proxy: None,
        }
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect()
    }

    fn who(rules: &AccessRules, headers: &HeaderMap, peer: Option<&str>) -> Option<Visitor> {
        let known = shown(headers).and_then(|(token, _)| rules.holder(token));
        let known = known.map(|(name, role)| (name.to_owned(), role));
        rules.visitor(headers, peer.map(|peer| peer.parse().unwrap()), known, false)
    }

    #[test]
    fn who_is_on_this_machine_passes_unless_tokens_are_asked_for() {
        let here = headers(&[("host", "localhost:7401")]);
        assert!(AccessRules::default().visitor(&here, None, None, false).is_some());
        assert_eq!(AccessRules::default().visitor(&here, None, None, true), None);
    }

    #[test]
    fn a_token_is_known_by_its_digest() {
        let rules = rules();
        assert_eq!(who(&rules, &headers(&[]), None), None);
        assert_eq!(
            who(&rules, &headers(&[("authorization", "Bearer fox")]), None),
            None
        );
        let visitor = who(&rules, &headers(&[("authorization", "Bearer hound")]), None).unwrap();
        assert!(visitor.may_act());
        assert_eq!(visitor.actor(), "operator anna");
        let visitor = who(&rules, &headers(&[("cookie", "a=b; parforce_token=hound")]), None).unwrap();
        assert!(visitor.may_leave());
    }

    #[test]
    fn rules_that_do_not_read_are_refused_without_repeating_them() {
        for text in ["", "anna", "anna:admin:00", "anna:viewer:secret", ":viewer:00"] {
            let error = text.parse::<TokenRule>().unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
        assert!(
            format!("anna:viewer:{DIGEST_OF_HOUND}")
                .parse::<TokenRule>()
                .is_ok()
        );
        assert!(!format!("{:?}", rules()).contains(&hex::encode(Sha256::digest(b"hound"))));
    }

    #[test]
    fn a_proxys_header_is_believed_from_the_proxy_alone() {
        let proxy = ProxyRule {
            header: "x-forwarded-user".into(),
            from: vec!["10.0.0.1".parse().unwrap()],
            operators: vec!["anna".into()],
        };
        let rules = AccessRules {
            tokens: vec![],
            proxy: Some(proxy),
        };
        let asked = headers(&[("x-forwarded-user", "anna")]);
        assert!(who(&rules, &asked, Some("10.0.0.1")).unwrap().may_act());
        assert_eq!(who(&rules, &asked, Some("10.0.0.2")), None);
        assert_eq!(who(&rules, &asked, None), None);
        let bert = headers(&[("x-forwarded-user", "bert")]);
        assert!(!who(&rules, &bert, Some("10.0.0.1")).unwrap().may_act());
    }

    #[test]
    fn a_foreign_name_for_this_machine_is_no_visitor() {
        let rules = AccessRules::default();
        for host in ["localhost:7401", "127.0.0.1:7401", "[::1]:7401", "localhost"] {
            assert!(who(&rules, &headers(&[("host", host)]), None).is_some(), "{host}");
        }
        assert_eq!(
            who(&rules, &headers(&[("host", "evil.example:7401")]), None),
            None
        );
    }

    #[test]
    fn a_form_is_ours_if_cookie_field_and_origin_agree() {
        let rules = AccessRules::default();
        let token = "0123456789abcdef0123456789abcdef";
        let with = |site: &str| {
            headers(&[
                ("cookie", &format!("parforce_form={token}")),
                ("sec-fetch-site", site),
            ])
        };
        let ours = with("same-origin");
        let visitor = who(&rules, &ours, None).unwrap();
        assert!(visitor.sent(&ours, Some(token)));
        assert!(!visitor.sent(&ours, Some("0")));
        assert!(!visitor.sent(&ours, None));
        assert!(!visitor.sent(&with("cross-site"), Some(token)));
        let fresh = who(&rules, &headers(&[]), None).unwrap();
        assert!(
            !fresh.sent(&headers(&[]), Some(fresh.csrf())),
            "the cookie was never sent back"
        );
    }
}
