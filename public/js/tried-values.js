// Keeps the values with which each tool was last sent, in this browser, as drafts are kept. The server marks the values
// that may be kept with `data-keep`: those of secrets are not.

const MAX_AGE_MS = 30 * 24 * 60 * 60 * 1_000
const PREFIX = 'tried:'

/** @typedef {{ at: number, values: [string, string][] }} Kept */

/** @param {string} key @returns {Kept | undefined} */
const read = key => {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? 'null')
    return Array.isArray(kept?.values) && kept.at > Date.now() - MAX_AGE_MS ? kept : undefined
  } catch {
    return undefined
  }
}

/** @param {string} key @param {[string, string][]} values */
const write = (key, values) => {
  try {
    localStorage.setItem(key, JSON.stringify({ at: Date.now(), values }))
  } catch {
    // Full or disabled: the values are entered again.
  }
}

const removeExpired = () => {
  try {
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith(PREFIX) && read(key) === undefined) localStorage.removeItem(key)
    }
  } catch {
    // Storage is disabled.
  }
}

/** Removes and returns the values. @param {string} key */
const take = key => {
  const kept = read(key)
  if (kept !== undefined) localStorage.removeItem(key)
  return kept
}

/** @param {HTMLFormElement} form the editor's form, whose address identifies the tool */
export const createTriedValues = form => {
  const keyOf = (/** @type {string} */ path) => `${PREFIX}${form.dataset.draft}:${path}`
  const own = keyOf(new URL(form.action).pathname)
  removeExpired()

  /** Moves the values of the form for new tools to the tool that was just created with it. */
  const takeOver = () => {
    const saved = (form.dataset.draftDone ?? '').split(' ').map(keyOf)
    for (const key of saved) {
      const kept = key === own ? undefined : take(key)
      if (kept !== undefined) write(own, kept.values)
    }
  }

  return {
    /** Keeps the values in the editor's response to a request that was sent. @param {string} html */
    store: html => {
      const response = new DOMParser().parseFromString(html, 'text/html')
      if (response.querySelector('[data-part="response"][data-fresh]') === null) return
      const values = [...response.querySelectorAll('[data-part="values"] [data-keep]')].flatMap(control =>
        'name' in control && 'value' in control && control.value !== ''
          ? [/** @type {[string, string]} */ ([String(control.name), String(control.value)])]
          : [],
      )
      write(own, values)
    },
    /** Returns the values with which the tool was last sent. */
    find: () => {
      takeOver()
      return read(own)?.values ?? []
    },
  }
}
