import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toWaitingTool } from '../../src/web/upstreams/upstream-waiting.view.ts'

const show = (before: string | undefined, after: string) =>
  toWaitingTool({
    name: 'read',
    hash: 'hash',
    before: before === undefined ? undefined : { description: before },
    after: { description: after },
  }).rows[0]

type Side = { lead: string; marked: string; trail: string }
const wholeOf = ({ lead, marked, trail }: Side): string => lead + marked + trail

/** Without hidden characters. */
const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', 'é', '字', '<'), maxLength: 60 })

describe('the diff of a tool that waits for approval', () => {
  it('shows both sides completely and marks only what differs', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        fc.pre(before !== after)
        const row = show(before, after)
        expect(row && [wholeOf(row.from), wholeOf(row.to)]).toEqual([before, after])
        expect(row?.from.lead).toBe(row?.to.lead)
        expect(row?.from.trail).toBe(row?.to.trail)
        expect(row?.from.marked).not.toBe(row?.to.marked)
      }),
    )
  })

  it('shows hidden characters by their code point', () => {
    expect(show('Reads.', 'Reads.\u200b\u{e0041}\u202e')?.to.marked).toBe('\\u{200b}\\u{e0041}\\u{202e}')
  })

  it('is cut around the difference of a long text, and says by how much', () => {
    const long = 'x'.repeat(9_000)
    const row = show(`${long}old${long}`, `${long}new${long}`)
    expect(row?.to).toEqual({
      lead: `…${'x'.repeat(400)}`,
      marked: 'new',
      trail: `${'x'.repeat(400)}…`,
      cut: '17,200 more characters, not shown here',
    })
    const added = show('', 'y'.repeat(20_000))
    expect(added?.to).toMatchObject({
      lead: '',
      marked: `${'y'.repeat(8_000)}…`,
      cut: '12,000 more characters, not shown here',
    })
  })

  it('has a row for each changed, added or removed field, whatever the order of members', () => {
    const { rows, isNew } = toWaitingTool({
      name: 'read',
      hash: 'hash',
      before: { title: 'Read', inputSchema: { type: 'object', a: 1 }, icons: [] },
      after: { description: 'Reads.', inputSchema: { a: 1, type: 'object' } },
    })
    expect(isNew).toBe(false)
    expect(rows.map(({ field, from, to }) => [field, wholeOf(from), wholeOf(to)])).toEqual([
      ['title', 'Read', ''],
      ['description', '', 'Reads.'],
      ['icons', '[]', ''],
    ])
  })
})
