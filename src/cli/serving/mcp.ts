/** `troupe mcp`: the MCP server on stdin and stdout, for a client that starts it. Stdout carries nothing but the protocol. */
import type { Readable, Writable } from 'node:stream';
import { serveMcpStdio } from '../../protocols/mcp/stdio.ts';
import { type CommandContext, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { goOnWithOthers, keepStdoutClean, logError, mcpNeeds, ownerName } from './mcp-needs.ts';

export interface McpCommandOptions {
  readonly as?: string | undefined;
}

interface Streams {
  readonly input: Readable;
  readonly output: Writable;
}

export async function mcpCommand(
  context: CommandContext,
  options: McpCommandOptions,
  streams: Streams = ownStreams(),
): Promise<ExitCode> {
  const name = ownerName(options.as);
  const stop = new AbortController();
  const stopListening = context.terminal.onStop(() => stop.abort());
  try {
    return await withProject(context, { lasting: true }, async (project) => {
      const caller = { name, sees: 'everything' } as const;
      const needs = mcpNeeds(context, project);
      const ended = new AbortController();
      const others = goOnWithOthers(context, project, AbortSignal.any([stop.signal, ended.signal]));
      try {
        await serveMcpStdio({ needs, caller, ...streams, signal: stop.signal, onError: logError(context) });
      } finally {
        ended.abort();
        await others;
      }
      return exitCodes.completed;
    });
  } finally {
    stopListening();
  }
}

function ownStreams(): Streams {
  keepStdoutClean();
  return { input: process.stdin, output: process.stdout };
}
