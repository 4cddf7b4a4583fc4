/** The follower that tells a collector of spans: loaded only for a project where somebody wants that. */
import type { FollowNeeds, SpanFollower } from '../telemetry/follow.ts';
import type { ProjectConfig } from './config.ts';
import type { OpenOptions } from './project.ts';

interface ProjectTelemetry extends SpanFollower {
  onTrouble(hear: (why: string) => void): void;
}

export async function beginTelemetry(
  { telemetry }: Pick<ProjectConfig, 'telemetry'>,
  { readOnly }: Pick<OpenOptions, 'readOnly'>,
  needs: Pick<FollowNeeds, 'ledger' | 'clock' | 'random'>,
): Promise<ProjectTelemetry> {
  if (telemetry === undefined || readOnly === true) return { onTrouble: () => undefined, close: async () => undefined };
  const hearers: ((why: string) => void)[] = [];
  const said: string[] = telemetry.ok ? [] : [telemetry.error];
  const onTrouble = (hear: (why: string) => void): void => {
    hearers.push(hear);
    said.forEach(hear);
  };
  if (!telemetry.ok) return { onTrouble, close: async () => undefined };
  const { followLedger } = await import('../telemetry/follow.ts');
  const follower = followLedger({
    ...{ ...needs, settings: telemetry.value },
    onTrouble: (why) => {
      for (const hear of hearers) hear(why);
    },
  });
  return { onTrouble, close: follower.close };
}
