import { describe, expect, it } from 'vitest'
import { type PatchFigure, toPatchFigure } from '../../src/web/diagram/figure.ts'
import type { Patch, PatchTool } from '../../src/web/diagram/patch.ts'
import { renderPart, wordsOfList } from './parts.ts'
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
} from './patches.ts'
import { boxesOf, brokenSocketsOf, cablesOf, jacksOf, sheetsOf, textsOf } from './picture.ts'

const heightOf = ({ viewBox }: PatchFigure): number => Number(viewBox.split(' ')[3])

const wordsOf = (figure: PatchFigure): string => wordsOfList(renderPart('patch', figure))

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
  health: 'answering, 12 ms',
  state: 'good' as const,
  tools,
})

const repeat = (count: number, make: (index: number) => PatchTool): PatchTool[] =>
  Array.from({ length: count }, (_, index) => make(index))

describe('a server without a tool', () => {
  it('is drawn as the dashed outline of what will be there', () => {
    const figure = toPatchFigure(NO_TOOL)
    expect(figure).toMatchObject({ role: 'img', wiring: undefined })
    expect(figure.shapes.filter(({ attributes }) => attributes.class === 'ghost')).toHaveLength(3)
    expect(textsOf(figure.shapes)).toContain('Your tools')
    expect(boxesOf(figure.shapes)).toEqual([])
  })

  it('shows what is there already, drawn and in the list', () => {
    const figure = toPatchFigure({
      ...patchOf('Soon', [toolkitOf([])]),
      globals: [{ key: 'api_key', source: 'secret', value: 'sealed', uses: 0 }],
    })
    expect(figure.shapes.filter(({ attributes }) => attributes.class === 'ghost')).toHaveLength(1)
    expect(boxesOf(figure.shapes)).toHaveLength(3)
    expect(wordsOf(figure)).toMatch(/A toolkit answering, 12 ms Globals secret api_key not used Callers: organization/)
  })
})

describe('a server of one tool', () => {
  it('is drawn with straight cables only', () => {
    const cables = cablesOf(toPatchFigure(ONE_TOOL).shapes)
    expect(cables).toHaveLength(3)
    for (const { segments } of cables) expect(segments).toHaveLength(1)
  })

  it('that has very many parameters is drawn with some of them and the number of the others', () => {
    const parameters = Array.from({ length: 200 }, (_, index) => fixed(`value_${index}`, String(index)))
    const more = Array.from({ length: 50 }, (_, index) => exposed(`asked_${index}`))
    const figure = toPatchFigure(patchOf('Wide', [toolkitOf([tool('wide', [...parameters, ...more])])]))
    expect(heightOf(figure)).toBeLessThan(700)
    expect(textsOf(figure.shapes)).toEqual(expect.arrayContaining(['and 188 more', '50 parameters', 'value_11']))
    expect(wordsOf(figure)).toContain('and 188 more')
  })
})

describe('a server of a few tools', () => {
  it('is drawn with every tool and every parameter', () => {
    const { shapes } = toPatchFigure(FIVE_TOOLS)
    const names = FIVE_TOOLS.groups.flatMap(({ tools }) =>
      tools.flatMap(({ name, parameters }) => [name, ...parameters.map(of => of.name)]),
    )
    expect(textsOf(shapes)).toEqual(expect.arrayContaining(names))
    expect(sheetsOf(shapes)).toEqual([])
  })

  it('has its upstreams below its toolkits', () => {
    const texts = textsOf(toPatchFigure(FIVE_TOOLS).shapes)
    expect(texts.indexOf('Carrier toolkit')).toBeLessThan(texts.indexOf('Depot weather'))
  })

  it('has its failing tools first', () => {
    const tools = [tool('fine', []), tool('broken', [], { state: 'failed', meta: 'GET · 3 of 3 calls failed' })]
    const texts = textsOf(toPatchFigure(patchOf('Two', [toolkitOf(tools)])).shapes)
    expect(texts.indexOf('broken')).toBeLessThan(texts.indexOf('fine'))
  })

  it('shows ten tools open', () => {
    const figure = toPatchFigure(TEN_TOOLS)
    expect(textsOf(figure.shapes)).toEqual(
      expect.arrayContaining(['carrier_0', 'carrier_5', 'ledger_2', 'weather_at_depot']),
    )
    expect(sheetsOf(figure.shapes)).toEqual([])
  })
})

describe('a parameter whose global is gone', () => {
  it('has a broken socket, and the words say which global', () => {
    const tools = [tool('post', [{ name: 'ledger', source: 'missing', key: 'ledger_no' }])]
    const figure = toPatchFigure(patchOf('Broken', [toolkitOf(tools)]))
    expect(brokenSocketsOf(figure.shapes)).toHaveLength(1)
    expect(textsOf(figure.shapes)).toContain('no “ledger_no”')
    expect(wordsOf(figure)).toContain('ledger no “ledger_no”')
  })
})

describe('a secret', () => {
  it('is sealed in the picture and in the list', () => {
    const tools = [tool('post', [fromSecret('token', 'api_token')])]
    const figure = toPatchFigure({
      ...patchOf('Sealed', [toolkitOf(tools)]),
      globals: [{ key: 'api_token', source: 'secret', value: 'never shown', uses: 1 }],
    })
    expect(textsOf(figure.shapes)).toContain('sealed')
    expect(renderPart('patch', figure)).not.toContain('never shown')
  })
})

describe('a server of 200 tools', () => {
  const figure = toPatchFigure(TWO_HUNDRED_TOOLS)
  const texts = textsOf(figure.shapes)

  it('is drawn as one stack a source, with how often each pair of parameter and source is there', () => {
    expect(texts).toEqual(
      expect.arrayContaining(['119 tools', '×119', '×64', '357 parameters', '64 tools', '16 tools']),
    )
    expect(sheetsOf(figure.shapes)).toHaveLength(6)
    expect(heightOf(figure)).toBeLessThan(700)
  })

  it('sums up different fixed values', () => expect(texts).toContain('9 values'))

  it('shows the tool that fails beside its stack', () => {
    expect(texts).toEqual(expect.arrayContaining(['post_journal', 'POST · 41 of 60 calls failed']))
  })

  it('says in its label where every parameter is listed', () => {
    expect(figure.label).toBe(
      'Patch diagram of Group office, 200 tools gathered by source. The Bindings tab lists every parameter.',
    )
  })
})

describe('a server of more than is drawn', () => {
  it('sums up sources beyond the eighth', () => {
    const groups = Array.from({ length: 11 }, (_, index) =>
      toolkitOf(
        repeat(3, of => tool(`tool_${index}_${of}`, [exposed('id')], { calls: 100 - index })),
        `Source ${index}`,
      ),
    )
    const texts = textsOf(toPatchFigure(patchOf('Many', groups)).shapes)
    expect(texts).toEqual(expect.arrayContaining(['Source 0', 'Source 7', '3 more sources', '3 answering', '9 tools']))
    expect(texts).not.toContain('Source 8')
  })

  it('sums up rows of a stack beyond the sixth', () => {
    const parameters = Array.from({ length: 9 }, (_, index) => fixed(`value_${index}`, 'x'))
    const figure = toPatchFigure(patchOf('Rows', [toolkitOf(repeat(20, index => tool(`tool_${index}`, parameters)))]))
    expect(textsOf(figure.shapes)).toContain('and 3 more')
    expect(wordsOf(figure)).toContain('and 3 more')
  })

  it('sums up failing tools beyond the sixth of a source', () => {
    const tools = repeat(40, index => tool(`tool_${index}`, [], index < 15 ? { state: 'failed' } : {}))
    const figure = toPatchFigure(patchOf('Failing', [toolkitOf(tools)]))
    expect(textsOf(figure.shapes)).toEqual(expect.arrayContaining(['25 tools', 'tool_5', 'and 9 more failing']))
    expect(textsOf(figure.shapes)).not.toContain('tool_6')
    expect(wordsOf(figure)).toContain('and 9 more failing')
  })

  it('sums up globals beyond the tenth, and names them in a tag where they are used', () => {
    const tools = repeat(12, index =>
      tool(`tool_${index}`, [fromGlobal('one', `key_${index}`), fromGlobal('all', 'all')]),
    )
    const figure = toPatchFigure(patchOf('Globals', [toolkitOf(tools)]))
    const texts = textsOf(figure.shapes)
    expect(texts).toEqual(expect.arrayContaining(['3 more', 'all', 'key_8', 'key_9', 'key_11']))
    expect(wordsOf(figure)).toContain('3 more')
  })

  it('sums up callers, those that are connected first', () => {
    const list = Array.from({ length: 14 }, (_, index) => ({
      name: `client ${index}`,
      what: 'token',
      state: index === 13 ? ('good' as const) : ('idle' as const),
    }))
    const patch: Patch = { ...FIVE_TOOLS, callers: { tier: 'public', list } }
    const texts = textsOf(toPatchFigure(patch).shapes)
    expect(texts).toEqual(expect.arrayContaining(['client 13', 'client 3', '9 others', 'none of them connected']))
    expect(texts).not.toContain('client 4')
  })
})

describe('a server that nobody has called', () => {
  it('says so where its callers will be', () => {
    const figure = toPatchFigure({ ...FIVE_TOOLS, callers: { tier: 'private', list: [] } })
    expect(textsOf(figure.shapes)).toContain('Nobody yet')
    expect(wordsOf(figure)).toContain('Nobody yet')
  })
})

describe('the list below the picture', () => {
  it.each(Object.entries({ ONE_TOOL, FIVE_TOOLS, TEN_TOOLS, TWO_HUNDRED_TOOLS }))(
    'holds all words of %s',
    (_, patch) => {
      const figure = toPatchFigure(patch)
      const words = wordsOf(figure)
      for (const text of textsOf(figure.shapes)) expect(words).toContain(text.replace(/…|”$/g, ''))
    },
  )

  it('says the source of each parameter in a word', () => {
    expect(wordsOf(toPatchFigure(FIVE_TOOLS))).toContain(
      'quote_rate POST · 388 calls base global carrier_url token secret carrier_token currency fixed EUR from_port exposed caller',
    )
  })
})

describe('names that are markup, run from right to left, or are very long', () => {
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
    list: HOSTILE.slice(0, 4).map(name => ({ name, what: name, state: 'good' as const })),
  }
  const html = renderPart('patch', toPatchFigure(patchOf(HOSTILE.join(' '), groups, { callers })))

  it('are text, in the picture and in the list', () => {
    const tags = new Set([...html.matchAll(/<\/?([a-z0-9]+)/gi)].map(([, name]) => name))
    const expected = ['figure', 'svg', 'a', 'g', 'path', 'rect', 'circle', 'text', 'title', 'details', 'summary', 'div']
    expect(
      [...tags].filter(
        name => !expected.concat('section', 'h3', 'h4', 'ul', 'li', 'span', 'code', 'small').includes(name ?? ''),
      ),
    ).toEqual([])
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  })

  it('turn no other text and break no character', () => {
    expect(html).not.toMatch(/[\u202a-\u202e]/)
    expect(html.isWellFormed()).toBe(true)
    expect(html).toContain('👩‍👩‍👧‍👦…')
  })

  it('are cut to what has room, and said in full to those who ask for it', () => {
    const { shapes } = toPatchFigure(patchOf('Long', [toolkitOf([tool('a'.repeat(64), [])])]))
    const long = textsOf(shapes).find(text => text.startsWith('aaa')) ?? ''
    expect(long).toMatch(/^a{10,40}…$/)
    expect(JSON.stringify(shapes)).toContain(`"tag":"title","attributes":{},"text":"${'a'.repeat(64)}"`)
  })
})

describe('a picture without addresses, as on the landing page', () => {
  it('has no link', () => {
    const groups = [{ ...toolkitOf([{ ...tool('track', [exposed('id')]), href: undefined }]), href: undefined }]
    const html = renderPart(
      'patch',
      toPatchFigure({ ...patchOf('An example', groups), links: {}, callers: { tier: 'public', list: [] } }),
    )
    expect(html).not.toContain('<a ')
    expect(jacksOf(toPatchFigure(patchOf('An example', groups)).shapes)).toHaveLength(2)
  })
})
