//! Tables with deletes made file by file, read through the engine.

mod equality;
mod marks;
mod positions;
mod site;
