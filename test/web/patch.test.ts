import { describe, expect, it } from 'vitest'
import { type PatchFigure, toPatchFigure } from '../../src/web/diagram/figure.ts'
import type { Patch, PatchTool } from '../../src/web/diagram/patch.ts'
import { boxesOf, brokenSocketsOf, cablesOf, jacksOf, stackEdgesOf, textsOf } from './read-diagram.ts'
import { renderPart, wiringText } from './render-part.ts'
import {
  exposed,
  FIVE_TOOLS,
  fixed,
  fromGlobal,
  fromSecret,
  NO_TOOL,
  ONE_TOOL,
  patchOf,
  TEN_TOOLS,
  TWO_HUNDRED_TOOLS,
} from './sample-patches.ts'

const heightOf = ({ viewBox }: PatchFigure): number => Number(viewBox.split(' ')[3])

const listOf = (figure: PatchFigure): string => wiringText(renderPart('patch', figure))

const tool = (name: string, parameters: PatchTool['parameters'], more: Partial<PatchTool> = {}): PatchTool => ({
  name,
  href: `/tools/${name}`,
  meta: 'GET · 3 calls',
  calls: 3,
  parameters,
  ...more,
})

const toolkitOf = (tools: readonly PatchTool[], name = 'A toolkit') => ({
  kind: 'toolkit' as const,
  name,
  href: '/toolkits/1',
  health: 'healthy, 12 ms',
  state: 'good' as const,
  tools,
})

const repeat = (count: number, make: (index: number) => PatchTool): PatchTool[] =>
  Array.from({ length: count }, (_, index) => make(index))

describe('a server without a tool', () => {
  it('is drawn as dashed outlines', () => {
    const figure = toPatchFigure(NO_TOOL)
    expect(figure).toMatchObject({ role: 'img', wiring: undefined })
    expect(figure.shapes.filter(({ attributes }) => attributes.class === 'ghost')).toHaveLength(3)
    expect(textsOf(figure.shapes)).toContain('Your tools')
    expect(boxesOf(figure.shapes)).toEqual([])
  })

  it('shows existing parts in the diagram and in the list', () => {
    const figure = toPatchFigure({
      ...patchOf('Soon', [toolkitOf([])]),
      globals: [{ key: 'api_key', source: 'secret', value: 'hidden', uses: 0 }],
    })
    expect(figure.shapes.filter(({ attributes }) => attributes.class === 'ghost')).toHaveLength(1)
    expect(boxesOf(figure.shapes)).toHaveLength(3)
    expect(listOf(figure)).toMatch(/A toolkit healthy, 12 ms Globals secret api_key not used Callers: organization/)
  })
})

describe('a server of one tool', () => {
  it('has only straight cables', () => {
    const cables = cablesOf(toPatchFigure(ONE_TOOL).shapes)
    expect(cables).toHaveLength(3)
    for (const { segments } of cables) expect(segments).toHaveLength(1)
  })

  it('shows some of very many parameters, and the number of the others', () => {
    const parameters = Array.from({ length: 200 }, (_, index) => fixed(`value_${index}`, String(index)))
    const more = Array.from({ length: 50 }, (_, index) => exposed(`asked_${index}`))
    const figure = toPatchFigure(patchOf('Wide', [toolkitOf([tool('wide', [...parameters, ...more])])]))
    expect(heightOf(figure)).toBeLessThan(700)
    expect(textsOf(figure.shapes)).toEqual(expect.arrayContaining(['and 188 more', '50 parameters', 'value_11']))
    expect(listOf(figure)).toContain('and 188 more')
  })
})

describe('a server of a few tools', () => {
  it('shows every tool and every parameter', () => {
    const { shapes } = toPatchFigure(FIVE_TOOLS)
    const names = FIVE_TOOLS.groups.flatMap(({ tools }) =>
      tools.flatMap(({ name, parameters }) => [name, ...parameters.map(parameter => parameter.name)]),
    )
    expect(textsOf(shapes)).toEqual(expect.arrayContaining(names))
    expect(stackEdgesOf(shapes)).toEqual([])
  })

  it('shows upstreams below toolkits', () => {
    const texts = textsOf(toPatchFigure(FIVE_TOOLS).shapes)
    expect(texts.indexOf('Carrier toolkit')).toBeLessThan(texts.indexOf('Depot weather'))
  })

  it('shows failing tools first', () => {
    const tools = [tool('fine', []), tool('broken', [], { state: 'failed', meta: 'GET · 3 of 3 calls failed' })]
    const texts = textsOf(toPatchFigure(patchOf('Two', [toolkitOf(tools)])).shapes)
    expect(texts.indexOf('broken')).toBeLessThan(texts.indexOf('fine'))
  })

  it('shows ten tools without stacks', () => {
    const figure = toPatchFigure(TEN_TOOLS)
    expect(textsOf(figure.shapes)).toEqual(
      expect.arrayContaining(['carrier_0', 'carrier_5', 'ledger_2', 'weather_at_depot']),
    )
    expect(stackEdgesOf(figure.shapes)).toEqual([])
  })
})

describe('a parameter whose global is missing', () => {
  it('has a broken socket, and the list names the global', () => {
    const tools = [tool('post', [{ name: 'ledger', source: 'missing', key: 'ledger_no' }])]
    const figure = toPatchFigure(patchOf('Broken', [toolkitOf(tools)]))
    expect(brokenSocketsOf(figure.shapes)).toHaveLength(1)
    expect(textsOf(figure.shapes)).toContain('no “ledger_no”')
    expect(listOf(figure)).toContain('ledger no “ledger_no”')
  })
})

describe('a secret', () => {
  it('is hidden in the diagram and in the list', () => {
    const tools = [tool('post', [fromSecret('token', 'api_token')])]
    const figure = toPatchFigure({
      ...patchOf('Sealed', [toolkitOf(tools)]),
      globals: [{ key: 'api_token', source: 'secret', value: 'never shown', uses: 1 }],
    })
    expect(textsOf(figure.shapes)).toContain('hidden')
    expect(renderPart('patch', figure)).not.toContain('never shown')
  })
})

describe('a server of 200 tools', () => {
  const figure = toPatchFigure(TWO_HUNDRED_TOOLS)
  const texts = textsOf(figure.shapes)

  it('shows one stack per source, and how often each parameter has the same source', () => {
    expect(texts).toEqual(
      expect.arrayContaining(['119 tools', '×119', '×64', '357 parameters', '64 tools', '16 tools']),
    )
    expect(stackEdgesOf(figure.shapes)).toHaveLength(6)
    expect(heightOf(figure)).toBeLessThan(700)
  })

  it('sums up different fixed values', () => expect(texts).toContain('9 values'))

  it('shows the failing tool beside its stack', () => {
    expect(texts).toEqual(expect.arrayContaining(['post_journal', 'POST · 41 of 60 calls failed']))
  })

  it('names the page that lists every parameter in its label', () => {
    expect(figure.label).toBe(
      'Patch diagram of Group office, 200 tools grouped by source. The Bindings tab lists every parameter.',
    )
  })
})

describe('a server with more than the diagram shows', () => {
  it('sums up sources beyond the eighth', () => {
    const groups = Array.from({ length: 11 }, (_, index) =>
      toolkitOf(
        repeat(3, of => tool(`tool_${index}_${of}`, [exposed('id')], { calls: 100 - index })),
        `Source ${index}`,
      ),
    )
    const texts = textsOf(toPatchFigure(patchOf('Many', groups)).shapes)
    expect(texts).toEqual(expect.arrayContaining(['Source 0', 'Source 7', '3 more sources', '3 healthy', '9 tools']))
    expect(texts).not.toContain('Source 8')
  })

  it('sums up rows of a stack beyond the sixth', () => {
    const parameters = Array.from({ length: 9 }, (_, index) => fixed(`value_${index}`, 'x'))
    const figure = toPatchFigure(patchOf('Rows', [toolkitOf(repeat(20, index => tool(`tool_${index}`, parameters)))]))
    expect(textsOf(figure.shapes)).toContain('and 3 more')
    expect(listOf(figure)).toContain('and 3 more')
  })

  it('sums up failing tools beyond the sixth of a source', () => {
    const tools = repeat(40, index => tool(`tool_${index}`, [], index < 15 ? { state: 'failed' } : {}))
    const figure = toPatchFigure(patchOf('Failing', [toolkitOf(tools)]))
    expect(textsOf(figure.shapes)).toEqual(expect.arrayContaining(['25 tools', 'tool_5', 'and 9 more failing']))
    expect(textsOf(figure.shapes)).not.toContain('tool_6')
    expect(listOf(figure)).toContain('and 9 more failing')
  })

  it('sums up globals beyond the tenth, and shows them as tags at their sockets', () => {
    const tools = repeat(12, index =>
      tool(`tool_${index}`, [fromGlobal('one', `key_${index}`), fromGlobal('all', 'all')]),
    )
    const figure = toPatchFigure(patchOf('Globals', [toolkitOf(tools)]))
    const texts = textsOf(figure.shapes)
    expect(texts).toEqual(expect.arrayContaining(['3 more', 'all', 'key_8', 'key_9', 'key_11']))
    expect(listOf(figure)).toContain('3 more')
  })

  it('sums up callers, and shows connected ones first', () => {
    const list = Array.from({ length: 14 }, (_, index) => ({
      name: `client ${index}`,
      activity: 'token',
      state: index === 13 ? ('good' as const) : ('idle' as const),
    }))
    const patch: Patch = { ...FIVE_TOOLS, callers: { tier: 'public', list } }
    const texts = textsOf(toPatchFigure(patch).shapes)
    expect(texts).toEqual(expect.arrayContaining(['client 13', 'client 3', '9 others', 'none connected']))
    expect(texts).not.toContain('client 4')
  })
})

describe('a server without callers', () => {
  it('says so in place of its callers', () => {
    const figure = toPatchFigure({ ...FIVE_TOOLS, callers: { tier: 'private', list: [] } })
    expect(textsOf(figure.shapes)).toContain('No callers yet')
    expect(listOf(figure)).toContain('No callers yet')
  })
})

describe('the list below the diagram', () => {
  it.each(Object.entries({ ONE_TOOL, FIVE_TOOLS, TEN_TOOLS, TWO_HUNDRED_TOOLS }))(
    'contains all texts of %s',
    (_, patch) => {
      const figure = toPatchFigure(patch)
      const list = listOf(figure)
      for (const text of textsOf(figure.shapes)) expect(list).toContain(text.replace(/…|”$/g, ''))
    },
  )

  it('names the source of each parameter', () => {
    expect(listOf(toPatchFigure(FIVE_TOOLS))).toContain(
      'quote_rate POST · 388 calls base global carrier_url token secret carrier_token currency fixed EUR from_port exposed from the model',
    )
  })
})

describe('names that contain markup, are written from right to left, or are very long', () => {
  const HOSTILE = [
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    '</text></svg><h1>out',
    '\u202Eevil\u202C name',
    'مرحبا بالعالم'.repeat(20),
    '👩‍👩‍👧‍👦'.repeat(50),
    'z\u0301\u0302\u0303'.repeat(900),
    'W'.repeat(5_000),
    '\uD800 half a character',
  ]
  const groups = HOSTILE.map(name => ({
    ...toolkitOf(
      [tool(name, [exposed(name), fixed(name, name), fromGlobal(name, name)], { meta: name, href: '/tools/1' })],
      name,
    ),
    health: name,
  }))
  const callers = {
    tier: 'public',
    list: HOSTILE.slice(0, 4).map(name => ({ name, activity: name, state: 'good' as const })),
  }
  const html = renderPart('patch', toPatchFigure(patchOf(HOSTILE.join(' '), groups, { callers })))

  it('are shown as text in the diagram and in the list', () => {
    const tags = new Set([...html.matchAll(/<\/?([a-z0-9]+)/gi)].map(([, name]) => name))
    const expected = ['figure', 'svg', 'a', 'g', 'path', 'rect', 'circle', 'text', 'title', 'details', 'summary', 'div']
    expect(
      [...tags].filter(
        name => !expected.concat('section', 'h3', 'h4', 'ul', 'li', 'span', 'code', 'small').includes(name ?? ''),
      ),
    ).toEqual([])
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  })

  it('do not reverse other text or split characters', () => {
    expect(html).not.toMatch(/[\u202a-\u202e]/)
    expect(html.isWellFormed()).toBe(true)
    expect(html).toContain('👩‍👩‍👧‍👦…')
  })

  it('are cut to fit, with the full name in a title', () => {
    const { shapes } = toPatchFigure(patchOf('Long', [toolkitOf([tool('a'.repeat(64), [])])]))
    const long = textsOf(shapes).find(text => text.startsWith('aaa')) ?? ''
    expect(long).toMatch(/^a{10,40}…$/)
    expect(JSON.stringify(shapes)).toContain(`"tag":"title","attributes":{},"text":"${'a'.repeat(64)}"`)
  })
})

describe('a diagram without addresses, as on the landing page', () => {
  it('has no links', () => {
    const groups = [{ ...toolkitOf([{ ...tool('track', [exposed('id')]), href: undefined }]), href: undefined }]
    const html = renderPart(
      'patch',
      toPatchFigure({ ...patchOf('An example', groups), links: {}, callers: { tier: 'public', list: [] } }),
    )
    expect(html).not.toContain('<a ')
    expect(jacksOf(toPatchFigure(patchOf('An example', groups)).shapes)).toHaveLength(2)
  })
})
