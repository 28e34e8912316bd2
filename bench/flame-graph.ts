/** Reads a CPU profile of V8: where the time went, as a table and as a flame graph. */
import type { Profiler } from 'node:inspector'

/** Calls of one function with the same callers. `ms` includes the calls that it makes, `ownMs` does not. */
export type Frame = { name: string; area: string; ms: number; ownMs: number; callees: Map<string, Frame> }

const SOURCES = new URL('../src/', import.meta.url).href
const SOURCE = /^(?:lib\/)?[\w-]+/
const PACKAGE = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/

/** Returns the part of the program that a file belongs to. Undefined if the function is not from a file. */
const areaOf = (url: string): string | undefined => {
  if (url.startsWith('node:')) return 'Node'
  const [, name] = PACKAGE.exec(url) ?? []
  if (name !== undefined) return name
  const [folder] = url.startsWith(SOURCES) ? (SOURCE.exec(url.slice(SOURCES.length)) ?? []) : []
  return folder === undefined ? undefined : `src/${folder}`
}

const GARBAGE = '(garbage collector)'
/** What V8 calls the time in which it runs no JavaScript. */
const NATIVE = '(program)'
const IDLE = '(idle)'
/** The functions that control the profiler. */
const PROFILER = /^node:inspector|\/bench\/child\.mjs$/

const addTo = (callees: Map<string, Frame>, name: string, area: string): Frame => {
  const key = `${area} ${name}`
  const known = callees.get(key) ?? { name, area, ms: 0, ownMs: 0, callees: new Map() }
  callees.set(key, known)
  return known
}

/** Merges calls with the same callers. A built-in function counts as part of the file that calls it. */
export const toFrames = ({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Frame => {
  const times = new Map<number, number>()
  for (const [at, id] of samples.entries()) times.set(id, (times.get(id) ?? 0) + (timeDeltas[at + 1] ?? 0) / 1_000)
  const byId = new Map(nodes.map(node => [node.id, node]))
  const root: Frame = { name: 'main thread', area: 'Node', ms: 0, ownMs: 0, callees: new Map() }

  const visit = (id: number, caller: Frame): number => {
    const node = byId.get(id)
    if (node === undefined) return 0
    const { functionName, url } = node.callFrame
    if (functionName === IDLE || PROFILER.test(url)) return 0
    const isGarbage = functionName === GARBAGE
    const area = isGarbage ? 'garbage collection' : (areaOf(url) ?? caller.area)
    const frame = addTo(caller.callees, functionName === '' ? '(anonymous)' : functionName, area)
    const ownMs = times.get(id) ?? 0
    const ms = (node.children ?? []).reduce((sum, child) => sum + visit(child, frame), ownMs)
    frame.ms += ms
    frame.ownMs += ownMs
    return ms
  }
  for (const child of nodes[0]?.children ?? []) root.ms += visit(child, root)
  if (root.ms === 0) throw new Error('the profile has no samples')
  return root
}

/** Returns the time of each area, longest first. */
export const sumAreas = (root: Frame): [area: string, ms: number][] => {
  const sums = new Map<string, number>()
  const visit = ({ name, area, ownMs, callees }: Frame): void => {
    const known = name === NATIVE ? 'native code' : area
    sums.set(known, (sums.get(known) ?? 0) + ownMs)
    for (const callee of callees.values()) visit(callee)
  }
  visit(root)
  return [...sums].sort(([, one], [, other]) => other - one)
}

const WIDTH = 1_200
const ROW = 17
const CHARACTER = 6.4
/** Narrower frames are left out. */
const MIN_WIDTH = 3

const escapeMarkup = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Returns a light color for an area, on which black text can be read. */
const colorOf = (area: string): string => {
  const hash = [...area].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 360, 7)
  return `hsl(${hash} ${area.startsWith('src/') ? 70 : 25}% 78%)`
}

/** Draws a flame graph: callers below their callees, the width of a frame is its share of the time. */
export const drawFlameGraph = (root: Frame, title: string): string => {
  const boxes: string[] = []
  let deepest = 0
  const draw = (frame: Frame, x: number, depth: number): void => {
    const width = (frame.ms / root.ms) * WIDTH
    if (width < MIN_WIDTH) return
    deepest = Math.max(deepest, depth)
    const share = `${((100 * frame.ms) / root.ms).toFixed(1)} %`
    const label = frame.name.slice(0, Math.max(0, Math.floor((width - 4) / CHARACTER)))
    const text = label.length < 3 ? '' : `<text x="${(x + 2).toFixed(1)}" dy="12">${escapeMarkup(label)}</text>`
    boxes.push(
      `<g transform="translate(0 ${-depth * ROW})"><title>${escapeMarkup(`${frame.name}, ${frame.area}: ${share}`)}</title>` +
        `<rect x="${x.toFixed(1)}" width="${Math.max(width - 0.5, 0.5).toFixed(1)}" height="${ROW - 1}" fill="${colorOf(frame.area)}"/>${text}</g>`,
    )
    let left = x
    for (const callee of [...frame.callees.values()].sort((one, other) => other.ms - one.ms)) {
      draw(callee, left, depth + 1)
      left += (callee.ms / root.ms) * WIDTH
    }
  }
  draw(root, 0, 0)
  const height = (deepest + 3) * ROW
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="monospace" font-size="10.5">`,
    `<title>${escapeMarkup(title)}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/><text x="4" y="14" font-weight="bold">${escapeMarkup(title)}</text>`,
    `<g transform="translate(0 ${height - ROW})">`,
    ...boxes,
    '</g></svg>\n',
  ].join('\n')
}
