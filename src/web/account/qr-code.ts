import { encode } from 'uqr'

/** Empty modules around the code, without which cameras do not find it (ISO/IEC 18004 §9.1). */
const QUIET_MODULES = 4

/** A run of dark modules as a bar one module high. */
const toBars = (row: readonly boolean[], y: number): string =>
  row
    .map((isDark, x) =>
      isDark && row[x - 1] !== true ? { x, length: row.slice(x).findIndex(next => !next) } : undefined,
    )
    .flatMap(run =>
      run === undefined ? [] : [`M${run.x} ${y}h${run.length === -1 ? row.length - run.x : run.length}v1H${run.x}z`],
    )
    .join('')

/** A QR code of the text, as the side of a square in modules and the path of what is dark in it. */
export const drawQrCode = (text: string): { size: number; path: string } => {
  const { size, data } = encode(text, { ecc: 'M', border: QUIET_MODULES })
  return { size, path: data.map(toBars).join('') }
}
