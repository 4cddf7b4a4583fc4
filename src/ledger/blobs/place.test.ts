/** Which bucket an address names, and how answers of S3 servers are read. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseLedgerAddress } from '../address.ts';
import { parsePostgresAddress } from '../postgres/address.ts';
import { errorCode, readListing } from './listing.ts';
import { readXml } from './xml.ts';

const LEDGER = 'postgres://me@db/troupe';
const bucketOf = (parameters: string) => parsePostgresAddress(`${LEDGER}?${parameters}`).bucket;

describe('the address of payloads', () => {
  it.each([
    ['payloads=s3://team-files', '', 'https://team-files.s3.us-east-1.amazonaws.com/'],
    ['payloads=s3://team-files/&region=eu-west-1', '', 'https://team-files.s3.eu-west-1.amazonaws.com/'],
    ['payloads=s3://team-files/a/b/&region=cn-north-1', 'a/b/', 'https://team-files.s3.cn-north-1.amazonaws.com.cn/'],
    ['payloads=s3://team.files/a', 'a/', 'https://s3.us-east-1.amazonaws.com/team.files/'],
    ['payloads=s3://team-files/a&endpoint=http://minio:9000', 'a/', 'http://minio:9000/team-files/'],
    [
      'payloads=s3%3A%2F%2Fteam-files&endpoint=https%3A%2F%2Fx.test%2Fstorage%2Fs3%2F',
      '',
      'https://x.test/storage/s3/team-files/',
    ],
  ])('names a bucket: %s', (parameters, prefix, url) => {
    expect(bucketOf(parameters)).toMatchObject({ prefix, url });
    const { url: forDriver, payloads } = parsePostgresAddress(`${LEDGER}?${parameters}&sslmode=require`);
    expect(forDriver).toBe(`${LEDGER}?sslmode=require`);
    expect(payloads).toBeUndefined();
  });

  it('names none, but a folder or nothing', () => {
    expect(bucketOf('payloads=/mnt/payloads')).toBeUndefined();
    expect(bucketOf('')).toBeUndefined();
  });

  it.each([
    'payloads=s3://',
    'payloads=s3://UPPER',
    'payloads=s3://key:secret-word@team-files',
    'payloads=s3://team-files/a/../b',
    'payloads=s3://team-files//a',
    'payloads=s3://team-files/a%3Fsecret-word',
    'payloads=s3://team-files&region=eu/west',
    'payloads=s3://team-files&endpoint=ftp://x.test',
    'payloads=s3://team-files&endpoint=https://key:secret-word@x.test',
    'payloads=s3://team-files&endpoint=https://x.test?key=secret-word',
    'payloads=/mnt/payloads&endpoint=https://x.test',
    'region=eu-west-1',
  ])('that is wrong is refused without repeating it: %s', (parameters) => {
    try {
      parseLedgerAddress(`${LEDGER}?${parameters}`, '/');
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ code: 'ledger_address', fix: expect.stringContaining('AWS_ACCESS_KEY_ID') });
      expect(String(error)).not.toMatch(/secret-word|team-files/);
    }
  });
});

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`).replace(/x/g, '&#x78;');

describe('an answer', () => {
  it('is read, whatever the names in it are', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), fc.string(), (keys, next) => {
        const contents = keys.map(
          (key) => `<Contents><Key>${escaped(key)}</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified>
          <Size>1</Size><Owner/></Contents>`,
        );
        const rest = `<IsTruncated>true</IsTruncated><NextContinuationToken>${escaped(`.${next}`)}</NextContinuationToken>`;
        const list = `<ListBucketResult xmlns="http://s3">${contents.join('')}${rest}</ListBucketResult>`;
        const page = `<?xml version="1.0"?>\n${list}\n`;
        const at = Date.UTC(2026, 0, 2, 3, 4, 5);
        expect(readListing(page)).toEqual({ ok: true, value: { objects: keys.map((key) => ({ key, at })), next: `.${next}` } });
      }),
    );
  });

  it.each([
    '',
    'text',
    '<a>',
    '</a>',
    '<a></b>',
    '<a></a><b></b>',
    '<a>&nbsp;</a>',
    '<a>& </a>',
    '<a>&#0;</a>',
    '<a>&#x110000;</a>',
    '<a><!-- x --></a>',
    '<a><![CDATA[x]]></a>',
    '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
    '<a b=c></a>',
    '<a/>x',
    `${'<a>'.repeat(20)}${'</a>'.repeat(20)}`,
  ])('that is not strict is refused: %s', (document) => {
    expect(readXml(document).ok).toBe(false);
  });

  it('of any kind never throws, and never takes long', () => {
    const piece = fc.constantFrom('<', '>', '/', '&', ';', 'a', ' ', '=', '"', "'", '<a>', '</a>', '<?xml ?>', '&amp;', '\n');
    fc.assert(fc.property(fc.array(piece), (pieces) => typeof readXml(pieces.join('')).ok === 'boolean'));
    expect(readXml(`<a${' b="c"'.repeat(50_000)}`).ok).toBe(false);
    expect(readXml(`<a${' '.repeat(50_000)}`).ok).toBe(false);
    expect(readXml('&'.repeat(50_000)).ok).toBe(false);
  });

  it('that reports an error gives only its word', () => {
    expect(errorCode('<Error><Code>NoSuchKey</Code><StringToSign>x</StringToSign></Error>')).toBe('NoSuchKey');
    expect(errorCode('<Error><Code>a b</Code></Error>')).toBeUndefined();
    expect(errorCode('<html><Code>NoSuchKey</Code></html>')).toBeUndefined();
  });
});
