import fc from 'fast-check'
import { expect, it } from 'vitest'
import { findNextLink } from '../../src/runtime/next-page/link-header.ts'
import { runsOf } from '../support/cases-of-run.ts'

const targets = fc.stringMatching(/^[a-z/?=&,;"%.]{0,12}$/)
const texts = fc.string({ unit: fc.constantFrom('a', ' ', ',', ';', '<', '>', '"', '\\', '='), maxLength: 8 })
const quote = (text: string): string => `"${text.replaceAll(/["\\]/g, sign => `\\${sign}`)}"`

const links = fc.record({
  target: targets,
  rel: fc.constantFrom('next', 'NEXT', 'prev next', 'prev', 'nextpage', ''),
  title: texts,
  isTitleFirst: fc.boolean(),
  space: fc.constantFrom('', ' ', '\t '),
})

it('finds the first link to the next page, whatever its other parameters contain', () => {
  fc.assert(
    fc.property(fc.array(links, { maxLength: 4 }), all => {
      const header = all
        .map(({ target, rel, title, isTitleFirst, space }) => {
          const parameters = [`title=${quote(title)}`, `rel=${quote(rel)}`]
          const ordered = isTitleFirst ? parameters : parameters.toReversed()
          return `<${target}>${ordered.map(one => `${space};${space}${one}`).join('')}`
        })
        .join(' , ')
      const next = all.find(({ rel }) => rel.toLowerCase().split(' ').includes('next'))
      expect(findNextLink(header)).toBe(next?.target)
    }),
    { numRuns: runsOf(500) },
  )
})

it('reads any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('<', '>', ';', ',', '"', '=', ' ', 'rel', 'next') }), text => {
      expect(['string', 'undefined']).toContain(typeof findNextLink(text))
    }),
    { numRuns: runsOf(500) },
  )
})
