/** Bundles as somebody may hand them to us, each changed in one way, and what is said of it. */
import { tarHeader } from '../../../src/bundles/tar.ts';
import { changed, type Entry, forged, tarOf } from './entries.ts';

const PAGE = /events-000001/;
const block = (name: string, size: number, kind: string): Buffer => {
  const header = tarHeader(name, size);
  header.write(kind, 156, 1, 'latin1');
  header.write('        ', 148, 8, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 8, 'latin1');
  return header;
};
const before = (entries: readonly Entry[], more: Buffer): Buffer =>
  Buffer.concat([tarOf(entries.slice(0, 1)).subarray(0, -1024), more]);
const line = (number: number, change: (line: string) => string) => (text: string) =>
  text
    .split('\n')
    .map((one, index) => (index === number - 1 ? change(one) : one))
    .join('\n');

/** What somebody may hand us, and what is said of it. */
export const CHANGES: readonly (readonly [string, (entries: readonly Entry[], tar: Buffer) => Buffer, RegExp])[] = [
  ['a name that leads out', (entries) => before(entries, block('../../etc/passwd', 0, '0')), /leads out of the folder/],
  ['an absolute name', (entries) => before(entries, block('/etc/passwd', 0, '0')), /leads out of the folder/],
  ['a name with a way out in the middle', (entries) => before(entries, block('agents/../../x', 0, '0')), /leads out/],
  ['a link', (entries) => before(entries, block('agents/a.md', 0, '2')), /"agents\/a\.md" is a link/],
  ['a hard link', (entries) => before(entries, block('agents/a.md', 0, '1')), /is a link/],
  ['a device', (entries) => before(entries, block('agents/a.md', 0, '3')), /is no plain file/],
  ['a bundle in a bundle', (entries, tar) => tarOf([...entries.slice(0, 1), ['inner.tar', tar]]), /"inner\.tar" has no place/],
  ['a payload of 2 GiB', (entries) => before(entries, block(`payloads/${'0'.repeat(64)}`, 2 ** 31, '0')), /payloadBytes/],
  ['an entry twice', (entries) => forged([...entries.slice(0, 2), ...entries.slice(1)]), /is in it twice/],
  ['nothing', () => Buffer.alloc(0), /cut off/],
  ['an end in the middle', (_entries, tar) => tar.subarray(0, tar.length / 2), /the file stops in .*: it was cut off/],
  ['an end between entries', (entries) => tarOf(entries.slice(0, 3)), /its manifest or its checksums are missing/],
  ['something behind its end', (_entries, tar) => Buffer.concat([tar, Buffer.from('more')]), /behind its end/],
  ['a damaged header', (_entries, tar) => Buffer.from(tar).fill('7', 20, 21), /a header in it is damaged/],
  ['no tar', () => Buffer.alloc(2048, 'x'), /is no tar file/],
  ['a changed payload', (entries) => forged(changed(entries, /^payloads/, (text) => `${text} `)), /payloads\/\w+ was changed/],
  ['a payload that nobody names', (entries) => forged([...entries.slice(0, 1), EMPTY, ...entries.slice(1)]), /no event names/],
  ['a payload less', (entries) => forged(entries.filter(([name]) => !name.startsWith('payloads/'))), /payload \w+ is missing/],
  ['a checksum that is another', (entries) => tarOf(changed(entries, /^agents/, (text) => `${text} `)), /"agents\/tester\.md"/],
  [
    'a changed event',
    (entries) =>
      forged(
        changed(
          entries,
          PAGE,
          line(7, (one) => one.replace('"actor":"system"', '"actor":"user"')),
        ),
      ),
    /broken at ses_\w+\.7: its envelope was changed/,
  ],
  [
    'a changed payload in an event',
    (entries) =>
      forged(
        changed(
          entries,
          PAGE,
          line(9, (one) => one.replace('"note 2"', '"note X"')),
        ),
      ),
    /broken at ses_\w+\.9: its payload was changed/,
  ],
  [
    'an event less',
    (entries) => forged(changed(entries, PAGE, (text) => text.replace(/^.*"position":5,.*\n/m, ''))),
    /broken at ses_\w+\.5: it is missing/,
  ],
  ['a page less', (entries) => forged(entries.filter(([name]) => !PAGE.test(name))), /page 1 of ses_\w+ is missing/],
  [
    'events less at the end',
    (entries) => forged(changed(entries, /events-000002/, (text) => text.slice(0, text.indexOf('\n') + 1))),
    /another number of events/,
  ],
  [
    'an event that nobody knows',
    (entries) =>
      forged(
        changed(
          entries,
          PAGE,
          line(3, (one) => one.replace(/"event_type":"[\w.]+"/, '"event_type":"x.y"')),
        ),
      ),
    /\.3 is no event/,
  ],
  [
    'a line that is no JSON',
    (entries) =>
      forged(
        changed(
          entries,
          PAGE,
          line(3, () => '{'),
        ),
      ),
    /\.3 is no JSON/,
  ],
  [
    'an event of a newer version',
    (entries) =>
      forged(
        changed(
          entries,
          PAGE,
          line(3, (one) => one.replace('"schema_version":1', '"schema_version":2')),
        ),
      ),
    /made by a newer Troupe: ses_\w+\.3 has version 2/,
  ],
  [
    'a newer format',
    (entries) => forged(changed(entries, /^troupe-bundle/, (text) => text.replace('"version":1', '"version":2'))),
    /made by a newer Troupe: it has version 2/,
  ],
  ['another beginning', (entries) => tarOf(entries.slice(1)), /does not begin with troupe-bundle\.json/],
  ['a manifest that is no JSON', (entries) => tarOf(changed(entries, /^manifest/, () => '{')), /its manifest is damaged/],
  [
    'another hash in the manifest',
    (entries) => tarOf(changed(entries, /^manifest/, (text) => text.replace(/"source": "\w{4}/, '"source": "0000'))),
    /another chain where it came from/,
  ],
];

const EMPTY: Entry = ['payloads/e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', Buffer.alloc(0)];
