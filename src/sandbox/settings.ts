/** What the settings say about the sandbox, and what holds where several speak. */
import { z } from 'zod';
import { limits } from '../base/limits.ts';

const place = z.string().min(1).max(limits.sandboxPathCharacters);
const host = z
  .string()
  .min(1)
  .max(limits.sandboxHostCharacters)
  .regex(/^(\*\.)?[A-Za-z0-9._-]+(:\d{1,5})?$|^\[[0-9a-fA-F:.]+\](:\d{1,5})?$/, {
    error: 'must be a host, such as example.org, *.example.org or example.org:443',
  });

/** `auto`: where it works. `on`: nothing runs without it. `off`: by choice. */
const mode = z.enum(['auto', 'on', 'off']);
export type SandboxMode = z.infer<typeof mode>;

export const sandboxSchema = z.union([
  mode,
  z.strictObject({
    mode: mode.optional(),
    /** Hosts that programs may reach. */
    network: z.array(host).max(limits.sandboxHosts).optional(),
    /** Folders outside of the workspace that they may read, where the home is hidden. */
    read: z.array(place).max(limits.sandboxPaths).optional(),
    /** Folders outside of the workspace that they may write. */
    write: z.array(place).max(limits.sandboxPaths).optional(),
  }),
]);

export interface SandboxSettings {
  readonly mode: SandboxMode;
  /** What no file of the project goes below: the user's own word. */
  readonly least: SandboxMode;
  /** Whoever started Troupe has said so: nothing else counts. */
  readonly settled: boolean;
  readonly network: readonly string[];
  readonly read: readonly string[];
  readonly write: readonly string[];
}

export type SandboxSaid = z.infer<typeof sandboxSchema>;

const STRICTNESS = { off: 0, auto: 1, on: 2 } as const;

export const strictestOf = (modes: readonly SandboxMode[]): SandboxMode | undefined =>
  modes.toSorted((a, b) => STRICTNESS[b] - STRICTNESS[a])[0];

/**
 * The project's word and the user's. The stricter mode holds. Places and hosts come from the first that speaks, never from
 * both.
 */
export function sandboxSettings(
  variable: string | undefined,
  [project, user]: readonly (SandboxSaid | undefined)[],
): SandboxSettings {
  const given = [project, user].flatMap((one) => (one === undefined ? [] : [sandboxParts(one)]));
  const modes = given.flatMap((one) => (one.mode === undefined ? [] : [one.mode]));
  const last = mode.safeParse(variable).data;
  const [first] = given;
  return {
    // Whoever starts Troupe has the last word.
    mode: last ?? strictestOf(modes) ?? 'auto',
    least: (user === undefined ? undefined : sandboxParts(user).mode) ?? 'off',
    settled: last !== undefined,
    network: first?.network ?? [],
    read: first?.read ?? [],
    write: first?.write ?? [],
  };
}

export const sandboxParts = (said: SandboxSaid): Exclude<SandboxSaid, string> =>
  typeof said === 'string' ? { mode: said } : said;

/** What holds for a program of which somebody has said something by itself. */
export function modeFor({ mode: general, least, settled }: SandboxSettings, said: SandboxMode | undefined): SandboxMode {
  if (settled || said === undefined || general === 'on') return general;
  return strictestOf([said, least]) ?? general;
}
