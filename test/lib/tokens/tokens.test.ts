import fc from 'fast-check'
import packageRanks from 'gpt-tokenizer/bpeRanks/o200k_base'
import packaged, { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, it } from 'vitest'
import { encoding } from '../../../src/lib/tokens/encoding.ts'
import { countTokens, estimateTokens } from '../../../src/lib/tokens/tokens.ts'

it('a text has as many tokens as the reference encoder produces', async () => {
  expect(await countTokens('')).toBe(0)
  expect(await countTokens('Lists what has happened to a shipment, newest first.')).toBe(11)
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 200 }), async text => {
      expect(await countTokens(text)).toBe(encode(text, { disallowedSpecial: new Set() }).length)
    }),
  )
})

it('text that looks like a control token is counted as text', async () => {
  expect(await countTokens('<|endoftext|>')).toBeGreaterThan(1)
})

it.each(['a', "a'", '!', ' ', '/\n', '!/\n'])(
  'a run of %j without end is counted in pieces, to within one token a piece',
  async run => {
    const text = `!${run.repeat(5_000)}`
    const exact = encode(text).length
    const counted = await countTokens(text)
    expect(counted).toBeGreaterThanOrEqual(exact)
    expect(counted).toBeLessThanOrEqual(exact + text.length / 256)
  },
)

it('a very long text is counted in linear time', async () => {
  expect(await countTokens(`!${'/\n'.repeat(300_000)}`)).toBeGreaterThan(0)
})

it("the encoder built from the package's data gives the same tokens as the package", () => {
  const texts = packageRanks.filter(token => typeof token === 'string')
  // Characters that have no token of their own take several tokens.
  const characters = Array.from({ length: 0x11 * 0x1000 }, (_, index) =>
    String.fromCodePoint(index * 16).toWellFormed(),
  )
  const asTokens = ({ encode }: Pick<typeof encoding, 'encode'>, text: string): string => encode(text).join()
  expect(texts.length).toBeGreaterThan(190_000)
  expect([...texts, ...characters].filter(text => asTokens(encoding, text) !== asTokens(packaged, text))).toEqual([])
  expect(encoding.vocabularySize).toBe(packaged.vocabularySize)
})

it('the tokens of a long text are estimated to within 1 %, and those of a short one are exact', async () => {
  const rows = Array.from({ length: 6_000 }, (_, id) => ({ id, name: `Name ${(id * 7_919) % 1_000}`, score: id / 7 }))
  const text = JSON.stringify(rows)
  const { tokens, isEstimated } = await estimateTokens(text)
  const exact = await countTokens(text)
  expect(isEstimated).toBe(true)
  expect(Math.abs(tokens - exact) / exact).toBeLessThan(0.01)
  expect(await estimateTokens('Some words.')).toEqual({ tokens: await countTokens('Some words.'), isEstimated: false })
})
