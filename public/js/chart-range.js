// On charts over time: dragging selects a time range, which the filters then apply.

const SVG = 'http://www.w3.org/2000/svg'
/** A shorter drag is a click. In pixels. */
const MIN_DRAG = 4

/** @typedef {{svg: SVGSVGElement, left: number, right: number, from: number, to: number, step: number}} Chart */

/** @param {SVGSVGElement} svg @returns {Chart} */
const readChart = svg => ({
  svg,
  left: Number(svg.dataset.left),
  right: Number(svg.dataset.right),
  from: Date.parse(svg.dataset.from ?? ''),
  to: Date.parse(svg.dataset.to ?? ''),
  step: Number(svg.dataset.step),
})

/** Returns the number of the bar at the pointer. @param {Chart} chart @param {PointerEvent} event */
const barAt = ({ svg, left, right, from, to, step }, event) => {
  const matrix = svg.getScreenCTM()?.inverse()
  const x = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix).x
  const bars = (to - from) / step
  return Math.min(bars - 1, Math.max(0, Math.floor(((x - left) / (right - left)) * bars)))
}

/** Shows the selected bars. @param {Chart} chart @param {Element} shade @param {number} first @param {number} last */
const showSelected = ({ left, right, from, to, step }, shade, first, last) => {
  const width = ((right - left) * step) / (to - from)
  shade.setAttribute('x', String(left + first * width))
  shade.setAttribute('width', String((last - first + 1) * width))
}

/** @param {SVGSVGElement} svg @param {PointerEvent} down @param {(from: Date, to: Date) => void} onSelect */
const startDrag = (svg, down, onSelect) => {
  const chart = readChart(svg)
  const start = barAt(chart, down)
  const shade = document.createElementNS(SVG, 'rect')
  shade.setAttribute('class', 'selected')
  shade.setAttribute('y', '18')
  shade.setAttribute('height', '148')
  const end = new AbortController()
  const { signal } = end
  signal.addEventListener('abort', () => shade.remove())
  const rangeTo = (/** @type {PointerEvent} */ event) => {
    const bar = barAt(chart, event)
    return [Math.min(start, bar), Math.max(start, bar)]
  }
  const isDrag = (/** @type {PointerEvent} */ event) => Math.abs(event.clientX - down.clientX) >= MIN_DRAG
  const onMove = (/** @type {PointerEvent} */ event) => {
    if (!isDrag(event)) return
    const [first = start, last = start] = rangeTo(event)
    showSelected(chart, shade, first, last)
    svg.append(shade)
  }
  const onUp = (/** @type {PointerEvent} */ event) => {
    end.abort()
    if (!isDrag(event)) return
    const [first = start, last = start] = rangeTo(event)
    onSelect(new Date(chart.from + first * chart.step), new Date(chart.from + (last + 1) * chart.step))
  }
  svg.setPointerCapture(down.pointerId)
  svg.addEventListener('pointermove', onMove, { signal })
  svg.addEventListener('pointerup', onUp, { signal })
  svg.addEventListener('pointercancel', () => end.abort(), { signal })
  document.addEventListener('keydown', ({ key }) => key === 'Escape' && end.abort(), { signal })
}

/** Lets the reader drag in the charts. A finger scrolls instead. @param {(from: Date, to: Date) => void} onSelect */
export const startChartRanges = onSelect => {
  document.addEventListener('pointerdown', event => {
    const svg = event.target instanceof Element ? event.target.closest('.chart svg[data-from]') : null
    if (!(svg instanceof SVGSVGElement) || event.button !== 0 || event.pointerType === 'touch') return
    event.preventDefault()
    startDrag(svg, event, onSelect)
  })
}
