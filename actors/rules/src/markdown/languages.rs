//! Names of programming languages: what people type after a fence, and the name clients show for it.

/// The words known for each language, sorted; names are those of the Pygments lexers clients know.
#[rustfmt::skip]
const LANGUAGES: [(&str, &str); 296] = [
    ("abap", "ABAP"), ("aconf", "ApacheConf"), ("actionscript3", "ActionScript 3"), ("ada", "Ada"),
    ("ada2005", "Ada"), ("ada95", "Ada"), ("antlr", "ANTLR"), ("apache", "ApacheConf"),
    ("apacheconf", "ApacheConf"), ("apl", "APL"), ("applescript", "AppleScript"), ("arduino", "Arduino"),
    ("as3", "ActionScript 3"), ("asm", "GAS"), ("awk", "Awk"), ("bash", "Bash"), ("bat", "Batchfile"),
    ("batch", "Batchfile"), ("bazel", "Python"), ("bf", "Brainfuck"), ("bib", "BibTeX"), ("bibtex", "BibTeX"),
    ("bnf", "BNF"), ("brainfuck", "Brainfuck"), ("bsdmake", "Makefile"), ("c", "C"), ("c#", "C#"),
    ("c++", "C++"), ("cfg", "INI"), ("cl", "Common Lisp"), ("clj", "Clojure"), ("cljs", "ClojureScript"),
    ("clojure", "Clojure"), ("clojurescript", "ClojureScript"), ("cmake", "CMake"), ("cobol", "COBOL"),
    ("coffee", "CoffeeScript"), ("coffee-script", "CoffeeScript"), ("coffeescript", "CoffeeScript"),
    ("common-lisp", "Common Lisp"), ("console", "Bash Session"), ("coq", "Coq"), ("cpp", "C++"),
    ("cr", "Crystal"), ("crystal", "Crystal"), ("cs", "C#"), ("csharp", "C#"), ("css", "CSS"), ("csv", "CSV"),
    ("cu", "CUDA"), ("cucumber", "Gherkin"), ("cuda", "CUDA"), ("cypher", "Cypher"), ("cython", "Cython"),
    ("d", "D"), ("dart", "Dart"), ("delphi", "Delphi"), ("diff", "Diff"), ("django", "Django/Jinja"),
    ("do", "Stata"), ("docker", "Docker"), ("dockerfile", "Docker"), ("dosbatch", "Batchfile"),
    ("dosini", "INI"), ("dot", "Graphviz"), ("duby", "Ruby"), ("ebnf", "EBNF"), ("elixir", "Elixir"),
    ("elm", "Elm"), ("email", "Email"), ("eml", "Email"), ("erb", "ERB"), ("erlang", "Erlang"),
    ("ex", "Elixir"), ("exs", "Elixir"), ("f#", "F#"), ("f90", "Fortran"), ("fish", "Fish"),
    ("fishshell", "Fish"), ("forth", "Forth"), ("fortran", "Fortran"), ("fsharp", "F#"), ("gas", "GAS"),
    ("gawk", "Awk"), ("gd", "GDScript"), ("gdscript", "GDScript"), ("gherkin", "Gherkin"), ("glsl", "GLSL"),
    ("gnuplot", "Gnuplot"), ("go", "Go"), ("golang", "Go"), ("graphql", "GraphQL"), ("graphviz", "Graphviz"),
    ("groovy", "Groovy"), ("haml", "Haml"), ("haskell", "Haskell"), ("haxe", "Haxe"), ("hcl", "Terraform"),
    ("hs", "Haskell"), ("html", "HTML"), ("http", "HTTP"), ("hx", "Haxe"), ("hxsl", "Haxe"), ("hy", "Hy"),
    ("hylang", "Hy"), ("idr", "Idris"), ("idris", "Idris"), ("iex", "Elixir iex session"), ("ini", "INI"),
    ("io", "Io"), ("irb", "Ruby irb session"), ("j", "J"), ("java", "Java"), ("javascript", "JavaScript"),
    ("jinja", "Django/Jinja"), ("jl", "Julia"), ("jlcon", "Julia console"), ("jproperties", "Properties"),
    ("js", "JavaScript"), ("json", "JSON"), ("json-ld", "JSON-LD"), ("json-object", "JSON"),
    ("jsonld", "JSON-LD"), ("jsx", "JSX"), ("julia", "Julia"), ("julia-repl", "Julia console"),
    ("kotlin", "Kotlin"), ("ksh", "Bash"), ("latex", "TeX"), ("lean", "Lean"), ("lean3", "Lean"),
    ("less", "LessCss"), ("lisp", "Common Lisp"), ("llvm", "LLVM"), ("lobas", "VB.net"), ("lua", "Lua"),
    ("m2", "Modula-2"), ("make", "Makefile"), ("makefile", "Makefile"), ("markdown", "Markdown"),
    ("mathematica", "Mathematica"), ("matlab", "Matlab"), ("matlabsession", "Matlab session"),
    ("mawk", "Awk"), ("md", "Markdown"), ("mf", "Makefile"), ("mips", "MIPS"), ("mma", "Mathematica"),
    ("modula2", "Modula-2"), ("mysql", "MySQL"), ("nasm", "NASM"), ("nawk", "Awk"), ("nb", "Mathematica"),
    ("nginx", "Nginx configuration file"), ("nim", "Nimrod"), ("nimrod", "Nimrod"), ("nix", "Nix"),
    ("nixos", "Nix"), ("obj-c", "Objective-C"), ("obj-c++", "Objective-C++"), ("objc", "Objective-C"),
    ("objc++", "Objective-C++"), ("objective-c", "Objective-C"), ("objective-c++", "Objective-C++"),
    ("objectivec", "Objective-C"), ("objectivec++", "Objective-C++"), ("objectpascal", "Delphi"),
    ("ocaml", "OCaml"), ("octave", "Octave"), ("oobas", "VB.net"), ("openrc", "Bash"),
    ("openscad", "OpenSCAD"), ("output", "Text output"), ("pas", "Delphi"), ("pascal", "Delphi"),
    ("perl", "Perl"), ("perl6", "Perl6"), ("php", "PHP"), ("php3", "PHP"), ("php4", "PHP"), ("php5", "PHP"),
    ("pl", "Perl"), ("pl6", "Perl6"), ("plpgsql", "PL/pgSQL"), ("posh", "PowerShell"),
    ("postgres", "PostgreSQL SQL dialect"), ("postgres-console", "PostgreSQL console (psql)"),
    ("postgresql", "PostgreSQL SQL dialect"), ("postgresql-console", "PostgreSQL console (psql)"),
    ("postscr", "PostScript"), ("postscript", "PostScript"), ("powershell", "PowerShell"),
    ("prolog", "Prolog"), ("promql", "PromQL"), ("properties", "Properties"), ("proto", "Protocol Buffer"),
    ("protobuf", "Protocol Buffer"), ("ps1", "PowerShell"), ("ps1con", "PowerShell Session"),
    ("psm1", "PowerShell"), ("psql", "PostgreSQL console (psql)"), ("puppet", "Puppet"),
    ("pwsh", "PowerShell"), ("pwsh-session", "PowerShell Session"), ("py", "Python"), ("py2", "Python 2.x"),
    ("py3", "Python"), ("py3tb", "Python Traceback"), ("pycon", "Python console session"), ("pyi", "Python"),
    ("pyrex", "Cython"), ("pytb", "Python Traceback"), ("python", "Python"),
    ("python-console", "Python console session"), ("python2", "Python 2.x"), ("python3", "Python"),
    ("pyx", "Cython"), ("qbs", "QML"), ("qml", "QML"), ("r", "S"), ("racket", "Racket"), ("raku", "Perl6"),
    ("rb", "Ruby"), ("rbcon", "Ruby irb session"), ("react", "JSX"), ("rest", "reStructuredText"),
    ("restructuredtext", "reStructuredText"), ("rkt", "Racket"), ("rs", "Rust"), ("rst", "reStructuredText"),
    ("ruby", "Ruby"), ("rust", "Rust"), ("s", "S"), ("sage", "Python"), ("sass", "Sass"), ("scala", "Scala"),
    ("scheme", "Scheme"), ("scm", "Scheme"), ("scss", "SCSS"), ("sh", "Bash"), ("shell", "Bash"),
    ("shell-session", "Bash Session"), ("slim", "Slim"), ("smali", "Smali"), ("smalltalk", "Smalltalk"),
    ("sml", "Standard ML"), ("sobas", "VB.net"), ("solidity", "Solidity"), ("sparql", "SPARQL"),
    ("splus", "S"), ("sql", "SQL"), ("sqlite3", "sqlite3con"), ("squeak", "Smalltalk"), ("st", "Smalltalk"),
    ("starlark", "Python"), ("stata", "Stata"), ("sv", "SystemVerilog"), ("swift", "Swift"),
    ("systemd", "systemd"), ("systemverilog", "SystemVerilog"), ("t-sql", "Transact-SQL"), ("tcl", "Tcl"),
    ("terraform", "Terraform"), ("tex", "TeX"), ("text", "Text only"), ("tf", "Terraform"),
    ("thrift", "Thrift"), ("toml", "TOML"), ("ts", "TypeScript"), ("tsql", "Transact-SQL"),
    ("typescript", "TypeScript"), ("typst", "Typst"), ("udiff", "Diff"), ("v", "verilog"), ("vala", "Vala"),
    ("vapi", "Vala"), ("vb.net", "VB.net"), ("vbnet", "VB.net"), ("verilog", "verilog"), ("vhdl", "vhdl"),
    ("vim", "VimL"), ("visual-basic", "VB.net"), ("visualbasic", "VB.net"), ("wast", "WebAssembly"),
    ("wat", "WebAssembly"), ("winbatch", "Batchfile"), ("xml", "XML"), ("xq", "XQuery"), ("xql", "XQuery"),
    ("xqm", "XQuery"), ("xquery", "XQuery"), ("xqy", "XQuery"), ("xslt", "XSLT"), ("yaml", "YAML"),
    ("zig", "Zig"), ("zsh", "Bash"),
];

/// The canonical name of a language; the word itself if it is not known.
pub(super) fn language_name(word: &str) -> &str {
    let lowercase = word.to_ascii_lowercase();
    match LANGUAGES.binary_search_by(|(known, _)| (*known).cmp(lowercase.as_str())) {
        Ok(at) => LANGUAGES[at].1,
        Err(_) => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_found() {
        for (word, name) in LANGUAGES {
            assert_eq!(language_name(word), name);
        }
        assert_eq!(language_name("PY"), "Python");
        assert_eq!(language_name("Klingon"), "Klingon");
    }
}
