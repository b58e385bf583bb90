//! Failures that the simulation found, each the shortest list of operations that showed it.

use crate::ops::Act::{Acquire, Complete, Next, Work};
use crate::ops::Fate::{AnswerLost, RequestLate, Twice, Well};
use crate::ops::Lie;
use crate::ops::Op::{self, Do, Hunt};
use crate::ops::Wish::{Census, Endless, Mixed, Scatter, UntilPar};

pub(crate) const ALL: &[(&str, &[Op])] = &[
    (
        "a worker that cannot count got nothing while a census came first, though another hunt had work",
        &[
            Hunt(Mixed(3)),
            Hunt(Census(0)),
            Do(0, Next, Well),
            Do(2, Next, Well),
            Do(1, Next, RequestLate),
        ],
    ),
    (
        "the same, where the other hunt had just begun",
        &[
            Hunt(Census(0)),
            Hunt(UntilPar(5)),
            Do(0, Next, Well),
            Do(3, Next, Well),
            Do(2, Next, Well),
            Do(0, Next, Twice),
            Do(3, Next, AnswerLost),
            Do(2, Next, Twice),
        ],
    ),
    (
        "counters near 2^64 in two claims broke the sizing of jobs, and nobody got any",
        &[
            Hunt(Endless),
            Do(3, Next, Well),
            Do(3, Next, Well),
            Op::Lie(3, Lie::Counters, Well),
            Do(3, Next, Well),
            Do(3, Next, Well),
            Op::Lie(3, Lie::Counters, Well),
            Do(0, Next, Well),
            Do(0, Next, Well),
        ],
    ),
    (
        "two rates near the largest double broke every sum of rates",
        &[
            Hunt(Scatter(3)),
            Do(3, Next, Well),
            Do(3, Next, Well),
            Op::Lie(3, Lie::Rate, Well),
            Do(3, Next, Well),
            Do(3, crate::ops::Act::Acquire, Well),
            Op::Lie(3, Lie::Rate, Well),
        ],
    ),
    (
        "a census claim said again with other counts added pars to what had been accepted",
        &[
            Hunt(Census(0)),
            Do(3, Next, Well),
            Do(3, Next, Well),
            Do(3, Next, Well),
            Do(3, Next, Well),
            Do(3, Complete, Well),
            Do(3, Next, Well),
            Op::Lie(3, Lie::Rewrite, Well),
        ],
    ),
    (
        "a backup that was put back twice gave out the same numbers twice, and an honest worker was taken for a thief",
        &[
            Hunt(Scatter(3)),
            Op::Backup,
            Op::Restore,
            Do(0, Next, Well),
            Do(0, Next, Well),
            Do(0, Work, Well),
            Op::Restore,
            Do(1, Next, Well),
            Do(1, Next, Well),
            Do(0, Next, Well),
            Do(0, Next, Well),
            Do(0, Next, Well),
            Do(0, Next, Well),
            Do(0, Next, Well),
        ],
    ),
    (
        "tokens that went on from a second restore were taken for gaps (by the simulation itself)",
        &[
            Hunt(Mixed(1)),
            Do(2, Next, Well),
            Do(0, Next, Well),
            Do(0, Acquire, Well),
            Op::Backup,
            Op::Restore,
            Do(2, Next, Well),
            Op::Backup,
            Op::Restore,
        ],
    ),
];
