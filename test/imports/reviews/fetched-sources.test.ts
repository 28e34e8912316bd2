import { gzipSync } from 'node:zlib'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/lib/kernel/json.ts'
import type { Answerer } from '../../support/fake-api.ts'
import { type Person, runFakeApi, runPatchbay } from '../../support/world.ts'
import { descriptionOf } from '../reading.ts'
import { finished, namesOf, newToolkit, pageOfItems, review } from './reviewing.ts'

const INTERNAL = 'http://169.254.169.254/latest/openapi.json'

const get = (operationId: string): JsonObject => ({ get: { operationId, responses: {} } })

describe('a source that is fetched', () => {
  const patchbay = runPatchbay({ env: { PATCHBAY_MAX_IMPORT_BYTES: '2000000' } })
  const answers = new Map<string, Answerer>()
  const respond: Answerer = (request, response, incoming) => {
    const answer = answers.get(new URL(request.url, 'http://x').pathname)
    if (answer === undefined) response.writeHead(404).end()
    else answer(request, response, incoming)
  }
  const api = runFakeApi(respond)
  const other = runFakeApi(respond)
  let ada: Person
  let toolkitId: string
  beforeAll(async () => {
    ada = await patchbay.person()
  })
  beforeEach(async () => {
    answers.clear()
    toolkitId = await newToolkit(ada)
    // Otherwise, there would soon be too many.
    await patchbay.db.import.deleteMany()
  })

  const serve = (path: string, content: JsonObject | string, headers: Record<string, string> = {}): string => {
    const body = typeof content === 'string' ? content : JSON.stringify(content)
    answers.set(path, (_request, response) => response.writeHead(200, headers).end(body))
    return `${api.origin}${path}`
  }

  it('is read, with what its server says about the version', async () => {
    const url = serve('/openapi.json', descriptionOf({ servers: [{ url: '/v2' }], paths: { '/a': get('getA') } }), {
      etag: '"1"',
    })
    const made = await review(ada, toolkitId, { url: `${url}#/paths` })
    expect(made).toMatchObject({
      state: 'ready',
      sourceUrl: url,
      summary: { baseUrls: [{ value: `${api.origin}/v2` }] },
    })
    expect(await patchbay.db.import.findUnique({ where: { id: made.id } })).toMatchObject({ etag: '"1"' })
  })

  it('is followed to where it has moved', async () => {
    serve('/v2/openapi.json', descriptionOf({ paths: { '/a': { $ref: 'a.json' } } }))
    serve('/v2/a.json', get('getA'))
    answers.set('/openapi.json', (_request, response) =>
      response.writeHead(302, { location: '/v2/openapi.json' }).end(),
    )
    const made = await review(ada, toolkitId, { url: `${api.origin}/openapi.json` })
    expect(await namesOf(ada, made.id)).toEqual(['get_a'])
  })

  it('is read with other documents of its origin, which may refer to more', async () => {
    const url = serve('/openapi.json', descriptionOf({ paths: { '/a': { $ref: './paths/a.yaml' } } }))
    serve('/paths/a.yaml', `get: {operationId: getA, responses: {}, parameters: [{$ref: '../limit.json'}]}`)
    serve('/limit.json', { name: 'limit', in: 'query', schema: { type: 'integer' } })
    const made = await review(ada, toolkitId, { url })
    expect(made).toMatchObject({ state: 'ready', needs: [], summary: { notes: [] } })
    const [item] = (await pageOfItems(ada, made.id)).items
    expect(item).toMatchObject({ tool: { url: '{{url:base_url}}/a?limit={{integer:limit?}}' } })
  })

  it('is read with documents of another origin once that is allowed', async () => {
    const paths = { '/a': { $ref: `${other.origin}/a.json` }, '/b': get('getB') }
    const url = serve('/openapi.json', descriptionOf({ paths }))
    serve('/a.json', get('getA'))
    const made = await review(ada, toolkitId, { url })
    expect(made).toMatchObject({ state: 'ready', needs: [other.origin], totals: { tools: 1, refused: 1 } })
    expect(other.seen).toEqual([])
    const again = await ada.expectOk('PATCH', `/imports/${made.id}`, { fetch: [other.origin] })
    expect(again.body).toMatchObject({ state: 'reading' })
    expect(await finished(ada, made.id)).toMatchObject({ state: 'ready', needs: [], totals: { tools: 2, refused: 0 } })
    expect(await namesOf(ada, made.id)).toEqual(['get_a', 'get_b'])
  })

  it('says which documents could not be fetched, and imports the rest', async () => {
    const paths = { '/a': { $ref: './gone.json' }, '/b': get('getB') }
    const url = serve('/openapi.json', descriptionOf({ paths }))
    const made = await review(ada, toolkitId, { url })
    expect(made).toMatchObject({ state: 'ready', totals: { tools: 1, refused: 1 } })
    expect(made.summary?.notes).toEqual([
      expect.stringMatching(/gone\.json is missing\. .* responded with the status 404/),
    ])
  })

  it('does not reach internal addresses through references, even if their origin is allowed', async () => {
    const paths = { '/a': { $ref: INTERNAL }, '/b': { $ref: 'file:///etc/passwd' }, '/c': get('getC') }
    const made = await review(ada, toolkitId, { text: JSON.stringify(descriptionOf({ paths })) })
    const { origin } = new URL(INTERNAL)
    expect(made).toMatchObject({ state: 'ready', needs: [origin], totals: { tools: 1, refused: 2 } })
    await ada.expectOk('PATCH', `/imports/${made.id}`, { fetch: [origin] })
    const again = await finished(ada, made.id)
    expect(again).toMatchObject({ state: 'ready', needs: [], totals: { tools: 1, refused: 2 } })
    expect(again.summary?.notes).toEqual([expect.stringContaining('169.254.169.254')])
  })

  it.each([
    ['an internal address', () => INTERNAL, /169\.254\.169\.254/],
    ['Patchbay itself', () => `${patchbay.origin}/api/v1/openapi.json`, /could not be fetched/],
    [
      'a redirect to an internal address',
      () => {
        answers.set('/r', (_request, response) => response.writeHead(302, { location: INTERNAL }).end())
        return `${api.origin}/r`
      },
      /169\.254\.169\.254/,
    ],
    [
      'an endless response',
      () => {
        answers.set('/endless', (_request, response) => {
          const more = (): void => {
            while (!response.destroyed && response.write(Buffer.alloc(100_000, ' ')));
          }
          response.on('drain', more)
          more()
        })
        return `${api.origin}/endless`
      },
      /could not be fetched: .*(?:larger|more|limit|bytes)/,
    ],
    [
      'a gzip bomb',
      () => {
        const bomb = gzipSync(Buffer.alloc(50_000_000, ' '))
        answers.set('/bomb', (_request, response) => response.writeHead(200).end(bomb))
        return `${api.origin}/bomb`
      },
      /more than .* unpacked/,
    ],
    ['nothing', () => `${api.origin}/none`, /responded with the status 404/],
    ['a page', () => serve('/page', '<!doctype html><title>API</title>'), /It is an HTML page/],
    ['a zip archive', () => serve('/zip', 'PK\u0003\u0004'), /It is a zip archive/],
    ['JSON with an error', () => serve('/bad', '{"openapi": "3.1.0",,}'), /line 1, column/],
    ['no server', () => 'http://127.0.0.1:1/openapi.json', /could not be fetched/],
  ])('fails with a reason: %s', async (_, urlOf, problem) => {
    const made = await review(ada, toolkitId, { url: urlOf() })
    expect(made).toMatchObject({ state: 'failed', problem: expect.stringMatching(problem), summary: null })
    expect(await ada.send('PATCH', `/imports/${made.id}`, {})).toMatchObject({ status: 409 })
  })

  it.each(['https://user:hunter2@example.com/', 'https://user@example.com/', 'https://:hunter2@example.com/'])(
    'says that its URL cannot contain credentials: %s',
    async url => {
      const refused = await ada.send('POST', `/toolkits/${toolkitId}/imports`, { url })
      expect(refused).toMatchObject({
        status: 400,
        body: { errors: [{ path: 'url', message: expect.stringContaining('import the file') }] },
      })
      expect(JSON.stringify(refused.body)).not.toContain('hunter2')
      const source = { url, checkEvery: 'day' }
      expect(await ada.send('PUT', `/toolkits/${toolkitId}/source`, source)).toMatchObject({ status: 400 })
    },
  )

  it.each(['file:///etc/passwd', 'ftp://example.com/x', 'openapi.json', 'http://'])(
    'is refused if its URL is %s',
    async url => {
      const refused = await ada.send('POST', `/toolkits/${toolkitId}/imports`, { url })
      expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: 'url' }] } })
    },
  )
})
