//! What holds when the process ends, politely or not. These run the real program on a folder of their own.

mod folder;
mod kill;
mod load;
mod replay;
mod terminate;
