/** A run from here: a box for the prompt, or a field for each thing that the agent's input schema asks for. */
import { type FormEvent, type KeyboardEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { post, type Refusal } from '../../api/client.ts';
import type { Started } from '../../api/types.ts';
import { Trouble } from '../../parts/trouble.tsx';
import { useMe } from '../../store/hooks.ts';
import { type Filled, fieldsOf, promptOf } from './input-fields.ts';
import { SchemaFields } from './schema-fields.tsx';

interface Props {
  readonly agent: string;
  /** Without one its input is a prompt. */
  readonly schema: unknown;
}

export function RunForm({ agent, schema }: Props) {
  const [prompt, setPrompt] = useState('');
  const [filled, setFilled] = useState<Filled>({});
  const [terms, setTerms] = useState({ model: '', usd: '' });
  const [refusal, setRefusal] = useState<Refusal>();
  const [isStarting, setStarting] = useState(false);
  const [, go] = useLocation();
  const me = useMe();
  const fields = fieldsOf(schema);
  const made = fields === undefined ? { ok: true as const, value: prompt.trim() } : promptOf(fields, filled);
  const start = async () => {
    if (!made.ok || made.value === '') return;
    setStarting(true);
    const started = await post<Started>('/runs', { agent, prompt: made.value, ...termsOf(terms) });
    setStarting(false);
    if (started.ok) go(`/sessions/${started.value.session}`);
    else setRefusal(started.error);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void start();
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void start();
  };
  return (
    <form className="form" aria-label={`Run ${agent}`} onSubmit={submit}>
      <h2>Run it</h2>
      {fields === undefined ? (
        <label>
          <span>What should be done</span>
          <textarea
            className="field"
            rows={3}
            value={prompt}
            onKeyDown={onKey}
            onChange={(event) => setPrompt(event.target.value)}
          />
        </label>
      ) : (
        <SchemaFields fields={fields} filled={filled} change={(name, text) => setFilled({ ...filled, [name]: text })} />
      )}
      {!made.ok && <p className="tone-waits">{made.error}</p>}
      {me.state === 'there' && me.value.role === 'owner' && <Terms terms={terms} change={setTerms} />}
      {refusal !== undefined && <Trouble what={refusal.message} fix={refusal.fix} />}
      <div className="form-row">
        <button type="submit" className="button first" disabled={isStarting || !made.ok || made.value === ''}>
          {isStarting ? 'Starting …' : 'Run'}
        </button>
        <kbd>Ctrl Enter</kbd>
      </div>
    </form>
  );
}

interface TermsText {
  readonly model: string;
  readonly usd: string;
}

function Terms({ terms, change }: { readonly terms: TermsText; readonly change: (terms: TermsText) => void }) {
  return (
    <details>
      <summary>Model and budget</summary>
      <div className="form-row">
        <label>
          <span>Another model for this run</span>
          <input
            className="field"
            value={terms.model}
            maxLength={200}
            placeholder="as its file says"
            onChange={(event) => change({ ...terms, model: event.target.value })}
          />
        </label>
        <label>
          <span>At most so many dollars</span>
          <input
            className="field"
            value={terms.usd}
            inputMode="decimal"
            pattern="[0-9]*[.]?[0-9]*"
            onChange={(event) => change({ ...terms, usd: event.target.value })}
          />
        </label>
      </div>
    </details>
  );
}

function termsOf({ model, usd }: TermsText): object {
  const amount = Number(usd);
  return {
    ...(model.trim() === '' ? {} : { model: model.trim() }),
    ...(usd.trim() === '' || !(amount > 0) ? {} : { budget: { usd: amount } }),
  };
}
