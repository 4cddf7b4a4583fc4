/** What both did, step by step: what is the same as a line, what differs with both sides and the way to its events. */
import { Link } from 'wouter';
import { visibleText } from '../../../src/base/visible-text.ts';
import { counted } from '../../../src/base/wording.ts';
import { actResult, actText, DIVERGENCE_WORDS, sameText } from '../../../src/projections/comparing/words.ts';
import type { ComparedRuns } from '../../api/types.ts';

type Step = ComparedRuns['steps'][number];
type Divergence = Exclude<Step, { readonly kind: 'same' }>;
type Act = NonNullable<Divergence['a']>;

export function Steps({ value: { steps, first, left, byStep, counts } }: { readonly value: ComparedRuns }) {
  const before = first === null ? 0 : sameBefore(steps, steps.indexOf(first));
  return (
    <section className="section" aria-label="Steps">
      <h2>
        {first === null
          ? counts.same === 0
            ? 'Neither did anything'
            : `${counted(counts.same, 'step')}, all the same`
          : before === 0
            ? 'The first step is a difference already'
            : `They part behind ${counted(before, 'step')}`}
      </h2>
      {byStep && <p className="notice">They differ by too much to be aligned: they were compared step by step.</p>}
      {first !== null && (
        <ol className="divergences">
          {steps.map((step, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the list of two runs does not change
            <li key={index} className={step === first ? 'first' : undefined}>
              {step.kind === 'same' ? <span className="quiet">{sameText(step)}</span> : <Differs step={step} />}
            </li>
          ))}
        </ol>
      )}
      {left > 0 && <p className="quiet">{counted(left, 'more difference')} not listed (comparedSteps)</p>}
    </section>
  );
}

const sameBefore = (steps: readonly Step[], index: number): number =>
  steps.slice(0, index).reduce((sum, step) => sum + (step.kind === 'same' ? step.count : 0), 0);

function Differs({ step: { kind, a, b, below } }: { readonly step: Divergence }) {
  const path = a?.path === b?.path || b === null ? a?.path : a === null ? b.path : `${a.path} | ${b.path}`;
  const isSameCall = kind === 'result' || kind === 'answer';
  const textOf = (act: Act | null): string | null =>
    kind === 'result' ? actResult(act) : kind === 'answer' ? (act?.answer ?? null) : actText(act);
  return (
    <>
      <p className="tone-waits">
        ! {path !== undefined && path !== '' && <span>{visibleText(path)}: </span>}
        {DIVERGENCE_WORDS[kind]}
      </p>
      {isSameCall && a !== null && <p className="mono">{visibleText(actText(a) ?? '')}</p>}
      <Side name="A" act={a} text={textOf(a)} />
      <Side name="B" act={b} text={textOf(b)} />
      {below > 0 && <p className="quiet">and {counted(below, 'step')} in runs that it began</p>}
    </>
  );
}

function Side({ name, act, text }: { readonly name: 'A' | 'B'; readonly act: Act | null; readonly text: string | null }) {
  return (
    <p className={name === 'A' ? 'side-a mono' : 'side-b mono'}>
      {name} {text === null ? <span className="quiet">nothing</span> : visibleText(text)}
      {act?.cut === true && ' …'} {act !== null && <ToEvent event={act.event} />}
    </p>
  );
}

/** The id of an event begins with its session. */
function ToEvent({ event }: { readonly event: string }) {
  const at = event.lastIndexOf('.');
  const [session, position] = [event.slice(0, at), event.slice(at + 1)];
  return <Link href={`/sessions/${session}?mode=full&event=${position}`}>event {position}</Link>;
}
