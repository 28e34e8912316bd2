import type { Rect } from './dimensions.ts'
import type { PatchParameter, PatchState } from './patch.ts'
import { cutText, type Face, plainText } from './text.ts'

/** One SVG element. The template escapes it, because names and values may contain anything. */
export type Shape = {
  tag: 'a' | 'circle' | 'g' | 'path' | 'rect' | 'text' | 'title'
  attributes: Readonly<Record<string, string | number>>
  text?: string
  children?: readonly Shape[]
}

type Attributes = Shape['attributes']

export const path = (className: string, d: string, more: Attributes = {}): Shape => ({
  tag: 'path',
  attributes: { class: className, ...more, d },
})

export const circle = (className: string, cx: number, cy: number, r: number, more: Attributes = {}): Shape => ({
  tag: 'circle',
  attributes: { class: className, ...more, cx, cy, r },
})

export const rect = (className: string, { x, y, width, height }: Rect, more: Attributes = {}): Shape => ({
  tag: 'rect',
  attributes: { class: className, x, y, width, height, ...more },
})

/** Draws a box half a unit inside its bounds, which keeps its outline sharp. */
export const box = ({ x, y, width, height }: Rect): Shape =>
  rect('box', { x: x + 0.5, y: y + 0.5, width: width - 1, height: height - 1 }, { rx: 8 })

export const label = (x: number, y: number, className: string, text: string): Shape => ({
  tag: 'text',
  attributes: { x, y, class: className },
  text,
})

const FACES: Readonly<Record<string, Face>> = { name: 'name', port: 'port', value: 'value', head: 'head' }

/** Draws a label, cut to the given width. The first class selects the typeface. */
export const cutLabel = (x: number, y: number, className: string, text: string, room: number): Shape =>
  label(x, y, className, cutText(text, FACES[className.split(' ')[0] ?? ''] ?? 'sans', room).text)

export const group = (attributes: Attributes, children: readonly Shape[]): Shape => ({ tag: 'g', attributes, children })

/**
 * Groups the shapes, inside a link if there is an `href`. If the visible name is cut, a title contains the full name.
 */
export const link = (href: string | undefined, name: string, children: readonly Shape[]): Shape => {
  const fullName = plainText(name)
  const isCut = !children.some(({ text }) => text === fullName)
  const title: readonly Shape[] = isCut ? [{ tag: 'title', attributes: {}, text: fullName }] : []
  return href === undefined
    ? { tag: 'g', attributes: {}, children: [...title, ...children] }
    : { tag: 'a', attributes: { href }, children: [...title, ...children] }
}

/** Symbols in the jacks, so that color is never the only cue. */
const GLYPHS: Readonly<Record<Exclude<PatchParameter['source'], 'missing'>, readonly Shape[]>> = {
  fixed: [{ tag: 'path', attributes: { d: 'M-3-1.7h6M-3 1.7h6' } }],
  global: [{ tag: 'circle', attributes: { class: 'solid', r: 2.6 } }],
  secret: [path('solid', 'M-3-.6h6v3.9h-6z'), { tag: 'path', attributes: { d: 'M-1.9-.8v-1a1.9 1.9 0 0 1 3.8 0v1' } }],
  exposed: [path('solid', 'M-3.6 0 2.4-3.6v7.2z')],
}

export const jack = (x: number, y: number, source: keyof typeof GLYPHS): Shape =>
  group({ class: 'jack', 'data-source': source, transform: `translate(${x} ${y})` }, [
    { tag: 'circle', attributes: { r: 8 } },
    ...GLYPHS[source],
  ])

/** Draws the state of health as a shape: a circle, diamond, square or empty ring. */
export const lamp = (x: number, y: number, state: PatchState): Shape => {
  const square = { x: x - 4, y: y - 4, width: 8, height: 8 }
  switch (state) {
    case 'slow':
      return rect('lamp', square, { 'data-state': state, rx: 1, transform: `rotate(45 ${x} ${y})` })
    case 'failed':
      return rect('lamp', square, { 'data-state': state, rx: 1 })
    case 'good':
    case 'idle':
      return circle('lamp', x, y, 4, { 'data-state': state })
  }
}
