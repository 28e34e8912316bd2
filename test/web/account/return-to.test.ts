import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseReturnTo } from '../../../src/lib/http/pages/return-to.ts'
import { runsOf } from '../../support/cases-of-run.ts'

const ORIGIN = 'https://patchbay.example'

describe('the return path of a page', () => {
  it.each([
    ['/'],
    ['/account?done=email'],
    ['/s/0190a0a0-0000-7000-8000-000000000000'],
    ['/oauth/authorize?client_id=https%3A%2F%2Fclient.example%2Fmetadata.json&state=a%0Ab%00'],
    ['/oauth/authorize?redirect_uri=https://client.example//callback'],
    [`/oauth/authorize?state=${'x'.repeat(8_000)}`],
  ])('can be a path of Patchbay: %.60s', path => {
    expect(parseReturnTo(path)).toBe(path)
  })

  it.each([
    ['', 'empty'],
    ['account', 'no slash'],
    ['//evil.example', 'another host'],
    ['///evil.example', 'another host'],
    ['/\\evil.example', 'a backslash, which browsers take for a slash'],
    ['\\\\evil.example', 'backslashes'],
    ['/\t/evil.example', 'a tab, which browsers leave out'],
    ['/\n/evil.example', 'a line break'],
    ['\t//evil.example', 'a tab before'],
    [' //evil.example', 'a blank before'],
    ['/%2F/evil.example', 'a slash, encoded'],
    ['/%2f%2fevil.example', 'slashes, encoded'],
    ['%2F%2Fevil.example', 'all of it encoded'],
    ['/%5Cevil.example', 'a backslash, encoded'],
    ['/%255Cevil.example', 'a backslash, encoded twice'],
    ['/%25252525252fevil.example', 'encoded without end'],
    ['/%09/evil.example', 'a tab, encoded'],
    ['/%0d%0aSet-Cookie:%20a=b', 'a line break, encoded'],
    ['/a\r\nSet-Cookie: a=b', 'a line break'],
    ['/a?b=c\r\nSet-Cookie: a=b', 'a line break in the query'],
    ['/.//evil.example', 'dots that go away'],
    ['/a/..//evil.example', 'dots that go away'],
    ['/a/%2e%2e//evil.example', 'dots that go away, encoded'],
    ['https://evil.example', 'a scheme'],
    ['https:evil.example', 'a scheme without slashes'],
    ['javascript:alert(1)', 'a script'],
    ['data:text/html,x', 'data'],
    ['/%E0%A4%A', 'malformed encoding'],
    [`/${'x'.repeat(9_000)}`, 'too long'],
    [undefined, 'nothing'],
    [['/account', '/account'], 'two of them'],
  ])('is the home page instead of %j: %s', (text, _why) => {
    expect(parseReturnTo(text)).toBe('/')
  })

  it('never leaves the origin and always fits a header, whatever the input', () => {
    const piece = fc.constantFrom(
      '/',
      '\\',
      '//',
      '.',
      '..',
      '%2f',
      '%5c',
      '%09',
      '\t',
      '@',
      ':',
      '?',
      '#',
      'evil.example',
    )
    const hostile = fc.array(fc.oneof(piece, fc.string({ unit: 'binary', maxLength: 4 })), { maxLength: 12 })
    fc.assert(
      fc.property(hostile, pieces => {
        const path = parseReturnTo(`/${pieces.join('')}`)
        const url = new URL(path, ORIGIN)
        expect(url.origin).toBe(ORIGIN)
        expect(path).toMatch(/^\/(?![/\\])[\x21-\x7e]*$/)
        expect(url.pathname).not.toMatch(/^\/[/\\]/)
      }),
      { numRuns: runsOf(2_000) },
    )
  })
})
