//! The JavaScript engine with KaTeX in it.

use rquickjs::function::Func;
use rquickjs::{Context, Function, Runtime};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Memory of the engine in bytes, of which KaTeX itself takes 4 MB.
const MEMORY_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Stack of the engine in bytes: part of the calling thread's.
const STACK_BYTES_MAX: usize = 512 * 1024;
/// Steps for starting KaTeX: more than it takes.
const START_STEPS_MAX: u32 = 1000;

const KATEX: &str = include_str!("katex.min.js");

/// Rendering with the options of the reference, and a bound for sizes in em. `strict` is about warnings only.
const RENDER: &str = r#"
    globalThis.render = (tex, displayMode) => {
        const options = { displayMode, maxExpand: 1000, maxSize: 50, strict: "ignore", throwOnError: true, trust: false };
        try { return katex.renderToString(tex, options); } catch { return null; }
    };
"#;

/// An engine that has KaTeX loaded.
pub(super) struct Engine {
    // Before the runtime: fields are dropped in this order.
    context: Context,
    runtime: Runtime,
    /// Steps that are left, in units of ten thousand.
    left: Arc<AtomicU32>,
}

impl Engine {
    /// Loads KaTeX, in about 30 ms. `None` without memory for it.
    pub(super) fn new() -> Option<Self> {
        let runtime = Runtime::new().ok()?;
        runtime.set_memory_limit(MEMORY_BYTES_MAX);
        runtime.set_max_stack_size(STACK_BYTES_MAX);
        let left = Arc::new(AtomicU32::new(START_STEPS_MAX));
        let counter = left.clone();
        let take_one =
            move || counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        runtime.set_interrupt_handler(Some(Box::new(move || take_one().is_err())));
        let context = Context::full(&runtime).ok()?;
        let loaded = context.with(|context| {
            // KaTeX reports on the console what it then ignores.
            context.globals().set("print", Func::from(|_: String| {}))?;
            context.eval::<(), _>(KATEX)?;
            context.eval::<(), _>(RENDER)
        });
        loaded.ok().map(|()| Self { context, runtime, left })
    }

    /// The HTML of a formula within a number of steps, and the steps it took (at least one).
    pub(super) fn render(&self, tex: &str, is_block: bool, steps_max: u32) -> (Option<String>, u32) {
        self.left.store(steps_max, Ordering::Relaxed);
        let html = self.context.with(|context| {
            let render: Function = context.globals().get("render")?;
            render.call::<_, Option<String>>((tex, is_block))
        });
        if !matches!(html, Ok(Some(_))) {
            // What an aborted formula leaves behind.
            self.runtime.run_gc();
        }
        let steps = steps_max.saturating_sub(self.left.load(Ordering::Relaxed)).max(1);
        (html.ok().flatten(), steps)
    }
}
