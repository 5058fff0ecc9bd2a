#!/usr/bin/env node
// Runs the program of the package for this machine, and ends as it does.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const wanted = `@jobpoller/${process.platform}-${process.arch}`;
const offered = Object.keys(require("../package.json").optionalDependencies);

function findProgram() {
  if (!offered.includes(wanted)) {
    throw new Error(`there is no program for ${process.platform} on ${process.arch}, only ${offered.join(", ")}`);
  }
  try {
    return require.resolve(`${wanted}/bin/jobpoller${process.platform === "win32" ? ".exe" : ""}`);
  } catch {
    throw new Error(`the package ${wanted} is missing: install again, without --omit=optional and --no-optional`);
  }
}

let program;
try {
  program = findProgram();
} catch (error) {
  console.error(`jobpoller: ${error.message}`);
  process.exit(1);
}

// A terminal sends Ctrl-C to the program, too. What is sent to this process alone is
// passed on.
let child;
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}

child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => {
  console.error(`jobpoller: ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  process.exit(signal ? 128 + constants.signals[signal] : code);
});
