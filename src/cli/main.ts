#!/usr/bin/env node
/** The command line's door: starts fast, loads what a command needs, and turns every failure into a message and a code. */
import { enableCompileCache } from 'node:module';
import { concealEnvironment } from './terminal/conceal-environment.ts';

// Before anything else can begin: whatever is started later must not find our keys.
concealEnvironment(process.env);
enableCompileCache();

const { runProgram } = await import('./program/program.ts');
const { createTerminal } = await import('./terminal/terminal.ts');
const { codeOf } = await import('../base/errors.ts');

// Whoever reads our output may stop reading: `troupe logs last | head` is not an error. What goes on until it is stopped is
// stopped as by Ctrl-C; all else comes to its end, and to its own exit code: a pipe must not make a doctor's bad news good.
let unread = false;
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    if (codeOf(error) !== 'EPIPE' && codeOf(error) !== 'ERR_STREAM_DESTROYED') throw error;
    if (!unread && process.listenerCount('SIGINT') > 0) process.emit('SIGINT');
    unread = true;
  });
}

// Set and not called: what was written to a pipe is flushed before the process ends.
process.exitCode = await runProgram(process.argv.slice(2), createTerminal(process));
