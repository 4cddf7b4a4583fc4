/** What does not fit together: where, whose, and both sides. Nothing of what was left out is lost. */
import { visibleText } from '../../../src/base/visible-text.ts';
import { EventLink } from '../../parts/event-link.tsx';
import { ShownText } from '../../parts/shown-text.tsx';
import type { ConflictReport } from './conflicts.ts';

export function ConflictPage({ report, session }: { readonly report: ConflictReport; readonly session: string }) {
  return (
    <>
      <h2>{visibleText(report.title)} does not fit together</h2>
      <p className="quiet">
        What was left out is kept. <EventLink session={session} event={report.position} />
      </p>
      {report.conflicts.map(({ path, tasks, why, hunks }) => (
        <section key={`${path} ${tasks.join(' ')}`} className="section" aria-label={path}>
          <h3>
            <code>{visibleText(path)}</code>: {visibleText(tasks.join(' and '))}
          </h3>
          {why !== undefined && <p>{visibleText(why)}</p>}
          {hunks.map(({ line, sides }) => (
            <div key={line} className="sides">
              {sides.map(({ name, text }) => (
                <figure key={name}>
                  <figcaption className="quiet">
                    {visibleText(name)}, line {line}
                  </figcaption>
                  <ShownText text={text} isDiff={false} label={`${name} at line ${line}`} />
                </figure>
              ))}
            </div>
          ))}
        </section>
      ))}
    </>
  );
}
