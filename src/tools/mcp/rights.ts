/**
 * Rights by name of tools that a server does not have, once it has said which it has. Such a right has no effect, and may have
 * been meant as a ban.
 */

import { suggest } from '../../base/did-you-mean.ts';
import { fitsText } from '../../permissions/glob.ts';
import { modelName } from './model-name.ts';

/** A server, and its tools by their names there. */
export interface KnownServer {
  readonly name: string;
  readonly tools: readonly string[];
}

export interface VainRight {
  /** As it stands in the file. */
  readonly right: string;
  readonly message: string;
  readonly fix?: string | undefined;
}

/** Of these rights, those for a tool or a pattern of one of these servers that stand for none of its tools. */
export function vainRights(rights: readonly string[], servers: readonly KnownServer[]): readonly VainRight[] {
  return rights.flatMap((right) => {
    const problem = problemOf(right, servers);
    return problem === undefined ? [] : [{ right, ...problem }];
  });
}

/** Whether a server has what another tool's file names; `undefined` also for what is no name of one tool, or of none of these. */
export function vainElsewhere(
  { server: name, tool }: { readonly server: string; readonly tool?: string | undefined },
  word: string,
  servers: readonly KnownServer[],
): Omit<VainRight, 'right'> | undefined {
  const server = servers.find((one) => one.name === name);
  if (server === undefined || tool === undefined || tool.includes('*') || server.tools.includes(tool)) return undefined;
  const names = server.tools.map((one) => `mcp__${name}__${one}`);
  return { message: `the MCP server ${name} has no tool for ${JSON.stringify(word)}`, fix: suggest(word, names, 'names') };
}

function problemOf(right: string, servers: readonly KnownServer[]): Omit<VainRight, 'right'> | undefined {
  const colon = longest(servers, ({ name }) => right.startsWith(`mcp:${name}/`));
  if (colon !== undefined) {
    const names = colon.tools.map((tool) => `mcp:${colon.name}/${tool}`);
    const isThere = names.some((name) => (right.includes('*') ? fitsText(right, name) : right === name));
    return isThere ? undefined : vain(right, colon, names);
  }
  const plain = longest(servers, ({ name }) => right.startsWith(prefixOf(name)) || right.startsWith(`${name}__`));
  if (plain === undefined) return undefined;
  // A name that is taken ends in a hash.
  const names = plain.tools.map((tool) => modelName(plain.name, tool, new Set()));
  const hashed = plain.tools.map((tool, index) => modelName(plain.name, tool, new Set([names[index] ?? ''])));
  return [...names, ...hashed].includes(right) ? undefined : vain(right, plain, names);
}

const prefixOf = (server: string): string => modelName(server, '', new Set());

/** Where the name of one server begins like that of another, the longer one is meant. */
function longest(servers: readonly KnownServer[], fits: (server: KnownServer) => boolean): KnownServer | undefined {
  return servers.filter(fits).toSorted((left, right) => right.name.length - left.name.length)[0];
}

function vain(right: string, { name }: KnownServer, names: readonly string[]): Omit<VainRight, 'right'> {
  const what = right.includes('*') ? 'has no tools that fit' : 'has no tool for';
  const message = `the MCP server ${name} ${what} ${JSON.stringify(right)} in "permissions"`;
  return { message, fix: suggest(right, names, 'names') };
}
