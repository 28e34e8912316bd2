import fc from 'fast-check'
import { encode } from 'uqr'
import { describe, expect, it } from 'vitest'
import { drawQrCode } from '../../../src/web/account/qr-code.ts'

/** Draws the bars of an SVG path, as a browser does. */
const readBars = ({ size, path }: { size: number; path: string }): boolean[][] => {
  const rows = Array.from({ length: size }, () => Array.from({ length: size }, () => false))
  for (const [, x = '', y = '', length = ''] of path.matchAll(/M(\d+) (\d+)h(\d+)v1H\1z/g)) {
    for (let count = 0; count < Number(length); count++) (rows[Number(y)] ?? [])[Number(x) + count] = true
  }
  return rows
}

describe('a QR code', () => {
  it('is drawn exactly as encoded, with a quiet zone around it', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 300 }), text => {
        const drawn = drawQrCode(text)
        expect(readBars(drawn)).toEqual(encode(text, { ecc: 'M', border: 4 }).data)
        expect(drawn.path.replaceAll(/M\d+ \d+h\d+v1H\d+z/g, '')).toBe('')
        expect(drawn.path).not.toMatch(/M[0-3] |M\d+ [0-3]h/)
      }),
      { numRuns: 50 },
    )
  })
})
