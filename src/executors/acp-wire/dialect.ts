/**
 * What the versions of the protocol say differently. Everything else here speaks as version 1 does; another version is put into
 * its words where messages come in, and out of them where they go out.
 */
import type { Result } from '../../base/result.ts';
import type { ExecutorEntry, ExecutorProtocol } from '../entry.ts';
import type { ExecutorMcpServer } from '../port.ts';
import type { AcpPeer, PeerTrouble } from './peer.ts';

/** Of one connection. */
export interface ProtocolDialect {
  readonly version: ExecutorProtocol;
  /** What is said first. */
  greeting(entry: ExecutorEntry, questions: boolean): object;
  /** What it answered; undefined when that is no answer. */
  introduced(answer: unknown, entry: ExecutorEntry): Introduced | undefined;
  server(server: ExecutorMcpServer): object;
  /** The facts of a session. */
  facts(answer: unknown): unknown;
  /** What sets an option of a session's configuration. */
  option(session: string, id: string, value: string): object;
  /** Ends when what was asked for is over. */
  prompt(params: PromptParams, peer: AcpPeer): Promise<Result<unknown, PeerTrouble>>;
  /** One update may be none, or several. */
  updates(params: unknown): readonly unknown[];
  /** What it asks for; undefined when nobody may ask that. */
  asked(method: string, params: unknown): { readonly params: unknown } | undefined;
}

export interface PromptParams {
  readonly sessionId: string;
  readonly prompt: readonly object[];
}

export interface Introduced {
  readonly version: string | undefined;
  readonly protocol: number;
  readonly canLoad: boolean;
  readonly canResume: boolean;
  readonly canClose: boolean;
  readonly takesImages: boolean;
  readonly mcp: readonly ('stdio' | 'http')[];
  readonly logins: readonly string[];
}

const OWN_VERSION = '0.1.0';

export const OURSELVES = { name: 'troupe', title: 'Troupe', version: OWN_VERSION };

export const pairsOf = (all: Readonly<Record<string, string>>) => Object.entries(all).map(([name, value]) => ({ name, value }));

interface Login {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
}

export const loginWords = (id: string, { name, description }: Login): string =>
  [name ?? id, description].filter(Boolean).join(': ');
