/** The call, changed: a command as text, anything else as JSON. The server holds it to the tool. */
import { type FormEvent, useState } from 'react';
import { isJsonObject, type Json, parseJson } from '../../../src/base/json.ts';
import { focusFirst } from './focus-first.ts';

interface Props {
  readonly input: Json;
  readonly close: () => void;
  readonly send: (input: Json) => void;
}

export function EditCall({ input, close, send }: Props) {
  const command = isJsonObject(input) && typeof input['command'] === 'string' ? input['command'] : undefined;
  const [text, setText] = useState(command ?? JSON.stringify(input, null, 2));
  const [wrong, setWrong] = useState<string>();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (command !== undefined && isJsonObject(input)) return send({ ...input, command: text });
    const parsed = parseJson(text);
    return parsed.ok ? send(parsed.value as Json) : setWrong('This is not JSON; nothing was sent.');
  };
  return (
    <form className="answer-form" onSubmit={submit}>
      <label>
        {command === undefined ? 'The arguments, as JSON' : 'The command'}
        <textarea
          className="field mono"
          rows={Math.min(16, text.split('\n').length + 1)}
          value={text}
          ref={focusFirst}
          spellCheck={false}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      {wrong !== undefined && <p role="alert">{wrong}</p>}
      <div className="act-row">
        <button type="submit" className="button first">
          Approve this instead
        </button>
        <button type="button" className="button" onClick={close}>
          Back
        </button>
      </div>
    </form>
  );
}
