import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { createJobPool, type JobPool } from '../../../src/jobs/job-pool.ts'
import { createMasker, MaskingError } from '../../../src/results/mask/masking.ts'
import { createLongMaskingFor } from '../../../src/results/mask/masking-job.ts'
import { shapeResponse } from '../../../src/results/shape/shape.ts'
import { countTurns } from '../../support/count-turns.ts'
import { MEMORY } from '../../support/jobs.ts'

/** As many secrets as a server may have, as long as allowed, and full of characters with many spellings. */
const SECRETS = Array.from({ length: 60 }, (_, at) => `"\\&<>/+' é secret ${at} ${'x"/é'.repeat(140)}`)
const SECRET = SECRETS[7] ?? ''
const LONG = `${'lorem ipsum "dolor" é '.repeat(240_000)}${SECRET}`

const workers = createJobPool({ memory: MEMORY })
afterAll(() => workers.close())
const jobsOf = (pool: JobPool) => ({
  findSecrets: pool.job('find-secrets'),
  maskUtf8: pool.job('mask-utf8'),
  maskByRules: pool.job('mask-by-rules'),
})
const longMaskingFor = createLongMaskingFor(jobsOf(workers))
const masker = createMasker(SECRETS, longMaskingFor({ owner: 'server', group: 'organization' }))

const responseOf = (type: string, body: Buffer) => ({
  status: 200,
  statusText: 'OK',
  url: 'http://api.example/',
  headers: { 'content-type': type },
  body,
})

const MATCH = { kind: 'match' } as const

describe('secrets in a response of 5 MB', () => {
  const bytes = Buffer.concat([Buffer.from([0xff, 0xd8]), Buffer.from(LONG)])
  const part = Buffer.from(`--x\r\ncontent-type: text/plain\r\n\r\n${LONG}\r\n--x--`)

  it.each([
    ['an image', 'image/png', bytes, undefined],
    ['several parts', 'multipart/mixed; boundary=x', part, undefined],
    ['a text', 'text/plain', Buffer.from(LONG), undefined],
    ['JSON with a schema', 'application/json', Buffer.from(JSON.stringify([LONG])), async () => MATCH],
  ] as const)('are masked while the event loop is free: %s', async (_what, type, body, check) => {
    const { made, turns } = await countTurns(async () => {
      return (await shapeResponse(responseOf(type, body), masker, check, undefined)).result
    })
    expect(turns).toBeGreaterThan(0)
    const said = 'utf8' in made ? made.utf8.toString() : JSON.stringify(made.content)
    expect(Buffer.from(said, 'base64').toString('latin1')).not.toContain('secret 7')
    expect(said).not.toContain('secret 7')
    expect(said.length).toBeGreaterThan(LONG.length / 2)
  })

  it('are masked if there are 200 of them, all with the same beginning as most words of the text', async () => {
    const many = Array.from({ length: 200 }, (_, at) => `"${String.fromCharCode(97 + (at % 26))}${at} secret`)
    const some = createMasker(many, longMaskingFor({ owner: 'server', group: 'organization' }))
    const words = '{"a":"b","c":"d","e":"lorem ipsum dolor"},'.repeat(120_000)
    expect(await some.long.text(`${words}${many[7]}`)).toBe(`${words}•••`)
  })

  it('are masked in memory that threads share, and a text without secrets is passed on as it is', async () => {
    const text = LONG.replace(SECRET, '')
    const body = Buffer.from(new SharedArrayBuffer(Buffer.byteLength(text)))
    body.write(text)
    const { result: passed } = await shapeResponse(responseOf('text/plain', body), masker, undefined, undefined)
    expect('utf8' in passed && passed.utf8 === body).toBe(true)
    body.write(SECRET, 1_000_000)
    const { result: masked } = await shapeResponse(responseOf('text/plain', body), masker, undefined, undefined)
    expect('utf8' in masked && masked.utf8.toString()).toBe(body.toString().replace(SECRET, '•••'))
  })

  it('are masked in names and strings of parsed JSON', async () => {
    const result = { content: [{ type: 'text', text: LONG }], structuredContent: { [LONG]: [LONG, 1, null, true] } }
    const hidden = LONG.replace(SECRET, '•••')
    const structuredContent = { [hidden]: [hidden, 1, null, true] }
    expect(await masker.long.object(result)).toEqual({ content: [{ type: 'text', text: hidden }], structuredContent })
  })

  it('are searched no longer once the client has disconnected', async () => {
    const client = new AbortController()
    const masked = masker.long.text(LONG, client.signal)
    client.abort()
    await expect(masked).rejects.toThrow(MaskingError)
    await expect(masker.long.text(LONG, client.signal)).rejects.toThrow('The call was cancelled.')
  })

  it('are searched in a small heap, however many other servers have as many secrets', async () => {
    const small = createJobPool({ memory: { ...MEMORY, maxThreads: 1, threadHeapMb: 80 } })
    onTestFinished(small.close)
    const search = createLongMaskingFor(jobsOf(small))({ owner: 'server', group: 'organization' })
    const text = LONG.slice(0, 70_000)
    for (let at = 0; at < 40; at++) {
      const others = Array.from({ length: 8 }, (_, index) => `${at}.${index} `.repeat(1_500))
      const { long } = createMasker(others, search)
      expect(await long.text(`${text}${others[3]}`)).toBe(`${text}•••`)
    }
  })

  it('are not searched for in the pool if there are none after all', async () => {
    const closed = createJobPool({ memory: MEMORY })
    await closed.close()
    const search = createLongMaskingFor(jobsOf(closed))({ owner: 'server', group: 'organization' })
    const none = createMasker([], search).also(() => [])
    const utf8 = Buffer.from(LONG)
    expect(await none.long.utf8(utf8)).toBe(utf8)
  })

  it('are never sent unmasked if the worker pool is closed', async () => {
    const closed = createJobPool({ memory: MEMORY })
    await closed.close()
    const secretSearch = createLongMaskingFor(jobsOf(closed))({ owner: 'server', group: 'organization' })
    const late = createMasker(SECRETS, secretSearch)
    const response = responseOf('text/plain', Buffer.from(LONG))
    await expect(shapeResponse(response, late, undefined, undefined)).rejects.toThrow('Patchbay is shutting down')
  })
})
