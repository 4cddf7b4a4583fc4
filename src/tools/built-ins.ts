/** The built-in tools by name. Each is made only when an agent asks for it. */

import type { Clock } from '../base/clock.ts';
import type { Environment } from '../base/environment.ts';
import type { Random } from '../base/random.ts';
import type { Sandbox } from '../sandbox/port.ts';
import { askTool } from './ask.ts';
import { createGuard, type ProtectedPlaces } from './closed/guard.ts';
import { editTool } from './files/edit.ts';
import { listTool } from './files/list.ts';
import { readTool } from './files/read.ts';
import { searchTool } from './files/search.ts';
import type { FindsSecrets } from './files/shown-text.ts';
import { realTarget } from './files/workspace.ts';
import { writeTool } from './files/write.ts';
import { planTool } from './plan.ts';
import type { OrdinaryTool, Tool } from './port.ts';
import { shellTool } from './shell/shell.ts';
import { fetchTool } from './web/fetch.ts';

export interface BuiltInOptions {
  /** What is protected beside the names that always are. */
  readonly places?: ProtectedPlaces | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** Which pieces of files callers are shown a mark for; without it, none. */
  readonly secrets?: FindsSecrets | undefined;
  /** Our own environment; commands see a small part of it. */
  readonly environment: Environment;
  /** Variables that commands may see beside the basics. */
  readonly allowedVariables?: readonly string[];
  readonly shell?: string;
  /** What commands run in; without it in nothing. */
  readonly sandbox?: Sandbox | undefined;
  /** Lets `fetch` reach loopback and private networks. */
  readonly allowLocalFetch?: boolean;
}

export type BuiltIns = ReadonlyMap<string, () => Tool>;

export function createBuiltIns(options: BuiltInOptions): BuiltIns {
  const parts = { ...options, guard: createGuard(options.places) };
  return new Map<string, () => Tool>([
    ['read', () => placed(readTool(parts))],
    ['write', () => placed(writeTool(parts))],
    ['edit', () => placed(editTool(parts))],
    ['list', () => placed(listTool(parts))],
    ['search', () => placed(searchTool(parts))],
    ['shell', () => shellTool(parts)],
    ['fetch', () => fetchTool({ clock: options.clock, allowLocal: options.allowLocalFetch })],
    ['plan', planTool],
    ['ask', askTool],
  ]);
}

/** Rules for paths are held against the real one. */
const placed = (tool: OrdinaryTool): OrdinaryTool => ({ ...tool, target: realTarget });
