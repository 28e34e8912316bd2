import { describe, expect, it } from 'vitest'
import { findReportSoon } from '../../src/servers/find-report-soon.ts'
import type { CatalogueReport } from '../../src/tools/lint/catalogue-report.ts'
import { toCatalogueView, toToolCosts } from '../../src/web/sources/catalogue.view.ts'

const reportOf = (findings: number): CatalogueReport => ({
  encoding: 'o200k_base',
  tools: Array.from({ length: findings }, (_, index) => ({
    name: `tool_${index}`,
    tokens: 1_200,
    findings: [
      {
        rule: 'no-description',
        level: index === 3 ? 'error' : 'warning',
        field: 'description',
        message: 'Says nothing.',
        remedy: 'Say something.',
        clients: [],
      },
    ],
  })),
  costs: [
    { presentation: 'flat', tools: 130, tokens: 12_000, bytes: 48_000 },
    { presentation: 'grouped', tools: 2, tokens: 12_300, bytes: 49_000 },
    { presentation: 'search', tools: 2, tokens: 300, bytes: 1_200 },
  ],
  auto: { presentation: 'search', why: 'They cost too much.' },
})

describe('what a page says of a catalogue', () => {
  it('counts all findings, shows a hundred, the worst first, and says how many more there are', () => {
    const { count, findings, more } = toCatalogueView(reportOf(120), 'grouped', name => `/${name}`)
    // One of them is of the whole list, which is dear.
    expect(count).toBe('1 that clients refuse, 120 warnings')
    expect(findings).toHaveLength(100)
    expect(findings[0]).toMatchObject({ tool: 'tool_3', href: '/tool_3', level: 'refused' })
    expect(more).toBe('21')
  })

  it('compares presentations with each tool by itself, more or fewer, and marks what clients get now', () => {
    const { costs, tokens } = toCatalogueView(reportOf(0), 'grouped', () => undefined)
    expect(costs.map(({ difference, isNow }) => [difference, isNow])).toEqual([
      ['', false],
      ['300 more', true],
      ['11,700 fewer', false],
    ])
    expect(tokens).toBe('12,300')
  })

  it('of auto says what it came to and why, and nothing of tools that clients are not shown in a list', () => {
    const view = toCatalogueView(reportOf(0), 'auto', () => undefined)
    expect(view).toMatchObject({ tokens: '300', why: 'They cost too much.', isFlat: false, findings: [] })
    expect(toCatalogueView(reportOf(0), 'flat', () => undefined).findings.map(({ message }) => message)).toEqual([
      expect.stringContaining('VS Code and OpenAI reject more than 128 tools'),
      expect.stringContaining('takes 12,000 tokens of every conversation'),
    ])
  })

  it('of a server that passes requests on claims no tokens', () => {
    expect(toCatalogueView(reportOf(0), 'passthrough', () => undefined)).toMatchObject({
      tokens: undefined,
      passesOn: true,
    })
  })

  it('says beside each tool what it costs, and how many findings there are', () => {
    expect(toToolCosts(reportOf(1)).get('tool_0')).toEqual({ tokens: '1,200', findings: '1 finding' })
  })
})

describe('a page that wants a report', () => {
  it('goes without one that is not made in time, or cannot be made', async () => {
    expect(await findReportSoon(() => new Promise(() => {}), 'id', 1)).toBeUndefined()
    expect(await findReportSoon(() => Promise.reject(new Error('sealed')), 'id', 10_000)).toBeUndefined()
    const report = reportOf(0)
    expect(await findReportSoon(() => Promise.resolve(report), 'id', 10_000)).toBe(report)
  })
})
