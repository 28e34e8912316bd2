import { encode } from 'uqr'

/** Width of the quiet zone in modules; scanners need it to find the code (ISO/IEC 18004 §9.1). */
const QUIET_MODULES = 4

/** Returns SVG path data in which each run of dark modules is a bar one module high. */
const toBars = (row: readonly boolean[], y: number): string =>
  row
    .map((isDark, x) =>
      isDark && row[x - 1] !== true ? { x, length: row.slice(x).findIndex(next => !next) } : undefined,
    )
    .flatMap(run =>
      run === undefined ? [] : [`M${run.x} ${y}h${run.length === -1 ? row.length - run.x : run.length}v1H${run.x}z`],
    )
    .join('')

/** Returns a QR code for the text: the number of modules per side, and SVG path data for the dark modules. */
export const drawQrCode = (text: string): { size: number; path: string } => {
  const { size, data } = encode(text, { ecc: 'M', border: QUIET_MODULES })
  return { size, path: data.map(toBars).join('') }
}
