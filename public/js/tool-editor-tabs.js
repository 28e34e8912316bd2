// Tabs within a panel. The address names the open one, and arrows, Home and End move between them.

/** @typedef {{ name: string, tabs: HTMLElement[], open: (tab: HTMLElement) => void }} TabSet */

/** @type {TabSet[]} */
const sets = []

/** @param {HTMLElement} tab */
const panelOf = tab => document.getElementById(tab.getAttribute('aria-controls') ?? '')

/** @param {HTMLElement} tab */
const idOf = tab => tab.id.slice(tab.id.indexOf('-') + 1)

/**
 * Keeps the open tab in the address and in the form, so that it is open again after saving.
 * @param {TabSet} set @param {HTMLElement} tab
 */
const remember = ({ name, tabs }, tab) => {
  const id = tab === tabs[0] ? '' : idOf(tab)
  const address = new URL(location.href)
  if (id === '') address.searchParams.delete(name)
  else address.searchParams.set(name, id)
  history.replaceState(history.state, '', address)
  const field = document.querySelector(`input[type="hidden"][name="${name}"]`)
  if (field instanceof HTMLInputElement) field.value = id
}

/** @param {HTMLElement} root @returns {TabSet} */
const createSet = root => {
  const bar = root.querySelector(':scope > [role="tablist"]')
  const tabs = [...(bar?.querySelectorAll('[role="tab"]') ?? [])].filter(tab => tab instanceof HTMLElement)
  const open = (/** @type {HTMLElement} */ tab) => {
    for (const each of tabs) {
      each.setAttribute('aria-selected', String(each === tab))
      each.tabIndex = each === tab ? 0 : -1
      const panel = panelOf(each)
      if (panel !== null) panel.hidden = each !== tab
    }
    // The first tab is never hidden. To measure it would delay the page.
    if (tab === tabs[0]) return
    const hiddenWidth =
      tab.getBoundingClientRect().right - (bar?.getBoundingClientRect().right ?? Number.POSITIVE_INFINITY)
    if (hiddenWidth > 0) bar?.scrollBy({ left: hiddenWidth, behavior: 'instant' })
  }
  return { name: root.dataset.tabset ?? '', tabs, open }
}

/** Returns the tab to open first: that of the focused field, the one in the address, or the first. @param {TabSet} set */
const firstOf = ({ name, tabs }) => {
  const field = document.querySelector(`input[type="hidden"][name="${name}"]`)
  const wanted =
    new URLSearchParams(location.search).get(name) ?? (field instanceof HTMLInputElement ? field.value : '')
  return (
    tabs.find(tab => panelOf(tab)?.contains(document.activeElement)) ??
    tabs.find(tab => idOf(tab) === wanted) ??
    tabs[0]
  )
}

/** @param {TabSet} set @param {KeyboardEvent} event */
const moveBy = (set, event) => {
  const at = event.target instanceof HTMLElement ? set.tabs.indexOf(event.target) : -1
  const last = set.tabs.length - 1
  const targets = { ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1, Home: 0, End: last }
  const to = at === -1 ? undefined : set.tabs[targets[event.key] ?? -1]
  if (to === undefined) return
  event.preventDefault()
  set.open(to)
  remember(set, to)
  to.focus()
}

/** Opens the tab that contains an element, such as a field with an error. @param {Element | null} element */
export const openTabOf = element => {
  for (const set of sets) {
    const tab = set.tabs.find(each => panelOf(each)?.contains(element))
    if (tab === undefined) continue
    set.open(tab)
    remember(set, tab)
  }
}

/** Turns each [data-tabset] of the page into tabs. */
export const startTabs = () => {
  for (const root of document.querySelectorAll('[data-tabset]')) {
    if (!(root instanceof HTMLElement)) continue
    const set = createSet(root)
    const first = firstOf(set)
    if (first === undefined) continue
    sets.push(set)
    root.dataset.ready = ''
    set.open(first)
    remember(set, first)
    root.addEventListener('click', event => {
      const tab = event.target instanceof Element ? event.target.closest('[role="tab"]') : null
      if (!(tab instanceof HTMLElement) || !set.tabs.includes(tab)) return
      set.open(tab)
      remember(set, tab)
    })
    root.addEventListener('keydown', event => moveBy(set, event))
  }
}
