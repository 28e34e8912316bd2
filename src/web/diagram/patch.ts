/** The wiring of one server, formatted for its patch diagram. */
export type Patch = {
  title: string
  groups: readonly PatchGroup[]
  /** Sorted by key. */
  globals: readonly PatchGlobal[]
  callers: PatchCallers
  links: PatchLinks
}

/** Link targets. Empty on the landing page. */
export type PatchLinks = {
  tools?: string | undefined
  sources?: string | undefined
  bindings?: string | undefined
  globals?: string | undefined
}

export type PatchState = 'good' | 'slow' | 'failed' | 'idle'

/** A source of tools. */
export type PatchGroup = {
  kind: 'toolkit' | 'upstream'
  name: string
  href?: string | undefined
  /** Description of the state, such as "healthy, 182 ms". */
  health: string
  state: PatchState
  tools: readonly PatchTool[]
}

export type PatchTool = {
  name: string
  href?: string | undefined
  /** Text beside the name, such as "GET · 1,204 calls". */
  meta: string
  /** Number of calls in the period covered by the diagram. */
  calls: number
  state?: 'failed' | undefined
  parameters: readonly PatchParameter[]
}

/** One parameter and where its value comes from. */
export type PatchParameter = { name: string } & (
  | { source: 'fixed'; value: string }
  /** `value` is set if the global is only part of the value, as in "Bearer {{token}}". */
  | { source: 'global' | 'secret'; key: string; value?: string | undefined }
  | { source: 'exposed' }
  /** The parameter has no value, or is bound to a global that does not exist. */
  | { source: 'missing'; key?: string | undefined }
)

export type PatchGlobal = {
  key: string
  source: 'global' | 'secret'
  /** The global's value. Never set to the value of a secret. */
  value: string
  /** Number of parameters that use the global, across all tools. */
  uses: number
}

export type PatchCallers = {
  /** "public", "organization" or "private". */
  tier: string
  href?: string | undefined
  list: readonly PatchCaller[]
}

export type PatchCaller = { name: string; activity: string; state: 'good' | 'idle' }
