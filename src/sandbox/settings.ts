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
  readonly mode: z.infer<typeof mode>;
  readonly network: readonly string[];
  readonly read: readonly string[];
  readonly write: readonly string[];
}

type Said = z.infer<typeof sandboxSchema>;

const STRICTNESS = { off: 0, auto: 1, on: 2 } as const;

/** The stricter mode holds. Places and hosts come from the first that speaks, never from both. */
export function sandboxSettings(variable: string | undefined, said: readonly (Said | undefined)[]): SandboxSettings {
  const given = said.flatMap((one) => (one === undefined ? [] : [typeof one === 'string' ? { mode: one } : one]));
  const modes = given.flatMap((one) => (one.mode === undefined ? [] : [one.mode]));
  const strictest = modes.toSorted((a, b) => STRICTNESS[b] - STRICTNESS[a])[0] ?? 'auto';
  const [first] = given;
  return {
    // Whoever starts Troupe has the last word.
    mode: mode.safeParse(variable).data ?? strictest,
    network: first?.network ?? [],
    read: first?.read ?? [],
    write: first?.write ?? [],
  };
}
