//! The reference of the API: its document, its examples and its pages.

mod document;
mod examples;
mod pages;
mod steps;
