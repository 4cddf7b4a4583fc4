/**
 * Where a Restate cluster is reached: `restate+http://host:8080[,host2:8080][/name]`. The name keeps several projects on one
 * cluster apart; without one it is `troupe`.
 */
import { fail, ok, type Result } from '../../base/result.ts';

export interface RestateAddress {
  /** Ingress addresses; any of them will do. */
  readonly ingress: readonly string[];
  readonly name: string;
}

const FORM = /^restate\+(https?):\/\/([^/?#]+)(?:\/([a-z0-9_-]{1,40})\/?)?$/;

export function parseRestateAddress(text: string): Result<RestateAddress, string> {
  const match = FORM.exec(text);
  const [, scheme = 'http', hosts = '', name = 'troupe'] = match ?? [];
  if (match === null)
    return fail('must be restate+http:// and the address of the ingress, such as restate+http://127.0.0.1:8080');
  const ingress = hosts.split(',').map((host) => `${scheme}://${host}`);
  const wrong = ingress.find((address) => !URL.canParse(address));
  return wrong === undefined ? ok({ ingress, name }) : fail(`${wrong} is not an address`);
}

export const runService = (name: string): string => `${name}-run`;
export const sessionService = (name: string): string => `${name}-session`;
