/** The version of the package, read from where it is kept once. */
import { readFileSync } from 'node:fs';
import { isJsonObject, parseJson } from '../../base/json.ts';

export function version(): string {
  const parsed = parseJson(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  const found = parsed.ok && isJsonObject(parsed.value) ? parsed.value['version'] : undefined;
  return typeof found === 'string' ? found : 'unknown';
}
