/** A field for each thing that an input schema asks for. */
import type { Filled, InputField } from './input-fields.ts';

interface Props {
  readonly fields: readonly InputField[];
  readonly filled: Filled;
  readonly change: (name: string, text: string) => void;
}

export function SchemaFields({ fields, filled, change }: Props) {
  return fields.map((one) => (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is in Field
    <label key={one.name}>
      <span>
        {one.name === '' ? 'Its input, as JSON' : one.title}
        {one.needed ? '' : ' (if you like)'}
        {one.kind === 'list' ? ', one for each line' : ''}
        {one.kind === 'json' && one.name !== '' ? ', as JSON' : ''}
      </span>
      <Field field={one} text={filled[one.name] ?? ''} change={(text) => change(one.name, text)} />
    </label>
  ));
}

interface FieldProps {
  readonly field: InputField;
  readonly text: string;
  readonly change: (text: string) => void;
}

function Field({ field: { kind, choices, needed }, text, change }: FieldProps) {
  switch (kind) {
    case 'yes-no':
      return <input type="checkbox" checked={text === 'yes'} onChange={(event) => change(event.target.checked ? 'yes' : 'no')} />;
    case 'choice':
      return (
        <select className="field" value={text} required={needed} onChange={(event) => change(event.target.value)}>
          <option value="" />
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      );
    case 'number':
      return (
        <input
          className="field"
          inputMode="decimal"
          value={text}
          required={needed}
          onChange={(event) => change(event.target.value)}
        />
      );
    case 'line':
      return <input className="field" value={text} required={needed} onChange={(event) => change(event.target.value)} />;
    default:
      return (
        <textarea className="field" rows={3} value={text} required={needed} onChange={(event) => change(event.target.value)} />
      );
  }
}
