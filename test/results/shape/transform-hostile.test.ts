import { describe, expect, it } from 'vitest'
import type { ResultShaping } from '../../../src/tools/response/result-shaping.ts'
import { openResultShaper } from '../../support/jobs.ts'
import { during } from '../../support/world.ts'

const ANSWER = JSON.stringify({ users: [{ id: 1, name: 'Ada' }], text: 'a'.repeat(60) })
const ENDLESS = '($again := function($n) { $again($n + 1) }; $again(0))'
/** A match that takes exponential time in the length of the text. */
const SLOW_MATCH = '$match(text & "b", /(a+)+$/)'

describe('a hostile transform', () => {
  const shaper = during(() => openResultShaper({ timeLimitMs: 1_000, heapLimitMb: 96 }))
  /** For transforms that never end. */
  const brief = during(() => openResultShaper({ timeLimitMs: 200, heapLimitMb: 96 }))

  type Asked = { owner?: string; shaper?: Pick<ReturnType<typeof openResultShaper>, 'shape'> }
  const shape = (transform: ResultShaping['transform'], { owner = 'one', shaper: asked = shaper }: Asked = {}) =>
    asked.shape(
      { owner, group: owner },
      {
        texts: [ANSWER],
        isHtml: false,
        shaping: { transform },
        compactTables: false,
        isStructured: false,
        maxBytes: 1_000_000,
        isCounted: false,
      },
    )
  const textOf = async (outcome: ReturnType<typeof shape>): Promise<string> => {
    const made = await outcome
    return made.kind === 'shaped'
      ? made.utf8s.map(utf8 => new TextDecoder().decode(utf8)).join('')
      : `${made.kind}: ${'message' in made ? made.message : ''}`
  }
  const jsonata = (expression: string) => ({ language: 'jsonata', expression }) as const
  const jmespath = (expression: string) => ({ language: 'jmespath', expression }) as const

  it.each([
    [
      'loops for ever',
      jsonata(ENDLESS),
      /^failed: The transform of this tool \(JSONata\) took (longer than 200 ms|more than 96 MB)/,
    ],
    [
      'recurs without an end',
      jsonata('($f := function($n) { 1 + $f($n + 1) }; $f(0))'),
      /^failed: The transform .* \(JSONata\) /,
    ],
    ['matches in exponential time', jsonata(SLOW_MATCH), /longer than 200 ms and was stopped/],
    ['makes lists of lists', jsonata('[1..1000000].[1..1000]'), /^failed: The transform/],
  ])('that %s is ended with an error that names it', async (_what, transform, said) => {
    expect(await textOf(shape(transform, { shaper: brief }))).toMatch(said)
  })

  it.each([
    ['makes a string of a gigabyte', jsonata('$length($pad("", 1000000000, "x"))'), /^failed: The transform/],
    [
      'doubles a string',
      jsonata('$reduce([1..40], function($text) { $text & $text }, text)'),
      /^failed: The transform/,
    ],
    // Each of these exhausts the memory, so that V8 ends its process.
    ['makes one long text', jsonata('$pad("", 300000000, "x")'), /took (more than 96 MB|longer than 1000 ms)/],
    [
      'makes one long list',
      jsonata('$zip([1..9999999], [1..9999999], [1..9999999])'),
      /took (more than 96 MB|longer than 1000 ms)/,
    ],
    [
      'escapes one long text',
      jsonata('$encodeUrlComponent($pad("", 60000000, "é"))'),
      /took (more than 96 MB|longer than 1000 ms)/,
    ],
    ['throws', jsonata('$error("no: " & users[0].name)'), /failed \(line 1, column \d+\): no: Ada$/],
    ['calls what is not there', jmespath('evil(users)'), /\(JMESPath\) failed: Unknown function: evil\(\)$/],
    ['makes more than may be sent', jsonata('$pad("", 2000000, "x")'), /larger than 1000000 bytes/],
  ])('that %s is ended with an error that names it', async (_what, transform, said) => {
    expect(await textOf(shape(transform))).toMatch(said)
  })

  it.each([
    ['a constructor', jsonata('constructor.constructor("return process")()')],
    ['the prototype', jsonata('__proto__.constructor')],
    ['a global', jsonata('[$process, $require, $globalThis, $window, process, globalThis]')],
    ['a constructor', jmespath('constructor.constructor')],
    ['a member of all objects', jmespath('users[0].toString')],
  ])('cannot reach %s', async (_what, transform) => {
    expect(await textOf(shape(transform))).toMatch(/^(null|\[\]|failed: .*)$/)
  })

  it('cannot change the environment of the next one', async () => {
    await shape(jsonata('$ ~> |$|{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}|'))
    expect(await textOf(shape(jsonata('users[0].polluted')))).toBe('null')
    await shape(jmespath('merge(`{"__proto__": {"polluted": 1}}`, @)'))
    expect(await textOf(shape(jmespath('users[0].polluted')))).toBe('null')
  })

  it('does not delay others, even if several never end', async () => {
    const patient = openResultShaper({ timeLimitMs: 600_000 })
    let ended = 0
    for (const owner of ['hostile 1', 'hostile 2', 'hostile 3']) {
      const end = () => ended++
      shape(jsonata(SLOW_MATCH), { owner, shaper: patient }).then(end, end)
    }
    for (const _ of [1, 2, 3]) {
      const served = shape(jmespath('users[].name'), { owner: 'friend', shaper: patient })
      expect(await textOf(served)).toBe('["Ada"]')
    }
    expect(ended).toBe(0)
    await patient.close()
  })

  it('is not run on extremely nested HTML, which fails', async () => {
    const outcome = await brief.shape(
      { owner: 'one', group: 'one' },
      {
        texts: ['<div>'.repeat(50_000)],
        isHtml: true,
        shaping: { htmlToMarkdown: true },
        compactTables: false,
        isStructured: false,
        maxBytes: 1_000_000,
        isCounted: false,
      },
    )
    expect(outcome).toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/took longer than|nested too deeply/),
    })
  })

  it("does not prevent its owner's next transform", async () => {
    expect((await shape(jsonata(ENDLESS), { owner: 'once' })).kind).toBe('failed')
    expect(await textOf(shape(jsonata('users.name'), { owner: 'once' }))).toBe('Ada')
  })

  it('is refused at once if too many of its owner wait', async () => {
    const asked = Array.from({ length: 150 }, () => shape(jsonata('users.name'), { owner: 'crowd' }))
    const outcomes = await Promise.all(asked)
    expect(outcomes.filter(({ kind }) => kind === 'shaped')).toHaveLength(102)
    expect(
      outcomes.filter(outcome => outcome.kind === 'failed' && /Too many results/.test(outcome.message)),
    ).toHaveLength(48)
  })
})

describe('a shaper', () => {
  const shaper = during(() => openResultShaper())

  it.each(['{}', '[]', '[0]'])('a result of only %s is refused before it exhausts the memory', async one => {
    const text = `[${`${one},`.repeat(10_000_000 / (one.length + 1))}0]`
    const rest = { isHtml: false, compactTables: false, isStructured: false, maxBytes: 10_485_760, isCounted: false }
    const outcome = await shaper.shape(
      { owner: 'one', group: 'one' },
      { ...rest, texts: [text], shaping: { dropFields: ['x'] } },
    )
    expect(outcome).toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/objects and lists\. Ask for less/),
    })
  })

  it('a path with many wildcards drops no more of a deep result than one wildcard does', async () => {
    const nest = (inner: string) => `${'{"a":'.repeat(60)}${inner}${'}'.repeat(60)}`
    const rest = { isHtml: false, compactTables: false, isStructured: false, maxBytes: 10_000, isCounted: false }
    const shaping = { dropFields: [`${'**.*.'.repeat(25)}**.x`] }
    const outcome = await shaper.shape(
      { owner: 'one', group: 'one' },
      { ...rest, texts: [nest('{"x":1,"y":2}')], shaping },
    )
    const [utf8] = outcome.kind === 'shaped' ? outcome.utf8s : []
    expect(new TextDecoder().decode(utf8)).toBe(nest('{"y":2}'))
  })
})
