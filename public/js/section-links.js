// Marks the link of a .subnav whose section is being read: the one at the top of the window, or the one that a link has
// led to.

/** Margins of the part of the window in which a section counts as current: below the header, in the upper 40 %. */
const READING = '-80px 0px -60% 0px'

/** @param {Element} nav */
const follow = nav => {
  const links = [...nav.querySelectorAll('a')]
  const sections = links.map(({ hash }) => document.getElementById(decodeURIComponent(hash.slice(1))))
  /** @type {Set<Element>} */
  const read = new Set()
  /** Whether a link has led to the current section, which may be too low to be read there, and nothing was done since. */
  let isChosen = false

  /** @param {number} index -1 for none */
  const mark = index => {
    for (const [at, link] of links.entries()) {
      if (at === index) link.setAttribute('aria-current', 'location')
      else link.removeAttribute('aria-current')
    }
  }
  const markRead = () => {
    if (isChosen) return
    const isAtEnd = scrollY > 0 && scrollY + innerHeight >= document.documentElement.scrollHeight - 1
    mark(isAtEnd ? sections.length - 1 : sections.findIndex(section => section !== null && read.has(section)))
  }
  const markChosen = () => {
    const index = links.findIndex(({ hash }) => hash !== '' && hash === location.hash)
    if (index === -1) return
    isChosen = true
    mark(index)
  }

  const observer = new IntersectionObserver(
    entries => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) read.add(target)
        else read.delete(target)
      }
      markRead()
    },
    { rootMargin: READING },
  )
  for (const section of sections) if (section !== null) observer.observe(section)
  window.addEventListener('hashchange', markChosen)
  nav.addEventListener('click', event => {
    // The address may already be that of the link.
    if (event.target instanceof Element && event.target.closest('a') !== null) setTimeout(markChosen)
  })
  const unchoose = () => {
    isChosen = false
  }
  for (const type of ['wheel', 'touchmove', 'keydown', 'pointerdown']) {
    window.addEventListener(type, unchoose, { passive: true })
  }
  document.addEventListener('scrollend', markRead)
  markChosen()
}

for (const nav of document.querySelectorAll('.subnav')) follow(nav)
