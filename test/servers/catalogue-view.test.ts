import { describe, expect, it } from 'vitest'
import { findReportWithin } from '../../src/servers/find-report-within.ts'
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

describe('the catalogue on a page', () => {
  it('counts all findings, shows the 100 most severe, and the number of the others', () => {
    const { count, findings, more } = toCatalogueView(reportOf(120), 'grouped', name => `/${name}`)
    // One of the findings concerns the whole list, which is large.
    expect(count).toBe('1 error, 120 warnings')
    expect(findings).toHaveLength(100)
    expect(findings[0]).toMatchObject({ tool: 'tool_3', href: '/tool_3', level: 'error' })
    expect(more).toBe('21')
  })

  it('compares each presentation with the flat list, and marks the current one', () => {
    const { costs, tokens } = toCatalogueView(reportOf(0), 'grouped', () => undefined)
    expect(costs.map(({ difference, isNow }) => [difference, isNow])).toEqual([
      ['', false],
      ['300 more', true],
      ['11,700 fewer', false],
    ])
    expect(tokens).toBe('12,300')
  })

  it('explains what auto selected, and omits findings about tools that are not listed', () => {
    const view = toCatalogueView(reportOf(0), 'auto', () => undefined)
    expect(view).toMatchObject({ tokens: '300', why: 'They cost too much.', isFlat: false, findings: [] })
    expect(toCatalogueView(reportOf(0), 'flat', () => undefined).findings.map(({ message }) => message)).toEqual([
      expect.stringContaining('VS Code and OpenAI reject more than 128 tools'),
      expect.stringContaining('adds 12,000 tokens to every conversation'),
    ])
  })

  it('shows no tokens for a passthrough server', () => {
    expect(toCatalogueView(reportOf(0), 'passthrough', () => undefined)).toMatchObject({
      tokens: undefined,
      passesOn: true,
    })
  })

  it('shows the tokens and the number of findings of each tool', () => {
    expect(toToolCosts(reportOf(1)).get('tool_0')).toEqual({ tokens: '1,200', findings: '1 finding' })
  })
})

describe('a page that wants a report', () => {
  it('shows no report if it is not ready in time or fails', async () => {
    expect(await findReportWithin(() => new Promise(() => {}), 'id', 1)).toBeUndefined()
    expect(await findReportWithin(() => Promise.reject(new Error('sealed')), 'id', 10_000)).toBeUndefined()
    const report = reportOf(0)
    expect(await findReportWithin(() => Promise.resolve(report), 'id', 10_000)).toBe(report)
  })
})
