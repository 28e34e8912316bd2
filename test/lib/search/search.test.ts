import { describe, expect, it } from 'vitest'
import { SEARCH_MODES } from '../../../src/lib/search/query.ts'
import { showRecords } from '../../../src/lib/search/records-shown.ts'
import { searchIndex } from '../../../src/lib/search/search.ts'
import { buildIndex } from '../../../src/lib/search/search-index.ts'
import { json, LOG, PEOPLE, refusal, search, text } from './search-support.ts'

describe('search in JSON', () => {
  it('returns matching values with paths for the filter', () => {
    const { found, notes } = search(PEOPLE, { pattern: '^A.*n', fields: ['users[].name'] })
    expect(found).toEqual({ matches: 1, results: [{ path: 'users[2].name', value: 'Alan Turing' }] })
    expect(notes).toBe('')
  })

  it('searches text by default', () => {
    const outcome = searchIndex(buildIndex(json(['1.5', '125'])), { pattern: '1.5' })
    expect(outcome.ok && outcome.value.document).toMatchObject({ value: { results: [{ path: '[0]', value: '1.5' }] } })
  })

  it('keeps a matching number a number', () => {
    const { found } = search(PEOPLE, { pattern: '^19\\d\\d$' })
    expect(found).toEqual({
      matches: 3,
      results: [
        { path: 'users[1].born', value: 1906 },
        { path: 'users[2].born', value: 1912 },
        { path: 'users[3].born', value: 1930 },
      ],
    })
  })

  it('reports a matching field name once for all items, with its first value', () => {
    const { found } = search(PEOPLE, { pattern: 'born', mode: 'text' })
    expect(found).toEqual({ matches: 1, results: [{ path: 'users[].born', field: 'born', value: 1815 }] })
  })

  it('quotes special names so that the path can be sent as a field', () => {
    const routes = json({ paths: { '/v1.0/pets': { get: { summary: 'One pet' } } } })
    const { found } = search(routes, { pattern: 'One pet', mode: 'text' })
    expect(found).toEqual({ matches: 1, results: [{ path: 'paths["/v1.0/pets"].get.summary', value: 'One pet' }] })
    expect(search(routes, { pattern: 'pet$', fields: ['paths["/v1.0/pets"].get.summary'] }).found).toMatchObject({
      matches: 1,
    })
  })

  it('shows as many neighbouring members as there are context lines', () => {
    const { found } = search(PEOPLE, { pattern: 'grace@', contextLines: 1 })
    const near = { name: 'Grace Hopper', email: 'grace@example.com', born: 1906 }
    expect(found).toEqual({ matches: 1, results: [{ path: 'users[1].email', value: 'grace@example.com', near }] })
  })

  it('shows the record around a match, once for all its matches', () => {
    const { found } = search(PEOPLE, { pattern: 'grace|compiler', mode: 'context', caseInsensitive: true })
    expect(found).toMatchObject({
      matches: 3,
      results: [
        {
          path: 'users[1]',
          matches: ['users[1].name', 'users[1].email', 'users[1].tags[0]'],
          record: { name: 'Grace Hopper', born: 1906, address: { city: 'New York' } },
        },
      ],
    })
  })

  it('shows the sentences around a match in a long text', () => {
    const body = `${'Filler goes here. '.repeat(40)}The key expired. It was renewed by hand. ${'More of it follows. '.repeat(40)}`
    const { found } = search(json({ body }), { pattern: 'renewed', mode: 'context', contextLines: 0 })
    expect(found).toEqual({ matches: 1, results: [{ path: 'body', context: 'It was renewed by hand.' }] })
  })

  it('shows the context of several matches in one paragraph once per value', () => {
    const body = `The key expired, so the key was renewed. ${'More of it follows. '.repeat(12)}`.trim()
    const { found } = search(json({ one: body, two: body }), { pattern: 'key', mode: 'context' })
    const results = ['one', 'two'].map(path => ({ path, context: body }))
    expect(found).toEqual({ matches: 4, results })
  })

  it('excerpts a long value around a match, and says that there is more', () => {
    const note = `${'x'.repeat(5_000)} needle ${'y'.repeat(5_000)}`
    const { found } = search(json([{ note }]), { pattern: 'needle' })
    expect(JSON.stringify(found).length).toBeLessThan(600)
    expect(JSON.stringify(found)).toMatch(/"…x+ needle y+…"/)
  })

  it('returns each matching line of a value with its number', () => {
    const { found } = search(json({ log: 'one\ntwo\nthree two' }), { pattern: '^t.o$|e two' })
    const results = [
      { path: 'log', line: 2, value: 'two' },
      { path: 'log', line: 3, value: 'three two' },
    ]
    expect(found).toEqual({ matches: 2, results })
  })

  it('matches across lines only with multiline', () => {
    const document = json({ log: 'begin\nmiddle\nend' })
    expect(search(document, { pattern: 'begin\\s+middle' }).found).toMatchObject({ matches: 0 })
    expect(search(document, { pattern: 'begin\\s+middle', multiline: true }).found).toMatchObject({ matches: 1 })
  })

  it('finds a pattern of several lines literally', () => {
    const log = 'begin\nmiddle\nend'
    const found = { matches: 1, results: [{ path: 'log', value: log }] }
    expect(search(json({ log }), { pattern: 'begin\nmiddle', mode: 'text' }).found).toEqual(found)
    expect(search(text(log), { pattern: 'begin\nmiddle', mode: 'text' }).found).toBe('1: begin\n2: middle')
    expect(search(text(log), { pattern: 'middle', mode: 'text', multiline: true }).found).toBe('2: middle')
  })

  it('shows the first matches and the total', () => {
    const many = json(Array.from({ length: 10_000 }, (_, id) => ({ id, state: 'open' })))
    const { found, notes } = search(many, { pattern: 'open', topK: 2 })
    expect(found).toMatchObject({ matches: 10_000, results: [{ path: '[0].state' }, { path: '[1].state' }] })
    expect(notes).toContain('10,000 matches in all, of which 2 are shown')
  })

  it('reports how much was searched, and which fields exist, if nothing matches', () => {
    const { found, notes } = search(PEOPLE, { pattern: 'Babbage' })
    expect(found).toEqual({ matches: 0, results: [] })
    expect(notes).toBe(
      'Nothing matches "Babbage" in 22 values; the fields are total, users[].name, users[].email, users[].born, users[].address.city.',
    )
  })

  it('reports how many values match in another case', () => {
    expect(search(PEOPLE, { pattern: 'LONDON' }).notes).toContain('Values that match with case_insensitive: 2.')
  })

  it('reports that a pattern looks like a regular expression, and what it would match', () => {
    const { notes } = search(PEOPLE, { pattern: '^A.*n', mode: 'text' })
    expect(notes).toContain('The pattern looks like a regular expression. Values that match with mode "regex": 1.')
    expect(search(text('one\ntwo'), { pattern: 'o.*e|w\\w', mode: 'text' }).notes).toContain(
      'Lines that match with mode "regex": 2.',
    )
    expect(search(PEOPLE, { pattern: 'Mr. Nobody?', mode: 'text' }).notes).not.toContain('looks like')
    expect(search(PEOPLE, { pattern: '^A.*n' }).notes).toBe('')
  })

  it('points out that several words may occur apart from each other', () => {
    const hint = 'Mode "bm25" finds words in any order and place.'
    expect(search(PEOPLE, { pattern: 'London Lovelace', mode: 'text' }).notes).toContain(hint)
    expect(search(text('one\ntwo'), { pattern: 'two one', mode: 'text' }).notes).toContain(hint)
    expect(search(PEOPLE, { pattern: 'Babbage', mode: 'text' }).notes).not.toContain(hint)
    for (const mode of ['regex', 'context'] as const) {
      expect(search(PEOPLE, { pattern: '^London\\b.*Lovelace', mode }).notes).toContain(hint)
      expect(search(text('one\ntwo'), { pattern: 'two\\s+(?<n>one)', mode }).notes).toContain(hint)
      for (const pattern of ['^Babbage$', '[a-z]{10,20}-\\p{Greek}\\w\\d', '(?i)x.y']) {
        expect(search(PEOPLE, { pattern, mode }).notes).not.toContain(hint)
      }
    }
  })

  it('reports an unknown field, and searches the others', () => {
    const none = search(PEOPLE, { pattern: 'Ada', fields: ['users[].nam'] })
    expect(none.found).toEqual({ matches: 0, results: [] })
    expect(none.notes).toContain('users[].nam matches nothing. At users[] there are the members name, email')
    const some = search(PEOPLE, { pattern: 'Ada', fields: ['users[].nam', 'users.*'] })
    expect(some.found).toMatchObject({ matches: 1 })
    expect(some.notes).toContain('users[].nam matches nothing')
  })

  it.each([
    ['users[0]', ['users[0].name', 'users[0].email', 'users[0].address.city']],
    ['users[-1].name', ['users[3].name']],
    ['users.tags', ['users[1].tags[0]', 'users[2].tags[1]']],
    ['*[*].address', ['users[0].address.city', 'users[2].address.city', 'users[3].address.city']],
  ])('searches only the field %s', (field, paths) => {
    const { found } = search(PEOPLE, { pattern: 'ada|[eolg]{2}|don|dam', fields: [field], caseInsensitive: true })
    expect(found).toMatchObject({ matches: paths.length, results: paths.map(path => ({ path })) })
  })

  it('finds special characters in any case, as text and in an expression', () => {
    const signs = '-_/\\^$*+?.()|[]{}#&~!"%\',:;<=>@`'
    const document = json(['x', ...Array.from(signs, sign => `Ab${sign}C`)])
    for (const [index, sign] of [...signs].entries()) {
      const one = { matches: 1, results: [{ path: `[${index + 1}]` }] }
      const look = { caseInsensitive: true, topK: 1 }
      expect(search(document, { ...look, pattern: `aB${sign}c`, mode: 'text' }).found).toMatchObject(one)
      const escaped = /\w/.test(sign) ? sign : `\\${sign}`
      expect(search(document, { ...look, pattern: `aB${escaped}c` }).found).toMatchObject(one)
    }
  })

  it('searches a field in nested lists', () => {
    const nested = json({ rows: [[{ name: 'Ada', age: 36 }, [{ name: 'Ada' }]]] })
    const { found } = search(nested, { pattern: 'Ada', fields: ['rows.name'] })
    expect(found).toMatchObject({ results: [{ path: 'rows[0][0].name' }, { path: 'rows[0][1][0].name' }] })
  })

  it('finds a number beyond double precision by its digits, and keeps them', () => {
    const exact = JSON.rawJSON('12345678901234567890')
    const { found } = search(json({ id: exact }), { pattern: '4567890$' })
    expect(JSON.stringify(found)).toBe('{"matches":1,"results":[{"path":"id","value":12345678901234567890}]}')
  })

  it('returns a document that can be searched again', () => {
    const { found } = search(PEOPLE, { pattern: 'London' })
    expect(search(json(found ?? null), { pattern: 'users\\[2\\]', fields: ['results[].path'] }).found).toMatchObject({
      matches: 1,
    })
  })
})

describe('the record of a match', () => {
  const orders = json({
    orders: Array.from({ length: 30 }, (_, id) => ({
      id,
      buyer: { name: `Buyer ${id}` },
      items: [
        { sku: `s-${id}`, price: id },
        { sku: 'gift', price: 0 },
      ],
    })),
  })

  it.each(['text', 'regex', 'context', 'fuzzy', 'bm25'] as const)('is returned in parts or whole in mode %s', mode => {
    const some = search(PEOPLE, {
      pattern: 'hopper',
      mode,
      show: ['born', 'address.city'],
      caseInsensitive: true,
      topK: 1,
    })
    const record = { born: 1906, address: { city: 'New York' } }
    expect(some.found).toMatchObject({ results: [{ path: 'users[1]', record }] })
    const whole = search(PEOPLE, { pattern: 'hopper', mode, show: ['*'], caseInsensitive: true, topK: 1 })
    expect(whole.found).toMatchObject({
      results: [{ record: { ...record, name: 'Grace Hopper', tags: ['compiler'] } }],
    })
  })

  it('is returned once for all its matches', () => {
    const { found, notes } = search(PEOPLE, { pattern: 'grace|york', caseInsensitive: true, show: ['name'] })
    expect(found).toEqual({ matches: 3, results: [{ path: 'users[1]', record: { name: 'Grace Hopper' } }] })
    expect(notes).toBe('')
  })

  it.each(['text', 'regex', 'context', 'fuzzy', 'bm25'] as const)(
    'says which field matched if it is not shown, in mode %s',
    mode => {
      const hidden = search(PEOPLE, { pattern: 'Rotterdam', mode, show: ['born'] })
      expect(hidden.found).toMatchObject({ results: [{ path: 'users[3]', record: { born: 1930 } }] })
      expect(hidden.notes).toBe('Matches are in address.city.')
      expect(search(PEOPLE, { pattern: 'Rotterdam', mode, show: ['address'] }).notes).toBe('')
    },
  )

  it('says which field matched in each record if they differ', () => {
    const rows = json([
      { a: 'one', b: 'two' },
      { a: 'two', b: 'one' },
      { a: 'two', b: ['x', 'one'], c: 'one' },
    ])
    const { found, notes } = search(rows, { pattern: 'one', show: ['a'] })
    expect(found).toEqual({
      matches: 4,
      results: [
        { path: '[0]', record: { a: 'one' } },
        { path: '[1]', record: { a: 'two' }, matched: 'b' },
        { path: '[2]', record: { a: 'two' }, matched: 'b[], c' },
      ],
    })
    expect(notes).toBe('')
  })

  it('does not say which field matched if only that was searched', () => {
    const known = search(PEOPLE, { pattern: 'London', fields: ['users[].address.city'], show: ['name'] })
    expect(known.notes).toBe('')
    const around = search(PEOPLE, { pattern: 'London', fields: ['users[].address'], show: ['name'] })
    expect(around.notes).toBe('Matches are in address.city.')
  })

  it('is the innermost that has the fields', () => {
    const price = search(orders, { pattern: 's-7', mode: 'text', show: ['price'] })
    expect(price.found).toEqual({ matches: 1, results: [{ path: 'orders[7].items[0]', record: { price: 7 } }] })
    const buyer = search(orders, { pattern: 's-7', mode: 'text', show: ['buyer.name'] })
    expect(buyer.found).toEqual({
      matches: 1,
      results: [{ path: 'orders[7]', record: { buyer: { name: 'Buyer 7' } } }],
    })
  })

  it('is a member of an object whose names are data', () => {
    const accounts = Object.fromEntries(Array.from({ length: 40 }, (_, id) => [`u${id}`, { name: `Name ${id}`, id }]))
    const { found } = search(json({ accounts }), { pattern: 'Name 33', mode: 'text', show: ['id'] })
    expect(found).toEqual({ matches: 1, results: [{ path: 'accounts.u33', record: { id: 33 } }] })
  })

  it('is found by fields written from the root', () => {
    const { found } = search(PEOPLE, { pattern: 'grace@', mode: 'text', show: ['users[].born'] })
    expect(found).toEqual({ matches: 1, results: [{ path: 'users[1]', record: { born: 1906 } }] })
  })

  it('has at most the requested number of records, and says that there are more', () => {
    const { found, notes } = search(orders, { pattern: 'gift', mode: 'text', show: ['id'], topK: 2 })
    expect(found).toEqual({
      matches: 30,
      results: [
        { path: 'orders[0]', record: { id: 0 } },
        { path: 'orders[1]', record: { id: 1 } },
      ],
    })
    expect(notes).toContain('30 matches in all, of which 2 are shown')
  })

  it('says which members it has if it lacks the fields', () => {
    const { found, notes } = search(PEOPLE, { pattern: 'grace@', mode: 'text', show: ['phone'] })
    expect(found).toEqual({ matches: 1, results: [] })
    expect(notes).toContain('phone matches nothing. There are the members name, email, born')
  })

  it('does not exist in a text', () => {
    expect(refusal(text('one'), { pattern: 'one', show: ['a'] })).toContain('use context_lines, not show')
  })

  it('looks for a field that is nowhere only once in the objects around all matches', () => {
    const rows = Array.from({ length: 20_000 }, (_, id) => ({ id, town: 'Ghent' }))
    const show = ['**.zip', '**.street', 'id']
    const { found, notes } = search(json({ rows }), { pattern: 'Ghent', mode: 'text', show, topK: 1_000 })
    expect(found).toMatchObject({ results: rows.slice(0, 1_000).map(({ id }) => ({ record: { id } })) })
    expect(notes).not.toContain('took too long')
  })

  it('stops within an object when it takes too long, and does not say that the fields match nothing', () => {
    const root = { value: { rows: [{ id: 1 }] }, key: '', parent: undefined, size: 1 }
    let looks = 0
    const isLate = () => ++looks > 3
    const show = Array.from({ length: 20 }, (_, index) => [{ kind: 'member' as const, name: `no_${index}` }])
    expect(showRecords([root, root], { show, fields: [], topK: 5, isLate })).toEqual({
      results: [],
      covered: 0,
      notes: [],
      isPartial: true,
    })
  })
})

it('a reused index gives the same results in every mode as a new one', () => {
  for (const document of [PEOPLE, LOG]) {
    const kept = buildIndex(document)
    for (const mode of SEARCH_MODES) {
      const params = { pattern: 'London db', mode, caseInsensitive: true } as const
      const first = searchIndex(kept, params)
      expect(searchIndex(kept, params)).toEqual(first)
      expect(searchIndex(buildIndex(document), params)).toEqual(first)
    }
  }
})

describe('search in text', () => {
  it('returns matching lines with their numbers', () => {
    expect(search(LOG, { pattern: 'ERROR .* db' }).found).toBe(
      '3: 2026-01-02 ERROR connection refused by db\n6: 2026-01-03 ERROR timeout of db',
    )
  })

  it('shows context lines, separated where they do not meet', () => {
    expect(search(LOG, { pattern: 'refused|stop', contextLines: 1 }).found).toBe(
      [
        '2- 2026-01-01 listening on 8080',
        '3: 2026-01-02 ERROR connection refused by db',
        '4-   at connect (pool.js:12)',
        '--',
        '6- 2026-01-03 ERROR timeout of db',
        '7: 2026-01-04 stop of the service',
      ].join('\n'),
    )
  })

  it('returns all lines of a match across lines, with multiline', () => {
    const { found } = search(LOG, { pattern: 'refused.*\\n.*pool', multiline: true })
    expect(found).toBe('3: 2026-01-02 ERROR connection refused by db\n4:   at connect (pool.js:12)')
  })

  it('shows the paragraph of a match with line numbers', () => {
    const document = text('First part\nof it.\n\nSecond part\nwith a needle.\n\nThird part.')
    expect(search(document, { pattern: 'needle', mode: 'context' }).found).toBe(
      'lines 4-5:\nSecond part\nwith a needle.',
    )
  })

  describe('with headings', () => {
    const changes = text(
      [
        '# Changes', // 1
        '',
        '## [2.1.0](https://example.com/2.1.0)', // 3
        '',
        '### Fixes', // 5
        '',
        'a leak in the pool', // 7
        'a leak in the cache', // 8
        '',
        '## 2.0.0', // 10
        '',
        'no more leaks', // 12
        '',
        'a leak and a fuse', // 14
      ].join('\n'),
    )

    it('shows the nearest heading above matches, once for all below it', () => {
      expect(search(changes, { pattern: 'leak', mode: 'text' }).found).toBe(
        [
          'under 2.1.0 > Fixes:',
          '7: a leak in the pool',
          '8: a leak in the cache',
          'under 2.0.0:',
          '12: no more leaks',
          '14: a leak and a fuse',
        ].join('\n'),
      )
    })

    it('does not repeat a heading that is shown', () => {
      expect(search(changes, { pattern: '2\\.0\\.0|leaks' }).found).toBe('10: ## 2.0.0\n12: no more leaks')
      expect(search(changes, { pattern: 'pool', contextLines: 2 }).found).toBe(
        'under 2.1.0:\n5- ### Fixes\n6- \n7: a leak in the pool\n8- a leak in the cache\n9- ',
      )
      expect(search(changes, { pattern: 'Fixes' }).found).toBe('under 2.1.0:\n5: ### Fixes')
    })

    it.each([
      ['context', 'line 14, under 2.0.0:\na leak and a fuse'],
      ['bm25', /^line 14, under 2\.0\.0, score [\d.]+:\na leak and a fuse$/],
      ['fuzzy', 'under 2.0.0:\n14: [distance 0: fuse] a leak and a fuse'],
    ] as const)('shows the nearest heading in mode %s', (mode, expected) => {
      const { found } = search(changes, { pattern: 'fuse', mode, topK: 1 })
      expect(found).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected))
    })

    it('shows none in markup', () => {
      const page = { kind: 'text', text: '## A\n<p>leak</p>', format: 'html' } as const
      expect(search(page, { pattern: 'leak' }).found).toBe('2: <p>leak</p>')
    })
  })

  it('gives the position of each match in a line of a megabyte', () => {
    const line = `${'lorem ipsum '.repeat(40_000)}needle one${' dolor'.repeat(40_000)} needle two ${'sit '.repeat(40_000)}`
    const { found } = search(text(line), { pattern: 'needle \\w+' })
    const lines = String(found).split('\n')
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatch(/^1:480001: ….*needle one.*…$/)
    expect(lines[1]).toMatch(new RegExp(`^1:${line.indexOf('needle two') + 1}: …`))
  })

  it('shows the line of a match that is too long to locate', () => {
    const { found } = search(text(`${'a'.repeat(1_000_000)}\nb`), { pattern: '(a+)+$' })
    expect(String(found)).toMatch(/^1: a+…$/)
  })

  it('says that there may be more matches in a line than were counted', () => {
    const { notes } = search(text('ab '.repeat(20_000)), { pattern: 'ab', mode: 'regex', topK: 1 })
    expect(notes).toContain('At least 10,000 matches in all, of which 133 are shown')
  })

  it('shows matches that are close together in a long line as one excerpt', () => {
    const near = `${'lorem ipsum '.repeat(5)}needle and needle `
    const line = `${near}${'dolor sit '.repeat(3_000)}${near}${'amet '.repeat(200)}`
    const { found, notes } = search(text(line), { pattern: 'needle' })
    expect(
      String(found)
        .split('\n')
        .map(shown => shown.match(/needle/g)?.length),
    ).toEqual([2, 2])
    expect(notes).toBe('')
    const inJson = search(json({ line }), { pattern: 'needle' })
    expect(inJson.found).toMatchObject({ matches: 4, results: [{ path: 'line' }, { path: 'line' }] })
    expect(inJson.notes).toBe('')
    expect(search(text(line), { pattern: 'needle', topK: 1 }).notes).toContain('4 matches in all, of which 2 are shown')
  })

  it('reports the number of lines and the beginning of the text if nothing matches', () => {
    const { found, notes } = search(LOG, { pattern: 'warning' })
    expect(found).toBe('')
    expect(notes).toMatch(/^Nothing matches "warning" in 7 lines. It begins: 2026-01-01 start/)
  })

  it('says that an empty text is empty', () => {
    expect(search(text(''), { pattern: 'x' }).notes).toContain('It is empty.')
  })

  it('excludes Windows line ends from lines', () => {
    expect(search(text('one\r\ntwo\r\n'), { pattern: 'e$' }).found).toBe('1: one')
  })

  it('rejects fields for a text', () => {
    expect(refusal(LOG, { pattern: 'x', fields: ['a'] })).toContain('has no fields')
  })
})

describe('an impossible search', () => {
  it('of binary content', () => {
    const image = { kind: 'binary', mediaType: 'image/png', bytes: 12_345 } as const
    expect(refusal(image, { pattern: 'x' })).toBe(
      'The result is binary (image/png, 12,345 bytes): there is no text to search.',
    )
  })

  it.each([
    ['an empty pattern', { pattern: '' }, 'The pattern is empty'],
    ['a broken pattern', { pattern: '(a' }, 'missing closing ): `(a`'],
    ['a lookahead', { pattern: 'a(?=b)' }, 'Lookaheads and lookbehinds are not supported'],
    ['a lookbehind', { pattern: '(?<!a)b' }, 'Lookaheads and lookbehinds are not supported'],
    ['a backreference', { pattern: '(a)\\1' }, 'Backreferences are not supported'],
    ['an atomic group', { pattern: '(?>a+)b' }, 'not needed'],
    ['far too many repeats', { pattern: '((a{1,100}){1,100}){1,100}' }, 'repeat'],
    ['an invalid path', { pattern: 'a', fields: ['a[b'] }, 'is not a path'],
    ['signs where words are compared', { pattern: '--', mode: 'fuzzy' }, 'the pattern has none'],
    ['signs where words are ranked', { pattern: '--', mode: 'bm25' }, 'the pattern has none'],
  ] as const)('%s is refused with a helpful explanation', (_title, params, sentence) => {
    expect(refusal(PEOPLE, params)).toContain(sentence)
  })

  it('searches an invalid regular expression as text in mode context', () => {
    const { found, notes } = search(text('I like C++ (a lot'), { pattern: 'C++ (', mode: 'context' })
    expect(found).toBe('line 1:\nI like C++ (a lot')
    expect(notes).toContain('searched as text')
  })
})
