/** Tells Restate where workers answer. Telling it again with the same address takes the newest version from there. */
import { messageOf, TroupeError } from '../base/errors.ts';
import { limits } from '../base/limits.ts';

export async function registerWorkers(admin: string, workers: string): Promise<void> {
  const problem = await post(`${admin}/deployments`, { uri: workers, use_http_11: true, force: true });
  if (problem === undefined) return;
  throw new TroupeError('restate_register', `Restate did not take ${workers} as the address of workers: ${problem}`, {
    fix: 'Check that Restate can reach that address, and that --admin names its admin port (9070 by default).',
  });
}

async function post(url: string, body: object): Promise<string | undefined> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(limits.ingressMs),
    });
    const text = await response.text();
    return response.ok ? undefined : `status ${response.status}: ${text.slice(0, 300)}`;
  } catch (error) {
    return messageOf(error);
  }
}
