import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ExecutionRecord } from '../../../src/history/execution-record.ts'
import { createMasker } from '../../../src/results/mask/masking.ts'
import { recordCall } from '../../../src/results/mask/record-call.ts'
import { describeOutcome } from '../../../src/runtime/compile-tool.ts'
import { cookieHole, xmlAttributeHole } from '../../../src/templates/encodings.ts'
import { runsOf } from '../../support/cases-of-run.ts'

const utf8 = (text: string) => Buffer.from(text).toString('latin1')
const json = (text: string) => JSON.stringify(text).slice(1, -1)
const strictUri = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, char => `%${char.charCodeAt(0).toString(16)}`)
const html = (text: string) =>
  text.replace(
    /[&<>"']/g,
    char => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[char] ?? '',
  )

const ENCODERS = {
  nothing: (text: string) => text,
  JSON: json,
  'JSON in JSON': (text: string) => json(json(text)),
  HTML: html,
  'HTML in JSON': (text: string) => json(html(text)),
  'a path of a URL': encodeURIComponent,
  'a strict encoder of URLs': strictUri,
  'JSON in a path of a URL': (text: string) => encodeURIComponent(json(text)),
  'JSON in a query of a URL': (text: string) => new URLSearchParams({ s: json(text) }).toString().slice(2),
  'a query of a URL': (text: string) => new URLSearchParams({ s: text }).toString().slice(2),
  'UTF-8 read as Latin-1': utf8,
}

const anyText = fc.string({ unit: 'grapheme', maxLength: 60 })
/** Any text but the mask itself. */
const anySecret = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter(text => !text.includes('•'))

describe('masking', () => {
  it.each(Object.entries(ENCODERS))('hides a secret anywhere in a text, as written by %s', (_name, encode) => {
    fc.assert(
      fc.property(fc.array(anySecret, { minLength: 1, maxLength: 5 }), anyText, anyText, (secrets, before, after) => {
        const masker = createMasker(secrets)
        for (const secret of secrets) {
          const masked = masker.text(before + encode(secret) + after)
          expect(masked).toContain('•••')
          expect(masked).not.toContain(encode(secret))
        }
      }),
      { numRuns: runsOf(300) },
    )
  })

  it('hides a short secret at the end of a text where only a longer one could start', () => {
    expect(createMasker(['abc', 'z']).text('az')).toBe('a•••')
  })

  it('hides the Base64 form of a plain key, whatever precedes it in the encoded text', () => {
    const key = fc.stringMatching(/^[\w.-]{9,40}$/)
    const alphabet = fc.constantFrom('base64' as const, 'base64url' as const)
    fc.assert(
      fc.property(key, anyText, anyText, alphabet, (secret, before, after, encoding) => {
        const encoded = Buffer.from(`${before}${secret}${after}`).toString(encoding)
        const masked = createMasker([secret]).text(`Basic ${encoded}`)
        const rest = masked
          .split('•••')
          .map(part => Buffer.from(part.replace('Basic ', ''), 'base64').toString('latin1'))
        expect(masked).toContain('•••')
        for (const part of rest) expect(part).not.toContain(secret)
      }),
      { numRuns: runsOf(500) },
    )
  })

  it('hides a secret of several lines in the forms in which tools send it in XML and cookies', () => {
    const secret = '-----BEGIN\tKEY-----\r\nab<c> "d" & \'e\'\n'
    const masker = createMasker([secret])
    for (const hole of [xmlAttributeHole, cookieHole]) {
      expect(masker.text(`a="${hole('string').encode(secret)}"`)).toBe('a="•••"')
    }
  })

  it('leaves a text without secrets unchanged', () => {
    fc.assert(
      fc.property(anyText, text => {
        expect(createMasker(['kept-apart-0123456789']).text(text)).toBe(text)
      }),
    )
  })

  it('hides all of a secret that contains another one, and all of two that overlap', () => {
    expect(createMasker(['fixture', 'fixture-of-the-account']).text('a fixture-of-the-account b')).toBe('a ••• b')
    expect(createMasker(['abcdefgh', 'efghijkl']).text('x abcdefghijkl y')).toBe('x ••• y')
  })

  it('hides a secret whose characters are written in different ways', () => {
    expect(createMasker(['a"b"c"d']).text(String.raw`x a\"b%22c&quot;d y`)).toBe('x ••• y')
  })

  it('hides members and strings of JSON, and returns the same value if there is no secret', async () => {
    const masker = createMasker(['canary-1', 'canary-2'])
    const value = { 'a canary-1': ['canary-2', 1, null, { b: 'plain' }], c: 'canary-1canary-2' }
    const masked = { 'a •••': ['•••', 1, null, { b: 'plain' }], c: '•••' }
    expect(masker.object(value)).toEqual(masked)
    expect(await masker.long.json(value)).toEqual(masked)
    const plain = { a: ['b'] }
    expect(await masker.long.object(plain)).toBe(plain)
  })

  it('overwrites a secret in bytes without changing their number', async () => {
    const masker = createMasker([`sé"cret`])
    const bytes = Buffer.concat([Buffer.from([0xff, 0]), Buffer.from(`sé"cret`), Buffer.from([0, 0xfe])])
    const masked = await masker.long.bytes(bytes)
    expect(masked).toEqual(Buffer.concat([Buffer.from([0xff, 0]), Buffer.from('********'), Buffer.from([0, 0xfe])]))
  })

  it('hides secrets that are added during a request', () => {
    let tokens = ['token-of-before']
    const masker = createMasker(['canary-1']).also(() => tokens)
    expect(masker.text('canary-1 token-of-before token-of-now')).toBe('••• ••• token-of-now')
    tokens = ['token-of-now']
    expect(masker.text('canary-1 token-of-before token-of-now')).toBe('••• token-of-before •••')
  })

  it('hides the rest of a text that repeats the beginning of a secret too often to compare it each time', () => {
    const secret = `${'a'.repeat(8_000)}b`
    const masked = createMasker([secret]).text(`before ${'a'.repeat(100_000)} after`)
    expect(masked).toMatch(/^before a*•••$/)
  })
})

describe('the request in the history', () => {
  const recordOf = (body: string, secrets: readonly string[]) => {
    const request = { method: 'POST', url: 'http://api.example/', headers: [], body }
    const outcome = {
      result: { content: [] },
      callResult: 'success' as const,
      request,
      response: undefined,
      cached: undefined,
      schemaMismatch: undefined,
      nextPage: undefined,
    }
    const records: ExecutionRecord[] = []
    const identity = {
      serverId: '2',
      instanceId: '3',
      tool: 't',
      caller: undefined,
      client: undefined,
      requestId: undefined,
    }
    const call = describeOutcome({ ...outcome, startedAt: new Date(0), durationMs: 1 }, identity)
    recordCall({ record: one => records.push(one) }, createMasker(secrets), call)
    return records[0]
  }

  it('has its secrets masked where it is cut', () => {
    const secret = `"\\&<>/+' é secret`
    const written = JSON.stringify(JSON.stringify(secret))
    const body = `${'x'.repeat(16 * 1_024 - 100)}${written}${'lorem ipsum '.repeat(25_000)}${secret}`
    const record = recordOf(body, [secret])
    expect(record?.request?.body).toMatch(/^x+["\\]+•••[^•]{20,99}…$/)
    expect(record?.requestBytes).toBe(Buffer.byteLength(body))
  })

  it('shows no part of a long secret that it consists of', () => {
    const key = `sk-${'0123456789abcdef'.repeat(400)}`
    const record = recordOf(`${key},`.repeat(40), [key])
    expect(record?.request?.body).not.toContain('0123456789')
    expect(record?.request?.body).toMatch(/…$/)
  })
})
