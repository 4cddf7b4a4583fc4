/**
 * Whether something looks like a JSON Schema. Not a full check: it catches what people get wrong (a misspelt type, a list of
 * property names instead of a map), with the path to it.
 */

import { suggest } from '../../base/did-you-mean.ts';
import { isJsonObject } from '../../base/json.ts';
import { quote } from '../text/diagnostics.ts';
import type { Path } from '../text/yaml-map.ts';

export interface SchemaProblem {
  readonly path: Path;
  readonly message: string;
  readonly fix?: string | undefined;
}

const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
/** Any of these says something about values without a `type`. */
const WITHOUT_TYPE = ['$ref', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', 'not', 'if', 'properties', 'items'];
const HOLDS_MANY = ['properties', 'patternProperties', '$defs', 'definitions'];
const HOLDS_LIST = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const HOLDS_ONE = ['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains'];

/** The depth is that of the frontmatter, which is bounded before this sees it. */
export function schemaProblems(schema: unknown, path: Path = []): readonly SchemaProblem[] {
  if (typeof schema === 'boolean' && path.length > 0) return [];
  if (!isJsonObject(schema))
    return [{ path, message: 'a JSON Schema must be a map of keys', fix: 'Write for example `type: object`.' }];
  return [...typeProblems(schema, path), ...requiredProblems(schema, path), ...nestedProblems(schema, path)];
}

function typeProblems(schema: Readonly<Record<string, unknown>>, path: Path): readonly SchemaProblem[] {
  const { type } = schema;
  if (type === undefined) {
    const silent = path.length === 0 && !WITHOUT_TYPE.some((key) => key in schema);
    return silent ? [{ path, message: 'the JSON Schema has no "type"', fix: 'Write for example `type: object`.' }] : [];
  }
  const types = Array.isArray(type) ? type : [type];
  return types
    .filter((one) => !(typeof one === 'string' && TYPES.includes(one)))
    .map((one) => ({
      path: [...path, 'type'],
      message: `${quote(String(one))} is not a JSON Schema type`,
      fix: suggest(String(one), TYPES, 'types'),
    }));
}

function requiredProblems(schema: Readonly<Record<string, unknown>>, path: Path): readonly SchemaProblem[] {
  const { required } = schema;
  if (required === undefined || (Array.isArray(required) && required.every((key) => typeof key === 'string'))) return [];
  return [
    {
      path: [...path, 'required'],
      message: '"required" must be a list of property names',
      fix: 'It stands beside "properties".',
    },
  ];
}

function nestedProblems(schema: Readonly<Record<string, unknown>>, path: Path): readonly SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  for (const [key, value] of Object.entries(schema)) {
    const here = [...path, key];
    if (HOLDS_MANY.includes(key)) {
      if (!isJsonObject(value)) problems.push({ path: here, message: `"${key}" must be a map from names to schemas` });
      else for (const [name, inner] of Object.entries(value)) problems.push(...schemaProblems(inner, [...here, name]));
    } else if (HOLDS_LIST.includes(key)) {
      if (!Array.isArray(value)) problems.push({ path: here, message: `"${key}" must be a list of schemas` });
      else
        value.forEach((inner, index) => {
          problems.push(...schemaProblems(inner, [...here, index]));
        });
    } else if (HOLDS_ONE.includes(key)) problems.push(...schemaProblems(value, here));
  }
  return problems;
}
