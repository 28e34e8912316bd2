// On the history of calls: shows new calls as they arrive, as long as the switch is on.

/** Combines calls that arrive together into one update. */
const DELAY_MS = 400

/** @type {number | undefined} */
let timer
let isLoading = false

/** Replaces the list. Keeps the focus on its call. @param {Element} list @param {Element} now */
const replaceList = (list, now) => {
  const focused = list.contains(document.activeElement) ? document.activeElement?.id : undefined
  const scrolled = list.querySelector('.scroll')?.scrollLeft ?? 0
  list.replaceWith(now)
  now.dispatchEvent(new Event('htmx:load', { bubbles: true }))
  const region = now.querySelector('.scroll')
  if (region !== null) region.scrollLeft = scrolled
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true })
}

/** The list as the server sent it: scripts have changed the one that is shown. @type {string | undefined} */
let shown

const load = async () => {
  const address = new URL(location.href)
  address.searchParams.set('charts', 'none')
  const response = await fetch(address).catch(() => null)
  if (response === null || !response.ok || response.redirected) return
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  const [list, now] = [document.getElementById('call-list'), page.getElementById('call-list')]
  if (list === null || now === null || now.innerHTML === shown) return
  shown = now.innerHTML
  replaceList(list, document.adoptNode(now))
}

const update = () => {
  clearTimeout(timer)
  timer = setTimeout(async () => {
    if (isLoading) {
      update()
      return
    }
    isLoading = true
    await load()
    isLoading = false
  }, DELAY_MS)
}

/** Follows new calls if the page has the switch. */
export const startTail = () => {
  const live = document.getElementById('live')
  if (!(live instanceof HTMLInputElement)) return
  live.closest('label')?.removeAttribute('hidden')
  document.addEventListener('patchbay:calls', () => {
    if (live.checked) update()
  })
  live.addEventListener('change', () => {
    if (live.checked) update()
  })
}
