//! What the measurements share.

pub mod timing;
