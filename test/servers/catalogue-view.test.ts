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

const hrefOf = () => undefined

describe('the catalogue on a page', () => {
  it('counts all findings, and groups them by rule, most severe first, up to 20 of each', () => {
    const view = toCatalogueView(reportOf(120), { presentation: 'grouped', hrefOf: name => `/${name}` })
    // One of the findings concerns the whole list, which is large.
    expect(view.count).toBe('1 error, 120 warnings')
    expect(view.rules.map(({ text, level, count, isOpen }) => [text, level, count, isOpen])).toEqual([
      ['No description', 'error', '1', true],
      ['No description', 'warning', '119', false],
      ['Costly catalogue', 'warning', '1', false],
    ])
    expect(view.rules[0]?.findings).toMatchObject([{ tool: 'tool_3', href: '/tool_3', remedy: 'Say something.' }])
    expect(view.rules[1]?.findings).toHaveLength(20)
    expect(view.rules[1]?.more).toBe('99')
    expect(view.rules[2]?.findings).toMatchObject([{ tool: 'All tools', href: undefined }])
  })

  it('shows the findings of one severity, and links to the others', () => {
    const levelPath = (level: string) => `?level=${level}`
    const query = { presentation: 'grouped', level: 'error', levelPath, hrefOf: () => undefined } as const
    const view = toCatalogueView(reportOf(120), query)
    expect(view.rules.map(({ level }) => level)).toEqual(['error'])
    expect(view.levels).toEqual([
      { text: 'All', count: '121', href: '?level=', isCurrent: false },
      { text: 'Errors', count: '1', href: '?level=error', isCurrent: true },
      { text: 'Warnings', count: '120', href: '?level=warning', isCurrent: false },
    ])
    // The count of the heading is that of all.
    expect(view.count).toBe('1 error, 120 warnings')
    expect(toCatalogueView(reportOf(1), { ...query, level: undefined }).levels).toHaveLength(0)
    const none = toCatalogueView(reportOf(1), { ...query, level: 'hint' })
    expect(none).toMatchObject({ rules: [], hasFindings: true })
  })

  it('compares each presentation with the flat list, and marks the current one', () => {
    const { costs, tokens } = toCatalogueView(reportOf(0), { presentation: 'grouped', hrefOf })
    expect(costs.map(({ difference, isNow }) => [difference, isNow])).toEqual([
      ['', false],
      ['300 more', true],
      ['11,700 fewer', false],
    ])
    expect(tokens).toBe('12,300')
  })

  it('explains what auto selected, and omits findings about tools that are not listed', () => {
    const view = toCatalogueView(reportOf(0), { presentation: 'auto', hrefOf })
    expect(view).toMatchObject({
      tokens: '300',
      why: 'They cost too much.',
      isFlat: false,
      hasFindings: false,
      rules: [],
    })
    const { rules } = toCatalogueView(reportOf(0), { presentation: 'flat', hrefOf })
    expect(rules.flatMap(({ findings }) => findings.map(({ message }) => message))).toEqual([
      expect.stringContaining('VS Code and OpenAI reject more than 128 tools'),
      expect.stringContaining('adds 12,000 tokens to every conversation'),
    ])
  })

  it('shows no tokens for a passthrough server', () => {
    expect(toCatalogueView(reportOf(0), { presentation: 'passthrough', hrefOf })).toMatchObject({
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
