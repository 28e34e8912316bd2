import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mergeTool } from '../../../src/imports/merge/merge-tool.ts'
import { toPieces } from '../../../src/imports/merge/tool-pieces.ts'
import { checkDefinition } from '../../../src/tools/tool-definition.ts'
import { runsOf } from '../../support/cases-of-run.ts'
import { anyTool, toolOf } from './tools.ts'

/** The metadata of parameters also depends on which placeholders are left. */
const isNoParameter = ({ piece }: { piece: string }): boolean => !piece.startsWith('parameters.')
const namesOf = (pieces: readonly { piece: string }[]): readonly string[] => pieces.map(({ piece }) => piece)

const RUNS = { numRuns: runsOf(200) }

describe('merging any tools', () => {
  it('gives theirs if nothing was changed by hand', () => {
    fc.assert(
      fc.property(anyTool, anyTool, (base, theirs) => {
        const merged = mergeTool({ base, theirs, mine: structuredClone(base) })
        expect(merged.tool).toEqual(theirs)
        expect(merged).toMatchObject({ kept: [], conflicts: [] })
      }),
      RUNS,
    )
  })

  it('gives mine if the source did not change', () => {
    fc.assert(
      fc.property(anyTool, anyTool, (base, mine) => {
        const merged = mergeTool({ base, theirs: structuredClone(base), mine })
        expect(merged.tool).toEqual(mine)
        expect(merged).toMatchObject({ changed: [], conflicts: [] })
      }),
      RUNS,
    )
  })

  it('has no conflicts if both sides are the same', () => {
    fc.assert(
      fc.property(anyTool, anyTool, (base, both) => {
        const merged = mergeTool({ base, theirs: both, mine: structuredClone(both) })
        expect(merged).toEqual({ tool: both, changed: [], kept: [], conflicts: [] })
      }),
      RUNS,
    )
  })

  it('has mine in every conflict, or theirs where that is chosen, and otherwise the side that changed', () => {
    fc.assert(
      fc.property(anyTool, anyTool, anyTool, (base, theirs, mine) => {
        const shape = 'whole'
        const versions = {
          base: { ...base, body: 'x' },
          theirs: { ...theirs, body: 'x' },
          mine: { ...mine, body: 'x' },
        }
        const { conflicts, changed, kept, tool } = mergeTool(versions)
        const merged = toPieces(tool, shape)
        const chosen = toPieces(
          mergeTool(versions, new Map(conflicts.map(({ piece }) => [piece, 'theirs']))).tool,
          shape,
        )
        const [ofTheirs, ofMine] = [toPieces(versions.theirs, shape), toPieces(versions.mine, shape)]
        for (const { piece } of conflicts.filter(isNoParameter)) {
          expect(merged.get(piece)).toEqual(ofMine.get(piece))
          expect(chosen.get(piece)).toEqual(ofTheirs.get(piece))
        }
        for (const { piece } of changed.filter(isNoParameter)) expect(merged.get(piece)).toEqual(ofTheirs.get(piece))
        for (const { piece } of kept.filter(isNoParameter)) expect(merged.get(piece)).toEqual(ofMine.get(piece))
      }),
      RUNS,
    )
  })
})

describe('merging a tool that both sides changed', () => {
  const base = toolOf()
  const theirs = toolOf({
    description: 'Lists all orders.',
    url: '{{url:base_url}}/v2/orders?limit={{integer:limit?}}&fields={{fields?}}',
    parameters: {
      ...base.parameters,
      limit: { description: 'How many', maximum: 50 },
      fields: { description: 'Fields' },
    },
  })
  const { after: _, ...withoutAfter } = base.parameters
  const mine = toolOf({
    name: 'find_orders',
    description: 'Finds orders of the shop.',
    url: '{{url:base_url}}/orders?limit={{integer:limit?}}&after={{after?}}&state=open',
    headers: [...base.headers, { name: 'X-Trace', value: 'patchbay' }],
  })

  it('takes changes of the source, keeps those by hand, and names the conflicts', () => {
    const merged = mergeTool({
      base,
      theirs: { ...theirs, parameters: { ...theirs.parameters, ...withoutAfter } },
      mine,
    })
    expect(merged.tool).toMatchObject({
      name: 'find_orders',
      description: 'Finds orders of the shop.',
      url: '{{url:base_url}}/v2/orders?limit={{integer:limit?}}&fields={{fields?}}&state=open',
      headers: [{ name: 'Accept' }, { name: 'X-Trace', value: 'patchbay' }],
    })
    expect(merged.conflicts).toEqual([
      { piece: 'description', base: base.description, mine: mine.description, theirs: theirs.description },
    ])
    expect(namesOf(merged.kept)).toEqual(['name', 'url.query.state', 'headers.x-trace'])
    expect(namesOf(merged.changed)).toEqual(expect.arrayContaining(['url.path', 'url.query.fields', 'url.query.after']))
    expect(checkDefinition(merged.tool).ok).toBe(true)
  })

  it('drops a parameter with its last place, and keeps the metadata of one that still has a place', () => {
    const gone = mergeTool({ base, theirs: toolOf({ url: '{{url:base_url}}/orders', parameters: {} }), mine: base })
    expect(gone.tool.parameters).toEqual({})
    const edited = { ...base, url: base.url.replace('after={{after?}}', 'after={{after?}}-x') }
    const kept = mergeTool({
      base,
      theirs: { ...base, url: '{{url:base_url}}/orders', parameters: withoutAfter },
      mine: edited,
    })
    expect(namesOf(kept.conflicts)).toEqual(['url.query.after'])
    expect(kept.tool.url).toBe('{{url:base_url}}/orders?after={{after?}}-x')
    expect(kept.tool.parameters.after).toEqual({ description: 'A cursor' })
  })

  it('compares the members of a JSON body and of a form by themselves', () => {
    const json = (body: string) => toolOf({ method: 'POST', headers: [], body, parameters: {} })
    const merged = mergeTool({
      base: json('{"a": {{a}}, "b": {{b}}}'),
      theirs: json('{"a": {{a}}, "b": {{integer:b}}, "c": {{c?}}}'),
      mine: json('{"a": "fixed, {{a}}", "b": {{b}}}'),
    })
    expect(merged.tool.body).toBe('{"a": "fixed, {{a}}", "b": {{integer:b}}, "c": {{c?}}}')
    const form = (body: string) =>
      toolOf({ headers: [{ name: 'Content-Type', value: 'application/x-www-form-urlencoded' }], body, parameters: {} })
    const forms = { base: form('a={{a}}&b=1'), theirs: form('a={{a=x&y}}&b=1'), mine: form('a={{a}}&b=2') }
    expect(mergeTool(forms).tool.body).toBe('a={{a=x&y}}&b=2')
  })
})
