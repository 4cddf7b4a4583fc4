/** What commands printed, what tools and models said when they failed: as it was. */
import { visibleText } from '../../../src/base/visible-text.ts';
import type { LedgerEvent } from '../../../src/events/envelope.ts';
import { textOf } from '../../../src/events/messages.ts';
import { attachmentAddress } from '../../api/bytes.ts';
import { ShownText } from '../../parts/shown-text.tsx';

interface Props {
  readonly run: string;
  readonly events: readonly LedgerEvent[];
  readonly session: string;
  readonly isOpen: boolean;
}

interface Log {
  readonly position: number;
  readonly title: string;
  readonly text: string;
  /** Where the whole is, when this is its beginning. */
  readonly whole?: string | undefined;
}

const NEWEST = 20;

export function RawLogs({ run, events, session, isOpen }: Props) {
  const logs = events
    .filter(({ run_id }) => run_id === run)
    .flatMap((event) => logIn(event, session))
    .slice(-NEWEST);
  if (logs.length === 0) return null;
  return (
    <details open={isOpen}>
      <summary>Raw logs ({logs.length})</summary>
      {logs.toReversed().map(({ position, title, text, whole }) => (
        <figure key={position} className="log">
          <figcaption className="quiet">
            {visibleText(title)}{' '}
            {whole !== undefined && (
              <a href={whole} download>
                the whole
              </a>
            )}
          </figcaption>
          <ShownText text={text} isDiff={false} label={title} />
        </figure>
      ))}
    </details>
  );
}

function logIn(event: LedgerEvent, session: string): readonly Log[] {
  const { position, attachment_ref } = event;
  const whole = attachment_ref === null ? undefined : attachmentAddress(session, attachment_ref, position);
  switch (event.event_type) {
    case 'cli.run': {
      const { command, exitCode, signal } = event.payload;
      return exitCode === 0 ? [] : [{ position, title: `exit ${exitCode ?? signal ?? 'unknown'}`, text: `$ ${command}` }];
    }
    case 'cli.stdout':
    case 'cli.stderr':
      return event.payload.head === ''
        ? []
        : [{ position, title: event.event_type.replace('cli.', ''), text: event.payload.head, whole }];
    case 'tool.result':
      return event.payload.isError === true
        ? [{ position, title: `${event.payload.name} failed`, text: textOf(event.payload.content), whole }]
        : [];
    case 'model.failed': {
      const { model, attempt, error } = event.payload;
      return [{ position, title: `${model}, attempt ${attempt}: ${error.kind}`, text: error.message }];
    }
    case 'task.error':
      return [{ position, title: event.payload.code, text: event.payload.message }];
    default:
      return [];
  }
}
