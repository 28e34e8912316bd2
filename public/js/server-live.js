// Updates a server's page, and the history of an organization, while it is visible: see GET /servers/:uuid/live.

/** Combines changes that arrive together into one reload. */
const RELOAD_DELAY_MS = 300
const MAX_ROWS = 20

/**
 * @typedef {{id: string, href: string, at: string, time: string, tool: string, state: string, outcome: string, duration: string, client: string}} Call
 * @typedef {{name: string, text: string, note: string, isBad: boolean}} Figure
 */

/** Makes times.js convert the times of a new part. @param {Element} part */
const showLocalTimes = part => part.dispatchEvent(new Event('htmx:load', { bubbles: true }))

/** @param {ParentNode} part @param {string} selector @param {string} text */
const setText = (part, selector, text) => {
  const element = part.querySelector(selector)
  if (element !== null) element.textContent = text
}

/** @param {{text: string, state: string}} news */
const showState = ({ text, state }) => {
  const line = document.getElementById('live-state')
  if (line === null) return
  line.textContent = text
  line.dataset.state = state
}

/** Fills a copy of the row template. @param {Call} call */
const toRow = call => {
  const template = document.getElementById('call-row')
  const row = template instanceof HTMLTemplateElement ? template.content.querySelector('tr')?.cloneNode(true) : null
  if (!(row instanceof HTMLElement)) return null
  row.dataset.call = call.id
  const time = row.querySelector('time')
  time?.setAttribute('datetime', call.at)
  setText(row, 'time', call.time)
  row.querySelector('a')?.setAttribute('href', call.href)
  setText(row, 'code', call.tool)
  setText(row, '.state', call.outcome)
  row.querySelector('.state')?.setAttribute('data-state', call.state)
  const [duration, client] = row.querySelectorAll('td:nth-last-child(-n + 2)')
  if (duration !== undefined) duration.textContent = call.duration
  if (client !== undefined) client.textContent = call.client
  return row
}

/** Start time of a row's call. @param {Element} row */
const timeOf = row => Date.parse(row.querySelector('time')?.getAttribute('datetime') ?? '')

/** Inserts new rows by time, since calls from other processes can arrive late. @param {Call[]} calls */
const showCalls = calls => {
  const list = document.getElementById('calls')
  if (list === null) return
  const known = new Set([...list.children].map(row => row instanceof HTMLElement && row.dataset.call))
  for (const call of calls.filter(({ id }) => !known.has(id)).reverse()) {
    const row = toRow(call)
    if (row === null) continue
    const older = [...list.children].find(other => timeOf(other) <= timeOf(row))
    list.insertBefore(row, older ?? null)
    showLocalTimes(row)
  }
  while (list.children.length > MAX_ROWS) list.lastElementChild?.remove()
  const none = document.getElementById('no-call')
  if (none !== null) none.hidden = list.children.length > 0
  const table = list.closest('.scroll')
  if (table instanceof HTMLElement) table.hidden = list.children.length === 0
}

/** Shows a check mark once the first call has arrived. @param {string | undefined} text */
const showFirstCall = text => {
  const waiting = document.getElementById('first-call')
  if (waiting === null || text === undefined || waiting.dataset.state === 'arrived') return
  waiting.dataset.state = 'arrived'
  setText(waiting, 'span', text)
}

/** @param {Figure[]} figures */
const showFigures = figures => {
  for (const { name, text, note, isBad } of figures) {
    const place = document.querySelector(`[data-figure="${name}"]`)
    if (place === null) continue
    setText(place, 'span', text)
    setText(place, 'small', note)
    if (isBad) place.setAttribute('data-state', 'failed')
  }
}

const FOCUSABLE = 'a, button, summary, [tabindex]'

/** Replaces a part of the page. Keeps open details and the focus. @param {Element} part @param {Element} now */
const replacePart = (part, now) => {
  const folds = now.querySelectorAll('details')
  for (const [index, { open }] of [...part.querySelectorAll('details')].entries()) {
    if (open) folds[index]?.setAttribute('open', '')
  }
  const focused = [...part.querySelectorAll(FOCUSABLE)].indexOf(document.activeElement)
  part.replaceWith(now)
  const again = now.querySelectorAll(FOCUSABLE)[focused]
  if (again instanceof HTMLElement || again instanceof SVGElement) again.focus({ preventScroll: true })
  showLocalTimes(now)
}

/** @type {number | undefined} */
let reloadTimer

/** Reloads the parts of the page that show upstreams. */
const reloadParts = () => {
  if (document.querySelector('[data-renew]') === null) return
  clearTimeout(reloadTimer)
  reloadTimer = setTimeout(async () => {
    const address = location.href
    const response = await fetch(address).catch(() => null)
    if (response === null || !response.ok || response.redirected) return
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    // The user has searched meanwhile.
    if (location.href !== address) {
      reloadParts()
      return
    }
    for (const part of document.querySelectorAll('[data-renew]')) {
      const now = page.getElementById(part.id)
      if (now !== null && now.innerHTML !== part.innerHTML) replacePart(part, document.adoptNode(now))
    }
  }, RELOAD_DELAY_MS)
}

/** @param {HTMLElement} place @param {string} address */
const follow = (place, address) => {
  /** @type {EventSource | undefined} */
  let source
  const stop = () => {
    source?.close()
    source = undefined
  }
  const start = () => {
    if (source !== undefined) return
    source = new EventSource(address)
    /** @template T @param {string} name @param {(data: T) => void} show */
    const on = (name, show) => source?.addEventListener(name, event => show(JSON.parse(event.data)))
    on('connections', showState)
    on('changed', news => {
      showState(news)
      reloadParts()
    })
    on('upstreams', ({ states }) => {
      if (place.dataset.upstreams !== states) reloadParts()
      place.dataset.upstreams = states
    })
    on('figures', ({ figures }) => showFigures(figures))
    on('calls', ({ calls, first }) => {
      document.dispatchEvent(new Event('patchbay:calls'))
      showCalls(calls)
      showFirstCall(first)
    })
    on('over', () => {
      stop()
      document.removeEventListener('visibilitychange', update)
    })
  }
  // Browsers allow six connections per host, so hidden tabs must not hold one each.
  const update = () => (document.visibilityState === 'visible' ? start() : stop())
  document.addEventListener('visibilitychange', update)
  window.addEventListener('pagehide', stop)
  // Also after the page has loaded: until then, the connection would only delay it.
  window.addEventListener('pageshow', update)
}

const place = document.querySelector('[data-live]')
if (place instanceof HTMLElement && place.dataset.live) follow(place, place.dataset.live)
