// Runs in the page: what look.md asks of it that only the browser knows. Each answers faults, as sentences.

const NATIVE = 'a[href], button, input:not([type="hidden"]), select, textarea, summary'
const FOCUSABLE = `${NATIVE}, [tabindex]`

/** How an element is named in a fault. @param {Element} element */
const nameOf = element => {
  const text = (element.getAttribute('aria-label') ?? element.textContent ?? '').trim().replace(/\s+/g, ' ')
  const attributes = ['id', 'name', 'class', 'href'].flatMap(name => {
    const value = element.getAttribute(name)
    return value ? [`${name}="${value.slice(0, 60)}"`] : []
  })
  return `<${[element.localName, ...attributes].join(' ')}> ${text.slice(0, 40)}`
}

/** What is only there for readers of screens, or comes into sight when it is focused. @param {Element} element */
const isHushed = element => element.closest('.hush, .skip') !== null

/** @param {Element} element */
const isSeen = element => {
  const { width, height } = element.getBoundingClientRect()
  return width > 1 && height > 1 && element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
}

/** @param {string} selector */
const seen = selector => [...document.querySelectorAll(selector)].filter(isSeen)

/** What a click has to meet: of a link in a drawing its first shape. @param {Element} element */
const targetOf = element =>
  element instanceof SVGElement ? (element.querySelector('rect, circle, path') ?? element) : element

/** @param {Element} element */
const assertClickable = element => {
  element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' })
  const rect = [...targetOf(element).getClientRects()].find(({ width, height }) => width > 1 && height > 1)
  if (rect === undefined) return []
  const hit = document.elementFromPoint(rect.x + rect.width / 2, rect.y + rect.height / 2)
  if (hit === null) return [`${nameOf(element)} cannot be scrolled into sight`]
  const isOwn = element.contains(hit) || hit.closest('label')?.control === element
  return isOwn ? [] : [`${nameOf(element)} is covered by ${nameOf(hit)}`]
}

/** The part of an element that its scrolling ancestors let through, from the document's corner. @param {Element} element */
const shownRectOf = element => {
  const { left, top, right, bottom } = targetOf(element).getBoundingClientRect()
  const shown = { left, top, right, bottom }
  for (let around = element.parentElement; around !== null && around !== document.body; around = around.parentElement) {
    if (getComputedStyle(around).overflowX === 'visible') continue
    const box = around.getBoundingClientRect()
    shown.left = Math.max(shown.left, box.left)
    shown.right = Math.min(shown.right, box.right)
    shown.top = Math.max(shown.top, box.top)
    shown.bottom = Math.min(shown.bottom, box.bottom)
  }
  return shown
}

/** Less than this many pixels in common is rounding. */
const SLACK = 2

const listOverlaps = () => {
  const boxes = seen(NATIVE)
    .filter(element => !isHushed(element))
    .map(element => ({ element, rect: shownRectOf(element) }))
  return boxes.flatMap(({ element, rect }, index) =>
    boxes.slice(index + 1).flatMap(({ element: other, rect: its }) => {
      if (element.contains(other) || other.contains(element)) return []
      const width = Math.min(rect.right, its.right) - Math.max(rect.left, its.left)
      const height = Math.min(rect.bottom, its.bottom) - Math.max(rect.top, its.top)
      return width > SLACK && height > SLACK ? [`${nameOf(element)} overlaps ${nameOf(other)}`] : []
    }),
  )
}

/** The narrowest width, in pixels, at which the rows of a table may be wider than the screen. */
const WIDE_ENOUGH_FOR_ROWS = 640

const listWideRows = () =>
  innerWidth >= WIDE_ENOUGH_FOR_ROWS
    ? []
    : seen('.scroll:has(> [data-stack])')
        .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
        .map(element => `${nameOf(element)} scrolls sideways, though its rows are to stand in lines`)

const listLayoutFaults = () => {
  const { scrollWidth, clientWidth } = document.documentElement
  const wide = [...document.querySelectorAll('body *')].find(
    element =>
      element.closest('.scroll, .tabs, .menu, .strip, pre, .hush') === null &&
      element.getBoundingClientRect().right > clientWidth + 1,
  )
  const faults =
    scrollWidth > clientWidth
      ? [`scrolls sideways by ${scrollWidth - clientWidth} px${wide ? `: ${nameOf(wide)}` : ''}`]
      : []
  faults.push(...listOverlaps(), ...listWideRows())
  const places = [...document.querySelectorAll('*')].filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
  const before = places.map(part => part.scrollLeft)
  for (const element of seen(NATIVE)) if (!isHushed(element)) faults.push(...assertClickable(element))
  for (const [index, part] of places.entries()) part.scrollLeft = before[index]
  window.scrollTo(0, 0)
  return faults
}

const listStructureFaults = () => {
  const faults = []
  if (!/^\S.* · Patchbay$/.test(document.title)) faults.push(`has the title "${document.title}"`)
  if (document.documentElement.lang === '') faults.push('says no language')
  for (const selector of ['h1', 'main', 'body > header', 'body > footer']) {
    const count = document.querySelectorAll(selector).length
    if (count !== 1) faults.push(`has ${count} of ${selector}`)
  }
  for (const label of document.querySelectorAll('label[for]')) {
    if (label.control === null) faults.push(`${nameOf(label)} labels nothing`)
  }
  const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id)
  for (const id of new Set(ids.filter((id, index) => ids.indexOf(id) !== index)))
    faults.push(`has the id "${id}" twice`)
  return faults
}

const SIGNS = ['outline', 'boxShadow', 'borderColor', 'backgroundColor', 'stroke', 'strokeWidth', 'transform']

/** All that could show that an element is focused: on itself, around it, inside of it. @param {Element} element */
const looksOf = element => {
  const around = [element.parentElement, element.parentElement?.parentElement].filter(Boolean)
  const inside = [...element.querySelectorAll('*')].slice(0, 6)
  const read = (one, pseudo) => {
    const style = getComputedStyle(one, pseudo)
    return SIGNS.map(sign => style[sign]).join(' ')
  }
  return [element, ...around, ...inside].flatMap(one => [read(one), read(one, '::after')]).join('|')
}

const isInSight = element => {
  const { left, right, top, bottom } = element.getBoundingClientRect()
  return right > 0 && bottom > 0 && left < innerWidth && top < innerHeight
}

/** Of radio buttons that go together the keyboard reaches one. @param {Element} element */
const groupOf = element =>
  element instanceof HTMLInputElement && element.type === 'radio' ? `radio ${element.name}` : element

const toReach = () => seen(FOCUSABLE).filter(element => element.tabIndex >= 0 && !element.matches(':disabled'))

/** @type {Map<Element, { looks: string, isInSight: boolean }>} */
const reached = new Map()
/** @type {Set<Element>} */
let there = new Set()
const note = ({ target }) => {
  if (!reached.has(target)) reached.set(target, { looks: looksOf(target), isInSight: isInSight(target) })
}

/** Answers how many times Tab has to be pressed to come round. */
const beginKeyboard = () => {
  reached.clear()
  document.activeElement?.blur()
  there = new Set(toReach())
  window.scrollTo(0, 0)
  document.addEventListener('focusin', note)
  // Parts that scroll can be focused besides, and within a date its day, month and year, and its calendar.
  const dates = document.querySelectorAll('input[type="date"]').length
  return there.size + 3 * dates + document.querySelectorAll('.scroll, .tabs, .menu, pre').length + 2
}

/** Answers what is wrong, and whether that may be because parts were replaced meanwhile: a page follows what it shows. */
const endKeyboard = () => {
  document.removeEventListener('focusin', note)
  document.activeElement?.blur()
  const groups = new Set([...reached.keys()].map(groupOf))
  const now = toReach()
  const missed = now.filter(element => !groups.has(groupOf(element)))
  const isReplaced = now.length !== there.size || now.some(element => !there.has(element))
  // What is gone looks like nothing now.
  const unseen = [...reached]
    .filter(([element, { looks }]) => element.isConnected && looks === looksOf(element))
    .map(([element]) => element)
  const away = [...reached].filter(([, { isInSight }]) => !isInSight).map(([element]) => element)
  window.scrollTo(0, 0)
  const faults = [
    ...missed.map(element => `Tab does not reach ${nameOf(element)}`),
    ...unseen.map(element => `nothing shows that ${nameOf(element)} is focused`),
    ...away.map(element => `${nameOf(element)} is focused out of sight`),
  ]
  return { faults, isReplaced }
}

/** What came over the wire for this page, or would with an empty cache: bytes of bodies as they are encoded. */
const weigh = () =>
  ['navigation', 'resource']
    .flatMap(type => performance.getEntriesByType(type))
    .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)

globalThis.pageProbe = { listLayoutFaults, listStructureFaults, beginKeyboard, endKeyboard, weigh }
