import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../../src/lib/kernel/json.ts'
import type { ParameterMeta } from '../../src/templates/check-value.ts'
import {
  type CheckedParameter,
  compileParameterCheck,
  compileParameters,
} from '../../src/templates/compile-parameters.ts'
import { inputSchemaOf } from '../../src/templates/input-schema.ts'
import type { ParameterType } from '../../src/templates/template.ts'
import { SLOW_PATTERN, slowValue } from '../support/slow-pattern.ts'
import { compiled } from './compiling.ts'

const checked = (type: ParameterType, meta: ParameterMeta, value: JsonValue) => {
  const check = compileParameterCheck(type, meta)
  if (!check.ok) throw new Error(JSON.stringify(check.error))
  return check.value(value)
}

describe('a value checked against the metadata of its parameter', () => {
  it.each<[ParameterType, ParameterMeta, JsonValue, JsonValue]>([
    ['string', { enum: ['a', 'b'] }, 'b', 'b'],
    ['integer', { enum: [1, 2] }, '2', 2],
    ['json', { enum: [{ a: 1, b: 2 }] }, { b: 2, a: 1 }, { b: 2, a: 1 }],
    ['integer', { minimum: 1, maximum: 3 }, '3', 3],
    ['number', { minimum: 0.5 }, 0.5, 0.5],
    ['string', { pattern: '^[a-z]+$' }, 'abc', 'abc'],
    ['string', { pattern: 'b' }, 'abc', 'abc'],
    ['url', { pattern: '^https:' }, 'https://a.example', 'https://a.example'],
  ])('%s with %j takes %j', (type, meta, value, cast) => {
    expect(checked(type, meta, value)).toEqual({ ok: true, value: cast })
  })

  it.each<[ParameterType, ParameterMeta, JsonValue, { expected: string; got: string }]>([
    ['string', { enum: ['a', 'b'] }, 'c', { expected: 'one of "a", "b"', got: 'another value' }],
    ['integer', { minimum: 1 }, 0, { expected: 'an integer of at least 1', got: 'a smaller value' }],
    ['number', { maximum: 1.5 }, 2, { expected: 'a number of at most 1.5', got: 'a greater value' }],
    ['string', { pattern: '^a$' }, 'b', { expected: 'a string that matches ^a$', got: 'a string that does not' }],
    ['string', { pattern: '^a$' }, 'a\n', { expected: 'a string that matches ^a$', got: 'a string that does not' }],
    ['integer', { minimum: 1 }, 'x', { expected: 'an integer', got: 'a string that is not one' }],
    [
      'string',
      { pattern: 'a' },
      'a'.repeat(10_001),
      { expected: 'a string of at most 10000 characters', got: 'a longer string' },
    ],
  ])('%s with %j refuses %j', (type, meta, value, error) => {
    expect(checked(type, meta, value)).toEqual({ ok: false, error })
  })

  it('lists only the first 20 values of a long enum in its error', () => {
    const result = checked('integer', { enum: Array.from({ length: 25 }, (_, index) => index) }, 25)
    expect(result).toMatchObject({ error: { expected: expect.stringMatching(/^one of 0, .*, 19 and 5 more$/) } })
  })

  it('is matched in linear time, even with patterns that would take a backtracking engine years', () => {
    expect(checked('string', { pattern: '^(a+)+$' }, `${'a'.repeat(9_999)}!`).ok).toBe(false)
  })

  it('is rejected if even linear matching takes too long, and the next value is matched as usual', () => {
    const check = compileParameterCheck('string', { pattern: SLOW_PATTERN })
    if (!check.ok) throw new Error(JSON.stringify(check.error))
    expect(check.value(slowValue())).toMatchObject({ error: { got: 'a string that takes too long to match' } })
    expect(check.value('a')).toMatchObject({ error: { got: 'a string that does not' } })
  })
})

describe('metadata that does not fit its parameter', () => {
  it.each<[ParameterType, ParameterMeta, string, RegExp]>([
    ['string', { minimum: 1 }, 'minimum', /only parameters of type integer or number can have a minimum/],
    ['json', { maximum: 1 }, 'maximum', /only parameters of type integer or number can have a maximum/],
    ['integer', { minimum: 2, maximum: 1 }, 'minimum', /greater than the maximum/],
    ['number', { minimum: Number.NaN }, 'minimum', /finite/],
    ['integer', { pattern: 'a' }, 'pattern', /only parameters of type string or url/],
    ['string', { pattern: '(' }, 'pattern', /cannot be used/],
    ['string', { pattern: '(?=a)' }, 'pattern', /look-around/],
    ['string', { pattern: '(a)\\1' }, 'pattern', /cannot be used/],
    ['string', { pattern: '(?i)a' }, 'pattern', /clients cannot compile/],
    ['string', { pattern: 'a'.repeat(1_001) }, 'pattern', /longer than 1000/],
    [
      'string',
      { pattern: 'a{1,1000}b{1,1000}' },
      'pattern',
      /too complex: .* has \d+ instructions, and the limit is 2500/,
    ],
    ['integer', { enum: [1, '2'] }, 'enum', /value 2 of the enum is not an integer/],
    ['string', { enum: [] }, 'enum', /at least one/],
    ['string', { enum: ['a'], default: 'b' }, 'default', /the default must be one of "a"/],
    ['integer', { default: 'x' }, 'default', /the default must be an integer/],
    ['integer', { minimum: 1, default: 0 }, 'default', /at least 1/],
    ['boolean', { example: 'yes' }, 'example', /the example must be true or false/],
  ])('%s with %j is refused at %s', (type, meta, key, message) => {
    const result = compileParameterCheck(type, meta)
    expect(result).toMatchObject({ ok: false, error: [{ key, message: expect.stringMatching(message) }] })
  })
})

describe('the parameters of a template with their metadata', () => {
  const { parameters } = compiled({
    url: 'https://api.example.com/{{integer:id}}?limit={{integer:limit=10}}&sort={{sort}}&constructor={{constructor?}}',
  })

  it('have the default of either side', () => {
    const result = compileParameters(parameters, {
      sort: { default: 'name', enum: ['name', 'age'] },
      limit: { maximum: 50 },
    })
    const merged = result.ok
      ? result.value.map(({ parameter }) => [parameter.name, parameter.required, parameter.default])
      : []
    expect(merged).toEqual([
      ['id', true, undefined],
      ['limit', false, 10],
      ['sort', false, 'name'],
      ['constructor', false, undefined],
    ])
  })

  it('report all errors at once, each with its path', () => {
    const result = compileParameters(parameters, {
      id: { pattern: '^1$' },
      limit: { default: 5 },
      sort: { minimum: 1, pattern: '(' },
      page: { description: 'of what?' },
    })
    expect(result.ok ? [] : result.error.map(({ path }) => path)).toEqual([
      'parameters.id.pattern',
      'parameters.limit.default',
      'parameters.sort.minimum',
      'parameters.sort.pattern',
      'parameters.page',
    ])
  })

  it('are rejected if the template’s default is not in the enum', () => {
    const result = compileParameters(parameters, { limit: { enum: [1, 2] } })
    expect(result).toMatchObject({ error: [{ path: 'parameters.limit.default' }] })
  })
})

describe('an input schema', () => {
  const parts = {
    url: '{{url:base}}/{{integer:id}}?ratio={{number:ratio?}}&deep={{boolean:deep=false}}',
    body: '{"filter": {{json:filter?}}, "sort": {{sort}}, "none": {{json:none=null}}}',
  }
  const metas: Readonly<Record<string, ParameterMeta>> = {
    base: { description: 'Where the API is', example: 'https://a.example' },
    id: { minimum: 1, maximum: 9 },
    ratio: { enum: [0.5, 1] },
    filter: { description: 'What to leave out' },
    sort: { pattern: '^[a-z]+$', default: 'name' },
  }
  const describedAs = (): readonly CheckedParameter[] => {
    const result = compileParameters(compiled(parts).parameters, metas)
    if (!result.ok) throw new Error(JSON.stringify(result.error))
    return result.value
  }

  it('describes each parameter in template order, and allows no others', () => {
    const schema = inputSchemaOf(describedAs())
    expect(schema).toEqual({
      type: 'object',
      properties: {
        base: { type: 'string', format: 'uri', description: 'Where the API is', examples: ['https://a.example'] },
        id: { type: 'integer', minimum: 1, maximum: 9 },
        ratio: { type: 'number', enum: [0.5, 1] },
        deep: { type: 'boolean', default: false },
        filter: { description: 'What to leave out' },
        sort: { type: 'string', pattern: '^[a-z]+$', default: 'name' },
        none: { default: null },
      },
      required: ['base', 'id'],
      additionalProperties: false,
    })
    expect(JSON.stringify(schema)).toMatch(/"base".*"id".*"ratio".*"deep".*"filter".*"sort"/)
  })

  it('is valid JSON Schema 2020-12 and agrees with the checks', () => {
    const validate = new Ajv2020({ strict: true, validateFormats: false }).compile(inputSchemaOf(describedAs()))
    expect(validate({ base: 'https://a.example', id: 1, filter: [{}], sort: 'age' })).toBe(true)
    expect(validate({ base: 'https://a.example', id: 10 })).toBe(false)
    expect(validate({ base: 'https://a.example', id: 1, more: 1 })).toBe(false)
    expect(validate({ id: 1 })).toBe(false)
  })

  it('has no "required" without required parameters', () => {
    expect(inputSchemaOf([])).toEqual({ type: 'object', properties: {}, additionalProperties: false })
  })
})
