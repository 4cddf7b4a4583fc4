/** The name under which models see a tool of a server. */
import { createHash } from 'node:crypto';

const NAME_CHARACTERS = 64;

/** `server__tool` in the characters that every provider takes; a name that is too long or taken ends in a hash. */
export function modelName(server: string, tool: string, taken: ReadonlySet<string>): string {
  const plain = `${server}__${tool}`.replaceAll(/[^a-zA-Z0-9_-]/g, '_');
  if (plain.length <= NAME_CHARACTERS && !taken.has(plain)) return plain;
  const hash = createHash('sha256').update(`${server}/${tool}`).digest('hex');
  for (let length = 8; length < NAME_CHARACTERS; length += 8) {
    const name = `${plain.slice(0, NAME_CHARACTERS - length - 1)}_${hash.slice(0, length)}`;
    if (!taken.has(name)) return name;
  }
  return hash;
}
