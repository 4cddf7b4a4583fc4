/** How the server and what it stands on are: engine, workers, ledger, quota, disk; and what is wrong, with what to do. */
import { useState } from 'react';
import { counted } from '../../../src/base/wording.ts';
import { readableBytes, readableCount, readableDuration } from '../../../src/projections/readable.ts';
import { post, type Refusal } from '../../api/client.ts';
import type { Health } from '../../api/types.ts';
import { LoadedView } from '../../parts/loaded-view.tsx';
import '../../parts/styles/split.css';
import '../../parts/styles/table.css';
import { Trouble } from '../../parts/trouble.tsx';
import { When } from '../../parts/when.tsx';
import { useLoaded, useMe } from '../../store/hooks.ts';
import './health.css';

export function View() {
  const health = useLoaded<Health>('/health');
  return (
    <>
      <header className="view-head">
        <h1>Health</h1>
      </header>
      <LoadedView loaded={health} what="how the server is">
        {(value) => (
          <div className="view-body column">
            <Findings health={value} />
            <Engine health={value} />
            <Ledger health={value} />
            <Quota health={value} />
          </div>
        )}
      </LoadedView>
    </>
  );
}

interface Props {
  readonly health: Health;
}

const SIGNS = { good: ['✓', 'tone-good'], note: ['!', 'tone-waits'], broken: ['✗', 'tone-bad'] } as const;

function Findings({ health: { ok, findings } }: Props) {
  return (
    <section className="section" aria-label="What was looked at">
      <h2 className={ok ? 'tone-good' : 'tone-bad'}>{ok ? '✓ Nothing is broken' : '✗ Something is broken'}</h2>
      <ul className="health-findings">
        {findings.map(({ about, state, text, fix }) => (
          <li key={`${about} ${text}`}>
            <span className={SIGNS[state][1]}>
              {SIGNS[state][0]} {about}
            </span>
            <span>{text}</span>
            {fix !== undefined && <span className="quiet">{fix}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Engine({ health: { version, node, startedAt, process, engine, workers, disk } }: Props) {
  const runs = Object.entries(engine.runs);
  const used = disk.totalBytes - disk.freeBytes;
  return (
    <section className="section">
      <h2>Engine</h2>
      <dl className="facts">
        <dt>Version</dt>
        <dd>
          {version}, Node {node}
        </dd>
        <dt>Since</dt>
        <dd>
          <When at={startedAt} />, pid {process.pid}, {readableBytes(process.memoryBytes)} of memory
        </dd>
        <dt>Works</dt>
        <dd>{engine.kind === 'here' ? 'in this process' : 'by workers of a cluster'}</dd>
        <dt>Runs</dt>
        <dd>{runs.length === 0 ? 'none' : runs.map(([state, count]) => `${count} ${state.replaceAll('_', ' ')}`).join(', ')}</dd>
        <dt>Disk</dt>
        <dd>
          {readableBytes(disk.freeBytes)} free of {readableBytes(disk.totalBytes)} at <code>{disk.path}</code>
          <progress className="disk" max={disk.totalBytes} value={used} aria-label="How full the disk is" />
        </dd>
      </dl>
      {workers !== null && (
        <table className="table" aria-label="Workers">
          <thead>
            <tr>
              <th scope="col">Worker</th>
              <th scope="col">State</th>
              <th scope="col" className="number">
                At work
              </th>
              <th scope="col">Since</th>
            </tr>
          </thead>
          <tbody>
            {workers.map(({ id, uri, answers, working, createdAt }) => (
              <tr key={id}>
                <td className="wide">{uri}</td>
                <td className={answers ? 'tone-good' : 'tone-bad'}>{answers ? '✓ answers' : '✗ does not answer'}</td>
                <td className="number">{working ?? ''}</td>
                <td>
                  <When at={createdAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Ledger({ health: { ledger } }: Props) {
  return (
    <section className="section">
      <h2>Ledger</h2>
      <dl className="facts">
        <dt>Where</dt>
        <dd>
          {ledger.kind}, <code>{ledger.ledger}</code>
        </dd>
        <dt>Holds</dt>
        <dd>
          {counted(ledger.sessions, 'session')}, {counted(ledger.runs, 'run')}, {readableCount(ledger.events)} events
        </dd>
        <dt>Size</dt>
        <dd>
          {readableBytes(ledger.databaseBytes)}, payloads {readableBytes(ledger.payloadBytes)}
        </dd>
      </dl>
      <Verify />
    </section>
  );
}

interface Verified {
  readonly kind: 'sound' | 'broken' | 'drifted' | 'damaged';
  readonly sessions?: number;
  readonly events?: number;
  readonly why?: string;
}

function Verify() {
  const me = useMe();
  const [found, setFound] = useState<Verified>();
  const [refusal, setRefusal] = useState<Refusal>();
  const [isAsking, setAsking] = useState(false);
  if (me.state !== 'there' || me.value.role !== 'owner') return null;
  const verify = async () => {
    setAsking(true);
    const told = await post<Verified>('/ledger/verify', {});
    setAsking(false);
    setFound(told.ok ? told.value : undefined);
    setRefusal(told.ok ? undefined : told.error);
  };
  return (
    <div className="form-row">
      <button type="button" className="button" disabled={isAsking} onClick={() => void verify()}>
        {isAsking ? 'Reading everything …' : 'Verify the hash chain'}
      </button>
      <span role="status" className={found?.kind === 'sound' ? 'tone-good' : 'tone-bad'}>
        {found === undefined
          ? ''
          : found.kind === 'sound'
            ? `✓ sound: ${counted(found.events ?? 0, 'event')} in ${counted(found.sessions ?? 0, 'session')}`
            : `✗ ${found.kind}${found.why === undefined ? '' : `: ${found.why}`}. Run: troupe ledger verify`}
      </span>
      {refusal !== undefined && <Trouble what={refusal.message} fix={refusal.fix} />}
    </div>
  );
}

function Quota({ health: { quota } }: Props) {
  return (
    <section className="section">
      <h2>Quota</h2>
      {quota.length === 0 ? (
        <p className="quiet">No model was asked since the server began.</p>
      ) : (
        <table className="table" aria-label="Accounts of model providers">
          <thead>
            <tr>
              <th scope="col">Account</th>
              <th scope="col" className="number">
                Under way
              </th>
              <th scope="col" className="number">
                Waiting
              </th>
              <th scope="col" className="number">
                At once
              </th>
              <th scope="col">State</th>
            </tr>
          </thead>
          <tbody>
            {quota.map(({ account, underWay, queued, allowed, pausedForMs }) => (
              <tr key={account}>
                <td className="wide">{account}</td>
                <td className="number">{underWay}</td>
                <td className="number">{queued}</td>
                <td className="number">{allowed}</td>
                <td>
                  {pausedForMs > 0 ? (
                    <span className="tone-waits">‖ refused; goes on in {readableDuration(pausedForMs)}</span>
                  ) : (
                    <span className="tone-good">✓ open</span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
