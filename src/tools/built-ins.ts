/** The built-in tools by name. Each is made only when an agent asks for it. */
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import { askTool } from './ask.ts';
import { editTool } from './edit.ts';
import type { Environment } from './environment.ts';
import { fetchTool } from './fetch.ts';
import { listTool } from './list.ts';
import { planTool } from './plan.ts';
import type { Tool } from './port.ts';
import { readTool } from './read.ts';
import { searchTool } from './search.ts';
import { shellTool } from './shell.ts';
import { writeTool } from './write.ts';

export interface BuiltInOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Our own environment; commands see a small part of it. */
  readonly environment: Environment;
  /** Variables that commands may see beside the basics. */
  readonly allowedVariables?: readonly string[];
  readonly shell?: string;
  /** Lets `fetch` reach loopback and private networks. */
  readonly allowLocalFetch?: boolean;
}

export type BuiltIns = ReadonlyMap<string, () => Tool>;

export function createBuiltIns(options: BuiltInOptions): BuiltIns {
  return new Map<string, () => Tool>([
    ['read', readTool],
    ['write', () => writeTool(options)],
    ['edit', () => editTool(options)],
    ['list', listTool],
    ['search', () => searchTool(options)],
    ['shell', () => shellTool(options)],
    ['fetch', () => fetchTool({ clock: options.clock, allowLocal: options.allowLocalFetch })],
    ['plan', planTool],
    ['ask', askTool],
  ]);
}
