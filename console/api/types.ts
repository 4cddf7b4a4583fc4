/** What the API answers with: the schemas of the server, as types. Nothing of them is loaded. */
import type { z } from 'zod';
import type { agentLine } from '../../src/front/shapes/files.ts';
import type { inbox, psRow, sessionRow } from '../../src/front/shapes/runs.ts';

export interface Me {
  readonly name: string;
  readonly role: 'viewer' | 'operator' | 'owner' | 'caller';
  readonly version: string;
}

export type InboxItem = z.infer<typeof inbox>[number];
export type RunRow = z.infer<typeof psRow>;
export type SessionRow = z.infer<typeof sessionRow>;
export type AgentLine = z.infer<typeof agentLine>;
