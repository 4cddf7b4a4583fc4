/** Known executors and those of files put together: a field of the project wins over the user's, and that over the known one. */
import { suggest } from '../base/did-you-mean.ts';
import { present } from '../base/present.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { sandboxParts, strictestOf } from '../sandbox/settings.ts';
import type { ExecutorEntry, ExecutorFields, ExecutorReach, ExecutorSandbox, ExecutorSource } from './entry.ts';

/** What one place says, from the weakest to the strongest. */
export interface ExecutorLayer {
  readonly source: ExecutorSource;
  readonly fields: Readonly<Record<string, ExecutorFields>>;
}

/** What is wrong with one entry, and in which place it was said. */
export interface ExecutorProblem {
  readonly name: string;
  readonly source: ExecutorSource;
  readonly message: string;
}

export interface ResolvedExecutors {
  readonly entries: readonly ExecutorEntry[];
  readonly problems: readonly ExecutorProblem[];
}

export function resolveExecutors(layers: readonly ExecutorLayer[]): ResolvedExecutors {
  const entries: ExecutorEntry[] = [];
  const problems: ExecutorProblem[] = [];
  for (const name of new Set(layers.flatMap(({ fields }) => Object.keys(fields)))) {
    const source = layers.findLast(({ fields }) => Object.hasOwn(fields, name))?.source ?? 'known';
    const entry = resolved(name, source, layers);
    if (entry.ok) entries.push(entry.value);
    else problems.push({ name, source, message: entry.error });
  }
  return { entries: entries.sort((left, right) => (left.name < right.name ? -1 : 1)), problems };
}

function resolved(name: string, source: ExecutorSource, layers: readonly ExecutorLayer[]): Result<ExecutorEntry, string> {
  const all = fieldsOf(name, layers, []);
  if (!all.ok) return all;
  const { like: _, command, address, sandbox, image, ...rest } = all.value;
  const reach = image !== undefined && command === undefined ? fail('has an image and no command') : reachOf(command, address);
  if (!reach.ok) return reach;
  return ok({
    ...{ title: name, keys: [], env: {}, modes: {}, files: 'read-write', terminal: true, asks: true },
    refusal: 'goes-on',
    ...present(rest),
    ...{ name, source, reach: reach.value, sandbox: sandboxOf(sandbox) },
    ...present({ image: typeof image === 'string' ? { name: image } : image }),
  });
}

function fieldsOf(name: string, layers: readonly ExecutorLayer[], above: readonly string[]): Result<ExecutorFields, string> {
  if (above.includes(name)) return fail(`is like itself: ${[...above, name].join(' → ')}`);
  const own = layers.flatMap(({ fields }) => (Object.hasOwn(fields, name) ? [fields[name] ?? {}] : []));
  if (own.length === 0) {
    const others = layers.flatMap(({ fields }) => Object.keys(fields));
    return fail([`is like ${name}, which nobody knows.`, suggest(name, others, 'executors')].filter(Boolean).join(' '));
  }
  const said = own.reduce<ExecutorFields>((all, one) => over(all, one), {});
  if (said.like === undefined) return ok(said);
  const base = fieldsOf(said.like, layers, [...above, name]);
  return base.ok ? ok(over(base.value, said)) : base;
}

/** Whoever says how it is reached says so alone; variables, folders and hosts are added one by one. */
function over(below: ExecutorFields, above: ExecutorFields): ExecutorFields {
  const { command, address, image, ...rest } = below;
  const isSame = above.command === undefined && above.address === undefined && above.image === undefined;
  // An image may be given to a command that stands elsewhere; an address says everything.
  const reach =
    above.address === undefined ? present({ image, ...(above.command === undefined ? { command, address } : {}) }) : {};
  const env = present({ env: below.env || above.env ? { ...below.env, ...above.env } : undefined });
  const modes = present({ modes: below.modes || above.modes ? { ...below.modes, ...above.modes } : undefined });
  const sandbox = present({ sandbox: below.sandbox || above.sandbox ? bothSandboxes(below, above, isSame) : undefined });
  return { ...rest, ...reach, ...above, ...env, ...modes, ...sandbox };
}

/** Of two modes the stricter holds. What was said of one program says nothing of another that takes its place. */
function bothSandboxes(below: ExecutorFields, above: ExecutorFields, isSame: boolean): ExecutorFields['sandbox'] {
  const [first, second] = [sandboxOf(below.sandbox), sandboxOf(above.sandbox)];
  const mode = strictestOf([...(isSame && first.mode !== undefined ? [first.mode] : []), ...(second.mode ? [second.mode] : [])]);
  const all = (one: readonly string[], other: readonly string[]): string[] => [...new Set([...one, ...other])];
  return {
    ...present({ mode }),
    network: all(first.network, second.network),
    read: all(first.read, second.read),
    write: all(first.write, second.write),
  };
}

function sandboxOf(said: ExecutorFields['sandbox']): ExecutorSandbox {
  const { mode, network = [], read = [], write = [] } = said === undefined ? {} : sandboxParts(said);
  return { ...present({ mode }), network, read, write };
}

function reachOf(command: readonly string[] | undefined, address: string | undefined): Result<ExecutorReach, string> {
  const [program, ...args] = command ?? [];
  if (program !== undefined && address !== undefined) return fail('has both a command and an address: one of them is enough');
  if (program !== undefined) return ok({ kind: 'stdio', program, args });
  if (address === undefined) return fail('has neither a command nor an address');
  const at = address.lastIndexOf(':');
  const port = Number(address.slice(at + 1));
  if (port < 1 || port > 65_535) return fail(`has an address with the port ${port}, which is none`);
  return ok({ kind: 'tcp', host: address.slice(0, at).replace(/^\[|\]$/g, ''), port });
}
