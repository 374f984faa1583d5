//! Tables with deletes made file by file, read through the engine.

mod positions;
mod site;
