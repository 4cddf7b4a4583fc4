/**
 * An executor as data: how it is started or reached, what it is given, and what it does differently from others. Known ones
 * are entries in `known/`, executors.yaml adds others and changes known ones; no code anywhere asks for a name.
 */
import { z } from 'zod';
import { limits } from '../base/limits.ts';
import { type SandboxMode, sandboxSchema } from '../sandbox/settings.ts';

const EXECUTOR_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const name = z.string().regex(EXECUTOR_NAME, 'must be a name of small letters, digits, ".", "-" and "_"');
const text = z.string().min(1).max(limits.executorTextCharacters);
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable');
const names = z.array(variable).max(limits.executorVariables);

/** Words of a command line that can be no options of it. */
const imageName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,254}$/, 'must be the name of an image, such as images.example.org/agent:1');
const networkName = z
  .string()
  .regex(
    /^(?!host$)[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/,
    'must be the name of a network, or none; that of this machine is not shared',
  );

const imageFields = z.strictObject({
  name: imageName,
  /** Without it the first that is found. */
  engine: z.enum(['docker', 'podman']).optional(),
  /** Without it none. */
  network: networkName.optional(),
});
export type ExecutorImage = z.infer<typeof imageFields>;

/** What executors.yaml may say of one. */
export const executorFields = z.strictObject({
  title: text.optional(),
  /** Everything that is not said here is as with that one. */
  like: name.optional(),
  /** The program and its arguments. */
  command: z.array(text).min(1).max(limits.executorArguments).optional(),
  /** An OCI image that the command is started in. */
  image: z.union([imageName, imageFields]).optional(),
  /** Where it listens, as `host:port`, in place of a command. */
  address: z
    .string()
    .regex(/^(\[[0-9a-fA-F:]+\]|[^\s:]+):\d{1,5}$/, 'must be host:port, such as 127.0.0.1:18088')
    .optional(),
  /** What to do when it is not there. */
  install: text.optional(),
  /** Variables of our environment, secret or not, that it gets. No others do. */
  keys: names.optional(),
  /** At least one of these must be set for it to work, as far as it does not know a login of its own. */
  needs: names.optional(),
  /** Variables that are set for it; `${NAME}` is filled in from our environment. */
  env: z.record(variable, z.string().max(limits.executorTextCharacters)).optional(),
  /** Its own words for the two modes. */
  modes: z.strictObject({ 'read-only': text.optional(), full: text.optional() }).optional(),
  /** Which of our file callbacks it is told of. */
  files: z.enum(['none', 'write', 'read-write']).optional(),
  /** How it is answered when it reads a file that is not there. */
  missingFile: z.enum(['error', 'empty']).optional(),
  /** The version of the protocol that is spoken with it: 1 unless said; 2 is a draft. */
  protocol: z.union([z.literal(1), z.literal(2)]).optional(),
  /** It is told that it may run commands through us. */
  terminal: z.boolean().optional(),
  /** How it takes MCP servers, where it is known better than it says. */
  mcp: z.array(z.enum(['stdio', 'http'])).optional(),
  /** It asks before it does something. */
  asks: z.boolean().optional(),
  /** It tells which command it runs by the title of the call, and nowhere else. */
  titleIsCommand: z.boolean().optional(),
  /** What becomes of a prompt when something is refused. */
  refusal: z.enum(['goes-on', 'ends', 'cancels']).optional(),
  /** What the model is called in its options; `none` when it cannot be chosen there. */
  model: text.optional(),
  /** What it is kept in: whether, and what it sees and reaches there beside its workspace. */
  sandbox: sandboxSchema.optional(),
  /** Words for whoever wonders. */
  notes: text.optional(),
});

export type ExecutorFields = z.infer<typeof executorFields>;

export const executorsFile = z.strictObject({
  executors: z
    .record(name, executorFields)
    .refine((all) => Object.keys(all).length <= limits.executorEntries, `must be at most ${limits.executorEntries} executors`)
    .optional(),
});

export type ExecutorProtocol = 1 | 2;

export type ExecutorSource = 'known' | 'user' | 'project';

/** One that can be asked for, complete. */
export interface ExecutorEntry extends Readonly<Omit<ExecutorFields, 'like' | 'command' | 'address' | 'sandbox' | 'image'>> {
  readonly name: string;
  readonly title: string;
  /** Who said something of it last. */
  readonly source: ExecutorSource;
  readonly reach: ExecutorReach;
  readonly sandbox: ExecutorSandbox;
  readonly image?: ExecutorImage | undefined;
  readonly keys: string[];
  readonly env: Record<string, string>;
  readonly modes: { readonly 'read-only'?: string | undefined; readonly full?: string | undefined };
  readonly files: 'none' | 'write' | 'read-write';
  readonly terminal: boolean;
  readonly asks: boolean;
  readonly refusal: 'goes-on' | 'ends' | 'cancels';
}

/** Folders may begin with `~/` or name a variable that it gets; one that ends with `/` is made when it is not there. */
export interface ExecutorSandbox {
  readonly mode?: SandboxMode | undefined;
  /** Hosts that it needs, such as those of its provider. */
  readonly network: readonly string[];
  readonly read: readonly string[];
  /** Where it keeps its logins, settings and sessions: nobody else sees these. */
  readonly write: readonly string[];
}

export type ExecutorReach =
  | { readonly kind: 'stdio'; readonly program: string; readonly args: readonly string[] }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number };
