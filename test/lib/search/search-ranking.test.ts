import { describe, expect, it } from 'vitest'
import { buildRanking } from '../../../src/lib/search/ranking.ts'
import { json, LOG, PEOPLE, refusal, search, text } from './search-support.ts'

describe('a long text in a record', () => {
  it('is excerpted around the match', () => {
    const prose = 'Nothing of note is here. '.repeat(2_000)
    const page = json({ title: 'T', body: `${prose}A treasure lies under the oak. ${prose}` })
    const { found } = search(page, { pattern: 'treasure', mode: 'bm25' })
    expect(found).toMatchObject({
      results: [{ record: { title: 'T', body: expect.stringMatching(/^….*treasure.*…$/) } }],
    })
  })
})

describe('ranking', () => {
  it('has the scores of BM25, calculated by hand', () => {
    const { ranked } = buildRanking([['the cat sat'], ['the dog'], ['the cat saw the other cat run']]).rank('cat')
    // Three texts of 3, 2 and 7 words, two of which contain the word. k1 = 1.2, b = 0.75.
    const rarity = Math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    const score = (times: number, words: number) => (rarity * times * 2.2) / (times + 1.2 * (0.25 + (0.75 * words) / 4))
    expect(ranked.map(({ index }) => index)).toEqual([2, 0])
    expect(ranked[0]?.score).toBeCloseTo(score(2, 7), 10)
    expect(ranked[1]?.score).toBeCloseTo(score(1, 3), 10)
  })

  it('weighs a rare word more than a common one', () => {
    const texts = [['user account list'], ['user account merge'], ['user list list list'], ['user']]
    expect(buildRanking(texts).rank('user list merge').ranked[0]?.index).toBe(1)
  })

  it('treats singular and plural as the same word', () => {
    const ranking = buildRanking([['two repositories'], ['a class and its boxes'], ['status of the bus']])
    for (const [query, index] of [
      ['repository', 0],
      ['box', 1],
      ['classes', 1],
      ['status', 2],
    ] as const) {
      expect(ranking.rank(query).ranked.map(each => each.index)).toEqual([index])
    }
  })

  it('replaces an unknown word with a completion or a near spelling, and says so', () => {
    const ranking = buildRanking([['connection refused'], ['connected']])
    expect(ranking.rank('refuzed').replacements.get('refuzed')).toEqual(['refused'])
    expect(
      ranking
        .rank('connec')
        .ranked.map(({ index }) => index)
        .sort(),
    ).toEqual([0, 1])
    expect(ranking.rank('zebra').ranked).toEqual([])
  })

  it('finds words in any script', () => {
    const ranking = buildRanking([['Straße nach Zürich'], ['東京 大阪'], ['Москва']])
    for (const [query, index] of [
      ['ZÜRICH', 0],
      ['東京', 1],
      ['москва', 2],
    ] as const) {
      expect(ranking.rank(query).ranked[0]?.index).toBe(index)
    }
  })
})

describe('bm25 in documents', () => {
  it('ranks items of a list, best first, with path and score', () => {
    const { found, notes } = search(PEOPLE, { pattern: 'math london', mode: 'bm25', topK: 1 })
    expect(found).toMatchObject({
      matches: 2,
      results: [{ score: expect.any(Number), record: { address: { city: 'London' } } }],
    })
    expect(notes).toContain('2 of 5 records match, of which 1 are shown')
  })

  it('ranks members of an object, including their names', () => {
    const routes = json({
      paths: {
        '/pets': { get: { summary: 'All of them' }, post: { summary: 'One more' } },
        '/owners': { get: { summary: 'All people' } },
      },
    })
    expect(search(routes, { pattern: 'pets post', mode: 'bm25', topK: 1 }).found).toMatchObject({
      results: [{ path: 'paths./pets.post', record: { summary: 'One more' } }],
    })
  })

  it('splits an item that is too large into its own items', () => {
    const filler = 'lorem ipsum '.repeat(500)
    const document = json([
      {
        title: 'Book',
        chapters: [
          { title: 'First', body: filler },
          { title: 'Second', body: filler },
        ],
      },
    ])
    expect(search(document, { pattern: 'second', mode: 'bm25' }).found).toMatchObject({
      matches: 1,
      results: [{ path: '[0].chapters[1]', record: { title: 'Second', body: expect.stringMatching(/…$/) } }],
    })
  })

  it('ranks only the given fields', () => {
    const { found } = search(PEOPLE, { pattern: 'london math', mode: 'bm25', fields: ['users[].tags'] })
    expect(found).toMatchObject({ matches: 2 })
    expect(search(PEOPLE, { pattern: 'london', mode: 'bm25', fields: ['users[].tags'] }).found).toMatchObject({
      matches: 0,
    })
  })

  it('ranks paragraphs of a text, with their line numbers', () => {
    const document = text('About cats.\nThey sleep.\n\nAbout dogs.\nThey bark at cats.\n\nAbout birds.')
    const { found } = search(document, { pattern: 'barking dogs', mode: 'bm25', topK: 1 })
    expect(found).toMatch(/^lines 4-5, score \d\.\d\d:\nAbout dogs\.\nThey bark at cats\.$/)
  })

  it('ranks parts of a text without line breaks', () => {
    const document = text(
      `${'<td>nothing here</td>'.repeat(2_000)}<td>the price is 42</td>${'<td>nothing there</td>'.repeat(2_000)}`,
    )
    const { found } = search(document, { pattern: 'price', mode: 'bm25' })
    expect(String(found)).toContain('the price is 42')
    expect(String(found).length).toBeLessThan(1_500)
  })

  it('says what to do instead if there are too many values', () => {
    const many = json(Array.from({ length: 1_000_001 }, () => 0))
    expect(refusal(many, { pattern: 'a', mode: 'bm25' })).toContain('1,000,001 values, too many to rank')
  })

  it('says so if no record contains a word', () => {
    expect(search(PEOPLE, { pattern: 'zeppelin', mode: 'bm25' }).notes).toContain('Nothing matches "zeppelin"')
    expect(search(LOG, { pattern: 'zeppelin', mode: 'bm25' }).notes).toContain('Nothing matches "zeppelin"')
  })
})

describe('fuzzy search', () => {
  it('lists the nearest first, with the text found and its distance', () => {
    const names = json(['Meier', 'Maier', 'Meyer', 'Mayer', 'Schulz'])
    const { found } = search(names, { pattern: 'Mayer', mode: 'fuzzy', maxDistance: 2 })
    expect(found).toMatchObject({
      matches: 4,
      results: [
        { path: '[3]', match: 'Mayer', distance: 0 },
        { path: '[1]', match: 'Maier', distance: 1 },
        { path: '[2]', match: 'Meyer', distance: 1 },
        { path: '[0]', match: 'Meier', distance: 2 },
      ],
    })
  })

  it('compares several words together, also those that belong together', () => {
    const { found } = search(PEOPLE, { pattern: 'new yrok', mode: 'fuzzy' })
    expect(found).toMatchObject({
      matches: 1,
      results: [{ path: 'users[1].address.city', match: 'New York', distance: 2 }],
    })
    expect(search(PEOPLE, { pattern: 'newyork', mode: 'fuzzy' }).found).toMatchObject({ matches: 1 })
  })

  it('finds lines of a text, each with the text found', () => {
    expect(search(LOG, { pattern: 'conection', mode: 'fuzzy' }).found).toBe(
      '3: [distance 1: connection] 2026-01-02 ERROR connection refused by db',
    )
  })

  it('finds a word with two swapped letters, even a short one', () => {
    expect(search(text('one word\nno more'), { pattern: 'wrod', mode: 'fuzzy' }).found).toBe(
      '1: [distance 2: word] one word',
    )
  })

  it('states the maximum distance if nothing is near', () => {
    expect(search(PEOPLE, { pattern: 'Babbage', mode: 'fuzzy' }).notes).toContain('max_distance was 2.')
  })
})
