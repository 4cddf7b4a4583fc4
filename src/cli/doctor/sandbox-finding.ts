/** Whether programs of agents run inside walls here. */
import type { Environment } from '../../base/environment.ts';
import { systemRandom } from '../../base/random.ts';
import type { Finding } from '../../front/project/finding.ts';
import { createSandbox } from '../../sandbox/sandbox.ts';
import type { SandboxSettings } from '../../sandbox/settings.ts';

export async function sandboxFinding(settings: SandboxSettings, environment: Environment): Promise<Finding> {
  const about = 'sandbox';
  const sandbox = createSandbox({ settings, environment, random: systemRandom, state: [] });
  try {
    const state = await sandbox.state();
    if (state.kind === 'on') return { about, state: 'good', text: `commands run inside walls (${state.id})` };
    const text = `commands run without walls: ${state.why}`;
    if (state.chosen) return { about, state: 'note', text };
    const fix = state.fix ?? 'or say so: sandbox: off in troupe.yaml';
    return { about, state: settings.mode === 'on' ? 'broken' : 'note', text, fix };
  } finally {
    await sandbox.close();
  }
}
