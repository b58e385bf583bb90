//! The first page: hunts and how far they are, workers, the par distribution.

use std::sync::Arc;

use axum::extract::State;
use maud::{DOCTYPE, Markup, html};

use super::PageError;
use crate::Shared;
use crate::store::{HuntProgress, HuntRecord, ParCount};

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}\
table{border-collapse:collapse}td,th{padding:.15rem .8rem .15rem 0;text-align:left}\
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}\
.bar{background:#2f6f9f;height:.8em;display:inline-block}code{word-break:break-all}\
@media(prefers-color-scheme:dark){body{background:#16191d;color:#e4e6e8}.bar{background:#6fb1de}}";

/// The widest bar, in em.
const BAR_EM: f64 = 24.0;

pub(super) async fn page(State(shared): State<Arc<Shared>>) -> Result<Markup, PageError> {
    let store = &shared.store;
    let mut hunts = Vec::new();
    for hunt in store.list_hunts().await?.into_iter().take(20) {
        if let Some(progress) = store.hunt_progress(hunt.id).await? {
            hunts.push((hunt, progress));
        }
    }
    let figures = store.figures().await?;
    let pars = store.par_distribution(None).await?;
    Ok(html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="refresh" content="10";
                title { "Parforce" }
                style { (maud::PreEscaped(STYLE)) }
            }
            body {
                h1 { "Parforce" }
                p {
                    (figures.n_boards) " boards, " (figures.n_workers) " workers, "
                    (figures.n_leased) " jobs running, " (figures.n_queued) " waiting, " (figures.n_parked) " parked"
                }
                h2 { "Hunts" }
                (hunt_table(&hunts))
                h2 { "Boards by par" }
                (par_table(&pars))
            }
        }
    })
}

fn hunt_table(hunts: &[(HuntRecord, HuntProgress)]) -> Markup {
    html! {
        table {
            thead { tr {
                th { "hunt" } th { "lot" } th { "state" } th.n { "jobs done" } th.n { "new boards" } th.n { "best par" }
                th { "hardest board" }
            } }
            tbody {
                @for (hunt, progress) in hunts {
                    tr {
                        td { (hunt.name) }
                        td { (hunt.space.lot()) }
                        td { (progress.state.as_str()) }
                        td.n { (progress.jobs_done) }
                        td.n { (progress.n_new) }
                        td.n { @if let Some(par) = progress.best_par { (par) } }
                        td { code { (progress.hardest.as_deref().unwrap_or_default()) } }
                    }
                }
            }
        }
    }
}

fn par_table(pars: &[ParCount]) -> Markup {
    let most = pars.iter().map(|count| count.n_boards).max().unwrap_or(1);
    html! {
        table {
            thead { tr { th.n { "par" } th.n { "boards" } th {} } }
            tbody {
                @for count in pars {
                    tr {
                        td.n { (count.par) }
                        td.n { (count.n_boards) }
                        td { span.bar style=(format!("width:{:.2}em", bar_em(count.n_boards, most))) {} }
                    }
                }
            }
        }
    }
}

/// On a logarithmic scale, so that one board at the top shows beside a million in the middle.
fn bar_em(n_boards: u64, most: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a bar's width is drawn, not counted")]
    let (n_boards, most) = (n_boards as f64, most as f64);
    BAR_EM * (1.0 + n_boards).ln() / (1.0 + most).ln()
}
