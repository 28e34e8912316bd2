import { readFileSync } from 'node:fs'
import { validate } from '@hyperjump/json-schema/draft-2020-12'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { load } from 'js-yaml'
import { beforeAll, describe, expect, it } from 'vitest'
import type { ImportedOperation, MappedOperation } from '../../src/imports/openapi/imported-operation.ts'
import { isJsonObject, type JsonObject } from '../../src/lib/kernel/json.ts'
import { toShownTool } from '../../src/tools/shown-tool.ts'
import { compareRequests, isDeparture } from './golden.ts'
import { isTool, readAll } from './reading.ts'

const DESCRIPTIONS = [
  { name: 'Figma', file: '@figma/rest-api-spec/openapi/openapi.yaml', tools: 54, refused: 0 },
  { name: 'Galaxy', file: '@scalar/galaxy/dist/3.1.yaml', tools: 9, refused: 1 },
  { name: 'Netlify', file: '@netlify/open-api/dist/swagger.json', tools: 176, refused: 5 },
]

const parse = (text: string): JsonObject => {
  const parsed: unknown = text.startsWith('{') ? JSON.parse(text) : load(text)
  return isJsonObject(parsed) ? parsed : {}
}

describe.each(DESCRIPTIONS)('the description of $name', ({ file, tools, refused }) => {
  let operations: readonly ImportedOperation[] = []
  let mapped: readonly MappedOperation[] = []
  const bytes = readFileSync(`node_modules/${file}`)

  beforeAll(async () => {
    operations = (await readAll([{ name: file, bytes }])).operations
    mapped = operations.filter(isTool)
  })

  it('becomes tools, except for operations that send files', () => {
    expect(mapped).toHaveLength(tools)
    const reasons = operations.flatMap(one => ('reason' in one ? [one.reason] : []))
    expect(reasons).toHaveLength(refused)
    for (const reason of reasons) expect(reason).toMatch(/file|form without described fields/)
  })

  it('has schemas that two validators accept', async () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    for (const { tool, outputSchema = {} } of mapped) {
      for (const schema of [toShownTool(tool).inputSchema, outputSchema]) {
        expect(ajv.validateSchema(schema)).toBe(true)
        const { valid } = await validate('https://json-schema.org/draft/2020-12/schema', schema)
        expect(valid).toBe(true)
      }
    }
  })

  it('has examples that the schemas of their parameters accept', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    const examples = mapped.flatMap(({ tool }) =>
      Object.values(tool.parameters).filter(({ example, schema }) => example !== undefined && schema !== undefined),
    )
    expect(examples.filter(({ schema = {}, example }) => !ajv.validate(schema, example))).toEqual([])
  })

  it('has no errors for widely used clients', () => {
    const errors = mapped.flatMap(({ tool, findings }) =>
      findings.filter(({ level }) => level === 'error').map(({ message }) => `${tool.name}: ${message}`),
    )
    expect(errors).toEqual([])
  })

  it('sends the requests that swagger-client sends', async () => {
    const differences = await compareRequests(mapped, parse(bytes.toString('utf8')))
    expect(differences.filter(one => !isDeparture(one))).toEqual([])
  })
})
