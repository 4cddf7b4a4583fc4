/**
 * Every bound in the product, in one place: a file for each concern, and one object of them all. Behind one that a user may
 * change stands where: a key of an agent file (`agent:`), a key of `troupe.yaml`, or an option of a command (`option:`);
 * `test/limits.test.ts` checks that. All others are fixed.
 */
import { agentLimits } from './limits/agents.ts';
import { artifactLimits } from './limits/artifacts.ts';
import { bundleLimits } from './limits/bundles.ts';
import { clusterLimits } from './limits/cluster.ts';
import { commandLineLimits } from './limits/command-line.ts';
import { executorRunLimits } from './limits/executor-runs.ts';
import { executorLimits } from './limits/executors.ts';
import { ledgerLimits } from './limits/ledger.ts';
import { modelLimits } from './limits/models.ts';
import { peerLimits } from './limits/peers.ts';
import { runLimits } from './limits/runs.ts';
import { sandboxLimits } from './limits/sandbox.ts';
import { serverLimits } from './limits/servers.ts';
import { telemetryLimits } from './limits/telemetry.ts';
import { toolLimits } from './limits/tools.ts';
import { transcriptLimits } from './limits/transcripts.ts';
import { trialLimits } from './limits/trials.ts';
import { workspaceLimits } from './limits/workspaces.ts';

export const limits = {
  ...agentLimits,
  ...runLimits,
  ...serverLimits,
  ...peerLimits,
  ...executorLimits,
  ...executorRunLimits,
  ...clusterLimits,
  ...ledgerLimits,
  ...artifactLimits,
  ...modelLimits,
  ...telemetryLimits,
  ...toolLimits,
  ...sandboxLimits,
  ...workspaceLimits,
  ...commandLineLimits,
  ...trialLimits,
  ...transcriptLimits,
  ...bundleLimits,
} as const;
