import { describe, expect, it } from 'vitest'
import { createKeptDocuments } from '../../../src/imports/reading/kept-documents.ts'

const filesOf = (size: number) => [{ name: 'api.json', path: '/data/1', size, sha256: '' }]

describe('the documents that are kept', () => {
  it('are those of the newest imports of a creator', () => {
    const kept = createKeptDocuments(100, 50)
    expect(kept.add('a', 'ada', filesOf(20))).toEqual([])
    expect(kept.add('b', 'bob', filesOf(20))).toEqual([])
    expect(kept.add('c', 'ada', filesOf(20))).toEqual([])
    expect(kept.add('d', 'ada', filesOf(40))).toEqual(['a', 'c'])
    expect(kept.list()).toEqual(['b', 'd'])
    expect([kept.find('a'), kept.find('b')]).toEqual([undefined, filesOf(20)])
  })

  it('are those of the newest imports of all creators', () => {
    const kept = createKeptDocuments(50, 40)
    for (const id of ['a', 'b']) expect(kept.add(id, id, filesOf(25))).toEqual([])
    expect(kept.add('c', 'c', filesOf(25))).toEqual(['a'])
    kept.delete('b')
    expect(kept.add('d', 'd', filesOf(25))).toEqual([])
  })
})
