import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isToolAllowed } from '../../src/upstreams/catalogue/present-tools.ts'
import { fillText, keysIn, parseReferences } from '../../src/upstreams/config/references.ts'
import { runsOf } from '../support/cases-of-run.ts'

describe('the text of an argument', () => {
  const key = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,10}$/)
  const piece = fc.oneof(
    fc.record({ kind: fc.constant('text' as const), text: fc.stringMatching(/^[^{\\]{1,8}$/) }),
    fc.record({ kind: fc.constant('braces' as const) }),
    fc.record({ kind: fc.constant('global' as const), key, blanks: fc.constantFrom('', ' ', '  ') }),
  )

  it('has each global replaced and nothing else changed', () => {
    fc.assert(
      fc.property(fc.array(piece), pieces => {
        const written = pieces.map(part => {
          if (part.kind === 'text') return part.text
          return part.kind === 'braces' ? '\\{{' : `{{${part.blanks}${part.key}${part.blanks}}}`
        })
        const wanted = pieces.map(part => {
          if (part.kind === 'text') return part.text
          return part.kind === 'braces' ? '{{' : `<${part.key}{{x}}>`
        })
        const parsed = parseReferences(written.join(''))
        if (!parsed.ok) throw new Error(parsed.error)
        expect(fillText(parsed.value, name => `<${name}{{x}}>`)).toBe(wanted.join(''))
        expect(keysIn(parsed.value)).toEqual(pieces.flatMap(part => (part.kind === 'global' ? part.key : [])))
      }),
    )
  })

  it.each(['{{', 'a {{b c}}', '{{.Names}}', '{{{{x}}', '{{1x}}', `{{${'x'.repeat(65)}}}`])(
    'is refused where braces begin no global: %s',
    text => {
      expect(parseReferences(text).ok).toBe(false)
    },
  )

  it(`leaves \${VAR} and single braces unchanged`, () => {
    const text = `\${HOME}/{a}}} {"b":{"c":1}}`
    const parsed = parseReferences(text)
    expect(parsed.ok && fillText(parsed.value, () => '')).toBe(text)
  })
})

describe('a pattern of tool names', () => {
  it('matches like a regular expression with .* for each star', () => {
    const texts = fc.stringMatching(/^[ab*.]{0,8}$/)
    fc.assert(
      fc.property(texts, fc.stringMatching(/^[ab.]{0,12}$/), (pattern, name) => {
        const expression = new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`)
        expect(isToolAllowed({ allow: [pattern] }, name)).toBe(expression.test(name))
      }),
      { numRuns: runsOf(2_000) },
    )
  })

  it.each([
    [{}, true],
    [{ allow: ['read_*'] }, true],
    [{ allow: ['write_*', 'READ_FILE'] }, false],
    [{ deny: ['*_file'] }, false],
    [{ allow: ['read_*'], deny: ['read_file'] }, false],
    [{ allow: ['*'], deny: ['*_dir'] }, true],
  ])('%j decides about read_file: %s', (lists, isAllowed) => {
    expect(isToolAllowed(lists, 'read_file')).toBe(isAllowed)
  })
})
