/** What is found out about a project by looking, without starting anything: for `troupe doctor` and who watches a server. */
import { statfs } from 'node:fs/promises';
import type { ProjectCheck } from '../../agents/check-project.ts';
import { isError } from '../../agents/text/diagnostics.ts';
import { counted } from '../../base/wording.ts';
import { readableBytes } from '../../projections/readable.ts';
import type { Finding } from './finding.ts';

const NODE_MAJOR_MIN = 24;
const DISK_BYTES_MIN = 100 * 1024 * 1024;

export function nodeFinding(): Finding {
  const { node } = process.versions;
  const enough = Number(node.split('.')[0]) >= NODE_MAJOR_MIN;
  const fix = enough ? undefined : `install Node ${NODE_MAJOR_MIN}, or use ./troupe from a checkout, which brings its own`;
  return { about: 'node', state: enough ? 'good' : 'broken', text: `version ${node}`, fix };
}

export function agentsFinding({ diagnostics, agents: found }: Pick<ProjectCheck, 'agents' | 'diagnostics'>): Finding {
  const agents = found.length;
  const errors = diagnostics.filter(isError).length;
  const warnings = diagnostics.length - errors;
  if (errors > 0)
    return { about: 'agents', state: 'broken', text: counted(errors, 'problem'), fix: 'troupe check shows each with its place' };
  if (agents === 0) return { about: 'agents', state: 'note', text: 'none here', fix: 'troupe init writes a first one' };
  const rest = warnings === 0 ? 'no problems' : `no errors, ${counted(warnings, 'warning')}: see troupe check`;
  return { about: 'agents', state: 'good', text: `${agents} found, ${rest}` };
}

export interface DiskSpace {
  readonly path: string;
  readonly freeBytes: number;
  readonly totalBytes: number;
}

export async function diskSpace(path: string): Promise<DiskSpace> {
  const { bavail, blocks, bsize } = await statfs(path);
  return { path, freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

export function diskFinding({ freeBytes }: DiskSpace): Finding {
  const enough = freeBytes >= DISK_BYTES_MIN;
  const fix = enough ? undefined : 'make room; troupe ledger gc shows what old sessions hold';
  return { about: 'disk', state: enough ? 'good' : 'broken', text: `${readableBytes(freeBytes)} free`, fix };
}
