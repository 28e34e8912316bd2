import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { createToolEmbeddings, type EmbeddingLimits } from '../../src/tool-search/embeddings/tool-embeddings.ts'
import { fuseOrders } from '../../src/tool-search/tool-search.ts'
import { type Answerer, answerJson, startFakeApi } from '../support/fake-api.ts'

const Asked = z.object({ input: z.array(z.string()) })

const start = async (answer: Answerer, limits: Partial<EmbeddingLimits> = {}) => {
  const endpoint = await startFakeApi(answer)
  const logged: string[] = []
  const embeddings = createToolEmbeddings({
    settings: { url: `${endpoint.origin}/v1/embeddings?api-key=hush`, model: 'small', key: 'hush-hush' },
    logger: { warn: (details, message) => void logged.push(`${JSON.stringify(details)} ${message}`) },
    limits: { pauseMs: 0, ...limits },
  })
  onTestFinished(async () => {
    await embeddings.close()
    await endpoint.close()
  })
  return { endpoint, logged, embeddings }
}

/**
 * Responds with vectors whose angle depends on the number in the text, so tool 7 and a query for 7 have the same
 * vector.
 */
const answerByNumber: Answerer = ({ body }, response) => {
  const { input } = Asked.parse(JSON.parse(body))
  const data = input.map((text, index) => {
    const angle = Number(/\d+/.exec(text)?.[0] ?? 0) / 100
    return { index, embedding: [Math.cos(angle), Math.sin(angle), 0] }
  })
  answerJson(response, { data })
}

const makeTools = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ name: `tool_${at}`, inputSchema: { type: 'object' } }))

describe('embeddings of tools', () => {
  it('are requested in batches of sixteen, and the nearest allowed tools are found', async () => {
    const { endpoint, embeddings, logged } = await start(answerByNumber)
    const meanings = embeddings.prepare(makeTools(101))
    await vi.waitFor(async () => expect(await meanings.find('50', () => true)).toBeDefined())
    expect((await meanings.find('50', () => true))?.slice(0, 3).sort()).toEqual([49, 50, 51])
    expect(await meanings.find('50', place => place === 3 || place === 60)).toEqual([60, 3])
    expect(await meanings.find('100', place => place > 98)).toEqual([100, 99])
    expect(await meanings.find('50', () => false)).toEqual([])
    expect(await meanings.find('  ', () => true)).toBeUndefined()
    const sizes = endpoint.seen.map(({ body }) => Asked.parse(JSON.parse(body)).input.length)
    expect(sizes.filter(size => size > 1)).toEqual([16, 16, 16, 16, 16, 16, 5])
    // The phrasings of one search share a request.
    const before = endpoint.seen.length
    const found = await Promise.all(['20', '70'].map(query => meanings.find(query, place => place % 10 === 0)))
    expect(found.map(places => places?.[0])).toEqual([20, 70])
    expect(endpoint.seen).toHaveLength(before + 1)
    expect(logged).toEqual([])
  })

  it('are shared by tools with equal texts', async () => {
    const { endpoint, embeddings } = await start(answerByNumber)
    const first = embeddings.prepare(makeTools(10))
    await vi.waitFor(async () => expect(await first.find('1', () => true)).toBeDefined())
    const second = embeddings.prepare(makeTools(12))
    await vi.waitFor(async () => expect(await second.find('11', () => true)).toBeDefined())
    const texts = endpoint.seen.flatMap(({ body }) => Asked.parse(JSON.parse(body)).input)
    const ofTools = texts.filter(text => text.startsWith('tool'))
    expect(ofTools).toEqual([...new Set(ofTools)])
  })

  it('that do not fit in the memory are left out, and the log says why', async () => {
    const { endpoint, embeddings, logged } = await start(answerByNumber, { maxBytes: 5_000 })
    const large = embeddings.prepare(makeTools(101))
    await vi.waitFor(() => expect(logged).toHaveLength(1))
    expect(logged[0]).toMatch(
      /the embeddings of 101 tools need 21\.4 kB of memory, and there are 5 kB.*PATCHBAY_MEMORY_MB/,
    )
    expect(await large.find('50', () => true)).toBeUndefined()
    const small = embeddings.prepare(makeTools(10))
    await vi.waitFor(async () => expect(await small.find('5', () => true)).toBeDefined())
    const asked = endpoint.seen.flatMap(({ body }) => Asked.parse(JSON.parse(body)).input)
    expect(asked.filter(text => text.startsWith('tool'))).toHaveLength(16 + 10)
  })

  it('are mentioned in the log once if the endpoint fails, without the key, the URL or the query', async () => {
    const { endpoint, embeddings, logged } = await start((_, response) => {
      answerJson(response, { error: 'bad key hush-hush' }, 401)
    })
    const meanings = embeddings.prepare(makeTools(3))
    await vi.waitFor(async () => {
      expect(await meanings.find('secret question', () => true)).toBeUndefined()
      expect(endpoint.seen.length).toBeGreaterThan(3)
    })
    expect(logged).toEqual([expect.stringContaining('it responded with status 401')])
    expect(logged.join(' ')).not.toMatch(/hush|secret question|127\.0\.0\.1/)
  })

  it('send no request once they are closed', async () => {
    const { endpoint, embeddings } = await start(answerByNumber)
    const meanings = embeddings.prepare(makeTools(3))
    await vi.waitFor(async () => expect(await meanings.find('1', () => true)).toBeDefined())
    await embeddings.close()
    const before = endpoint.seen.length
    expect(await meanings.find('2', () => true)).toBeUndefined()
    expect(endpoint.seen).toHaveLength(before)
  })
})

describe('merged rankings', () => {
  it('begin with what ranks high in all of them, then what is in one', () => {
    expect(
      fuseOrders([
        [1, 2, 3],
        [2, 4],
      ]),
    ).toEqual([2, 1, 4, 3])
    expect(fuseOrders([[], [5]])).toEqual([5])
  })

  it('contain each element once, and keep the order of a single ranking', () => {
    const order = fc.uniqueArray(fc.nat(40), { maxLength: 30 })
    fc.assert(
      fc.property(order, order, (first, second) => {
        const fused = fuseOrders([first, second])
        expect(new Set(fused)).toEqual(new Set([...first, ...second]))
        expect(fused).toHaveLength(new Set(fused).size)
        expect(fuseOrders([first])).toEqual(first)
      }),
    )
  })
})
