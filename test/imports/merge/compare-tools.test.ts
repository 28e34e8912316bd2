import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { choosablePieces, compareTool } from '../../../src/imports/merge/compare-tools.ts'
import { assertDefinition, checkDefinition } from '../../../src/tools/tool-definition.ts'
import { runsOf } from '../../support/cases-of-run.ts'
import { anyTool, toolOf } from './tools.ts'

const RUNS = { numRuns: runsOf(200) }

describe('comparing a tool with its source', () => {
  it('finds nothing to do if only the tool was edited', () => {
    fc.assert(
      fc.property(anyTool, anyTool, (base, mine) => {
        const compared = compareTool({ base, mine, theirs: structuredClone(base) })
        expect(compared).toMatchObject({ state: 'same', breaking: { mine: [], theirs: [] } })
        expect(compared.tool).toMatchObject(mine)
      }),
      RUNS,
    )
  })

  it('finds nothing to do in a tool that was just updated', () => {
    fc.assert(
      fc.property(anyTool, anyTool, anyTool, fc.constantFrom('mine', 'theirs'), (base, mine, theirs, resolve) => {
        const { tool } = compareTool({ base, mine, theirs, resolve })
        const again = compareTool({ base: theirs, mine: tool, theirs, resolve })
        expect(again.state).toBe('same')
        expect(again.tool).toEqual(tool)
      }),
      RUNS,
    )
  })

  it('always makes a tool that can be saved', () => {
    fc.assert(
      fc.property(anyTool, anyTool, anyTool, fc.constantFrom('mine', 'theirs'), (base, mine, theirs, resolve) => {
        fc.pre(checkDefinition(mine).ok && checkDefinition(theirs).ok)
        assertDefinition(compareTool({ base, mine, theirs, resolve }).tool)
      }),
      RUNS,
    )
  })

  it('takes each piece from the side that was chosen for it', () => {
    const base = toolOf()
    const mine = toolOf({ name: 'find_orders', description: 'Mine.' })
    const theirs = toolOf({ name: 'get_orders', description: 'Theirs.' })
    const resolve = { name: 'theirs' } as const
    const compared = compareTool({ base, mine, theirs, resolve })
    expect(compared.tool).toMatchObject({ name: 'get_orders', description: 'Mine.' })
    expect(compared.breaking).toEqual({
      mine: [],
      theirs: [{ message: 'The tool is now named "get_orders".' }],
      chosen: [{ message: 'The tool is now named "get_orders".' }],
    })
  })

  it('keeps one side whole if all choices are for that side', () => {
    fc.assert(
      fc.property(anyTool, anyTool, anyTool, fc.constantFrom('mine', 'theirs'), (base, mine, theirs, side) => {
        const whole = compareTool({ base, mine, theirs, resolve: side })
        const choices = Object.fromEntries(choosablePieces(whole.pieces).map(piece => [piece, side] as const))
        fc.pre(Object.keys(choices).length > 0)
        expect(compareTool({ base, mine, theirs, resolve: choices })).toEqual(whole)
      }),
      RUNS,
    )
  })

  it('shows both texts of a conflict, what is taken and what stays', () => {
    const base = toolOf()
    const mine = toolOf({ name: 'find_orders', description: 'Mine.' })
    const theirs = toolOf({ description: 'Theirs.', url: base.url.replace('&after={{after?}}', '') })
    const compared = compareTool({ base, mine, theirs })
    expect(compared).toMatchObject({ state: 'conflict', tool: { name: 'find_orders', description: 'Mine.' } })
    expect(compared.pieces).toEqual([
      { piece: 'description', change: 'conflict', isWording: true, mine: 'Mine.', theirs: 'Theirs.' },
      { piece: 'url.query.after', change: 'theirs', isWording: false, mine: 'after={{after?}}' },
      { piece: 'name', change: 'mine', isWording: false, mine: 'find_orders', theirs: 'list_orders' },
    ])
    expect(compared.breaking.mine).toEqual([{ parameter: 'after', message: 'The parameter "after" was removed.' }])
    expect(compareTool({ base, mine, theirs, resolve: 'theirs' }).tool.description).toBe('Theirs.')
  })

  it('counts a description of a parameter as wording, and its limits as more', () => {
    const base = toolOf()
    const withLimit = (meta: object) => toolOf({ parameters: { ...base.parameters, limit: meta } })
    const wordingOf = (theirs: ReturnType<typeof toolOf>) =>
      compareTool({ base, mine: base, theirs }).pieces.map(({ isWording }) => isWording)
    expect(wordingOf(withLimit({ description: 'How many orders', maximum: 100 }))).toEqual([true])
    expect(wordingOf(withLimit({ description: 'How many orders', maximum: 50 }))).toEqual([false])
  })

  it('does not take metadata without members, which the editor leaves out, for an edit', () => {
    const base = toolOf({ parameters: { limit: {}, after: {} } })
    const mine = toolOf({ description: 'Mine.', parameters: {} })
    const theirs = toolOf({ parameters: { limit: { description: 'How many' }, after: {} } })
    const compared = compareTool({ base, mine, theirs })
    expect(compared.state).toBe('changed')
    expect(compared.pieces.map(({ piece, change }) => `${change}: ${piece}`)).toEqual([
      'theirs: parameters.limit',
      'mine: description',
    ])
  })

  it('leaves the choice between two whole tools that cannot be combined', () => {
    const base = toolOf({ url: 'https://a.example/x?a={{a}}', headers: [], parameters: {} })
    const mine = { ...base, headers: [{ name: 'X-Mine', value: '{{b}}' }] }
    const theirs = { ...base, url: 'https://a.example/x?a={{a}}&b={{integer:b}}' }
    const compared = compareTool({ base, mine, theirs })
    expect(compared).toMatchObject({ state: 'conflict', tool: { url: mine.url, headers: mine.headers } })
    expect(compared.pieces).toContainEqual({
      piece: 'request',
      change: 'conflict',
      isWording: false,
      mine: 'GET https://a.example/x?a={{a}}',
      theirs: 'GET https://a.example/x?a={{a}}&b={{integer:b}}',
    })
    expect(compareTool({ base, mine, theirs, resolve: 'theirs' }).tool).toMatchObject({ url: theirs.url, headers: [] })
  })

  it('finds nothing in a tool that was saved under older rules', () => {
    const base = toolOf()
    expect(compareTool({ base, mine: { ...base, templateRules: 1 }, theirs: base })).toMatchObject({
      state: 'same',
      pieces: [],
    })
  })
})
