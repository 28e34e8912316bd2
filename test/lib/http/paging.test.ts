import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { decodeCursor, pageOf, pageQuery, toPage } from '../../../src/lib/http/paging.ts'
import { AppError } from '../../../src/lib/kernel/errors.ts'
import { buildHttpApp } from '../../support/http-app.ts'

describe('pages', () => {
  it('of any size contain every row once and in order', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 1, max: 25 }), (total, limit) => {
        const rows = Array.from({ length: total }, (_, index) => index)
        const seen: number[] = []
        let cursor: string | null | undefined
        do {
          const after = decodeCursor(cursor ?? undefined, z.int()) ?? -1
          const page = toPage(rows.filter(row => row > after).slice(0, limit + 1), limit, last => last)
          expect(page.items.length).toBeLessThanOrEqual(limit)
          seen.push(...page.items)
          cursor = page.nextCursor
        } while (cursor !== null)
        expect(seen).toEqual(rows)
      }),
    )
  })

  it('reject cursors of other lists', () => {
    fc.assert(
      fc.property(fc.string(), text => {
        expect(() => decodeCursor(text, z.uuid())).toThrow(AppError)
      }),
    )
  })

  it.each([
    ['?limit=0', 'limit'],
    ['?limit=201', 'limit'],
    ['?limit=ten', 'limit'],
    ['?cursor=bm9uZQ', 'cursor'],
  ])('reject %s and say which part is wrong', async (query, path) => {
    const { app } = await buildHttpApp({
      routes: async api => {
        api.get(
          '/list',
          { config: { access: 'anyone' }, schema: { querystring: pageQuery, response: { 200: pageOf(z.uuid()) } } },
          async request => {
            decodeCursor(request.query.cursor, z.uuid())
            return { items: [], nextCursor: null }
          },
        )
      },
    })
    const response = await app.inject({ url: `/api/v1/list${query}`, headers: { host: 'localhost' } })
    expect(response.statusCode).toBe(400)
    expect(response.json().errors).toMatchObject([{ path }])
  })
})
