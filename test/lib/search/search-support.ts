import type { ResultDocument } from '../../../src/lib/json/result-document.ts'
import type { JsonValue } from '../../../src/lib/kernel/json.ts'
import type { SearchParams } from '../../../src/lib/search/query.ts'
import { createSearch } from '../../../src/lib/search/search.ts'

export const json = (value: JsonValue): ResultDocument => ({ kind: 'json', value, format: 'json' })
export const text = (content: string): ResultDocument => ({ kind: 'text', text: content, format: 'text' })

/** Searches by a regular expression unless the mode says otherwise. Returns the JSON value or the text found, and the notes as one text. */
export const search = (document: ResultDocument, params: SearchParams) => {
  const outcome = createSearch().apply(document, { mode: 'regex', ...params })
  if (!outcome.ok) throw new Error(outcome.error)
  const { document: found, notes } = outcome.value
  return {
    found: found.kind === 'json' ? found.value : found.kind === 'text' ? found.text : undefined,
    notes: notes.join(' '),
  }
}

/** Returns why a search is refused. Throws if the search succeeds. */
export const refusal = (document: ResultDocument, params: SearchParams): string => {
  const outcome = createSearch().apply(document, { mode: 'regex', ...params })
  if (outcome.ok) throw new Error(`found ${JSON.stringify(outcome.value)}`)
  return outcome.error
}

export const PEOPLE = json({
  total: 4,
  users: [
    {
      name: 'Ada Lovelace',
      email: 'ada@example.com',
      born: 1815,
      address: { city: 'London' },
      tags: ['math', 'engine'],
    },
    { name: 'Grace Hopper', email: 'grace@example.com', born: 1906, address: { city: 'New York' }, tags: ['compiler'] },
    {
      name: 'Alan Turing',
      email: 'alan@example.com',
      born: 1912,
      address: { city: 'London' },
      tags: ['math', 'logic'],
    },
    { name: 'Edsger Dijkstra', email: 'edsger@example.com', born: 1930, address: { city: 'Rotterdam' }, tags: [] },
  ],
})

export const LOG = text(
  [
    '2026-01-01 start of the service',
    '2026-01-01 listening on 8080',
    '2026-01-02 ERROR connection refused by db',
    '  at connect (pool.js:12)',
    '2026-01-02 retry in 5 s',
    '2026-01-03 ERROR timeout of db',
    '2026-01-04 stop of the service',
  ].join('\n'),
)
