//! Event queues: registering, polling, ending.
