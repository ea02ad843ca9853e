#!/usr/bin/env node
/** The program `jev-host`. */
import { runCommand } from './cli/run.ts';

const stop = new AbortController();

// The first signal asks; a second one is the person's word that waiting is over.
for (const [name, number] of [
  ['SIGINT', 2],
  ['SIGTERM', 15],
] as const) {
  process.on(name, () => {
    if (stop.signal.aborted) process.exit(128 + number);
    stop.abort();
  });
}

// A reader that went away (`| head`) is no fault of the command.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

process.exitCode = await runCommand(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  env: process.env,
  signal: stop.signal,
});
