import { describe, expect, it } from 'vitest'
import { readHeadings, renderHeading } from '../../../src/lib/json/headings.ts'

const read = (text: string) => readHeadings(text.split('\n')).map(heading => [heading.line, renderHeading(heading)])

describe('the headings of a text', () => {
  it('are marked lines, each with the one around it', () => {
    expect(read('# One\n\n## A\n\ntext\n### B ###\n## C\n\n# Two\n\n## D')).toEqual([
      [0, 'One'],
      [2, 'One > A'],
      [5, 'A > B'],
      [6, 'One > C'],
      [8, 'Two'],
      [10, 'Two > D'],
    ])
  })

  it('are underlined lines', () => {
    expect(read('Guide\n=====\n\nFirst steps\n-----------\ntext')).toEqual([
      [0, 'Guide'],
      [3, 'First steps'],
    ])
  })

  it('do not include the title in the others', () => {
    expect(read('# Title\n## A\n### B\n## C')).toEqual([
      [0, 'Title'],
      [1, 'A'],
      [2, 'A > B'],
      [3, 'C'],
    ])
  })

  it('have the texts of their links, and are shortened', () => {
    expect(read('## [2.1.0](https://example.com/compare/v2.0.0...v2.1.0) (2026-01-02)')).toEqual([
      [0, '2.1.0 (2026-01-02)'],
    ])
    expect(read(`## ${'x'.repeat(100)}`)).toEqual([[0, `${'x'.repeat(80)}…`]])
  })

  it.each([
    ['comments in a block', '# first line\n# second line\nkey: value'],
    ['a comment right below something else', 'key: value\n# comment\nother: value'],
    ['lines of code', '```sh\n# install\nnpm install\n```'],
    ['a mark without a space', '#hashtag\n####### seven'],
    ['a separator', 'The last line of a long paragraph\n-----\nNext\n\n=====\n====='],
    ['a long line', `## ${'x'.repeat(300)}`],
  ])('are not %s', (_what, text) => {
    expect(read(text)).toEqual([])
  })
})
