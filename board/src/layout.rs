//! Layouts: which vehicles lie in which lane, in which order.
