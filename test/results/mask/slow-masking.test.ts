import { describe, expect, it } from 'vitest'
import { maskResult } from '../../../src/results/mask/mask-json.ts'
import { createMasker } from '../../../src/results/mask/masking.ts'
import { shapeAnswer } from '../../../src/results/shape/shape.ts'
import { toExecutionRecord } from '../../../src/runtime/perform-call.ts'
import { countTurns } from '../../support/count-turns.ts'

/** Each has more than a hundred encoded forms, all of which are searched for. */
const SECRETS = Array.from({ length: 100 }, (_, at) => `"\\&<>/+' é secret ${at}`)
const SECRET = SECRETS[7] ?? ''
const masker = createMasker(SECRETS)
const LONG = `${'lorem ipsum '.repeat(25_000)}${SECRET}`

const responseOf = (type: string, body: Buffer) => ({
  status: 200,
  statusText: 'OK',
  url: 'http://api.example/',
  headers: { 'content-type': type },
  body,
})

describe('secrets in what is long', () => {
  const bytes = Buffer.concat([Buffer.from([0xff, 0xd8]), Buffer.from(LONG)])
  const part = Buffer.from(`--x\r\ncontent-type: text/plain\r\n\r\n${LONG}\r\n--x--`)

  it.each([
    ['an image', 'image/png', bytes, undefined],
    ['several parts', 'multipart/mixed; boundary=x', part, undefined],
    ['a text', 'text/plain', Buffer.from(LONG), undefined],
    ['JSON that has a schema', 'application/json', Buffer.from(JSON.stringify([LONG])), () => undefined],
  ] as const)('of an API are hidden in turns with everybody else: %s', async (_what, type, body, check) => {
    const { made, turns } = await countTurns(() => shapeAnswer(responseOf(type, body), masker, check))
    expect(turns).toBeGreaterThan(0)
    const said = 'utf8' in made ? made.utf8.toString() : JSON.stringify(made.content)
    expect(Buffer.from(said, 'base64').toString('latin1')).not.toContain('secret 7')
    expect(said).not.toContain('secret 7')
    expect(said.length).toBeGreaterThan(LONG.length / 2)
  })

  it('of an upstream are hidden in turns with everybody else, in names as well', async () => {
    const result = { content: [{ type: 'text', text: LONG }], structuredContent: { [LONG]: [LONG, 1, null, true] } }
    const { made, turns } = await countTurns(() => maskResult(result, masker))
    expect(turns).toBeGreaterThan(0)
    const hidden = LONG.replace(SECRET, '•••')
    const structuredContent = { [hidden]: [hidden, 1, null, true] }
    expect(made).toEqual({ content: [{ type: 'text', text: hidden }], structuredContent })
  })

  it('of a request are hidden in what history keeps of it, and where that ends', () => {
    const written = JSON.stringify(JSON.stringify(SECRET))
    const body = `${'x'.repeat(16 * 1_024 - 100)}${written}${LONG}`
    const request = { method: 'POST', url: 'http://api.example/', headers: [], body }
    const outcome = { result: { content: [] }, request, response: undefined, cached: undefined }
    const identity = { id: '1', serverId: '2', instanceId: undefined, tool: 't', userId: undefined, client: undefined }
    const record = toExecutionRecord({ ...outcome, startedAt: new Date(0), durationMs: 1 }, masker, identity)
    expect(record.request?.body).toMatch(/^x+["\\]+•••[^•]{20,99}…$/)
    expect(record.requestBytes).toBe(Buffer.byteLength(body))
  })

  it('of a request of little else are hidden where it is cut, too', () => {
    const key = `sk-${'0123456789abcdef'.repeat(400)}`
    const body = `${key},`.repeat(40)
    const request = { method: 'POST', url: 'http://api.example/', headers: [], body }
    const outcome = { result: { content: [] }, request, response: undefined, cached: undefined }
    const identity = { id: '1', serverId: '2', instanceId: undefined, tool: 't', userId: undefined, client: undefined }
    const record = toExecutionRecord(
      { ...outcome, startedAt: new Date(0), durationMs: 1 },
      createMasker([key]),
      identity,
    )
    expect(record.request?.body).not.toContain('0123456789')
    expect(record.request?.body).toMatch(/…$/)
  })
})
