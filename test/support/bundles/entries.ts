/** Bundles taken apart and put together again, as somebody would who changes one on the way. */
import { createHash } from 'node:crypto';
import { tarEnd, tarHeader, tarPadding } from '../../../src/bundles/tar.ts';

export type Entry = readonly [name: string, body: Buffer];

const BLOCK = 512;

export function entriesOf(tar: Buffer): Entry[] {
  const entries: Entry[] = [];
  for (let at = 0; tar[at] !== 0; ) {
    const name = tar.toString('utf8', at, at + 100).replace(/\0.*$/s, '');
    const size = Number.parseInt(tar.toString('latin1', at + 124, at + 135), 8);
    entries.push([name, tar.subarray(at + BLOCK, at + BLOCK + size)]);
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return entries;
}

export function tarOf(entries: readonly Entry[]): Buffer {
  return Buffer.concat([
    ...entries.flatMap(([name, body]) => [tarHeader(name, body.length), body, tarPadding(body.length)]),
    tarEnd(),
  ]);
}

const sum = (body: Buffer): string => createHash('sha256').update(body).digest('hex');

/** With a list of checksums and a manifest that fit what is in it: whoever did it knew how. */
export function forged(entries: readonly Entry[]): Buffer {
  const tail = new Set(['checksums.txt', 'manifest.json', 'signature.json']);
  const rest = entries.filter(([name]) => !tail.has(name));
  const list = Buffer.from(`${rest.map(([name, body]) => `${sum(body)}  ${name}`).join('\n')}\n`);
  const [, old] = entries.find(([name]) => name === 'manifest.json') ?? [];
  const manifest = { ...JSON.parse(String(old)), entries: rest.length, checksums: sum(list) };
  return tarOf([...rest, ['checksums.txt', list], ['manifest.json', Buffer.from(JSON.stringify(manifest))]]);
}

/** The same entries with this one changed. */
export function changed(entries: readonly Entry[], which: RegExp, change: (text: string) => string): Entry[] {
  let found = 0;
  const result = entries.map(([name, body]): Entry => {
    if (!which.test(name) || found > 0) return [name, body];
    found += 1;
    return [name, Buffer.from(change(body.toString()))];
  });
  if (found === 0) throw new Error(`no entry ${String(which)}`);
  return result;
}
