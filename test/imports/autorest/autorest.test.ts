import { describe, expect, it } from 'vitest'
import { casesOfRun } from '../../support/cases-of-run.ts'
import { during, runPatchbay, runUser } from '../../support/world.ts'
import { callOperations, judge, type Verdict } from './call-operations.ts'
import { DESCRIPTIONS, startTestServer } from './test-server.ts'

/** Small ones that have something of everything: URLs, headers, forms, media types, XML, pages and secrets. */
const FIRST: ReadonlySet<string> = new Set([
  'additionalProperties',
  'azure-parameter-grouping',
  'body-formdata-urlencoded',
  'custom-baseUrl',
  'header',
  'media_types',
  'paging',
  'security-aad',
  'security-key',
  'url',
  'xml-service',
])

const MIN_RIGHT = 0.97

describe('a server that checks every request', () => {
  const server = during(startTestServer)
  const patchbay = runPatchbay()
  const builder = runUser(patchbay)
  const verdicts: Verdict[] = []

  it.each(casesOfRun(DESCRIPTIONS, name => FIRST.has(name)))(
    'accepts the calls of tools from its description %s, except for known ones',
    async name => {
      const judged = judge(await callOperations(name, server, builder))
      expect(judged.filter(({ isKnown }) => !isKnown)).toEqual([])
      verdicts.push(...judged)
    },
  )

  it('accepts at least 97 % of them', () => {
    const right = verdicts.filter(({ isRight }) => isRight)
    expect(right.length).toBeGreaterThan(verdicts.length * MIN_RIGHT)
  })
})
