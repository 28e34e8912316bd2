// Checks that run in the page. Each returns its faults as sentences.

const NATIVE = 'a[href], button, input:not([type="hidden"]), select, textarea, summary'
const FOCUSABLE = `${NATIVE}, [tabindex]`

/** Describes an element in a fault. @param {Element} element */
const nameOf = element => {
  const text = (element.getAttribute('aria-label') ?? element.textContent ?? '').trim().replace(/\s+/g, ' ')
  const attributes = ['id', 'name', 'class', 'href'].flatMap(name => {
    const value = element.getAttribute(name)
    return value ? [`${name}="${value.slice(0, 60)}"`] : []
  })
  return `<${[element.localName, ...attributes].join(' ')}> ${text.slice(0, 40)}`
}

/** Returns whether an element is only for screen readers, or visible only when focused. @param {Element} element */
const isHushed = element => element.closest('.hush, .skip') !== null

/** @param {Element} element */
const isVisible = element => {
  const { width, height } = element.getBoundingClientRect()
  return width > 1 && height > 1 && element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
}

/** Returns whether no open dialog keeps an element from being used. @param {Element} element */
const isOpen = element => {
  const dialog = document.querySelector('dialog:modal')
  return dialog === null || dialog.contains(element)
}

/** @param {string} selector */
const visible = selector => [...document.querySelectorAll(selector)].filter(one => isVisible(one) && isOpen(one))

/** Returns the element to click: for a link in an SVG, its first shape. @param {Element} element */
const targetOf = element =>
  element instanceof SVGElement ? (element.querySelector('rect, circle, path') ?? element) : element

/** @param {Element} element */
const listClickFaults = element => {
  element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' })
  const rect = [...targetOf(element).getClientRects()].find(({ width, height }) => width > 1 && height > 1)
  if (rect === undefined) return []
  const hit = document.elementFromPoint(rect.x + rect.width / 2, rect.y + rect.height / 2)
  if (hit === null) return [`${nameOf(element)} cannot be scrolled into view`]
  const isOwn = element.contains(hit) || hit.closest('label')?.control === element
  // A list of suggestions covers the page until it is closed.
  return isOwn || hit.closest('.complete') !== null ? [] : [`${nameOf(element)} is covered by ${nameOf(hit)}`]
}

/** Returns the part of an element that its scrolling ancestors do not clip. @param {Element} element */
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

/** Largest overlap, in pixels, that counts as a rounding error. */
const SLACK = 2

const listOverlaps = () => {
  // A bar that is kept in view covers what is scrolled below it.
  const boxes = visible(NATIVE)
    .filter(element => !isHushed(element) && element.closest('.savebar') === null)
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

/** Tables that have a layout for every width. Others, such as the matrix of bindings, may scroll sideways. */
const FITTING = '.scroll:has(> [data-stack])'

const listWideRows = () =>
  visible(FITTING)
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
    .map(
      element =>
        `${nameOf(element)} is cut off by ${element.scrollWidth - element.clientWidth} px, although its rows could be stacked`,
    )

const listLayoutFaults = () => {
  const { scrollWidth, clientWidth } = document.documentElement
  const wide = [...document.querySelectorAll('body *')].find(
    element =>
      element.closest('.scroll, .tabs, .subnav, .menu, .strip, pre, .hush') === null &&
      element.getBoundingClientRect().right > clientWidth + 1,
  )
  const faults =
    scrollWidth > clientWidth
      ? [`scrolls sideways by ${scrollWidth - clientWidth} px${wide ? `: ${nameOf(wide)}` : ''}`]
      : []
  faults.push(...listOverlaps(), ...listWideRows())
  const scrollable = [...document.querySelectorAll('*')].filter(
    ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth,
  )
  const offsets = scrollable.map(part => part.scrollLeft)
  for (const element of visible(NATIVE)) if (!isHushed(element)) faults.push(...listClickFaults(element))
  for (const [index, part] of scrollable.entries()) part.scrollLeft = offsets[index]
  window.scrollTo(0, 0)
  return faults
}

const listStructureFaults = () => {
  const faults = []
  if (!/^\S.* · Patchbay$/.test(document.title)) faults.push(`has the title "${document.title}"`)
  if (document.documentElement.lang === '') faults.push('has no language')
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

const FOCUS_STYLES = ['outline', 'boxShadow', 'borderColor', 'backgroundColor', 'stroke', 'strokeWidth', 'transform']

/** Styles that could show the focus: of the element, its parents and its children. @param {Element} element */
const stylesOf = element => {
  const around = [element.parentElement, element.parentElement?.parentElement].filter(Boolean)
  const inside = [...element.querySelectorAll('*')].slice(0, 6)
  const read = (one, pseudo) => {
    const style = getComputedStyle(one, pseudo)
    return FOCUS_STYLES.map(property => style[property]).join(' ')
  }
  return [element, ...around, ...inside].flatMap(one => [read(one), read(one, '::after')]).join('|')
}

const isInViewport = element => {
  const { left, right, top, bottom } = element.getBoundingClientRect()
  return right > 0 && bottom > 0 && left < innerWidth && top < innerHeight
}

/**
 * Returns the group of a radio button, because the keyboard reaches only one button of a group. @param {Element}
 * element
 */
const groupOf = element =>
  element instanceof HTMLInputElement && element.type === 'radio' ? `radio ${element.name}` : element

const toReach = () => visible(FOCUSABLE).filter(element => element.tabIndex >= 0 && !element.matches(':disabled'))

/** @type {Map<Element, { styles: string, isInViewport: boolean }>} */
const reached = new Map()
/** @type {Set<Element>} */
let before = new Set()
const note = ({ target }) => {
  if (!reached.has(target)) reached.set(target, { styles: stylesOf(target), isInViewport: isInViewport(target) })
}

/** Prepares the keyboard check. Returns how often to press Tab to visit the whole page. */
const beginKeyboard = () => {
  reached.clear()
  document.activeElement?.blur()
  before = new Set(toReach())
  window.scrollTo(0, 0)
  document.addEventListener('focusin', note)
  // Scrollable parts can also be focused, and a date field has four stops: day, month, year and calendar. With a time,
  // it has up to eight.
  const dates = document.querySelectorAll('input[type="date"]').length
  const times = document.querySelectorAll('input[type="datetime-local"]').length
  return before.size + 3 * dates + 7 * times + document.querySelectorAll('.scroll, .tabs, .menu, pre').length + 2
}

/** Returns the faults, and whether elements were replaced meanwhile, as happens on live pages. */
const endKeyboard = () => {
  document.removeEventListener('focusin', note)
  document.activeElement?.blur()
  const groups = new Set([...reached.keys()].map(groupOf))
  const now = toReach()
  const missed = now.filter(element => !groups.has(groupOf(element)))
  const isReplaced = now.length !== before.size || now.some(element => !before.has(element))
  // Removed elements have no styles.
  const unseen = [...reached]
    .filter(([element, { styles }]) => element.isConnected && styles === stylesOf(element))
    .map(([element]) => element)
  const away = [...reached].filter(([, { isInViewport }]) => !isInViewport).map(([element]) => element)
  window.scrollTo(0, 0)
  const faults = [
    ...missed.map(element => `Tab does not reach ${nameOf(element)}`),
    ...unseen.map(element => `nothing shows that ${nameOf(element)} is focused`),
    ...away.map(element => `${nameOf(element)} is focused outside the viewport`),
  ]
  return { faults, isReplaced }
}

/** A script as it is in the sources, without what the build does to it. */
const SOURCE = /\/assets\/js\/([\w-]+\.js)/

/**
 * Returns the compressed size in bytes of this page and everything it loads, as with an empty cache, and the names of the
 * scripts that do not count because they come from the sources. The answers to what is typed or sent do not count either.
 */
const weigh = async () => {
  const list = () => ['navigation', 'resource'].flatMap(type => performance.getEntriesByType(type))
  // The browser reports no size for files that it has cached.
  const assets = new Set(
    list()
      .map(({ name }) => name)
      .filter(name => name.startsWith(`${location.origin}/assets/`) && !SOURCE.test(name)),
  )
  for (const asset of assets) await (await fetch(asset, { cache: 'reload' })).arrayBuffer()
  const sizes = new Map()
  let others = 0
  for (const { name, encodedBodySize } of list()) {
    if (assets.has(name)) sizes.set(name, Math.max(sizes.get(name) ?? 0, encodedBodySize))
    else if (!SOURCE.test(name) && !/\/tool-(?:preview|send)$/.test(name)) others += encodedBodySize
  }
  const bytes = [...sizes.values()].reduce((sum, size) => sum + size, others)
  return { bytes, scripts: [...document.scripts].flatMap(({ src }) => SOURCE.exec(src)?.[1] ?? []) }
}

/** Resolves when the page is complete, including its styles, its fonts and the parts that load themselves. */
const settle = async () => {
  if (document.readyState !== 'complete') {
    await new Promise(resolve => addEventListener('load', resolve, { once: true }))
  }
  await document.fonts.ready
  const isLoading = () => document.querySelector('[hx-trigger^="load"]') !== null
  await new Promise(resolve => {
    const observer = new MutationObserver(() => isLoading() || finish())
    const finish = () => {
      observer.disconnect()
      resolve()
    }
    observer.observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['hx-trigger'] })
    if (!isLoading()) finish()
  })
}

globalThis.pageProbe = { settle, listLayoutFaults, listStructureFaults, beginKeyboard, endKeyboard, weigh }
