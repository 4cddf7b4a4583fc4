/** What is wrong with the files of agents: where, what, and what to do. */
import { visibleText } from '../../../src/base/visible-text.ts';
import { counted } from '../../../src/base/wording.ts';
import type { AgentFinding, AgentsChecked } from '../../api/types.ts';
import './agents.css';

export function Problems({ checked: { agents, errors, warnings, diagnostics } }: { readonly checked: AgentsChecked }) {
  return (
    <section className="section" aria-label="Problems in agent files">
      <h2>Files</h2>
      <p>
        {counted(agents, 'agent')},{' '}
        {errors + warnings === 0 ? (
          <span className="tone-good">✓ nothing wrong with their files</span>
        ) : (
          <span className={errors > 0 ? 'tone-bad' : 'tone-waits'}>
            {errors > 0 ? '✗' : '!'} {counted(errors, 'error')}, {counted(warnings, 'warning')}
          </span>
        )}
      </p>
      <Findings findings={diagnostics} />
    </section>
  );
}

export function Findings({ findings }: { readonly findings: readonly AgentFinding[] }) {
  if (findings.length === 0) return null;
  return (
    <ul className="findings">
      {findings.map(({ file, line, column, severity, message, fix }) => (
        <li key={`${file}:${line}:${column} ${message}`}>
          <span className={severity === 'error' ? 'tone-bad' : 'tone-waits'}>
            {severity === 'error' ? '✗ error' : '! warning'}
          </span>{' '}
          <code>
            {visibleText(file)}:{line}:{column}
          </code>
          <p>{visibleText(message)}</p>
          {fix !== undefined && <p className="quiet">{visibleText(fix)}</p>}
        </li>
      ))}
    </ul>
  );
}
