/**
 * Who holds leases, and whether they live. Machines do not share a clock, so the server's counts: an owner lives while its
 * heartbeat is younger than its lease; while the server was down nobody could send one, so time counts from its start. On
 * this machine a process that is gone counts as dead at once.
 */
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { LeaseOwner } from '../port.ts';
import { integer, integerOrNull, type Row, text, textOrNull } from '../rows.ts';
import { processExists } from '../rules/leases.ts';

/** Of `lease` with the `writer` that owns it beside it. */
export const OWNER_COLUMNS = `lease.owner, writer.pid, writer.host, writer.machine,
  coalesce(greatest(writer.beat, pg_postmaster_start_time()) + writer.lease_ms * interval '1 millisecond' > clock_timestamp(),
           false) AS fresh`;

/** Containers may share a host's name but not its processes: the space of process numbers is part of the machine's name. */
export const thisMachine: string = `${hostname()} ${processSpace()}`;

function processSpace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

/** `null` when nobody holds it. An owner whose row was cleared away is still named. */
export function leaseOwner(row: Row): LeaseOwner | null {
  if (row['owner'] === null) return null;
  return { id: text(row, 'owner'), pid: integerOrNull(row, 'pid') ?? 0, host: textOrNull(row, 'host') ?? '' };
}

export function isLiveOwner(row: Row): boolean {
  if (row['owner'] === null || row['fresh'] !== true) return false;
  return text(row, 'machine') !== thisMachine || processExists(integer(row, 'pid'));
}

export interface Writer extends LeaseOwner {
  readonly machine: string;
  readonly leaseMs: number;
}
